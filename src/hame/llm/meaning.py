"""What a recorded response means, as one JSON object: the ground of `hame debug decode`.

Keys: `text`, `thinking`, `tool_calls` [{id, name, args}] (`args` null with `raw_args` and
`args_valid_json: false` where they are no JSON object), `stop_reason`, `raw_stop_reason`,
`complete`, `usage`, and where there is any: `error`, `server_tools`, `citations`, `thinking_blocks`,
`thought_signatures`, `reasoning_details`, `refusal`, `partial_tool_calls`, `executable`. Signatures
and encrypted blobs are shown by length and hash, and so is the text of signed thinking.
"""

import hashlib
from collections.abc import Iterable, Mapping

from hame.base.errors import ErrorKind, Failure
from hame.base.fold import Fold
from hame.base.json import JsonObject, get_list, get_object, get_objects, get_string
from hame.base.message import AnswerBlock, Image, Opaque, Thinking, ToolCall
from hame.base.model import ModelFacts, Usage
from hame.base.ports import Codec
from hame.base.stream import (
    Failed,
    ImageCompleted,
    OpaqueCompleted,
    StreamEvent,
    TextDelta,
    ToolCallArgsDelta,
    ToolCallCompleted,
    ToolCallStarted,
)
from hame.llm.answer import AnswerReader
from hame.llm.classify import classify_response


def read_meaning(
    codec: Codec,
    facts: ModelFacts,
    *,
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    chunks: Iterable[bytes] | None = None,
) -> JsonObject:
    """Decode a recorded response; `chunks` are the pieces in which the body is to be read."""
    if status >= 400:
        failure = classify_response(status, headers, body, facts.vendor)
        return _meaning([Failed(failure)], codec, status)
    reader = AnswerReader(codec, facts, headers.get("content-type", ""))
    events: list[StreamEvent] = []
    for chunk in (body,) if chunks is None else chunks:
        events += reader.feed(chunk)
    events += reader.close()
    return _meaning(events, codec, status)


def _meaning(events: list[StreamEvent], codec: Codec, http_status: int) -> JsonObject:
    fold = Fold()
    for event in events:
        fold.add(event)
    message = fold.message()
    events = _without_superseded(events)
    thoughts = [block.text for block in message.content if isinstance(block, Thinking)]
    meaning: JsonObject = {
        "text": message.text,
        "thinking": _joint(codec).join(thought for thought in thoughts if thought),
        "tool_calls": [_call(call) for call in message.calls],
        "stop_reason": str(fold.stop) if fold.stop else None,
        "raw_stop_reason": fold.raw_stop,
        "usage": _usage(fold.usage),
    }
    _add_ending(meaning, fold.failure, http_status)
    if fold.failure is not None:
        _add_pieces(meaning, events)
    extras: JsonObject = {
        "server_tools": [_server_tool(block) for block in _opaque(events) if _is_server_tool(block)]
        + [{"type": _image_type(codec), "mime": block.media_type} for block in _images(events)],
        "refusal": "".join(block.summary for block in _opaque(events) if block.kind == "refusal"),
        "citations": sum(_sources(block) for block in _opaque(events)),
        "thinking_blocks": [seen for block in message.content if (seen := _thinking_block(block))],
        "thought_signatures": [
            seen
            for event in events
            if codec.name != "openai_responses" and (seen := _thought_signature(event))
        ],
        "reasoning_details": [
            _detail(item)
            for block in _opaque(events)
            if block.kind == "reasoning_details"
            for item in get_objects(block.payload, "details")
        ],
    }
    meaning.update({key: value for key, value in extras.items() if value})
    return meaning


def _without_superseded(events: list[StreamEvent]) -> list[StreamEvent]:
    """The events with every opaque block in its last version, where its first one stood."""
    kept: list[StreamEvent] = []
    for event in events:
        places = [
            place
            for place, earlier in enumerate(kept)
            if isinstance(event, OpaqueCompleted)
            and isinstance(earlier, OpaqueCompleted)
            and event.block.replaces(earlier.block)
        ]
        if places:
            kept[places[0]] = event
        else:
            kept.append(event)
    return kept


def _image_type(codec: Codec) -> str:
    """What the wire calls a picture that the model made."""
    return "inlineData" if codec.name == "gemini" else "image"


def _joint(codec: Codec) -> str:
    """What stands between two blocks of thinking: Responses sends separate items, others pieces."""
    return "\n\n" if codec.name == "openai_responses" else ""


def _call(call: ToolCall) -> JsonObject:
    found: JsonObject = {"id": call.id, "name": call.name, "args": call.arguments}
    if call.arguments is None:
        found |= {"raw_args": call.malformed, "args_valid_json": False}
    return found


def _usage(usage: Usage | None) -> JsonObject | None:
    if usage is None:
        return None
    return {
        "input_total": usage.input_total,
        "input_uncached": usage.input_uncached,
        "cache_read": usage.cache_read,
        "cache_write": usage.cache_write + usage.cache_write_long,
        "output": usage.output,
        "reasoning": usage.reasoning,
    }


def _add_ending(meaning: JsonObject, failed: Failed | None, http_status: int) -> None:
    """A stream that was cut is not complete; what the provider reported is an error."""
    if failed is None:
        meaning["complete"] = True
    elif failed.failure.kind is ErrorKind.NETWORK:
        meaning["complete"] = False
        meaning["notes"] = [failed.failure.message]
    else:
        meaning["stop_reason"] = "error"
        meaning["error"] = _error(failed.failure, http_status)


def _error(failure: Failure, http_status: int) -> JsonObject:
    return {
        "category": str(failure.kind),
        "retryable": failure.retryable,
        "retry_after_s": failure.retry_after_s,
        "mid_stream": failure.mid_stream,
        "http_status": http_status,
        "message": failure.said or None,
        "explanation": failure.message,
        "hint": failure.hint,
        "parameter": failure.parameter,
    }


def _add_pieces(meaning: JsonObject, events: list[StreamEvent]) -> None:
    """Calls of an answer that broke: none may be run, and some are not even whole."""
    begun = {event.index: event for event in events if isinstance(event, ToolCallStarted)}
    if not begun:
        return
    whole = {event.index for event in events if isinstance(event, ToolCallCompleted)}
    pieces: dict[int, str] = dict.fromkeys(begun, "")
    for event in events:
        if isinstance(event, ToolCallArgsDelta):
            pieces[event.index] = pieces.get(event.index, "") + event.text
    meaning["executable"] = False
    meaning["partial_tool_calls"] = [
        {"id": start.id, "name": start.name, "raw_args": pieces[index]}
        for index, start in begun.items()
        if index not in whole
    ]


def _opaque(events: list[StreamEvent]) -> list[Opaque]:
    return [event.block for event in events if isinstance(event, OpaqueCompleted)]


def _images(events: list[StreamEvent]) -> list[Image]:
    return [event.block for event in events if isinstance(event, ImageCompleted)]


_OTHER_KINDS = frozenset({
    "redacted_thinking",
    "reasoning",
    "reasoning_details",
    "citations",
    "refusal",
})


def _is_server_tool(block: Opaque) -> bool:
    return block.kind not in _OTHER_KINDS


def _server_tool(block: Opaque) -> JsonObject:
    """The facts of a block the provider made, wherever its wire puts them."""
    inner = get_object(block.payload, block.kind) or block.payload
    view: JsonObject = {"type": block.kind}
    for key in ("id", "name", "status", "tool_use_id", "call_id", "outcome", "language"):
        if (found := get_string(inner, key)) is not None:
            view[key] = found
    if "input" in inner:
        view["args"] = inner["input"]
    content = get_object(inner, "content")
    if content:
        view["content_type"] = get_string(content, "type")
        view["error_code"] = get_string(content, "error_code")
    elif items := get_list(inner, "content"):
        view["content_items"] = len(items)
    return {key: value for key, value in view.items() if value is not None}


def _sources(block: Opaque) -> int:
    """How many sources a block of citations names."""
    if block.kind != "citations":
        return 0
    return len(get_list(block.payload, "citations") or get_list(block.payload, "annotations"))


def _thinking_block(block: AnswerBlock) -> JsonObject | None:
    match block:
        case Thinking(text=text, signature=str() as signature):
            text_sha = _hashed(text)["sha"]
            return {"type": "thinking", "text_sha": text_sha, **_seal("signature", signature)}
        case Opaque(kind="redacted_thinking", payload=payload):
            return {"type": "redacted_thinking", **_seal("data", get_string(payload, "data"))}
        case Opaque(kind="reasoning", payload=payload):
            return {
                "type": "reasoning",
                "id": get_string(payload, "id"),
                "summary_parts": len(get_list(payload, "summary")),
                "content_parts": len(get_list(payload, "content")),
                **_seal("encrypted", get_string(payload, "encrypted_content")),
            }
        case _:
            return None


def _thought_signature(event: StreamEvent) -> JsonObject | None:
    """The seal on a part of an answer; Responses keeps a message's phase there, which is none."""
    match event:
        case TextDelta(text=text, signature=str() as signature):
            return {"on": "text", **_hashed(signature), "part_text_empty": not text}
        case ToolCallCompleted(call=ToolCall(signature=str() as signature)):
            return {"on": "functionCall", **_hashed(signature)}
        case OpaqueCompleted(block=block):
            signature = get_string(block.payload, "thoughtSignature")
            return {"on": block.kind, **_hashed(signature)} if signature else None
        case _:
            return None


def _detail(item: JsonObject) -> JsonObject:
    """One of OpenRouter's reasoning details."""
    text = get_string(item, "text") or get_string(item, "summary") or ""
    view: JsonObject = {"type": get_string(item, "type"), "format": get_string(item, "format")}
    for key in ("data", "signature"):
        if sealed := get_string(item, key):
            view |= _seal(key, sealed)
    return {**view, "text_len": len(text)}


def _seal(name: str, sealed: str | None) -> JsonObject:
    """Length and hash of something that goes back unread."""
    if not sealed:
        return {f"{name}_len": 0, f"{name}_sha": None}
    hashed = _hashed(sealed)
    return {f"{name}_len": hashed["len"], f"{name}_sha": hashed["sha"]}


def _hashed(sealed: str) -> JsonObject:
    return {"len": len(sealed), "sha": hashlib.sha256(sealed.encode()).hexdigest()[:16]}
