"""Anthropic Messages, https://docs.anthropic.com/en/api/messages-streaming."""

from collections.abc import Iterator, Sequence

from hame.base.json import JsonObject, get_list
from hame.base.message import AnswerBlock, Image, Opaque, StopReason, Text, Thinking, ToolCall
from hame.base.model import Usage
from hame.base.unfold import arguments_text
from hame.testing.renderings.rendering import ERROR_TYPES, Utterance, own_payload, pieces, sse
from hame.testing.script import words

_STOPS = {
    StopReason.TOOL_USE: "tool_use",
    StopReason.MAX_TOKENS: "max_tokens",
    StopReason.STOP_SEQUENCE: "stop_sequence",
    StopReason.REFUSAL: "refusal",
    StopReason.CONTENT_FILTER: "refusal",
    StopReason.PAUSE_TURN: "pause_turn",
    StopReason.CONTEXT_FULL: "model_context_window_exceeded",
}


class AnthropicMessages:
    """The Messages API."""

    wire = "anthropic_messages"
    media_type = "text/event-stream"
    streams_unasked = False

    def answers(self, path: str) -> bool:
        """`.../messages`."""
        return path.endswith("/messages")

    def prefix(self, request: JsonObject) -> Sequence[object]:
        """Tools, the system prompt, then the messages."""
        return [get_list(request, "tools"), request.get("system"), *get_list(request, "messages")]

    def stream(self, said: Utterance) -> Iterator[bytes]:
        """`message_start`, the blocks one after the other, `message_delta`, `message_stop`."""
        usage = _usage(said.usage)
        start: JsonObject = {**_message(said), "content": [], "stop_reason": None}
        start["usage"] = {**usage, "output_tokens": 1}
        yield _event("message_start", message=start)
        yield _event("ping")
        for index, block in enumerate(said.answer.content):
            content, deltas = _pieces(block)
            yield _event("content_block_start", index=index, content_block=content)
            for delta in deltas:
                yield _event("content_block_delta", index=index, delta=delta)
            yield _event("content_block_stop", index=index)
        stop = said.stop(_STOPS, "end_turn")
        yield _event(
            "message_delta", delta={"stop_reason": stop, "stop_sequence": None}, usage=usage
        )
        yield _event("message_stop")

    def whole(self, said: Utterance) -> JsonObject:
        """A `message`."""
        return {
            **_message(said),
            "content": [_block(block) for block in said.answer.content],
            "stop_reason": said.stop(_STOPS, "end_turn"),
            "usage": _usage(said.usage),
        }

    def error(self, status: int, message: str) -> JsonObject:
        """`{"type": "error", "error": {...}}`."""
        kind = ERROR_TYPES.get(status, "api_error")
        return {"type": "error", "error": {"type": kind, "message": message}}


def _event(kind: str, **members: object) -> bytes:
    return sse({"type": kind, **members}, kind)


def _message(said: Utterance) -> JsonObject:
    return {
        "id": f"msg_{said.number}",
        "type": "message",
        "role": "assistant",
        "model": said.model,
        "stop_sequence": None,
    }


def _block(block: AnswerBlock) -> JsonObject:
    match block:
        case Text(text=text):
            return {"type": "text", "text": text}
        case Thinking(text=text, signature=signature):
            return {"type": "thinking", "thinking": text, "signature": signature or ""}
        case ToolCall(id=id_, name=name, arguments=arguments):
            return {"type": "tool_use", "id": id_, "name": name, "input": arguments or {}}
        case Opaque():
            return own_payload(block, "anthropic_messages")
        case Image():
            raise ValueError("pictures are not said on anthropic_messages")


def _pieces(block: AnswerBlock) -> tuple[JsonObject, list[JsonObject]]:
    """A block as it begins, and what is then added to it."""
    whole = _block(block)
    match block:
        case Text(text=text):
            deltas: list[JsonObject] = [
                {"type": "text_delta", "text": word} for word in words(text)
            ]
            return {**whole, "text": ""}, deltas
        case Thinking(text=text, signature=signature):
            deltas = [{"type": "thinking_delta", "thinking": word} for word in words(text)]
            if signature is not None:
                deltas.append({"type": "signature_delta", "signature": signature})
            return {**whole, "thinking": "", "signature": ""}, deltas
        case ToolCall():
            text = arguments_text(block)
            return {**whole, "input": {}}, [
                {"type": "input_json_delta", "partial_json": piece} for piece in ["", *pieces(text)]
            ]
        case Opaque() | Image():
            return whole, []


def _usage(usage: Usage) -> JsonObject:
    return {
        "input_tokens": usage.input_uncached,
        "cache_creation_input_tokens": usage.cache_write + usage.cache_write_long,
        "cache_read_input_tokens": usage.cache_read,
        "cache_creation": {
            "ephemeral_5m_input_tokens": usage.cache_write,
            "ephemeral_1h_input_tokens": usage.cache_write_long,
        },
        "output_tokens": usage.output,
    }
