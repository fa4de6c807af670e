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
_LONG_MARK = b',"cache_control":{"type":"ephemeral","ttl":"1h"}'
_THOUGHTS = frozenset({"thinking", "redacted_thinking"})


class MessagesPage:
    """The turns of one conversation so far."""

    __slots__ = ("_answers", "_asked", "_facts", "_fresh", "_role", "_turns", "may_think")

    def __init__(self, facts: ModelFacts) -> None:
        """Start an empty conversation."""
        self._facts = facts
        self._turns: list[bytes] = []
        self._role = ""
        self._asked: list[int] = []
        """Which of the turns are the user's."""
        self._answers: list[Assistant] = []
        """What the model's last turn was made of: more than one answer where the first was paused."""
        self._fresh = True
        self.may_think = True
        """Whether the next answer may be given a budget for thinking.

        The wire refuses one in the middle of a turn that has called tools and did not begin with
        thinking: another model, or another effort, began it. It is finished without.
        """

    def add(self, message: Message) -> None:
        """Write the next message; one that holds nothing the wire takes is left out."""
        match message:
            case User(content=content):
                self._ask([_block(block) for block in content])
            case ToolResults(results=results):
                self._ask([_result(result) for result in results])
            case Assistant():
                self._answers.append(message)
                self._answer(paused=_is_paused(message))
            case _:
                assert_never(message)

    def turns(self, *, long: bool = False) -> bytes:
        """All turns, with a cache mark at the end of the last two of the user's.

        The mark before the last stands where the request before had its last, so what that one wrote
        into the cache is found; the last one writes what is new.
        """
        turns = self._turns.copy()
        for index in self._asked[-2:]:
            turns[index] = mark(turns[index], b"]}", long=long)
        return b",".join(turns)

    def _ask(self, blocks: list[JsonObject]) -> None:
        if self._answers and _is_paused(self._answers[-1]):
            self._answer(paused=False)  # it will not go on after all
        self._answers = []
        if self._role == "user":
            self._turns[-1] = b"".join((self._turns[-1][:-2], b",", _joined(blocks), b"]}"))
            return
        if blocks[0]["type"] != "tool_result":
            self._fresh = self.may_think = True
        self._role = "user"
        self._asked.append(len(self._turns))
        self._turns.append(_turn("user", blocks))

    def _answer(self, *, paused: bool) -> None:
        """Write the model's turn, in place of what was written of it before."""
        blocks = _answer(self._answers, self._facts, paused=paused)
        if self._role == "assistant":
            del self._turns[-1]
            self._role = "user"
        if not blocks:
            return
        if self._fresh:
            self.may_think = blocks[0]["type"] in _THOUGHTS
        self._fresh = False
        self._role = "assistant"
        self._turns.append(_turn("assistant", blocks))


def mark(written: bytes, closing: bytes, *, long: bool = False) -> bytes:
    """JSON that ends with an object and then `closing`, with a cache mark in that object.

    A `long` one lasts an hour; the wire wants these before the others.
    """
    end = b"}" + closing
    return written[: -len(end)] + (_LONG_MARK if long else _MARK) + end


def _turn(role: str, blocks: list[JsonObject]) -> bytes:
    return b"".join((b'{"role":"', role.encode(), b'","content":[', _joined(blocks), b"]}"))


def _joined(blocks: list[JsonObject]) -> bytes:
    return b",".join(dump_bytes(block) for block in blocks)


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


def _plain(kind: str, data: bytes) -> JsonObject:
    return {"type": "text", "media_type": kind, "data": data.decode("utf-8", "replace")}


def _document(block: Document) -> JsonObject:
    match block.media_type:
        case "application/pdf" as kind:
            source = _base64(kind, block.data)
        case "text/plain" as kind:
            source = _plain(kind, block.data)
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


def _is_paused(answer: Assistant) -> bool:
    """Whether the provider will go on with an answer by itself."""
    return answer.stop_reason is StopReason.PAUSE_TURN and not answer.calls


def _answer(answers: list[Assistant], facts: ModelFacts, *, paused: bool) -> list[JsonObject]:
    """The blocks of the model's turn in the order they came."""
    blocks: list[JsonObject] = []
    dangling = frozenset[str]() if paused else _dangling(answers)
    for block in (block for answer in answers for block in answer.content):
        match block:
            case Opaque(wire=wire, kind=kind) if wire != WIRE or kind == REFUSAL:
                pass
            case Opaque(kind="citations"):
                _cite(blocks, block)
            case Opaque() if call_id(block) in dangling:
                pass
            case Opaque(payload=payload):
                blocks.append(payload)
            case Text(text=text):
                blocks.append(_text(text))
            case Thinking():
                blocks += _thinking(block, facts)
            case ToolCall():
                blocks.append(_call(block))
            case Image():
                pass  # the wire has no place for a picture in an answer
            case _:
                assert_never(block)
    return blocks if paused else _trim(blocks)


def _thinking(block: Thinking, facts: ModelFacts) -> list[JsonObject]:
    """Only signed thinking goes back, except to servers that sign nothing and want it all."""
    if not block.signature and not (block.text and Quirk.REASONING_REPLAY in facts.quirks):
        return []
    return [{"type": "thinking", "thinking": block.text, "signature": block.signature or ""}]


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


def _dangling(answers: list[Assistant]) -> frozenset[str]:
    """Calls the provider was to run itself and never did: a turn that has ended may not hold them.

    One that asks for tools may: their results come with its own, later.
    """
    if any(answer.calls and answer.stop_reason is StopReason.TOOL_USE for answer in answers):
        return frozenset()
    made = [block for answer in answers for block in answer.content if isinstance(block, Opaque)]
    settled = {result_of(block) for block in made}
    return frozenset(name for block in made if (name := call_id(block)) and name not in settled)


def _trim(blocks: list[JsonObject]) -> list[JsonObject]:
    """What a turn that has ended may not end with: thinking, and white space."""
    while blocks and blocks[-1]["type"] in _THOUGHTS:
        blocks.pop()
    if blocks and blocks[-1]["type"] == "text":
        blocks[-1] = {**blocks[-1], "text": str(blocks[-1]["text"]).rstrip()}
    return blocks
