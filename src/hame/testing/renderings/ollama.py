"""Ollama chat, https://docs.ollama.com/api/chat."""

from collections.abc import Iterator, Sequence

from hame.base.json import JsonObject, dump_bytes, get_list
from hame.base.message import AnswerBlock, Image, Opaque, StopReason, Text, Thinking, ToolCall
from hame.testing.renderings.rendering import Utterance
from hame.testing.script import words

_STOPS = {StopReason.MAX_TOKENS: "length"}


class Ollama:
    """`/api/chat`, one JSON object a line."""

    wire = "ollama"
    media_type = "application/x-ndjson"
    streams_unasked = True

    def answers(self, path: str) -> bool:
        """`.../api/chat`."""
        return path.endswith("/api/chat")

    def prefix(self, request: JsonObject) -> Sequence[object]:
        """Tools, then the messages."""
        return [get_list(request, "tools"), *get_list(request, "messages")]

    def stream(self, said: Utterance) -> Iterator[bytes]:
        """A line for each piece; the last one is done."""
        for block in said.answer.content:
            for message in _messages(block):
                line = {**_line(said), "message": {"role": "assistant", "content": "", **message}}
                yield dump_bytes({**line, "done": False}) + b"\n"
        last = {**_line(said), "message": {"role": "assistant", "content": ""}, **_end(said)}
        yield dump_bytes(last) + b"\n"

    def whole(self, said: Utterance) -> JsonObject:
        """One line with everything."""
        answer = said.answer
        message: JsonObject = {"role": "assistant", "content": answer.text}
        if answer.thinking:
            message["thinking"] = answer.thinking
        if answer.calls:
            message["tool_calls"] = [_call(call) for call in answer.calls]
        return {**_line(said), "message": message, **_end(said)}

    def error(self, _status: int, message: str) -> JsonObject:
        """`{"error": "..."}`."""
        return {"error": message}


def _line(said: Utterance) -> JsonObject:
    return {"model": said.model, "created_at": "2026-11-30T12:00:00.000000Z"}


def _end(said: Utterance) -> JsonObject:
    return {
        "done": True,
        "done_reason": said.stop(_STOPS, "stop"),
        "total_duration": 1_000_000,
        "load_duration": 1_000,
        "prompt_eval_count": said.usage.input_total,
        "prompt_eval_duration": 1_000,
        "eval_count": said.usage.output,
        "eval_duration": 1_000,
    }


def _messages(block: AnswerBlock) -> list[JsonObject]:
    match block:
        case Text(text=text):
            return [{"content": word} for word in words(text)]
        case Thinking(text=text):
            return [{"thinking": word} for word in words(text)]
        case ToolCall():
            return [{"tool_calls": [_call(block)]}]
        case Opaque() | Image():
            raise ValueError(f"ollama does not say {type(block).__name__} blocks")


def _call(call: ToolCall) -> JsonObject:
    """A call; arguments that are no JSON come as the string they are."""
    arguments = call.malformed if call.arguments is None else call.arguments
    return {"id": call.id, "function": {"name": call.name, "arguments": arguments}}
