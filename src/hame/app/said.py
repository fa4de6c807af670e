"""The events that a recorded answer arrives as: each block whole."""

from collections.abc import Iterator
from typing import assert_never

from hame.base.json import dump
from hame.base.message import Assistant, Image, Opaque, StopReason, Text, Thinking, ToolCall
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


def whole(message: Assistant) -> Iterator[StreamEvent]:
    """The events of an answer; a fold of them is the answer again."""
    yield from begun(message)
    yield Completed(message.stop_reason, message.raw_stop_reason)


def begun(message: Assistant) -> Iterator[StreamEvent]:
    """The events of an answer that did not reach its end."""
    calls = 0
    for block in message.content:
        match block:
            case Text(text=text, signature=signature):
                yield TextDelta(text, signature)
            case Thinking(text=text, signature=signature):
                yield ThinkingDelta(text)
                yield ThinkingCompleted(signature)
            case ToolCall(id=name, arguments=arguments, malformed=malformed):
                written = dump(arguments) if arguments is not None else (malformed or "")
                yield ToolCallStarted(calls, name, block.name)
                yield ToolCallArgsDelta(calls, written)
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


def put_aside(message: Assistant) -> Iterator[StreamEvent]:
    """The events of an answer that was put aside; one that said nothing did reach its end."""
    return begun(message) if message.stop_reason is StopReason.ERROR else whole(message)
