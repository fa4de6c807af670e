"""A model of a local server, from the settings to the wire: learnt, tried once, kept."""

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

import hame
from hame.app.access import try_access
from hame.app.clock import SystemClock
from hame.app.models import Models
from hame.app.shelf import look_at, search
from hame.backends.trial import Verdict
from hame.base.event import Notice
from hame.base.run import Stopped
from hame.base.settings import Settings
from hame.config.places import find_places
from hame.testing import Reply, ScriptedServer, answer, call
from hame.testing.reply import Received, hang
from hame.workspace.index import LocalIndex
from hame.workspace.local import open_workspace
from hame.workspace.process import LocalProcesses


def page(value: object) -> Reply:
    return Reply(body=json.dumps(value).encode())


def pages(*capabilities: str, digest: str = "d1", tells: bool = True) -> dict[str, Reply]:
    """What Ollama says of the model; an old one does not tell what it is capable of."""
    info = {"general.architecture": "q", "q.context_length": 40_960}
    able = {"capabilities": ["completion", *capabilities]} if tells else {}
    return {
        "/api/show": page({**able, "model_info": info}),
        "/api/tags": page({"models": [{"name": "q:8b", "digest": digest}]}),
        "/api/ps": page({"models": []}),
    }


@pytest.fixture
def prompt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HOME", str(tmp_path))

    async def run(
        server: ScriptedServer, words: str = "hi", **settings: object
    ) -> tuple[str, list[str]]:
        monkeypatch.setenv("OLLAMA_HOST", server.url)
        notices: list[str] = []
        async with hame.open(tmp_path, model="ollama/q:8b", **settings) as session:
            async for event in session.prompt(words):
                notices += [event.text] if isinstance(event, Notice) else []
            return getattr(session.result, "text", ""), notices

    return run


TRIED = (
    answer('{"tool": "read_note", "arguments": {"name": "pear"}}'),
    answer('{"say": "marzipan"}'),
)
CALLED = (answer(call("read_note", name="pear")), answer("It says marzipan."))


async def test_a_model_is_learnt_tried_once_and_then_used(prompt):
    said = answer('{"say": "Hello."}')
    async with ScriptedServer(*TRIED, said, said, pages=pages()) as server:
        text, notices = await prompt(server)
        assert text == "Hello."
        assert any("trying once how ollama/q:8b calls tools" in notice for notice in notices)
        assert (await prompt(server))[0] == "Hello."
        server.finish()
        body: Any = server.questions[-1].body
    assert body["options"]["num_ctx"] == 32_768
    assert "tools" not in body


async def test_paths_in_an_answer_held_to_a_schema_are_those_of_the_project(prompt, tmp_path):
    (tmp_path / "notes.txt").write_text("x", encoding="utf-8")
    said = answer('{"say": "Hello."}')
    async with ScriptedServer(*TRIED, said, pages=pages()) as server:
        await prompt(server)
        body: Any = server.questions[-1].body
    arguments = {
        form["properties"]["tool"]["const"]: form["properties"]["arguments"]["properties"]
        for form in body["format"]["anyOf"][:-1]
    }
    assert "notes.txt" in arguments["read_file"]["path"]["enum"]
    assert "no-such.txt" not in arguments["read_file"]["path"]["enum"]
    assert "enum" not in arguments["write_file"]["path"]
    assert "notes.txt" not in body["messages"][0]["content"], "the prompt stays the same"


async def test_a_model_that_calls_and_goes_on_is_spoken_to_natively(prompt):
    steps = (*CALLED, answer("Hello."), answer("Hi."))
    async with ScriptedServer(*steps, pages=pages(tells=False)) as server:
        text, notices = await prompt(server)
        assert text == "Hello."
        assert [notice.partition(" ")[0] for notice in notices] == ["trying", "ollama/q:8b"]
        assert await prompt(server) == ("Hi.", [])
        server.finish()
        body: Any = server.questions[2].body
    assert body["options"]["num_ctx"] == 32_768
    assert body["tools"]
    assert "temperature" not in body["options"]


async def test_a_model_whose_server_says_that_it_calls_tools_is_not_tried(prompt):
    """The first question is the user's."""
    async with ScriptedServer(answer("Hello."), pages=pages("tools")) as server:
        assert await prompt(server) == ("Hello.", [])
        server.finish()
        body: Any = server.questions[0].body
    assert body["options"]["num_ctx"] == 32_768
    assert body["tools"]


async def test_one_that_cannot_go_on_after_a_result_is_not_believed(prompt):
    steps = (CALLED[0], CALLED[0], *TRIED, answer('{"say": "Hello."}'))
    async with ScriptedServer(*steps, pages=pages(tells=False)) as server:
        text, notices = await prompt(server)
        server.finish()
        body: Any = server.questions[-1].body
    assert text == "Hello."
    assert "JSON schema" in notices[-1]
    assert "tools" not in body


async def test_a_trial_that_is_stopped_hangs_up_and_is_made_again(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    async with ScriptedServer(
        hang(), *CALLED, answer("Hello."), pages=pages(tells=False)
    ) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.url)
        async with hame.open(tmp_path, model="ollama/q:8b") as session:
            async with anyio.create_task_group() as tasks:

                async def run() -> None:
                    async for _ in session.prompt("hi"):
                        pass

                tasks.start_soon(run)
                await server.arrived(4)
                session.cancel()
            assert isinstance(session.result, Stopped)
            await server.over(4)
            assert server.questions[0].abandoned
            async for _ in session.prompt("hi"):
                pass
            assert getattr(session.result, "text", "") == "Hello."
        server.finish()


async def test_another_model_of_the_same_name_is_tried_again(prompt):
    async with ScriptedServer(*TRIED, answer('{"say": "Hello."}'), pages=pages()) as server:
        await prompt(server)
    async with ScriptedServer(*TRIED, answer('{"say": "Hi."}'), pages=pages(digest="d2")) as server:
        text, _ = await prompt(server)
        server.finish()
        assert "tools" not in server.questions[-1].body
    assert text == "Hi."


async def test_the_user_may_say_how_tools_are_told(prompt):
    for tools in (True, False):
        async with ScriptedServer(answer("Hello."), pages=pages("tools")) as server:
            assert (await prompt(server, tools=tools))[0] == "Hello."
            server.finish()
            assert ("tools" in server.questions[0].body) is tools


def first_step(schema: Any) -> str | None:
    """The first line that a schema of lines allows; None for another schema."""
    step = schema.get("properties", {}).get("step")
    return json.dumps({"step": step["enum"][0]}) if step else None


def babbler(received: Received) -> str:
    """A model that can neither call nor keep to a schema, behind a server that holds it to lines."""
    format_ = received.body.get("format", {})
    assert isinstance(format_, dict)
    return first_step(format_) or ('{"say": "horses"}' if format_ else "I like horses.")


async def test_a_model_that_can_do_nothing_else_takes_single_steps(prompt, tmp_path):
    """From the trial to a changed file: what it says is held to what makes sense."""
    (tmp_path / "config.txt").write_text("port=8080\n", encoding="utf-8")
    change = {"words": "Replace 8080 with 9090 in config.txt.", "mode": "auto"}
    async with ScriptedServer(*[babbler] * 5, pages=pages()) as server:
        text, notices = await prompt(server, **change)
        assert text == "Done."
        assert "single small steps" in notices[-1]
        assert (tmp_path / "config.txt").read_text(encoding="utf-8") == "port=9090\n"
        # What was found is kept: nothing is tried again.
        text, notices = await prompt(server, words="Show me config.txt")
        assert (text, notices) == ("port=9090", [])
        server.finish()


async def test_a_server_of_the_users_own_may_be_tried_as_well(tmp_path, monkeypatch):
    """One row in models.toml; its server takes a grammar and nothing else."""
    monkeypatch.setenv("HOME", str(tmp_path))
    project = tmp_path / "project"
    project.mkdir()
    (project / "config.txt").write_text("port=8080\n", encoding="utf-8")

    lines = iter(("canary", "read config.txt", "show"))

    def grammatical(received: Received) -> str:
        return next(lines) if "grammar" in received.body else "I like horses."

    # Calls, a schema, its canary, that of the grammar, calls in words; then the question and the answer.
    async with ScriptedServer(*[grammatical] * 7) as server:
        rows = f"""
            [vendors.lab]
            base_url = "{server.url}/v1"
            local = true
        """
        config = tmp_path / ".config/hame"
        config.mkdir(parents=True)
        (config / "models.toml").write_text(rows, encoding="utf-8")
        async with hame.open(project, model="lab/tiny") as session:
            async for _ in session.prompt("What is in config.txt?"):
                pass
        server.finish()
    assert getattr(session.result, "text", "") == "port=8080"


# ---------------------------------------------------------------- Windows around this machine


@pytest.fixture
async def under_windows(tmp_path):
    """Models whose Ollama would be at an address where nothing is, in a Windows at 127.0.0.1."""
    made: list[Models] = []

    def make(server: ScriptedServer, **environment: str) -> Models:
        config = tmp_path / ".config/hame"
        config.mkdir(parents=True, exist_ok=True)
        here = server.url.replace("127.0.0.1", "127.0.0.2")
        rows = f'[vendors.ollama]\nbase_url = "{here}"\n'
        (config / "models.toml").write_text(rows, encoding="utf-8")
        environment = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", **environment}
        workspace = open_workspace(str(tmp_path), home=str(tmp_path))
        models = Models(
            Settings(), environment, find_places(environment), index=LocalIndex(workspace),
            processes=LocalProcesses(environment), clock=SystemClock(),
        )  # fmt: skip
        models.windows = lambda: "127.0.0.1"
        made.append(models)
        return models

    yield make
    for models in made:
        await models.close()


FOUND = {**pages("tools"), "/api/version": page({"version": "0.9"})}


async def test_a_chosen_server_is_found_on_windows_as_well(under_windows):
    async with ScriptedServer(pages=FOUND) as server:
        models = under_windows(server)
        model = await models.open("ollama/q:8b")
        assert model.facts.context_window == 32_768, "it was asked there"
        listed = await look_at(under_windows(server), "ollama")
        assert [choice.id for choice in listed] == ["q:8b"]
        shelf = await search(under_windows(server), "q:8b")
        assert [choice.name for choice in shelf.choices] == ["ollama/q:8b"]
        trial = await try_access(under_windows(server), "ollama")
        assert trial.verdict is Verdict.VERIFIED


async def test_what_the_user_said_of_its_address_comes_first(under_windows):
    async with ScriptedServer(pages=FOUND) as server:
        models = under_windows(server, OLLAMA_HOST="http://127.0.0.3:9")
        await models.open("ollama/q:8b")
        assert server.requests == []


async def test_another_service_on_windows_is_not_believed(under_windows):
    strange = {**FOUND, "/api/version": page({"name": "something else"})}
    async with ScriptedServer(pages=strange) as server:
        model = await under_windows(server).open("ollama/q:8b")
    assert model.facts.context_window is None
