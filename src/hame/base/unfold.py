"""An answer taken apart again: the stream events that a fold makes it of."""

from collections.abc import Callable, Iterable, Iterator
from typing import assert_never

from hame.base.json import dump
from hame.base.message import Assistant, Image, Opaque, Text, Thinking, ToolCall
from hame.base.stream import (
    Completed,
    ImageCompleted,
    OpaqueCompleted,
    StreamEvent,
    TextDelta,
    ThinkingCompleted,
    ThinkingDelta,
    ToolCallArgsDelta,
    ToolCallCompleted,
    ToolCallStarted,
    UsageReported,
)


def in_one(text: str) -> Iterable[str]:
    """The text as it is."""
    return (text,)


def unfold(
    message: Assistant, cut: Callable[[str], Iterable[str]] = in_one
) -> Iterator[StreamEvent]:
    """The events of an answer, its texts cut by `cut`; a fold of them is the answer again."""
    yield from unfold_open(message, cut)
    yield Completed(message.stop_reason, message.raw_stop_reason)


def unfold_open(
    message: Assistant, cut: Callable[[str], Iterable[str]] = in_one
) -> Iterator[StreamEvent]:
    """The events of an answer that did not reach its end."""
    calls = 0
    for block in message.content:
        match block:
            case Text(text=text, signature=signature):
                yield from map(TextDelta, cut(text))
                if signature is not None:
                    yield TextDelta("", signature)
            case Thinking(text=text, signature=signature):
                yield from map(ThinkingDelta, cut(text))
                yield ThinkingCompleted(signature)
            case ToolCall(id=name):
                yield ToolCallStarted(calls, name, block.name)
                yield ToolCallArgsDelta(calls, arguments_text(block))
                yield ToolCallCompleted(calls, block)
                calls += 1
            case Opaque():
                yield OpaqueCompleted(block)
            case Image():
                yield ImageCompleted(block)
            case _:
                assert_never(block)
    if message.usage is not None:
        yield UsageReported(message.usage)


def arguments_text(call: ToolCall) -> str:
    """A call's arguments as a model writes them."""
    return dump(call.arguments) if call.arguments is not None else (call.malformed or "")
