"""Searches that the provider runs: asked for by a setting, shown as they come, given back unchanged."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hame.base.json import JsonObject, get_objects
from hame.base.message import Assistant, Opaque
from hame.testing import ScriptedServer, answer

ROOT = Path(__file__).resolve().parents[2]


def block(wire: str, kind: str, **payload: object) -> Opaque:
    return Opaque(wire, kind, payload)


SEARCHED: dict[str, list[Opaque]] = {
    "anthropic_messages": [
        block(
            "anthropic_messages",
            "server_tool_use",
            type="server_tool_use",
            id="srvtoolu_1",
            name="web_search",
            input={"query": "hame"},
        ),
        block(
            "anthropic_messages",
            "web_search_tool_result",
            type="web_search_tool_result",
            tool_use_id="srvtoolu_1",
            content=[
                {
                    "type": "web_search_result",
                    "title": "Hames",
                    "url": "https://example.org/hames",
                    "encrypted_content": "c2VjcmV0",
                }
            ],
        ),
    ],
    "openai_responses": [
        block(
            "openai_responses",
            "web_search_call",
            type="web_search_call",
            id="ws_1",
            status="completed",
            action={"type": "search", "query": "hame"},
        )
    ],
    "gemini": [
        block(
            "gemini",
            "toolCall",
            toolCall={"id": "t1", "toolType": "GOOGLE_SEARCH_WEB", "args": {"queries": ["hame"]}},
            thoughtSignature="c2ln",
        )
    ],
}
SHOWN = {
    "anthropic_messages": ["web_search: hame", "web search tool result: 1 item: Hames"],
    "openai_responses": ["web search call: hame"],
    "gemini": ["toolCall GOOGLE_SEARCH_WEB"],
}
OFFERED: dict[str, JsonObject] = {
    "anthropic_messages": {"type": "web_search_20250305", "name": "web_search", "max_uses": 5},
    "openai_responses": {"type": "web_search"},
    "gemini": {"googleSearch": {}},
}


@pytest.fixture(params=SEARCHED)
def searching(request: pytest.FixtureRequest) -> str:
    """Each wire that offers searches."""
    return request.param


def offers(body: JsonObject, tool: JsonObject) -> bool:
    """Whether a request offers a tool; a cache mark beside it says nothing."""
    return any(tool.items() <= offered.items() for offered in get_objects(body, "tools"))


@pytest.fixture
def hame(provide, tmp_path):
    """Runs hame once against a server; its events."""

    def run(model: str, url: str, *words: str, **more: str) -> list[JsonObject]:
        ran = subprocess.run(
            [sys.executable, "-m", "hame", "-p", *words, "--model", model,
             "--output-format", "stream-json"],
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path),
                 "PYTHONPATH": str(ROOT / "src"), **provide(url), **more},
            cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
            check=True,
        )  # fmt: skip
        return [json.loads(line) for line in ran.stdout.splitlines()]

    return run


def notices(events: list[JsonObject]) -> list[object]:
    return [event["text"] for event in events if event["type"] == "notice"]


def test_a_search_is_offered_shown_and_given_back(searching, hame, models):
    said: Assistant = answer(*SEARCHED[searching], "A hame is part of a harness.")
    with ScriptedServer(said, "Yes.", "No.") as server:
        events = hame(models[searching], server.url, "What is a hame?", HAME_WEB_SEARCH="true")
        hame(models[searching], server.url, "Sure?", "--continue", HAME_WEB_SEARCH="true")
        hame(models[searching], server.url, "Sure?")
        server.finish()
    assert notices(events) == SHOWN[searching]
    second = server.questions[1]
    assert [offers(question.body, OFFERED[searching]) for question in server.questions] == [
        True,
        True,
        False,
    ]
    for made in SEARCHED[searching]:
        assert json.dumps(made.payload, separators=(",", ":")) in second.raw.decode()
    assert second.kept == 1.0


@pytest.mark.parametrize("model", ["openrouter/some/model", "gemini/gemini-2.5-flash"])
def test_where_no_search_is_offered_the_user_is_told(model, hame):
    """Gemini searches beside functions from its third generation on."""
    with ScriptedServer("Yes.", "No.") as server:
        (told,) = notices(hame(model, server.url, "Why?", HAME_WEB_SEARCH="true"))
        assert notices(hame(model, server.url, "Why?")) == []
        server.finish()
    assert told == f"web_search is on, but {model} offers no search of its own beside hame's tools."
