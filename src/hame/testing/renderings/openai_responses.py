"""OpenAI Responses, https://platform.openai.com/docs/api-reference/responses-streaming."""

from collections.abc import Iterator, Sequence
from itertools import count

from hame.base.json import JsonObject, get_list, get_string
from hame.base.message import AnswerBlock, Image, Opaque, StopReason, Text, Thinking, ToolCall
from hame.base.model import Usage
from hame.base.unfold import arguments_text
from hame.testing.renderings.rendering import ERROR_TYPES, Utterance, own_payload, pieces, sse
from hame.testing.script import words

_INCOMPLETE = {
    StopReason.MAX_TOKENS: "max_output_tokens",
    StopReason.CONTENT_FILTER: "content_filter",
}


class OpenAIResponses:
    """The Responses API."""

    wire = "openai_responses"
    media_type = "text/event-stream"
    streams_unasked = False

    def answers(self, path: str) -> bool:
        """`.../responses`."""
        return path.endswith("/responses")

    def prefix(self, request: JsonObject) -> Sequence[object]:
        """Tools, the instructions, then the input."""
        given = request.get("input")
        items = [given] if isinstance(given, str) else get_list(request, "input")
        return [get_list(request, "tools"), request.get("instructions"), *items]

    def stream(self, said: Utterance) -> Iterator[bytes]:
        """`response.created`, the items one after the other, `response.completed` or its like."""
        number = count()

        def event(kind: str, **members: object) -> bytes:
            return sse({"type": kind, "sequence_number": next(number), **members}, kind)

        begun: JsonObject = {**_response(said), "status": "in_progress", "output": []}
        yield event("response.created", response=begun)
        yield event("response.in_progress", response=begun)
        for index, block in enumerate(said.answer.content):
            for kind, members in _item_events(block, _item(said, index, block), said):
                yield event(kind, output_index=index, **members)
        whole = self.whole(said)
        yield event(f"response.{whole['status']}", response=whole)

    def whole(self, said: Utterance) -> JsonObject:
        """A `response`."""
        reason = _INCOMPLETE.get(said.answer.stop_reason)
        failed = said.answer.stop_reason is StopReason.ERROR
        return {
            **_response(said),
            "status": "failed" if failed else "incomplete" if reason else "completed",
            "incomplete_details": {"reason": reason} if reason else None,
            "error": {"code": "server_error", "message": "It broke."} if failed else None,
            "output": [
                _item(said, index, block) for index, block in enumerate(said.answer.content)
            ],
            "usage": _usage(said.usage),
        }

    def error(self, status: int, message: str) -> JsonObject:
        """`{"error": {...}}`."""
        kind = ERROR_TYPES.get(status, "server_error")
        return {"error": {"message": message, "type": kind, "param": None, "code": None}}


def _response(said: Utterance) -> JsonObject:
    return {
        "id": f"resp_{said.number}",
        "object": "response",
        "created_at": 1_800_000_000,
        "model": said.model,
    }


def _item(said: Utterance, index: int, block: AnswerBlock) -> JsonObject:
    # As it is when it is whole.
    suffix = f"{said.number}_{index}"
    match block:
        case Text(text=text):
            part: JsonObject = {"type": "output_text", "text": text, "annotations": []}
            if said.answer.stop_reason is StopReason.REFUSAL:
                part = {"type": "refusal", "refusal": text}
            return {
                "id": f"msg_{suffix}",
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "content": [part],
            }
        case Thinking(text=text, signature=signature):
            summary = [{"type": "summary_text", "text": text}] if text else []
            item: JsonObject = {"id": f"rs_{suffix}", "type": "reasoning", "summary": summary}
            return {**item, "encrypted_content": signature} if signature else item
        case ToolCall(id=id_, name=name):
            return {
                "id": f"fc_{suffix}",
                "type": "function_call",
                "status": "completed",
                "call_id": id_,
                "name": name,
                "arguments": arguments_text(block),
            }
        case Opaque():
            return own_payload(block, "openai_responses")
        case Image():
            raise ValueError("pictures are not said on openai_responses")


def _item_events(
    block: AnswerBlock, item: JsonObject, said: Utterance
) -> Iterator[tuple[str, JsonObject]]:
    match block:
        case Text(text=text):
            refused = said.answer.stop_reason is StopReason.REFUSAL
            yield from _message_events(item, text, "refusal" if refused else "output_text")
        case Thinking(text=text):
            yield from _reasoning_events(item, text)
        case ToolCall():
            yield from _call_events(item, arguments_text(block))
        case Opaque() | Image():
            yield _added(item)
    yield "response.output_item.done", {"item": item}


def _added(item: JsonObject, **empty: object) -> tuple[str, JsonObject]:
    return "response.output_item.added", {"item": {**item, "status": "in_progress", **empty}}


def _message_events(item: JsonObject, text: str, kind: str) -> Iterator[tuple[str, JsonObject]]:
    place: JsonObject = {"item_id": item["id"], "content_index": 0}
    member = "refusal" if kind == "refusal" else "text"
    yield _added(item, content=[])
    yield "response.content_part.added", {**place, "part": {"type": kind, member: ""}}
    for word in words(text):
        yield f"response.{kind}.delta", {**place, "delta": word}
    yield f"response.{kind}.done", {**place, member: text}
    yield "response.content_part.done", {**place, "part": get_list(item, "content")[0]}


def _reasoning_events(item: JsonObject, text: str) -> Iterator[tuple[str, JsonObject]]:
    place: JsonObject = {"item_id": item["id"], "summary_index": 0}
    part = {"type": "summary_text", "text": text}
    yield _added(item, summary=[])
    if text:
        empty = {**part, "text": ""}
        yield "response.reasoning_summary_part.added", {**place, "part": empty}
        for word in words(text):
            yield "response.reasoning_summary_text.delta", {**place, "delta": word}
        yield "response.reasoning_summary_text.done", {**place, "text": text}
        yield "response.reasoning_summary_part.done", {**place, "part": part}


def _call_events(item: JsonObject, text: str) -> Iterator[tuple[str, JsonObject]]:
    kind, place = "response.function_call_arguments", {"item_id": get_string(item, "id")}
    yield _added(item, arguments="")
    for piece in pieces(text):
        yield f"{kind}.delta", {**place, "delta": piece}
    yield f"{kind}.done", {**place, "arguments": text}


def _usage(usage: Usage) -> JsonObject:
    return {
        "input_tokens": usage.input_total,
        "input_tokens_details": {"cached_tokens": usage.cache_read},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.input_total + usage.output,
    }
