"""A Responses answer -> StreamEvents, streamed or whole.

Events: https://platform.openai.com/docs/api-reference/responses-streaming
The type of an event is read from its data, not from the `event:` line, which some gateways leave out.
The `[DONE]` that others append says nothing: an answer ends with response.completed, .incomplete,
.failed or an error, and a body that ends before one of them broke.
"""

from collections.abc import Sequence

from hame.base.errors import Failure
from hame.base.json import JsonObject, get_int, get_object, get_objects, get_string, parse_object
from hame.base.message import StopReason
from hame.base.model import ModelFacts, Usage
from hame.base.ports import Frame
from hame.base.stream import Completed, Failed, StreamEvent, UsageReported
from hame.llm.broken import cut_stream, not_an_answer
from hame.llm.classify import classify_error
from hame.llm.wires.openai_responses.output import Output

_TERMINAL = {
    "response.completed": "completed",
    "response.done": "completed",
    "response.incomplete": "incomplete",
    "response.failed": "failed",
    "response.cancelled": "cancelled",
}
_THINKING = frozenset({
    "response.reasoning_summary_text.delta",
    "response.reasoning_text.delta",
    "response.reasoning.delta",
})
_ARGUMENTS = frozenset({
    "response.function_call_arguments.delta",
    "response.custom_tool_call_input.delta",
})


class ResponsesDecoder:
    """Decodes the events of one streamed answer."""

    __slots__ = ("_ended", "_output", "_provider")

    def __init__(self, facts: ModelFacts) -> None:
        """Expect the first event."""
        self._provider = facts.vendor
        self._output = Output()
        self._ended = False

    def feed(self, frame: Frame) -> Sequence[StreamEvent]:
        """Take one event."""
        if self._ended or frame.data.strip() == "[DONE]":
            return ()
        event = parse_object(frame.data)
        if event is None:
            return self._end(
                not_an_answer(self._provider, frame.data, mid_stream=self._output.said)
            )
        return self._take(get_string(event, "type") or frame.event, event)

    def close(self) -> Sequence[StreamEvent]:
        """The body has ended."""
        if self._ended:
            return ()
        return self._end(cut_stream(self._provider, mid_stream=self._output.said))

    def finish(
        self, response: JsonObject, status: str, *, mid_stream: bool
    ) -> Sequence[StreamEvent]:
        """Take the whole response object that ends an answer."""
        self._output.answer = get_string(response, "id") or self._output.answer
        error = response.get("error")
        if error or status in {"failed", "cancelled"}:
            said = error or {"code": status, "message": f"The response is {status}."}
            failure = classify_error(said, self._provider, mid_stream=mid_stream)
            return [*_usage(response), *self._end(failure)]
        events = [*self._output.settle(response), *_usage(response)]
        if status in {"queued", "in_progress"}:
            cut = cut_stream(self._provider, mid_stream=self._output.said)
            return [*events, *self._end(cut)]
        stop, raw = self._stop(response, status)
        self._ended = True
        return [*events, Completed(stop, raw)]

    def _take(self, kind: str, event: JsonObject) -> Sequence[StreamEvent]:
        index = get_int(event, "output_index")
        match kind:
            case "response.created":
                self._output.answer = get_string(get_object(event, "response"), "id") or ""
                return ()
            case "response.output_item.added":
                return self._output.open(get_object(event, "item"), index)
            case "response.output_item.done":
                return self._output.finish(get_object(event, "item"), index)
            case "response.output_text.delta":
                return self._output.add_text(event)
            case "response.output_text.done":
                return self._output.end_text(event)
            case _ if kind in _THINKING:
                return self._output.add_thinking(event)
            case _ if kind in _ARGUMENTS:
                return self._output.add_arguments(event)
            case _ if kind in _TERMINAL:
                response = get_object(event, "response")
                status = get_string(response, "status") or _TERMINAL[kind]
                return self.finish(response, status, mid_stream=True)
            case _ if kind in {"error", "response.error"} or (not kind and event.get("error")):
                return self._end(classify_error(event, self._provider, mid_stream=True))
            case _:
                return ()

    def _end(self, failure: Failure) -> Sequence[StreamEvent]:
        self._ended = True
        return (*self._output.release(), Failed(failure))

    def _stop(self, response: JsonObject, status: str) -> tuple[StopReason, str]:
        """Why the model stopped, in hame's word and in the provider's."""
        if status == "incomplete":
            reason = get_string(get_object(response, "incomplete_details"), "reason")
            return _CUT_SHORT.get(reason or "", StopReason.UNKNOWN), f"incomplete:{reason}"
        if self._output.calls:
            return StopReason.TOOL_USE, status
        return (StopReason.REFUSAL if self._output.refused else StopReason.END_TURN), status


_CUT_SHORT = {
    "max_output_tokens": StopReason.MAX_TOKENS,
    "max_tokens": StopReason.MAX_TOKENS,
    "length": StopReason.MAX_TOKENS,
    "content_filter": StopReason.CONTENT_FILTER,
}


def decode_body(body: bytes, facts: ModelFacts) -> Sequence[StreamEvent]:
    """Read a whole answer; an unfinished one is a failure."""
    found = parse_object(body)
    if found is None:
        return (Failed(not_an_answer(facts.vendor, body.decode("utf-8", "replace"))),)
    response = get_object(found, "response") or found
    status = get_string(response, "status")
    if status is None and not get_objects(response, "output"):
        if response.get("error"):
            return (Failed(classify_error(response, facts.vendor)),)
        return (Failed(not_an_answer(facts.vendor, "")),)
    return ResponsesDecoder(facts).finish(response, status or "completed", mid_stream=False)


def _usage(response: JsonObject) -> list[StreamEvent]:
    """The token counts of a response; none when the server did not count.

    `input_tokens` includes what was read from and written to the cache.
    """
    usage = get_object(response, "usage")
    total = get_int(usage, "input_tokens")
    output = get_int(usage, "output_tokens")
    if total is None and output is None:
        return []
    inside = get_object(usage, "input_tokens_details")
    read = get_int(inside, "cached_tokens") or 0
    written = get_int(inside, "cache_write_tokens") or 0
    counted = Usage(
        input_uncached=max(0, (total or 0) - read - written),
        cache_read=read,
        cache_write=written,
        output=output or 0,
        reasoning=get_int(get_object(usage, "output_tokens_details"), "reasoning_tokens") or 0,
    )
    return [UsageReported(counted)]
