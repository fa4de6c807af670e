"""Content blocks of an answer while they arrive: opened, added to, finished.

One class for each family: text, thinking, calls for the harness, and everything else, which the
provider keeps for itself.
Events: https://docs.anthropic.com/en/docs/build-with-claude/streaming#content-block-delta-types
"""

from collections.abc import Sequence
from typing import Protocol

from typing_extensions import override

from hame.base.json import (
    Json,
    JsonObject,
    as_list,
    dump,
    get_object,
    get_objects,
    get_string,
    parse_object,
)
from hame.base.message import ToolCall
from hame.base.stream import (
    OpaqueCompleted,
    StreamEvent,
    TextDelta,
    ThinkingCompleted,
    ThinkingDelta,
    ToolCallArgsDelta,
    ToolCallCompleted,
    ToolCallStarted,
)
from hame.llm.arguments import parse_arguments
from hame.llm.callids import mint_call_id
from hame.llm.wires.anthropic_messages.opaque import citations, opaque


class OpenBlock(Protocol):
    """A block that has begun."""

    def begin(self) -> Sequence[StreamEvent]:
        """What its first event says."""
        ...

    def add(self, delta: JsonObject) -> Sequence[StreamEvent]:
        """Take a delta; one of a type it does not know says nothing."""
        ...

    def finish(self) -> Sequence[StreamEvent]:
        """The block is whole."""
        ...


def open_block(source: JsonObject, calls: int, message_id: str) -> OpenBlock:
    """The block that `content_block_start` begins; `calls` is how many calls were begun before."""
    match get_string(source, "type"):
        case "text":
            return _Text(source)
        case "thinking":
            return _Thinking(source)
        case "tool_use":
            return Call(source, calls, message_id)
        case _:
            return _Kept(source)


def implied_block(delta: JsonObject) -> OpenBlock | None:
    """The block that a delta belongs to when its start never came; None when it cannot be told."""
    match get_string(delta, "type"):
        case "text_delta":
            return _Text({})
        case "thinking_delta" | "signature_delta":
            return _Thinking({})
        case _:
            return None


class _Text(OpenBlock):
    __slots__ = ("_first", "_sources")

    def __init__(self, source: JsonObject) -> None:
        self._first = get_string(source, "text") or ""
        self._sources = get_objects(source, "citations")

    @override
    def begin(self) -> Sequence[StreamEvent]:
        return (TextDelta(self._first),) if self._first else ()

    @override
    def add(self, delta: JsonObject) -> Sequence[StreamEvent]:
        source = get_object(delta, "citation")
        if source:
            self._sources.append(source)
        text = get_string(delta, "text")
        return (TextDelta(text),) if text else ()

    @override
    def finish(self) -> Sequence[StreamEvent]:
        return (OpaqueCompleted(citations(self._sources)),) if self._sources else ()


class _Thinking(OpenBlock):
    """Reasoning; its text may be empty while its signature is not."""

    __slots__ = ("_first", "_signature")

    def __init__(self, source: JsonObject) -> None:
        self._first = get_string(source, "thinking") or ""
        self._signature = [get_string(source, "signature") or ""]

    @override
    def begin(self) -> Sequence[StreamEvent]:
        return (ThinkingDelta(self._first),) if self._first else ()

    @override
    def add(self, delta: JsonObject) -> Sequence[StreamEvent]:
        self._signature.append(get_string(delta, "signature") or "")
        text = get_string(delta, "thinking")
        return (ThinkingDelta(text),) if text else ()

    @override
    def finish(self) -> Sequence[StreamEvent]:
        return (ThinkingCompleted("".join(self._signature) or None),)


class Call(OpenBlock):
    """A call for the harness. Its arguments come as pieces of JSON text, or whole with its start."""

    __slots__ = ("_given", "_id", "_name", "_number", "_pieces")

    def __init__(self, source: JsonObject, number: int, message_id: str) -> None:
        """Begin the call that is number `number` of its answer; some gateways send no id."""
        self._name = get_string(source, "name") or "unknown"
        self._id = get_string(source, "id") or mint_call_id(message_id, number, self._name)
        self._given = source.get("input")
        self._number = number
        self._pieces: list[str] = []

    @override
    def begin(self) -> Sequence[StreamEvent]:
        """Announce the call."""
        return (ToolCallStarted(self._number, self._id, self._name),)

    @override
    def add(self, delta: JsonObject) -> Sequence[StreamEvent]:
        """Take a piece of the arguments."""
        piece = get_string(delta, "partial_json")
        if not piece:
            return ()
        self._pieces.append(piece)
        return (ToolCallArgsDelta(self._number, piece),)

    @override
    def finish(self) -> Sequence[StreamEvent]:
        """Parse the arguments; what is not a JSON object is kept as text."""
        return self.settle(cut=False)

    @property
    def blank(self) -> bool:
        """Whether no arguments were sent."""
        return not ("".join(self._pieces).strip() or self._given)

    def settle(self, *, cut: bool) -> Sequence[StreamEvent]:
        """The call is whole; one without arguments may have been `cut` before they began."""
        if self.blank and cut:
            call = ToolCall(self._id, self._name, None, malformed="")
            return (ToolCallCompleted(self._number, call),)
        if self._pieces:
            call = parse_arguments(self._id, self._name, "".join(self._pieces))
            return (ToolCallCompleted(self._number, call),)
        text = self._given if isinstance(self._given, str) else dump(self._given)
        call = parse_arguments(self._id, self._name, text)
        completed = ToolCallCompleted(self._number, call)
        return (ToolCallArgsDelta(self._number, text), completed) if self._given else (completed,)


class _Kept(OpenBlock):
    """A block of the provider's own: its start, with every delta joined into it."""

    __slots__ = ("_json", "_payload")

    def __init__(self, source: JsonObject) -> None:
        self._payload: JsonObject = dict(source)
        self._json: list[str] = []

    @override
    def begin(self) -> Sequence[StreamEvent]:
        return ()

    @override
    def add(self, delta: JsonObject) -> Sequence[StreamEvent]:
        for key, value in delta.items():
            if key == "partial_json" and isinstance(value, str):
                self._json.append(value)
            elif key != "type":
                self._payload[key] = _join(self._payload.get(key), value)
        return ()

    @override
    def finish(self) -> Sequence[StreamEvent]:
        given = parse_object("".join(self._json)) if self._json else None
        if given is not None:
            self._payload["input"] = given
        return (OpaqueCompleted(opaque(self._payload)),)


def _join(held: Json, more: Json) -> Json:
    """Text and lists grow; anything else is replaced."""
    if isinstance(held, str) and isinstance(more, str):
        return held + more
    first, second = as_list(held), as_list(more)
    return more if first is None or second is None else [*first, *second]
