"""An answer of Ollama's /api/chat -> StreamEvents, streamed or whole.

Lines: https://docs.ollama.com/api/chat. Each line is one JSON object; the last has `done` true. Calls
arrive whole, with their arguments as an object and, in older versions, without an id. An error can
come as a line of its own after status 200. A body that ends before `done` broke.
"""

from collections.abc import Sequence

from hame.base.errors import Failure
from hame.base.json import (
    JsonObject,
    dump,
    get_bool,
    get_int,
    get_object,
    get_objects,
    get_string,
    parse_object,
)
from hame.base.message import StopReason
from hame.base.model import ModelFacts, Usage
from hame.base.ports import Frame
from hame.base.stream import (
    Completed,
    Failed,
    StreamEvent,
    TextDelta,
    ThinkingCompleted,
    ThinkingDelta,
    ToolCallArgsDelta,
    ToolCallCompleted,
    ToolCallStarted,
    UsageReported,
)
from hame.llm.arguments import parse_arguments
from hame.llm.broken import cut_stream, not_an_answer
from hame.llm.callids import mint_call_id
from hame.llm.classify import classify_error

_STOPS = {
    "stop": StopReason.END_TURN,
    "length": StopReason.MAX_TOKENS,
    "tool_calls": StopReason.TOOL_USE,
}


class OllamaDecoder:
    """Decodes the lines of one answer."""

    __slots__ = ("_answer", "_calls", "_ended", "_provider", "_said", "_thinking")

    def __init__(self, facts: ModelFacts) -> None:
        """Expect the first line."""
        self._provider = facts.vendor
        self._answer = ""
        self._calls = 0
        self._thinking = False
        self._said = False
        self._ended = False

    def feed(self, frame: Frame) -> Sequence[StreamEvent]:
        """Take one line."""
        if self._ended or not frame.data.strip():
            return ()
        line = parse_object(frame.data)
        if line is None:
            return self._fail(not_an_answer(self._provider, frame.data, mid_stream=self._said))
        return self.take(line)

    def take(self, line: JsonObject) -> Sequence[StreamEvent]:
        """Take one line that was parsed; a whole answer is one line too."""
        error = _error(line)
        if error is not None:
            return self._fail(classify_error(error, self._provider, mid_stream=self._said))
        if not self._answer:
            self._answer = f"{get_string(line, 'model')} {get_string(line, 'created_at')}"
        events = self._take_message(get_object(line, "message"))
        self._said = self._said or bool(events)
        return [*events, *self._finish(line)] if get_bool(line, "done") else events

    def close(self) -> Sequence[StreamEvent]:
        """The body has ended."""
        return () if self._ended else self._fail(cut_stream(self._provider, mid_stream=self._said))

    def _take_message(self, message: JsonObject) -> list[StreamEvent]:
        events: list[StreamEvent] = []
        thought = get_string(message, "thinking")
        if thought:
            events.append(ThinkingDelta(thought))
            self._thinking = True
        text = get_string(message, "content")
        if text:
            events += [*self._close_thinking(), TextDelta(text)]
        for source in get_objects(message, "tool_calls"):
            events += [*self._close_thinking(), *self._take_call(source)]
        return events

    def _close_thinking(self) -> Sequence[StreamEvent]:
        was, self._thinking = self._thinking, False
        return (ThinkingCompleted(),) if was else ()

    def _take_call(self, source: JsonObject) -> Sequence[StreamEvent]:
        function = get_object(source, "function")
        name = get_string(function, "name") or "unknown"
        number, self._calls = self._calls, self._calls + 1
        given = function.get("arguments")
        text = given if isinstance(given, str) else dump(given)
        call_id = get_string(source, "id") or mint_call_id(self._answer, number, f"{name} {text}")
        return (
            ToolCallStarted(number, call_id, name),
            ToolCallArgsDelta(number, text),
            ToolCallCompleted(number, parse_arguments(call_id, name, text)),
        )

    def _finish(self, line: JsonObject) -> Sequence[StreamEvent]:
        self._ended = True
        raw = get_string(line, "done_reason")
        reason = _STOPS.get(raw, StopReason.UNKNOWN) if raw else StopReason.END_TURN
        if self._calls and reason is StopReason.END_TURN:
            reason = StopReason.TOOL_USE
        return [*self._close_thinking(), *_usage(line), Completed(reason, raw)]

    def _fail(self, failure: Failure) -> Sequence[StreamEvent]:
        self._ended = True
        return (Failed(failure),)


def decode_body(body: bytes, facts: ModelFacts) -> Sequence[StreamEvent]:
    """Read a whole answer; one that is not `done` was cut."""
    decoder = OllamaDecoder(facts)
    events = decoder.feed(Frame(body.decode("utf-8", "replace")))
    return [*events, *decoder.close()]


def _error(line: JsonObject) -> object | None:
    """The error a line reports. A call that could not be parsed is reported under its own words."""
    error = line.get("error")
    if error:
        return error
    if "message" in line:
        return None
    named = next((key for key in line if key.startswith("error")), None)
    return f"{named}: {line[named]}" if named is not None and line[named] else None


def _usage(line: JsonObject) -> list[StreamEvent]:
    """The token counts of the last line. A prompt that was cached whole is not counted at all."""
    prompt, output = get_int(line, "prompt_eval_count"), get_int(line, "eval_count")
    if prompt is None and output is None:
        return []
    return [UsageReported(Usage(input_uncached=prompt or 0, output=output or 0))]
