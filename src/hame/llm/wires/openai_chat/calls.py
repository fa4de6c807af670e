"""Tool calls as they arrive in pieces, however a server numbers them.

Pieces are joined by `index`. Servers also send no index, no id, the id on every piece, one index for
all calls, arguments as an object, a name in pieces, or the same id twice; every call still comes out
once, with an id of its own. It is announced when its arguments begin: until then its name may grow and
its id may follow.
"""

from collections.abc import Iterator

import msgspec

from hame.base.json import (
    JsonObject,
    as_object,
    dump,
    get_int,
    get_object,
    get_string,
    parse_object,
)
from hame.base.message import ToolCall
from hame.base.stream import StreamEvent, ToolCallArgsDelta, ToolCallCompleted, ToolCallStarted
from hame.llm.arguments import parse_arguments
from hame.llm.callids import mint_call_id


class _Piece(msgspec.Struct, frozen=True):
    """One item of a `tool_calls` array, read."""

    index: int | None
    id: str
    name: str
    text: str
    """More of the arguments."""
    signature: str | None


class _Pending:
    """A call that is still arriving."""

    __slots__ = ("id", "name", "pieces", "sent_id", "signature", "started")

    def __init__(self) -> None:
        self.sent_id = ""
        self.id = ""
        self.name = ""
        self.pieces: list[str] = []
        self.signature: str | None = None
        self.started = False

    @property
    def text(self) -> str:
        return "".join(self.pieces)


class CallPieces:
    """Collects the calls of one answer."""

    __slots__ = ("_by_index", "_calls", "_seed")

    def __init__(self) -> None:
        """Start with no calls."""
        self._calls: list[_Pending] = []
        self._by_index: dict[int, _Pending] = {}
        self._seed = ""

    def __bool__(self) -> bool:
        """Whether any call has begun."""
        return bool(self._calls)

    @property
    def nameless(self) -> bool:
        """Whether there are calls, and none of them says of what."""
        return bool(self._calls) and not any(call.name for call in self._calls)

    def seed(self, text: str) -> None:
        """Give the answer's own id, from which missing call ids are made."""
        self._seed = self._seed or text

    def take(self, item: JsonObject) -> Iterator[StreamEvent]:
        """Take one item of a `tool_calls` array."""
        piece = _read(item)
        call = self._find(piece)
        call.sent_id = call.sent_id or piece.id
        if not call.started:
            call.name = _named(call.name, piece.name)
        call.signature = call.signature or piece.signature
        number = self._calls.index(call)
        if piece.text:
            call.pieces.append(piece.text)
        if call.started:
            if piece.text:
                yield ToolCallArgsDelta(number, piece.text)
        elif call.name and call.pieces:
            yield from self._start(call, number)

    def begun(self) -> Iterator[StreamEvent]:
        """Announce the calls whose arguments have not begun; nothing more of a name or an id follows."""
        for number, call in enumerate(self._calls):
            if call.name and not call.started:
                yield from self._start(call, number)

    def finish(self, *, truncated: bool) -> Iterator[StreamEvent]:
        """The answer is whole: so are its calls.

        With `truncated` the model did not get to its end: a last call without arguments was cut.
        """
        for number, call in enumerate(self._calls):
            if not call.started:
                if not call.name:
                    continue
                yield from self._start(call, number)
            last = number == len(self._calls) - 1
            yield ToolCallCompleted(number, _complete(call, cut=truncated and last))

    def _start(self, call: _Pending, number: int) -> Iterator[StreamEvent]:
        call.started = True
        call.id = self._own_id(call, number)
        yield ToolCallStarted(number, call.id, call.name)
        if call.pieces:
            yield ToolCallArgsDelta(number, call.text)

    def _find(self, piece: _Piece) -> _Pending:
        """The call a piece belongs to; a new one where it begins one."""
        if piece.index is not None:
            current = self._by_index.get(piece.index)
        else:
            current = self._calls[-1] if self._calls else None
        if current is None or _is_another(current, piece):
            current = _Pending()
            self._calls.append(current)
            if piece.index is not None:
                self._by_index[piece.index] = current
        return current

    def _own_id(self, call: _Pending, number: int) -> str:
        taken = {other.id for other in self._calls}
        if not call.sent_id:
            return mint_call_id(self._seed, number, call.name)
        return call.sent_id if call.sent_id not in taken else f"{call.sent_id}_{number}"


def _is_another(current: _Pending, piece: _Piece) -> bool:
    """Whether a piece begins another call than the one it would be joined to."""
    if piece.id and current.sent_id and piece.id != current.sent_id:
        return True
    if piece.index is not None and piece.id:
        return False
    if piece.index is None and not piece.id and current.name and not current.pieces:
        return bool(piece.name) and piece.name != current.name
    if not (piece.name and piece.text and current.pieces):
        return False
    return parse_object(current.text) is not None


def _named(begun: str, piece: str) -> str:
    """A name with a piece more of it; many servers repeat the whole of it instead."""
    return piece if piece.startswith(begun) else begun + piece


def _read(item: JsonObject) -> _Piece:
    function = get_object(item, "function") or _custom(item)
    return _Piece(
        index=get_int(item, "index"),
        id=get_string(item, "id") or "",
        name=get_string(function, "name") or "",
        text=_argument_text(function),
        signature=_google_signature(item),
    )


def _complete(call: _Pending, *, cut: bool) -> ToolCall:
    text = call.text
    if cut and not text.strip():
        return ToolCall(
            id=call.id, name=call.name, arguments=None, malformed=text, signature=call.signature
        )
    return parse_arguments(call.id, call.name, text, signature=call.signature)


def _custom(piece: JsonObject) -> JsonObject:
    """A call of a custom tool (free text in `input`), which hame never declares."""
    custom = get_object(piece, "custom")
    return {"name": custom.get("name"), "arguments": custom.get("input")} if custom else {}


def _argument_text(function: JsonObject) -> str:
    arguments = function.get("arguments")
    if isinstance(arguments, str):
        return arguments
    return dump(arguments) if as_object(arguments) is not None else ""


def _google_signature(piece: JsonObject) -> str | None:
    """Gemini's thought signature, as its OpenAI-compatible endpoint sends it."""
    return get_string(get_object(get_object(piece, "extra_content"), "google"), "thought_signature")
