"""StreamEvents in, one Assistant message out."""

from typing import assert_never

from hame.base.message import AnswerBlock, Assistant, Opaque, Origin, StopReason, Text, Thinking
from hame.base.model import Usage
from hame.base.stream import (
    Completed,
    Failed,
    ImageCompleted,
    OpaqueCompleted,
    RetryScheduled,
    StreamEvent,
    TextDelta,
    ThinkingCompleted,
    ThinkingDelta,
    ToolCallArgsDelta,
    ToolCallCompleted,
    ToolCallStarted,
    UsageReported,
)


class Fold:
    """Collects one answer. Block order is the order of arrival; calls count once they are whole."""

    __slots__ = ("_blocks", "_mode", "_parts", "_signature", "failure", "raw_stop", "stop", "usage")

    def __init__(self) -> None:
        """Start empty."""
        self._blocks: list[AnswerBlock] = []
        self._mode: type[Text | Thinking] | None = None
        self._parts: list[str] = []
        self._signature: str | None = None
        self.stop: StopReason | None = None
        """None until the answer reached its end."""
        self.raw_stop: str | None = None
        self.failure: Failed | None = None
        self.usage: Usage | None = None

    def add(self, event: StreamEvent) -> None:
        """Take one event."""
        match event:
            case TextDelta(text=text, signature=signature):
                self._extend(Text, text, signature)
            case ThinkingDelta(text=text):
                self._extend(Thinking, text, None)
            case ThinkingCompleted(signature=signature):
                self._complete_thinking(signature)
            case OpaqueCompleted(block=block):
                self._place(block)
            case ImageCompleted(block=block):
                self._append(block)
            case ToolCallCompleted(call=call):
                self._append(call)
            case UsageReported(usage=usage):
                self.usage = usage
            case Completed(stop_reason=stop, raw_stop_reason=raw):
                self.stop, self.raw_stop = stop, raw
            case Failed():
                self.failure = event
            case ToolCallStarted() | ToolCallArgsDelta() | RetryScheduled():
                pass
            case _:
                assert_never(event)

    def message(self, origin: Origin | None = None) -> Assistant:
        """The answer as far as it has arrived; whole if `stop` is set and `failure` is not."""
        begun = self._begun()
        stop = StopReason.ERROR if self.failure else (self.stop or StopReason.UNKNOWN)
        return Assistant(
            content=(*self._blocks, begun) if begun is not None else tuple(self._blocks),
            origin=origin,
            stop_reason=stop,
            raw_stop_reason=self.raw_stop,
            usage=self.usage,
        )

    def _extend(self, mode: type[Text | Thinking], text: str, signature: str | None) -> None:
        if not text and signature is None:
            return  # Sent between the pieces of another block, it does not end that one.
        if self._mode is not mode:
            self._close()
            self._mode = mode
        self._parts.append(text)
        if signature is not None:
            self._signature = signature
            self._close()

    def _complete_thinking(self, signature: str | None) -> None:
        if self._mode is not Thinking:
            self._close()
            if signature is None:
                return
            self._mode = Thinking
        self._signature = signature
        self._close()

    def _place(self, block: Opaque) -> None:
        """Append a block, or put it where an earlier version of it stands."""
        for position, earlier in enumerate(self._blocks):
            if isinstance(earlier, Opaque) and block.replaces(earlier):
                self._blocks[position] = block
                return
        self._append(block)

    def _append(self, block: AnswerBlock) -> None:
        self._close()
        self._blocks.append(block)

    def _close(self) -> None:
        begun = self._begun()
        self._mode, self._parts, self._signature = None, [], None
        if begun is not None:
            self._blocks.append(begun)

    def _begun(self) -> AnswerBlock | None:
        """The text or thinking that is arriving."""
        text = "".join(self._parts)
        if self._mode is None or not (text or self._signature):
            return None
        return self._mode(text=text, signature=self._signature)
