"""A Messages answer -> StreamEvents, streamed or whole.

Events: https://docs.anthropic.com/en/docs/build-with-claude/streaming
The type of an event is read from its data; the `event:` line, which some gateways leave out, is only
asked where the data has none. Pings and events of unknown types say nothing. An answer ends with
`message_stop` or an error; a body that ends before one of them broke.
"""

from collections.abc import Sequence

from hame.base.errors import Failure
from hame.base.json import JsonObject, get_int, get_object, get_objects, get_string, parse_object
from hame.base.message import StopReason
from hame.base.model import ModelFacts
from hame.base.ports import Frame
from hame.base.stream import Completed, Failed, OpaqueCompleted, StreamEvent, UsageReported
from hame.llm.broken import CUT_SHORT, cut_stream, not_an_answer
from hame.llm.classify import classify_error
from hame.llm.wires.anthropic_messages.blocks import Call, OpenBlock, implied_block, open_block
from hame.llm.wires.anthropic_messages.opaque import refusal
from hame.llm.wires.anthropic_messages.usage import Counter

_STOPS = {
    "end_turn": StopReason.END_TURN,
    "tool_use": StopReason.TOOL_USE,
    "max_tokens": StopReason.MAX_TOKENS,
    "stop_sequence": StopReason.STOP_SEQUENCE,
    "refusal": StopReason.REFUSAL,
    "pause_turn": StopReason.PAUSE_TURN,
    "model_context_window_exceeded": StopReason.CONTEXT_FULL,
}


class MessagesDecoder:
    """Decodes the events of one answer."""

    __slots__ = (
        "_blank",
        "_calls",
        "_counter",
        "_ended",
        "_id",
        "_open",
        "_provider",
        "_raw_stop",
        "_said",
    )

    def __init__(self, facts: ModelFacts) -> None:
        """Expect the first event."""
        self._provider = facts.vendor
        self._id = ""
        self._open: dict[int, OpenBlock] = {}
        self._blank: Call | None = None
        """A call without arguments that was the last block so far; only the stop reason tells if it is whole."""
        self._calls = 0
        self._counter = Counter()
        self._raw_stop: str | None = None
        self._said = False
        self._ended = False

    def feed(self, frame: Frame) -> Sequence[StreamEvent]:
        """Take one event."""
        if self._ended:
            return ()
        if frame.data.strip() == "[DONE]":
            return self._stop() if self._raw_stop else ()
        event = parse_object(frame.data)
        if event is None:
            return self._fail(not_an_answer(self._provider, frame.data, mid_stream=self._said))
        return self._take(get_string(event, "type") or frame.event, event)

    def close(self) -> Sequence[StreamEvent]:
        """The body has ended."""
        return () if self._ended else self._fail(cut_stream(self._provider, mid_stream=self._said))

    def take_message(self, message: JsonObject) -> Sequence[StreamEvent]:
        """Take a whole answer."""
        events: list[StreamEvent] = [*self._start(message)]
        for index, block in enumerate(get_objects(message, "content")):
            events += self._begin(index, block)
            events += self._finish(index)
        return [*events, *self._explain(message), *self._stop()]

    def _take(self, kind: str, event: JsonObject) -> Sequence[StreamEvent]:
        index = get_int(event, "index") or 0
        match kind:
            case "message_start":
                return self._start(get_object(event, "message"))
            case "content_block_start":
                return self._begin(index, get_object(event, "content_block"))
            case "content_block_delta":
                return self._add(index, get_object(event, "delta"))
            case "content_block_stop":
                return self._finish(index)
            case "message_delta":
                return [*self._explain(get_object(event, "delta")), *self._count(event)]
            case "message_stop":
                return self._stop()
            case _ if kind == "error" or event.get("error"):
                error = event.get("error") or event
                return self._fail(classify_error(error, self._provider, mid_stream=self._said))
            case _:
                return ()

    # ------------------------------------------------------------ blocks

    def _begin(self, index: int, source: JsonObject) -> Sequence[StreamEvent]:
        """A block begins; one still open at the same place is whole then."""
        before = [*self._settle(cut=False), *self._finish(index), *self._settle(cut=False)]
        block = open_block(source, self._calls, self._id)
        self._calls += isinstance(block, Call)
        self._open[index] = block
        return [*before, *self._say(block.begin())]

    def _add(self, index: int, delta: JsonObject) -> Sequence[StreamEvent]:
        block = self._open.get(index) or implied_block(delta)
        if block is None:
            return ()
        self._open[index] = block
        return self._say(block.add(delta))

    def _finish(self, index: int) -> Sequence[StreamEvent]:
        block = self._open.pop(index, None)
        if isinstance(block, Call) and block.blank:
            before = self._settle(cut=False)
            self._blank = block
            return before
        return self._say(block.finish()) if block is not None else ()

    def _settle(self, *, cut: bool) -> Sequence[StreamEvent]:
        """Tell the call that was held back."""
        held, self._blank = self._blank, None
        return self._say(held.settle(cut=cut)) if held is not None else ()

    def _say(self, events: Sequence[StreamEvent]) -> Sequence[StreamEvent]:
        self._said = self._said or bool(events)
        return events

    # ------------------------------------------------------------ start and end

    def _start(self, message: JsonObject) -> Sequence[StreamEvent]:
        self._id = get_string(message, "id") or ""
        return self._count(message)

    def _explain(self, source: JsonObject) -> Sequence[StreamEvent]:
        """Note why the model stopped; the words of a refusal are kept for eyes."""
        self._raw_stop = get_string(source, "stop_reason") or self._raw_stop
        words = get_string(get_object(source, "stop_details"), "explanation")
        return (OpaqueCompleted(refusal(words)),) if words else ()

    def _count(self, source: JsonObject) -> Sequence[StreamEvent]:
        usage = self._counter.add(get_object(source, "usage"))
        return (UsageReported(usage),) if usage is not None else ()

    def _stop(self) -> Sequence[StreamEvent]:
        """The answer is whole, and so is every block that was left open."""
        self._ended = True
        events = [event for index in sorted(self._open) for event in self._finish(index)]
        reason = self._reason()
        last = self._settle(cut=reason in CUT_SHORT)
        return [*events, *last, Completed(reason, self._raw_stop)]

    def _reason(self) -> StopReason:
        """The reason in hame's words; a stop that was not explained is an ordinary one."""
        if self._raw_stop is not None and self._raw_stop not in _STOPS:
            return StopReason.UNKNOWN
        reason = _STOPS.get(self._raw_stop or "end_turn", StopReason.UNKNOWN)
        return StopReason.TOOL_USE if self._calls and reason is StopReason.END_TURN else reason

    def _fail(self, failure: Failure) -> Sequence[StreamEvent]:
        self._ended = True
        return (*self._settle(cut=False), Failed(failure))


def decode_body(body: bytes, facts: ModelFacts) -> Sequence[StreamEvent]:
    """Read a whole answer."""
    message = parse_object(body)
    if message is None:
        return (Failed(not_an_answer(facts.vendor, body.decode("utf-8", "replace"))),)
    if message.get("error"):
        return (Failed(classify_error(message["error"], facts.vendor)),)
    if "content" not in message:
        return (Failed(not_an_answer(facts.vendor, "")),)
    return MessagesDecoder(facts).take_message(message)
