"""Chat Completions, https://platform.openai.com/docs/api-reference/chat-streaming."""

from collections.abc import Iterator, Sequence

from hame.base.json import JsonObject, get_list
from hame.base.message import AnswerBlock, Image, Opaque, StopReason, Text, Thinking, ToolCall
from hame.base.model import Usage
from hame.base.unfold import arguments_text
from hame.testing.renderings.rendering import ERROR_TYPES, Utterance, own_payload, pieces, sse
from hame.testing.script import words

_STOPS = {
    StopReason.TOOL_USE: "tool_calls",
    StopReason.MAX_TOKENS: "length",
    StopReason.CONTENT_FILTER: "content_filter",
    StopReason.REFUSAL: "content_filter",
}


class OpenAIChat:
    """Chat Completions as OpenAI and most other vendors speak it."""

    wire = "openai_chat"
    media_type = "text/event-stream"
    streams_unasked = False

    def answers(self, path: str) -> bool:
        """`.../chat/completions`."""
        return path.endswith("/chat/completions")

    def prefix(self, request: JsonObject) -> Sequence[object]:
        """Tools, then the messages."""
        return [get_list(request, "tools"), *get_list(request, "messages")]

    def stream(self, said: Utterance) -> Iterator[bytes]:
        """Chunks, the usage if it was asked for, `[DONE]`."""
        base = _base(said, "chat.completion.chunk")

        def chunk(delta: JsonObject, finish: str | None = None) -> bytes:
            choice = {"index": 0, "delta": delta, "finish_reason": finish}
            return sse({**base, "choices": [choice]})

        yield chunk({"role": "assistant", "content": ""})
        calls = 0
        for block in said.answer.content:
            for delta in _deltas(block, calls):
                yield chunk(delta)
            calls += isinstance(block, ToolCall)
        yield chunk({}, said.stop(_STOPS, "stop"))
        if said.usage_asked:
            yield sse({**base, "choices": [], "usage": _usage(said.usage)})
        yield b"data: [DONE]\n\n"

    def whole(self, said: Utterance) -> JsonObject:
        """A `chat.completion`."""
        answer = said.answer
        message: JsonObject = {"role": "assistant", "content": answer.text or None}
        if answer.thinking:
            message["reasoning_content"] = answer.thinking
        if answer.calls:
            message["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": arguments_text(call)},
                }
                for call in answer.calls
            ]
        choice = {"index": 0, "message": message, "finish_reason": said.stop(_STOPS, "stop")}
        usage = _usage(said.usage)
        return {**_base(said, "chat.completion"), "choices": [choice], "usage": usage}

    def error(self, status: int, message: str) -> JsonObject:
        """`{"error": {...}}`."""
        kind = ERROR_TYPES.get(status, "server_error")
        return {"error": {"message": message, "type": kind, "param": None, "code": None}}


def _base(said: Utterance, kind: str) -> JsonObject:
    return {
        "id": f"chatcmpl-{said.number}",
        "object": kind,
        "created": 1_800_000_000,
        "model": said.model,
    }


def _deltas(block: AnswerBlock, index: int) -> Iterator[JsonObject]:
    match block:
        case Text(text=text):
            for word in words(text):
                yield {"content": word}
        case Thinking(text=text):
            for word in words(text):
                yield {"reasoning_content": word}
        case ToolCall(id=id_, name=name):
            head = {"name": name, "arguments": ""}
            start = {"index": index, "id": id_, "type": "function", "function": head}
            yield {"tool_calls": [start]}
            for piece in pieces(arguments_text(block)):
                yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}
        case Opaque():
            yield own_payload(block, "openai_chat")
        case Image():
            raise ValueError("pictures are not said on openai_chat")


def _usage(usage: Usage) -> JsonObject:
    cost: JsonObject = {} if usage.paid_usd is None else {"cost": usage.paid_usd}
    return {
        "prompt_tokens": usage.input_total,
        "completion_tokens": usage.output,
        "total_tokens": usage.input_total + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
        **cost,
    }
