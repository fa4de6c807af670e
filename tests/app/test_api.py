"""The public Python API, over real HTTP."""

import subprocess
import sys
from pathlib import Path

import pytest

import hame
from hame.base import event
from hame.base.errors import ConfigError
from hame.base.json import get_objects
from hame.base.question import Choice
from hame.base.run import RunDone
from hame.testing import ScriptedServer, answer, call

WRITE = answer(call("create_file", path="a.txt", content="hi\n"))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def own_server(monkeypatch: pytest.MonkeyPatch, server: ScriptedServer) -> str:
    """Any OpenAI-compatible URL has a name as soon as its variable is set."""
    monkeypatch.setenv("MINE_BASE_URL", f"{server.url}/v1")
    return "mine/some-model"


async def test_events_come_by_async_for_and_the_result_stays(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with ScriptedServer(WRITE, answer("done")) as server:
        model = own_server(monkeypatch, server)
        async with hame.open(project, model=model, mode="auto") as session:
            seen = [item async for item in session.prompt("make a.txt")]
            assert session.result == RunDone(text="done")
    assert isinstance(seen[0], event.RunStarted)
    assert isinstance(seen[-1], event.RunEnded)
    assert (project / "a.txt").read_text() == "hi\n"


async def test_questions_go_to_the_callers_function(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    async def ask(question: hame.Question) -> hame.Answer:
        asked.append(question.title)
        return hame.Answer(choice=Choice.ONCE)

    async with ScriptedServer(WRITE, answer("done")) as server:
        model = own_server(monkeypatch, server)
        async with hame.open(project, model=model, ask=ask) as session:
            async for _ in session.prompt("make a.txt"):
                pass
    assert asked == ["Create a.txt"]
    assert (project / "a.txt").exists()


async def test_a_session_can_be_taken_up_again(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with ScriptedServer(answer("one"), answer("two")) as server:
        model = own_server(monkeypatch, server)
        async with hame.open(project, model=model) as session:
            async for _ in session.prompt("first"):
                pass
        async with hame.open(project, resume=session.id) as again:
            async for _ in again.prompt("second"):
                pass
        said = get_objects(server.questions[1].body, "messages")
        assert [message["role"] for message in said] == ["system", "user", "assistant", "user"]


async def test_leaving_the_session_stops_its_run(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with ScriptedServer(answer(call("run_command", command="sleep 60"))) as server:
        model = own_server(monkeypatch, server)
        async with hame.open(project, model=model, mode="auto") as session:
            async for item in session.prompt("wait"):
                if isinstance(item, event.CallStarted):
                    break


async def test_what_cannot_be_started_is_raised_where_the_events_are_read(
    project: Path,
) -> None:
    async with hame.open(project, model="nowhere/model") as session:
        with pytest.raises(ConfigError, match="nowhere"):
            async for _ in session.prompt("hello"):
                pass


async def test_an_error_leaves_the_session_as_itself_and_in_no_group(project: Path) -> None:
    async def fail() -> None:
        async with hame.open(project, model="nowhere/model") as session:
            async for _ in session.prompt("hello"):
                pass

    with pytest.raises(ConfigError, match="nowhere"):
        await fail()


async def test_unknown_settings_are_refused_by_name(project: Path) -> None:
    with pytest.raises(ConfigError, match="modell"):
        async with hame.open(project, modell="x"):
            pass


def test_importing_hame_loads_nothing_heavy() -> None:
    code = (
        "import sys, hame; heavy = {'asyncio', 'anyio', 'click', 'msgspec', 'httpcore2', 'rich'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_public_name_is_there() -> None:
    for name in hame.__all__:
        assert getattr(hame, name) is not None
    with pytest.raises(AttributeError):
        _ = hame.nothing
