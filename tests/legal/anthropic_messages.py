"""What Anthropic's Messages demands of a request: https://docs.anthropic.com/en/api/messages."""

import json
import re
from collections.abc import Iterable
from typing import Any

from hame.base.model import ModelFacts, Quirk

_ID = re.compile(r"[a-zA-Z0-9_-]+")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_THOUGHTS = {"thinking", "redacted_thinking"}


def check(body: Any, facts: ModelFacts) -> None:
    """Alternating turns, results right after their calls, nothing empty, at most four cache marks."""
    assert body["max_tokens"] >= 1
    _check_thinking(body)
    assert body["messages"][0]["role"] == "user"
    waiting: list[str] = []
    before = ""
    for at, turn in enumerate(body["messages"]):
        assert turn["role"] != before
        before = turn["role"]
        assert turn["content"]
        if before == "user":
            _check_user(turn["content"], waiting, facts)
            waiting = []
        else:
            last = at + 1 == len(body["messages"])
            waiting = _check_answer(turn["content"], facts, last=last)
    assert not waiting
    assert sum('"cache_control"' in json.dumps(part) for part in _blocks(body)) <= 4


def _blocks(body: Any) -> Iterable[Any]:
    yield from body.get("tools", ())
    yield from body.get("system", ())
    for turn in body["messages"]:
        yield from turn["content"]


def _check_thinking(body: Any) -> None:
    thinking = body.get("thinking", {})
    if thinking.get("type") == "enabled":
        assert 1024 <= thinking["budget_tokens"] < body["max_tokens"]


def _check_user(content: list, waiting: list[str], facts: ModelFacts) -> None:
    found = [block["tool_use_id"] for block in content if block["type"] == "tool_result"]
    assert found == waiting
    kinds = [block["type"] for block in content]
    assert kinds[: len(found)] == ["tool_result"] * len(found)
    for block in content:
        if block["type"] == "tool_result":
            assert block["content"]
            inner = block["content"]
            _check_parts(
                [{"type": "text", "text": inner}] if isinstance(inner, str) else inner, facts
            )
        else:
            _check_parts([block], facts)


def _check_parts(parts: list, facts: ModelFacts) -> None:
    for part in parts:
        if part["type"] == "text":
            assert part["text"].strip()
        elif part["type"] == "image":
            assert facts.images
            assert part["source"]["media_type"] in {
                "image/png",
                "image/webp",
                "image/jpeg",
                "image/gif",
            }
        else:
            assert part["type"] == "document"
            assert facts.documents


def _check_answer(content: list, facts: ModelFacts, *, last: bool) -> list[str]:
    if not last:  # an answer that goes on ends as it was sent
        assert content[-1]["type"] not in _THOUGHTS
        if content[-1]["type"] == "text":
            assert content[-1]["text"] == content[-1]["text"].rstrip()
        ran = {block["tool_use_id"] for block in content if block["type"].endswith("_tool_result")}
        asked = {block["id"] for block in content if block["type"] == "server_tool_use"}
        assert asked <= ran or any(block["type"] == "tool_use" for block in content)
    calls = []
    for block in content:
        match block["type"]:
            case "text":
                assert block["text"].strip()
            case "thinking":
                assert block["signature"] or Quirk.REASONING_REPLAY in facts.quirks
            case "tool_use":
                assert _ID.fullmatch(block["id"])
                assert _NAME.fullmatch(block["name"])
                assert isinstance(block["input"], dict)
                calls.append(block["id"])
            case kind:
                assert kind in {"redacted_thinking", "server_tool_use", "web_search_tool_result"}
    assert len(set(calls)) == len(calls)
    return calls
