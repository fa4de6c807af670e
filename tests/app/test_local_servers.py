"""A model of a local server, from the settings to the wire: learnt, tried once, kept."""

import json
from pathlib import Path
from typing import Any

import pytest

import hame
from hame.base.event import Notice
from hame.testing import Reply, ScriptedServer, answer


def page(value: object) -> Reply:
    return Reply(body=json.dumps(value).encode())


def pages(*capabilities: str, digest: str = "d1") -> dict[str, Reply]:
    info = {"general.architecture": "q", "q.context_length": 40_960}
    return {
        "/api/show": page({"capabilities": ["completion", *capabilities], "model_info": info}),
        "/api/tags": page({"models": [{"name": "q:8b", "digest": digest}]}),
        "/api/ps": page({"models": []}),
    }


@pytest.fixture
def prompt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HOME", str(tmp_path))

    async def run(server: ScriptedServer, **settings: object) -> tuple[str, list[str]]:
        monkeypatch.setenv("OLLAMA_HOST", server.url)
        notices: list[str] = []
        async with hame.open(tmp_path, model="ollama/q:8b", **settings) as session:
            async for event in session.prompt("hi"):
                notices += [event.text] if isinstance(event, Notice) else []
            return getattr(session.result, "text", ""), notices

    return run


TRIED = answer('{"tool": "note_word", "arguments": {"word": "pear"}}')


async def test_a_model_is_learnt_tried_once_and_then_used(prompt):
    said = answer('{"say": "Hello."}')
    async with ScriptedServer(TRIED, said, said, pages=pages()) as server:
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
    async with ScriptedServer(TRIED, said, pages=pages()) as server:
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


async def test_a_model_whose_server_says_that_it_calls_tools_is_not_tried(prompt):
    async with ScriptedServer(answer("Hello."), pages=pages("tools")) as server:
        text, notices = await prompt(server)
        server.finish()
        body: Any = server.questions[0].body
    assert (text, notices) == ("Hello.", [])
    assert body["options"]["num_ctx"] == 32_768
    assert body["tools"]


async def test_another_model_of_the_same_name_is_tried_again(prompt):
    async with ScriptedServer(TRIED, answer('{"say": "Hello."}'), pages=pages()) as server:
        await prompt(server)
    async with ScriptedServer(TRIED, answer('{"say": "Hi."}'), pages=pages(digest="d2")) as server:
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
