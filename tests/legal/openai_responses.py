"""What the Responses API demands of input items.

https://platform.openai.com/docs/api-reference/responses/create#responses-create-input
"""

import json
from collections.abc import Sequence
from typing import Any

from hame.base.model import ModelFacts


def check(body: Any, facts: ModelFacts) -> None:
    """Pairs, order, nothing empty, reasoning that leads on."""
    del facts
    check_items(body["input"])


def check_items(sent: Sequence[dict]) -> None:
    open_calls: list[str] = []
    for item, following in zip(sent, [*sent[1:], {}], strict=True):
        match item.get("type"):
            case None:
                assert item["role"] == "user"
                assert item["content"]
                assert not open_calls, "a call has no result yet"
            case "message":
                assert item["role"] == "assistant"
                (part,) = item["content"]
                assert part.get("text") or part.get("refusal")
            case "function_call":
                assert json.loads(item["arguments"]).__class__ is dict
                assert item["name"]
                assert 0 < len(item["call_id"]) <= 64
                open_calls.append(item["call_id"])
            case "function_call_output":
                assert item["output"]
                assert item["call_id"] == open_calls.pop(0)
            case "reasoning":
                assert item["encrypted_content"]
                assert None not in item.values()
                assert "status" not in item
                assert following.get("type") != "function_call_output"
                assert following.get("role") != "user"
                assert following
            case kind:
                assert kind == "web_search_call"
    assert not open_calls
    assert sent[0]["role"] == "user"
