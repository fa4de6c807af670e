"""Chunks of a chat completion -> events.

See https://platform.openai.com/docs/api-reference/chat-streaming; the many servers that follow it do so
loosely, and what they do differently is written at the place that reads it.
"""

from collections.abc import Iterator, Sequence

from hame.base.json import (
    JsonObject,
    get_int,
    get_object,
    get_objects,
    get_string,
    parse,
    parse_object,
)
from hame.base.message import Opaque, StopReason
from hame.base.model import ModelFacts, Quirk, Usage
from hame.base.ports import Frame
from hame.base.stream import (
    Completed,
    Failed,
    OpaqueCompleted,
    StreamEvent,
    TextDelta,
    ThinkingCompleted,
    ThinkingDelta,
    UsageReported,
)
from hame.llm.broken import CUT_SHORT, cut_stream, not_an_answer
from hame.llm.classify import classify_error
from hame.llm.errorbody import one_line
from hame.llm.wires.openai_chat.calls import CallPieces
from hame.llm.wires.openai_chat.reasoning import DetailPieces, content_texts, reasoning_text
from hame.llm.wires.openai_chat.usage import find_usage

WIRE = "openai_chat"

CITATIONS = "citations"
"""Kind of the block that keeps where an answer has things from; it never goes back."""

_LINE = 160

_STOPS: dict[str, StopReason] = {
    "stop": StopReason.END_TURN,
    "eos": StopReason.END_TURN,
    "eos_token": StopReason.END_TURN,
    "complete": StopReason.END_TURN,
    "completed": StopReason.END_TURN,
    "stop_sequence": StopReason.STOP_SEQUENCE,
    "end_turn": StopReason.END_TURN,
    "length": StopReason.MAX_TOKENS,
    "max_tokens": StopReason.MAX_TOKENS,
    "model_length": StopReason.CONTEXT_FULL,
    "model_context_window_exceeded": StopReason.CONTEXT_FULL,
    "tool_calls": StopReason.TOOL_USE,
    "tool_use": StopReason.TOOL_USE,
    "function_call": StopReason.TOOL_USE,
    "content_filter": StopReason.CONTENT_FILTER,
    "sensitive": StopReason.CONTENT_FILTER,
    "safety": StopReason.CONTENT_FILTER,
    "recitation": StopReason.CONTENT_FILTER,
    "prohibited_content": StopReason.CONTENT_FILTER,
    "refusal": StopReason.REFUSAL,
    "malformed_function_call": StopReason.MALFORMED_TOOL_CALL,
}
_BROKEN_STOPS = frozenset({"error", "network_error", "insufficient_system_resource", "abort"})


class ChatDecoder:
    """Reads one answer. Only the first choice counts."""

    __slots__ = (
        "_begun",
        "_calls",
        "_details",
        "_ended",
        "_provider",
        "_raw_stop",
        "_refusal",
        "_sources",
        "_tells_cost",
        "_thinking",
        "_usage",
    )

    def __init__(self, facts: ModelFacts) -> None:
        """Start at the beginning of an answer."""
        self._provider = facts.vendor
        self._tells_cost = Quirk.TELLS_COST in facts.quirks
        self._calls = CallPieces()
        self._details = DetailPieces()
        self._refusal = ""
        self._sources: list[JsonObject] = []
        """Where the answer has things from: pages a gateway searched, files it read (OpenRouter)."""
        self._usage: Usage | None = None
        self._raw_stop: str | None = None
        self._thinking = False
        self._begun = False
        """Whether a chunk has been read: what goes wrong from then on goes wrong midway."""
        self._ended = False

    def feed(self, frame: Frame) -> Sequence[StreamEvent]:
        """Take one chunk."""
        data = frame.data.strip()
        if self._ended or not data:
            return ()
        if data == "[DONE]":
            return list(self._finish())
        chunk = parse_object(data)
        if chunk is None:
            return self._nonsense(data, frame.event)
        events = list(self._take(chunk, is_error=frame.event == "error"))
        self._begun = True
        return events

    def close(self) -> Sequence[StreamEvent]:
        """The body has ended; without a finish reason before it, the stream was cut."""
        if self._ended:
            return ()
        if self._raw_stop is not None:
            return list(self._finish())
        self._ended = True
        failure = cut_stream(self._provider, mid_stream=self._begun)
        return [*self._calls.begun(), *self._report_usage(), Failed(failure)]

    def whole(self, body: JsonObject) -> Sequence[StreamEvent]:
        """Take a body that is a whole answer."""
        events = list(self._take(body, is_error="choices" not in body))
        return events if self._ended else [*events, *self._finish()]

    def _take(self, chunk: JsonObject, *, is_error: bool) -> Iterator[StreamEvent]:
        choice = _first_choice(chunk)
        # Moonshot counts in the choice.
        found = (find_usage(one, tells_cost=self._tells_cost) for one in (chunk, choice))
        self._usage = next(filter(None, found), self._usage)
        self._calls.seed(get_string(chunk, "id") or "")
        error = _error_in(chunk, choice, is_error=is_error)
        if error is not None:
            yield from self._fail(error)
            return
        yield from self._take_delta(_delta(choice))
        raw = get_string(choice, "finish_reason")
        if raw in _BROKEN_STOPS:
            yield from self._fail(f"finish_reason: {raw}")
        elif raw:
            self._raw_stop = raw

    def _take_delta(self, delta: JsonObject) -> Iterator[StreamEvent]:
        thinking, text = content_texts(delta.get("content"))
        thinking = thinking or reasoning_text(delta)
        self._details.take(get_objects(delta, "reasoning_details"))
        self._refusal += get_string(delta, "refusal") or ""
        self._sources += [
            one for one in get_objects(delta, "annotations") if one not in self._sources
        ]
        if thinking:
            self._thinking = True
            yield ThinkingDelta(thinking)
        if text:
            yield from self._end_thinking()
            yield TextDelta(text)
        for piece in _call_pieces(delta):
            yield from self._end_thinking()
            yield from self._calls.take(piece)

    def _end_thinking(self) -> Iterator[StreamEvent]:
        if self._thinking:
            self._thinking = False
            yield ThinkingCompleted()

    def _finish(self) -> Iterator[StreamEvent]:
        """The proper end: the last blocks, the calls, the usage, the stop reason."""
        self._ended = True
        yield from self._end_blocks()
        stop = self._stop_reason()
        yield from self._calls.finish(truncated=stop in CUT_SHORT)
        yield from self._report_usage()
        yield Completed(stop, self._raw_stop)

    def _end_blocks(self) -> Iterator[StreamEvent]:
        yield from self._end_thinking()
        if self._details.details:
            payload: JsonObject = {"details": self._details.details}
            yield OpaqueCompleted(Opaque(WIRE, "reasoning_details", payload))
        if self._sources:
            kept: JsonObject = {"annotations": self._sources}
            yield OpaqueCompleted(Opaque(WIRE, CITATIONS, kept, summary=_named(self._sources)))
        if self._refusal:
            said: JsonObject = {"refusal": self._refusal}
            yield OpaqueCompleted(Opaque(WIRE, "refusal", said, summary=self._refusal))

    def _stop_reason(self) -> StopReason:
        """What the raw word means; servers say `stop` for a call and `tool_calls` for none."""
        raw = self._raw_stop
        stop = StopReason.END_TURN if raw is None else _STOPS.get(raw.lower(), StopReason.UNKNOWN)
        if self._calls:
            if stop not in {StopReason.END_TURN, StopReason.UNKNOWN, StopReason.TOOL_USE}:
                return stop
            nameless = self._calls.nameless
            return StopReason.MALFORMED_TOOL_CALL if nameless else StopReason.TOOL_USE
        if self._refusal and stop is StopReason.END_TURN:
            return StopReason.REFUSAL
        return StopReason.END_TURN if stop is StopReason.TOOL_USE else stop

    def _report_usage(self) -> Iterator[StreamEvent]:
        if self._usage is not None:
            yield UsageReported(self._usage)

    def _fail(self, error: object) -> Iterator[StreamEvent]:
        self._ended = True
        yield from self._end_blocks()
        yield from self._calls.begun()
        yield from self._report_usage()
        yield Failed(classify_error(error, self._provider, mid_stream=self._begun))

    def _nonsense(self, data: str, event: str) -> Sequence[StreamEvent]:
        """A frame that is no JSON object; after the finish reason it no longer matters."""
        if self._raw_stop is not None:
            return ()
        if event == "error":
            return list(self._fail(data))
        self._ended = True
        return [Failed(not_an_answer(self._provider, data, mid_stream=self._begun))]


def _named(sources: list[JsonObject]) -> str:
    """The sources on one line."""
    inner = [get_object(source, get_string(source, "type") or "") for source in sources]
    names = [get_string(one, "url") or get_string(one, "name") or "" for one in inner]
    return one_line("sources: " + ", ".join(dict.fromkeys(filter(None, names))), _LINE)


def _first_choice(chunk: JsonObject) -> JsonObject:
    """The choice that counts, when several were asked for."""
    for choice in get_objects(chunk, "choices"):
        if not get_int(choice, "index"):
            return choice
    return {}


def _error_in(chunk: JsonObject, choice: JsonObject, *, is_error: bool) -> object | None:
    """The error a chunk carries: an object or a string under `error`, or the chunk itself."""
    answered = get_object(chunk, "base_resp")
    if get_int(answered, "status_code"):
        return {"message": get_string(answered, "status_msg")}  # MiniMax; 0 is success
    if chunk.get("error") or is_error or chunk.get("object") == "error":
        return chunk
    if "choices" not in chunk and "detail" in chunk:
        return chunk
    return choice.get("error") or None


def _delta(choice: JsonObject) -> JsonObject:
    """What a choice adds; servers that do not stream send a whole `message`, old ones a `text`."""
    found = get_object(choice, "delta") or get_object(choice, "message")
    if not found and (text := get_string(choice, "text")):
        return {"content": text}
    return found


def _call_pieces(delta: JsonObject) -> list[JsonObject]:
    """The call pieces of a delta, the one of the old `function_call` among them."""
    pieces = get_objects(delta, "tool_calls")
    legacy = get_object(delta, "function_call")
    return pieces if pieces or not legacy else [{"index": 0, "function": legacy}]


def decode_body(body: bytes, facts: ModelFacts) -> Sequence[StreamEvent]:
    """Read a whole answer; an unfinished one is a failure."""
    answer = parse_object(body)
    if answer is None:
        return [Failed(classify_error(parse(body), facts.vendor))]
    return ChatDecoder(facts).whole(answer)
