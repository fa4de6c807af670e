"""Blocks that the provider made for itself, kept as they are and described on one line.

Everything but text, thinking and `tool_use` is such a block: redacted thinking, tools the provider
ran (`server_tool_use`, `mcp_tool_use`) and their `*_tool_result`, compaction, fallback, and whatever
comes next. Nothing here is ever run by the harness.
"""

from hame.base.json import (
    JsonObject,
    as_list,
    as_object,
    dump,
    get_list,
    get_object,
    get_objects,
    get_string,
)
from hame.base.message import Opaque
from hame.llm.errorbody import one_line

WIRE = "anthropic_messages"

CITATIONS = "citations"
"""Kind of the block that keeps the sources of the text before it; it is hame's, the wire has none."""

REFUSAL = "refusal"
"""Kind of the block that keeps why the model refused; it never goes back."""

_LINE = 160
_MARK_KEYS = ("error_code", "url", "title", "text", "stdout", "query")


def opaque(payload: JsonObject) -> Opaque:
    """A block of the provider's, as it goes back."""
    kind = get_string(payload, "type") or "unknown"
    return Opaque(wire=WIRE, kind=kind, payload=payload, summary=_describe(kind, payload))


def citations(sources: list[JsonObject]) -> Opaque:
    """The sources of the text before, which go back inside that text."""
    payload: JsonObject = {"type": CITATIONS, "citations": list(sources)}
    keys = ("url", "document_title", "title", "source", "cited_text")
    names = [next((s for key in keys if (s := get_string(item, key))), "") for item in sources]
    named = ", ".join(dict.fromkeys(name for name in names if name))
    return Opaque(
        wire=WIRE, kind=CITATIONS, payload=payload, summary=one_line(f"sources: {named}", _LINE)
    )


def refusal(words: str) -> Opaque:
    """Why the model refused, for eyes."""
    payload: JsonObject = {"type": REFUSAL, "explanation": words}
    return Opaque(wire=WIRE, kind=REFUSAL, payload=payload, summary=one_line(words, _LINE))


def _describe(kind: str, payload: JsonObject) -> str:
    gist = _gist(kind, payload)
    label = get_string(payload, "name") if kind.endswith("tool_use") else None
    label = label or kind.replace("_", " ")
    return one_line(f"{label}: {gist}" if gist else label, _LINE)


def _gist(kind: str, payload: JsonObject) -> str:
    """What is worth seeing of a block; empty when nothing is."""
    if kind == "redacted_thinking":
        return ""
    if kind == "fallback":
        models = (get_string(get_object(payload, end), "model") for end in ("from", "to"))
        return " -> ".join(model or "?" for model in models)
    if kind.endswith("tool_use"):
        given = get_object(payload, "input")
        words = [value for value in given.values() if isinstance(value, str)]
        return words[0] if len(words) == 1 else (dump(given) if given else "")
    return _result_gist(payload.get("content"))


def _result_gist(content: object) -> str:
    """A result's error, its words, or how much it holds."""
    if isinstance(content, str):
        return content
    found = as_object(content)
    if found is not None:
        marked = next((text for key in _MARK_KEYS if (text := get_string(found, key))), "")
        held = get_list(found, "tool_references") or get_list(found, "content")
        return marked or (_count(len(held)) if held else "")
    items = as_list(content)
    if items is None:
        return ""
    texts = [text for item in items if (text := get_string(item, "text"))]
    titles = [title for item in items if (title := get_string(item, "title"))]
    if texts:
        return texts[0]
    return f"{_count(len(items))}: {', '.join(titles)}" if titles else _count(len(items))


def _count(number: int) -> str:
    return f"{number} item" if number == 1 else f"{number} items"


def result_of(block: Opaque) -> str | None:
    """The id of the call whose result a block is."""
    return get_string(block.payload, "tool_use_id")


def call_id(block: Opaque) -> str | None:
    """The id of the call that a block is, where the provider runs it."""
    return get_string(block.payload, "id") if block.kind.endswith("tool_use") else None


def cited(block: Opaque) -> list[JsonObject]:
    """The sources in a block made by `citations`."""
    return get_objects(block.payload, "citations")
