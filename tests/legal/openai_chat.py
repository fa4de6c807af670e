"""What chat completions demand of messages: https://platform.openai.com/docs/api-reference/chat/create."""

import json
from typing import Any

from hame.base.model import ModelFacts, Quirk


def check(body: Any, facts: ModelFacts) -> None:
    """The system's words first, results right after their calls, nothing empty."""
    waiting: list[str] = []
    before = ""
    for at, message in enumerate(body["messages"]):
        role = message["role"]
        match role:
            case "system" | "developer":
                assert at == 0
                assert message["content"]
            case "tool":
                assert message["tool_call_id"] == waiting.pop(0)
                assert message["content"]
            case "user":
                assert not waiting, "a call has no result yet"
                _check_content(message["content"], facts)
            case _:
                assert role == "assistant"
                assert not waiting, "a call has no result yet"
                waiting = _check_answer(message)
        if Quirk.ALTERNATING_ROLES in facts.quirks:
            assert (before, role) not in {("user", "user"), ("tool", "user")}
        before = role
    assert not waiting
    assert before in {"user", "tool"}


def _check_content(content: Any, facts: ModelFacts) -> None:
    if isinstance(content, str):
        assert content.strip()
        return
    assert content
    for part in content:
        match part["type"]:
            case "text":
                assert part["text"].strip()
            case "image_url":
                assert facts.images
            case kind:
                assert kind == "file"
                assert facts.documents


def _check_answer(message: dict) -> list[str]:
    calls = message.get("tool_calls", [])
    assert calls or message["content"]
    assert "tool_calls" not in message or calls
    for call in calls:
        assert call["type"] == "function"
        assert call["function"]["name"]
        assert json.loads(call["function"]["arguments"]).__class__ is dict
    ids = [call["id"] for call in calls]
    assert len(set(ids)) == len(ids)
    assert all(0 < len(name) <= 40 for name in ids)
    return ids
