"""A conversation as Messages wants it: alternating turns of content blocks, each written once.

The history has been repaired; what is left are the rules of this wire alone
(https://docs.anthropic.com/en/api/messages): neighbours of one role are one turn; thinking goes back
byte for byte, in its place and signed; an answer may not end with thinking or with white space, nor
hold a call of the provider's that was never run.
"""

from base64 import b64encode
from typing import assert_never

from hame.base.json import JsonObject, dump_bytes
from hame.base.message import (
    Assistant,
    Document,
    Image,
    Message,
    Note,
    Opaque,
    StopReason,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    ToolResults,
    User,
    UserBlock,
)
from hame.base.model import ModelFacts, Quirk
from hame.llm.wires.anthropic_messages.opaque import (
    CITATIONS,
    REFUSAL,
    WIRE,
    call_id,
    cited,
    result_of,
)
from hame.llm.words import note_text

PICTURES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
"""The media types the wire takes; any other makes every later request fail."""

_MARK = b',"cache_control":{"type":"ephemeral"}'
_THOUGHTS = frozenset({"thinking", "redacted_thinking"})


class MessagesPage:
    """The turns of one conversation so far."""

    __slots__ = ("_asked", "_facts", "_fresh", "_role", "_turns", "may_think")

    def __init__(self, facts: ModelFacts) -> None:
        """Start an empty conversation."""
        self._facts = facts
        self._turns: list[bytes] = []
        self._role = ""
        self._fresh = True
        self._asked: list[int] = []
        """Which of the turns are the user's."""
        self.may_think = True
        """Whether the next answer may be given a budget for thinking.

        The wire refuses one in the middle of a turn that has called tools and did not begin with
        thinking: another model, or another effort, began it. It is finished without.
        """

    def add(self, message: Message) -> None:
        """Write the next message; one that holds nothing the wire takes is left out."""
        role = "assistant" if isinstance(message, Assistant) else "user"
        written = _write(message, self._facts)
        if not written:
            return
        self._watch(role, written[0])
        blocks = b",".join(dump_bytes(block) for block in written)
        if role == self._role:
            self._turns[-1] = b"".join((self._turns[-1][:-2], b",", blocks, b"]}"))
            return
        self._role = role
        if role == "user":
            self._asked.append(len(self._turns))
        self._turns.append(b"".join((b'{"role":"', role.encode(), b'","content":[', blocks, b"]}")))

    def _watch(self, role: str, first: JsonObject) -> None:
        """Note how a turn of the model's begins. One that starts with results goes on with it."""
        if role == "assistant":
            self.may_think = first["type"] in _THOUGHTS if self._fresh else self.may_think
            self._fresh = False
        elif role != self._role and first["type"] != "tool_result":
            self._fresh = self.may_think = True

    def turns(self) -> bytes:
        """All turns, with a cache mark at the end of the last two of the user's.

        The mark before the last stands where the request before had its last, so what that one wrote
        into the cache is found; the last one writes what is new.
        """
        turns = self._turns.copy()
        for index in self._asked[-2:]:
            turns[index] = mark(turns[index], b"]}")
        return b",".join(turns)


def mark(written: bytes, closing: bytes) -> bytes:
    """JSON that ends with an object and then `closing`, with a cache mark in that object."""
    end = b"}" + closing
    return written[: -len(end)] + _MARK + end


def _write(message: Message, facts: ModelFacts) -> list[JsonObject]:
    match message:
        case User(content=content):
            return [_block(block) for block in content]
        case ToolResults(results=results):
            return [_result(result) for result in results]
        case Assistant():
            return _answer(message, facts)
        case _:
            assert_never(message)


def _block(block: UserBlock) -> JsonObject:
    match block:
        case Text(text=text):
            return _text(text)
        case Note():
            return _text(note_text(block))
        case Image(media_type=kind, data=data) if kind in PICTURES:
            return {"type": "image", "source": _base64(kind, data)}
        case Image():
            return _left_out(block)
        case Document():
            return _document(block)
        case _:
            assert_never(block)


def _text(text: str) -> JsonObject:
    return {"type": "text", "text": text}


def _base64(kind: str, data: bytes) -> JsonObject:
    return {"type": "base64", "media_type": kind, "data": b64encode(data).decode()}


def _document(block: Document) -> JsonObject:
    match block.media_type:
        case "application/pdf" as kind:
            source = _base64(kind, block.data)
        case "text/plain" as kind:
            text = block.data.decode("utf-8", "replace")
            source = {"type": "text", "media_type": kind, "data": text}
        case _:
            return _left_out(block)
    document: JsonObject = {"type": "document", "source": source}
    return {**document, "title": block.name} if block.name else document


def _left_out(block: Image | Document) -> JsonObject:
    name = f" {block.name}" if block.name else ""
    return {"type": "text", "text": f"[{block.media_type}{name}: not readable for this model]"}


def _result(result: ToolResult) -> JsonObject:
    content = [_block(block) for block in result.content]
    only = content[0]["text"] if len(content) == 1 and content[0]["type"] == "text" else None
    written: JsonObject = {
        "type": "tool_result",
        "tool_use_id": result.call_id,
        "content": content if only is None else only,
    }
    return {**written, "is_error": True} if result.is_error else written


# ------------------------------------------------------------ answers


def _answer(message: Assistant, facts: ModelFacts) -> list[JsonObject]:
    """An earlier answer's blocks in the order they came."""
    blocks: list[JsonObject] = []
    dangling = _dangling(message)
    for block in message.content:
        match block:
            case Text(text=text):
                written = _text(text)
            case Thinking():
                written = _thinking(block, facts)
            case ToolCall():
                written = _call(block)
            case Opaque(wire=wire, kind=kind) if wire != WIRE or kind == REFUSAL:
                written = None
            case Opaque(kind="citations"):
                written = None
                _cite(blocks, block)
            case Opaque():
                written = None if call_id(block) in dangling else block.payload
            case Image():
                written = None  # the wire has no place for a picture in an answer
            case _:
                assert_never(block)
        if written is not None:
            blocks.append(written)
    return _trim(blocks, paused=message.stop_reason is StopReason.PAUSE_TURN)


def _thinking(block: Thinking, facts: ModelFacts) -> JsonObject | None:
    """Only signed thinking goes back, except to servers that sign nothing and want it all."""
    if block.signature is None and Quirk.REASONING_REPLAY not in facts.quirks:
        return None
    return {"type": "thinking", "thinking": block.text, "signature": block.signature or ""}


def _call(call: ToolCall) -> JsonObject:
    return {
        "type": "tool_use",
        "id": call.id,
        "name": call.name,
        "input": call.arguments or {},
    }


def _cite(blocks: list[JsonObject], sources: Opaque) -> None:
    """Put the sources back into the text they came with."""
    if blocks and blocks[-1].get("type") == "text":
        blocks[-1] = {**blocks[-1], CITATIONS: cited(sources)}


def _dangling(message: Assistant) -> frozenset[str | None]:
    """Calls the provider was to run itself and never did: an answer that stopped may not hold them.

    A paused answer goes on with them, and one that asks for tools gets their results later.
    """
    if message.stop_reason in {StopReason.PAUSE_TURN, StopReason.TOOL_USE}:
        return frozenset()
    made = [block for block in message.content if isinstance(block, Opaque)]
    settled = {result_of(block) for block in made}
    return frozenset(name for block in made if (name := call_id(block)) and name not in settled)


def _trim(blocks: list[JsonObject], *, paused: bool) -> list[JsonObject]:
    """What an answer may not end with: thinking, unless it goes on, and white space."""
    while blocks and blocks[-1]["type"] in _THOUGHTS and not paused:
        blocks.pop()
    if blocks and blocks[-1]["type"] == "text":
        blocks[-1] = {**blocks[-1], "text": str(blocks[-1]["text"]).rstrip()}
    return blocks
