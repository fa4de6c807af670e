"""What Ollama needs of messages, whose templates pair calls and results by place and name."""

from typing import Any

from hame.base.model import ModelFacts


def check(body: Any, facts: ModelFacts) -> None:
    """Results right after their calls, nothing empty, pictures only where they are taken."""
    check_messages(body["messages"], facts)


def check_messages(sent: list[dict], facts: ModelFacts) -> None:
    waiting: list[str] = []
    for message in sent:
        if message["role"] == "tool":
            assert message["tool_call_id"] == waiting.pop(0)
            assert message["tool_name"]
        else:
            assert message["role"] in {"system", "user", "assistant"}
            assert not waiting
            waiting = [made["id"] for made in message.get("tool_calls", ())]
        assert message["content"] or message.get("tool_calls") or message.get("images")
        assert facts.images or "images" not in message
    assert not waiting
