"""A Gemini answer -> StreamEvents: streamed, whole, or a stream written as one JSON array.

Responses: https://ai.google.dev/api/generate-content#generatecontentresponse
There is no last event: every chunk may carry a finishReason, so the answer ends with its body, and a
body that ends without a reason to stop was cut.
"""

from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Iterator, Sequence

from hame.base.errors import Failure
from hame.base.json import (
    Json,
    JsonObject,
    as_list,
    as_object,
    get_int,
    get_object,
    get_objects,
    get_string,
    parse,
)
from hame.base.message import Image, Opaque, StopReason
from hame.base.model import ModelFacts, Usage
from hame.base.ports import Frame
from hame.base.stream import (
    Completed,
    Failed,
    ImageCompleted,
    OpaqueCompleted,
    StreamEvent,
    TextDelta,
    ThinkingCompleted,
    ThinkingDelta,
    UsageReported,
)
from hame.llm.broken import cut_stream, not_an_answer
from hame.llm.classify import classify_error
from hame.llm.errorbody import one_line
from hame.llm.wires.gemini.calls import Calls

WIRE = "gemini"

CITATIONS = "citations"
"""Kind of the block that keeps where an answer has things from; it is hame's, and no part of the wire."""

_SOURCES = ("groundingMetadata", "citationMetadata", "urlContextMetadata")

_FILTERED = frozenset({
    "SAFETY",
    "RECITATION",
    "LANGUAGE",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "IMAGE_SAFETY",
    "IMAGE_PROHIBITED_CONTENT",
    "IMAGE_RECITATION",
    "ESCALATION",
    "PUP_LIMITED_DISABLED",
    "MODEL_ARMOR",
})
_MALFORMED = frozenset({"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE"})
_LINE = 160


class GeminiDecoder:
    """Decodes the chunks of one answer."""

    __slots__ = (
        "_block",
        "_calls",
        "_ended",
        "_finish",
        "_mid_stream",
        "_provider",
        "_said",
        "_sources",
        "_thinking",
        "_usage",
    )

    def __init__(self, facts: ModelFacts, *, mid_stream: bool = True) -> None:
        """Expect the first chunk; `mid_stream` says whether the answer comes as a stream."""
        self._provider = facts.vendor
        self._mid_stream = mid_stream
        self._calls = Calls()
        self._sources: dict[str, JsonObject] = {}
        self._usage: dict[str, int] = {}
        self._finish: str | None = None
        self._block: str | None = None
        self._thinking = False
        self._said = False
        self._ended = False

    def feed(self, frame: Frame) -> Sequence[StreamEvent]:
        """Take one event of the stream."""
        data = frame.data.strip()
        if self._ended or data == "[DONE]":
            return ()
        try:
            return self.take(parse(data))
        except ValueError:
            return self._end(not_an_answer(self._provider, data, mid_stream=self._said))

    def take(self, chunk: Json) -> Sequence[StreamEvent]:
        """Take one chunk, or a list of them."""
        chunks = as_list(chunk)
        if chunks is not None:
            return [event for one in chunks for event in self.take(one)]
        found = as_object(chunk)
        if self._ended or found is None:
            return ()
        if "candidates" not in found and "error" not in found:
            found = get_object(found, "response") or found
        if found.get("error"):
            return self._end(classify_error(found, self._provider, mid_stream=self._mid_stream))
        events = self._take_candidate(found)
        self._said = self._said or bool(events)
        return [*events, *self._count(get_object(found, "usageMetadata"))]

    def close(self) -> Sequence[StreamEvent]:
        """The body has ended."""
        if self._ended:
            return ()
        events = self._leave_thinking()
        if self._finish is None and self._block is None:
            return [*events, *self._end(cut_stream(self._provider, mid_stream=self._said))]
        self._ended = True
        events.extend(self._calls.close())
        if self._sources:
            events.append(_opaque(CITATIONS, dict(self._sources)))
        return [*events, self._completed()]

    def _take_candidate(self, chunk: JsonObject) -> list[StreamEvent]:
        self._block = get_string(get_object(chunk, "promptFeedback"), "blockReason") or self._block
        self._calls.name_answer(get_string(chunk, "responseId") or get_string(chunk, "createTime"))
        candidates = [one for one in get_objects(chunk, "candidates") if not get_int(one, "index")]
        events: list[StreamEvent] = []
        for candidate in candidates:
            for part in get_objects(get_object(candidate, "content"), "parts"):
                events.extend(self._take_part(part))
            reason = get_string(candidate, "finishReason")
            if reason and reason != "FINISH_REASON_UNSPECIFIED":
                self._finish = reason
            for key in _SOURCES:
                if found := get_object(candidate, key):
                    self._sources[key] = found
        return events

    def _take_part(self, part: JsonObject) -> list[StreamEvent]:
        signature = get_string(part, "thoughtSignature") or None
        call = as_object(part.get("functionCall"))
        text = get_string(part, "text")
        if call is None and text is not None and part.get("thought") is True:
            return self._think(text, signature)
        events = self._leave_thinking()
        if call is not None:
            events.extend(self._calls.take(call, signature))
        elif text is not None or set(part) <= {"thoughtSignature", "thought"}:
            if text or signature:
                events.append(TextDelta(text or "", signature))
        else:
            events.append(_made(part, signature))
        return events

    def _think(self, text: str, signature: str | None) -> list[StreamEvent]:
        events: list[StreamEvent] = [ThinkingDelta(text)] if text else []
        self._thinking = signature is None
        return [*events, ThinkingCompleted(signature)] if signature else events

    def _leave_thinking(self) -> list[StreamEvent]:
        was, self._thinking = self._thinking, False
        return [ThinkingCompleted()] if was else []

    def _count(self, counts: JsonObject) -> list[StreamEvent]:
        """Report the tokens when their count has changed; chunks without a count say nothing."""
        found = {key: number for key in _COUNTS if (number := get_int(counts, key)) is not None}
        if not found or found == self._usage:
            return []
        self._usage = found
        return [UsageReported(_usage(found))]

    def _completed(self) -> Completed:
        reason = self._finish
        if reason is None:
            return Completed(StopReason.CONTENT_FILTER, f"blockReason:{self._block}")
        if reason == "STOP":
            stop = StopReason.TOOL_USE if self._calls.count else StopReason.END_TURN
        elif reason in {"MAX_TOKENS", "CONTINUATION"}:
            stop = StopReason.MAX_TOKENS
        elif reason in _FILTERED:
            stop = StopReason.CONTENT_FILTER
        elif reason in _MALFORMED:
            stop = StopReason.MALFORMED_TOOL_CALL
        else:
            stop = StopReason.UNKNOWN
        return Completed(stop, reason)

    def _end(self, failure: Failure) -> Sequence[StreamEvent]:
        self._ended = True
        return (Failed(failure),)


def decode_body(body: bytes, facts: ModelFacts) -> Sequence[StreamEvent]:
    """Read an answer that came whole; an unfinished one is a failure."""
    try:
        found = parse(body)
    except ValueError:
        return (Failed(not_an_answer(facts.vendor, body.decode("utf-8", "replace"))),)
    decoder = GeminiDecoder(facts, mid_stream=False)
    return [*decoder.take(found), *decoder.close()]


_COUNTS = (
    "promptTokenCount",
    "toolUsePromptTokenCount",
    "cachedContentTokenCount",
    "candidatesTokenCount",
    "thoughtsTokenCount",
)


def _usage(counts: dict[str, int]) -> Usage:
    """Prompt tokens include cached ones; those of tool results and of thoughts come on top."""
    prompt, tools, cached, answer, thoughts = (counts.get(key, 0) for key in _COUNTS)
    return Usage(
        input_uncached=max(0, prompt + tools - cached),
        cache_read=cached,
        output=answer + thoughts,
        reasoning=thoughts,
    )


def _made(part: JsonObject, signature: str | None) -> StreamEvent:
    """A part that the provider made: a picture, code it ran, a search."""
    inline = get_object(part, "inlineData")
    media_type = get_string(inline, "mimeType") or ""
    if media_type.startswith("image/"):
        try:
            data = b64decode(get_string(inline, "data") or "", validate=True)
        except Base64Error:
            data = b""
        if data:
            return ImageCompleted(Image(media_type, data, signature=signature))
    kind = next((key for key in part if key not in {"thought", "thoughtSignature"}), "part")
    return _opaque(kind, part)


def _opaque(kind: str, payload: JsonObject) -> OpaqueCompleted:
    return OpaqueCompleted(
        Opaque(
            wire=WIRE, kind=kind, payload=payload, summary=one_line(_describe(kind, payload), _LINE)
        )
    )


def _describe(kind: str, payload: JsonObject) -> str:
    """A part on one line, for eyes."""
    inner = get_object(payload, kind)
    match kind:
        case "executableCode":
            return f"code: {get_string(inner, 'code') or ''}"
        case "codeExecutionResult":
            return f"result: {get_string(inner, 'output') or get_string(inner, 'outcome') or ''}"
        case "citations":
            return "sources: " + ", ".join(dict.fromkeys(filter(None, _sources(payload))))
        case _:
            return " ".join(
                filter(None, (kind, get_string(inner, "toolType"), get_string(inner, "mimeType")))
            )


def _sources(payload: JsonObject) -> Iterator[str]:
    """The names of what was searched, quoted and fetched."""
    for chunk in get_objects(get_object(payload, "groundingMetadata"), "groundingChunks"):
        found = get_object(chunk, "web") or get_object(chunk, "retrievedContext")
        yield get_string(found, "title") or get_string(found, "uri") or ""
    quoted = get_object(payload, "citationMetadata")
    for one in get_objects(quoted, "citationSources") or get_objects(quoted, "citations"):
        yield get_string(one, "title") or get_string(one, "uri") or ""
    for page in get_objects(get_object(payload, "urlContextMetadata"), "urlMetadata"):
        yield get_string(page, "retrievedUrl") or ""
