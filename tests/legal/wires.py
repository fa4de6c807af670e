"""Whether a request is one that its server takes, by both judges of its wire.

The rules are written out here, a module for each wire; the other judge are the vendor's own types.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from hame.base.model import ModelFacts
from legal import anthropic_messages, gemini, official, ollama, openai_chat, openai_responses

Calls: TypeAlias = Iterator[tuple[str, str]]
"""Name and id of each call of a request."""

RULES: dict[str, Callable[[Any, ModelFacts], None]] = {
    "anthropic_messages": anthropic_messages.check,
    "openai_chat": openai_chat.check,
    "openai_responses": openai_responses.check,
    "gemini": gemini.check,
    "ollama": ollama.check,
}


_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def check_calls(body: Any, facts: ModelFacts) -> None:
    """What all wires want alike: names of tools of one form, no id of a call twice in a conversation."""
    calls = list(_CALLS[facts.wire](body))
    assert all(_NAME.fullmatch(name) for name, _ in calls)
    ids = [call_id for _, call_id in calls]
    assert len(set(ids)) == len(ids)


def _blocks(body: Any) -> Calls:
    for turn in body["messages"]:
        for block in turn["content"]:
            if block["type"] == "tool_use":
                yield block["name"], block["id"]


def _messages(body: Any) -> Calls:
    for message in body["messages"]:
        for call in message.get("tool_calls", ()):
            yield call["function"]["name"], call["id"]


def _items(body: Any) -> Calls:
    for item in body["input"]:
        if item.get("type") == "function_call":
            yield item["name"], item["call_id"]


def _parts(body: Any) -> Calls:
    for content in body["contents"]:
        for part in content["parts"]:
            if "functionCall" in part:
                yield part["functionCall"]["name"], part["functionCall"]["id"]


_CALLS: dict[str, Callable[[Any], Calls]] = {
    "anthropic_messages": _blocks,
    "openai_chat": _messages,
    "openai_responses": _items,
    "gemini": _parts,
    "ollama": _messages,
}


def check_request(body: Any, facts: ModelFacts) -> None:
    """Both judges; the vendor's types only where they are installed."""
    check_calls(body, facts)
    RULES[facts.wire](body, facts)
    official.check(facts.wire, body)
