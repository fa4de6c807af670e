"""Gemini generateContent, https://ai.google.dev/api/generate-content."""

from base64 import b64encode
from collections.abc import Iterator, Sequence

from hame.base.json import JsonObject, get_list
from hame.base.message import AnswerBlock, Image, Opaque, StopReason, Text, Thinking, ToolCall
from hame.base.model import Usage
from hame.testing.renderings.rendering import Utterance, own_payload, sse
from hame.testing.script import words

_STOPS = {
    StopReason.MAX_TOKENS: "MAX_TOKENS",
    StopReason.CONTENT_FILTER: "SAFETY",
    StopReason.REFUSAL: "SAFETY",
    StopReason.MALFORMED_TOOL_CALL: "MALFORMED_FUNCTION_CALL",
    StopReason.ERROR: "OTHER",
    StopReason.UNKNOWN: "OTHER",
}
_STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
}


class Gemini:
    """`generateContent` and `streamGenerateContent?alt=sse`."""

    wire = "gemini"
    media_type = "text/event-stream"

    def __init__(self, *, streams: bool) -> None:
        """One of its two methods."""
        self.streams_unasked = streams
        self._method = ":streamGenerateContent" if streams else ":generateContent"

    def answers(self, path: str) -> bool:
        """`.../models/NAME:METHOD`."""
        return path.endswith(self._method)

    def prefix(self, request: JsonObject) -> Sequence[object]:
        """Tools, the system instruction, then the contents."""
        system = request.get("systemInstruction")
        return [get_list(request, "tools"), system, *get_list(request, "contents")]

    def stream(self, said: Utterance) -> Iterator[bytes]:
        """A response for each piece; the last one has the reason for stopping."""
        parts = [part for block in said.answer.content for part in _parts(block)]
        for part in parts[:-1]:
            yield sse(_response(said, [part], None))
        yield sse(_response(said, parts[-1:], _stop(said)))

    def whole(self, said: Utterance) -> JsonObject:
        """One response with all parts."""
        parts = [part for block in said.answer.content for part in _parts(block)]
        return _response(said, parts, _stop(said))

    def error(self, status: int, message: str) -> JsonObject:
        """`{"error": {...}}` as all of Google's APIs write it."""
        name = _STATUSES.get(status, "INTERNAL")
        return {"error": {"code": status, "message": message, "status": name}}


def _stop(said: Utterance) -> str:
    malformed = any(call.arguments is None for call in said.answer.calls)
    return "MALFORMED_FUNCTION_CALL" if malformed else said.stop(_STOPS, "STOP")


def _response(said: Utterance, parts: list[JsonObject], finish: str | None) -> JsonObject:
    candidate: JsonObject = {"content": {"role": "model", "parts": parts}, "index": 0}
    if finish is not None:
        candidate["finishReason"] = finish
    return {
        "candidates": [candidate],
        "usageMetadata": _usage(said.usage),
        "modelVersion": said.model,
        "responseId": f"response-{said.number}",
    }


def _parts(block: AnswerBlock) -> list[JsonObject]:
    match block:
        case Text(text=text, signature=signature):
            return _signed([{"text": word} for word in words(text)] or [{"text": ""}], signature)
        case Thinking(text=text):
            return [{"text": word, "thought": True} for word in words(text)]
        case ToolCall(id=id_, name=name, arguments=arguments, signature=signature):
            if arguments is None:
                return []  # It says so in its reason for stopping, and sends nothing of the call.
            part: JsonObject = {"functionCall": {"id": id_, "name": name, "args": arguments}}
            return _signed([part], signature)
        case Image(media_type=media_type, data=data, signature=signature):
            inline = {"mimeType": media_type, "data": b64encode(data).decode()}
            return _signed([{"inlineData": inline}], signature)
        case Opaque():
            return [own_payload(block, "gemini")]


def _signed(parts: list[JsonObject], signature: str | None) -> list[JsonObject]:
    if signature is not None:
        parts[-1]["thoughtSignature"] = signature
    return parts


def _usage(usage: Usage) -> JsonObject:
    return {
        "promptTokenCount": usage.input_total,
        "cachedContentTokenCount": usage.cache_read,
        "candidatesTokenCount": usage.output - usage.reasoning,
        "thoughtsTokenCount": usage.reasoning,
        "totalTokenCount": usage.input_total + usage.output,
    }
