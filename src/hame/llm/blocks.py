"""Messages one by one, made fit for one model: what it may not see is dropped or said in words.

Each method gives back the very same message where nothing had to change.
"""

import re
from collections.abc import Sequence
from operator import is_
from typing import TypeVar

from msgspec.structs import replace

from hame.base.message import (
    AnswerBlock,
    Assistant,
    Document,
    Image,
    Message,
    Note,
    Opaque,
    Origin,
    ResultBlock,
    StopReason,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    User,
    UserBlock,
)
from hame.base.model import ModelFacts
from hame.llm.files import digest, why_left_out

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_NAME_FAULT = re.compile(r"[^a-zA-Z0-9_-]")
_BESIDE = frozenset({"redacted_thinking", "reasoning", "reasoning_details", "citations"})
"""Kinds of blocks that say nothing without another."""
_PICTURED = frozenset({"gemini"})
"""The wires that have a place for a picture in an answer of the model's."""
_SIGNED = frozenset({"gemini", "openai_responses"})
"""The wires on which a text without words may carry a signature that is wanted back."""
_MALFORMED_SHOWN = 2000
_NO_OUTPUT = Text("(no output)")
_LOST = Text("This call was not finished: the run was interrupted before it had a result.")

BlockT = TypeVar("BlockT", bound=AnswerBlock | UserBlock | ResultBlock)


class BlockRepair:
    """Repairs messages for a model with these facts."""

    __slots__ = ("_facts", "_origin", "_pictured", "_refused")

    def __init__(self, facts: ModelFacts, refused: frozenset[str] = frozenset()) -> None:
        """For a model with these facts; `refused` are the digests of files its server did not take."""
        self._origin = Origin(facts.wire, facts.backend, facts.model)
        self._facts = facts
        self._refused = refused
        self._pictured = facts.wire in _PICTURED
        """Whether an answer may hold a picture."""

    def user(self, message: User) -> User | None:
        """A message of the user's; None when nothing is left of it."""
        content = tuple(
            fit for block in message.content if (fit := self._readable(block)) is not None
        )
        if not content:
            return None
        return message if _same(content, message.content) else User(content)

    def answer(self, message: Assistant) -> Assistant | None:
        """An earlier answer; None when it says nothing that may go back."""
        own = message.origin == self._origin
        fits = [self._spoken(block, own=own) for block in message.content]
        content = tuple(fit for fit in fits if fit is not None)
        if not any(_speaks(block) for block in content):
            return None
        return _replaced(message, content)

    def is_paused(self, message: Message) -> bool:
        """Whether the provider paused in the midst of this answer and wants it back as the last."""
        if not isinstance(message, Assistant) or message.stop_reason is not StopReason.PAUSE_TURN:
            return False
        return message.origin == self._origin

    def result(self, call: ToolCall, given: ToolResult | None, call_id: str) -> ToolResult:
        """The result of a call, under the call's id and name on the wire."""
        name = _legal_name(call.name)
        if given is None:
            words = _LOST if call.malformed is None else _malformed_words(call.malformed)
            return ToolResult(call_id=call_id, name=name, content=(words,), is_error=True)
        content = tuple(
            fit for block in given.content if (fit := self._readable(block)) is not None
        )
        if not content:
            content = (_NO_OUTPUT,)
        failed = given.is_error or call.malformed is not None
        same = _same(content, given.content) and failed == given.is_error
        if same and given.call_id == call_id and given.name == name:
            return given
        return ToolResult(call_id=call_id, name=name, content=content, is_error=failed)

    def with_ids(self, answer: Assistant, ids: Sequence[str]) -> Assistant:
        """The answer with these ids for its calls; arguments that did not parse become `{}`.

        The result of such a call says what happened, and the pair stays legal.
        """
        remaining = iter(ids)
        content = tuple(
            _with_id(block, next(remaining)) if isinstance(block, ToolCall) else block
            for block in answer.content
        )
        return _replaced(answer, content)

    def _spoken(self, block: AnswerBlock, *, own: bool) -> AnswerBlock | None:
        """A block of an answer; what another model thought, signed or made is left out."""
        match block:
            case Text(text=text, signature=signature):
                if not text.strip() and not (own and signature and self._origin.wire in _SIGNED):
                    return None
                return _unsigned_text(block, own=own)
            case Thinking():
                return block if own else None
            case Opaque():
                return block if own and block.wire == self._origin.wire else None
            case Image(name=name, signature=signature):
                if not self._pictured:
                    return Text(
                        f"[an image{f' {name}' if name else ''} that was made here, left out]"
                    )
                unsigned = own or signature is None
                return self._readable(block if unsigned else replace(block, signature=None))
            case ToolCall():
                return _legal_call(block, own=own)

    def _readable(self, block: BlockT) -> BlockT | Text | None:
        """A block of text, or a file where the model takes it and words where it does not."""
        match block:
            case Text(text=text) | Note(text=text):
                return block if text.strip() else None
            case Image() | Document():
                reason = self._why_left_out(block)
                return _omitted(block, reason) if reason else block
            case _:
                return block

    def _why_left_out(self, file: Image | Document) -> str:
        if self._refused and digest(file) in self._refused:
            return "the provider did not take it"
        return why_left_out(file, self._facts)


def _omitted(file: Image | Document, reason: str) -> Text:
    what = "image" if isinstance(file, Image) else "document"
    named = f" {file.name}" if file.name else ""
    return Text(f"[{what}{named} left out: {reason}]")


def _malformed_words(raw: str) -> Text:
    shown = raw if len(raw) <= _MALFORMED_SHOWN else raw[:_MALFORMED_SHOWN] + " …"
    words = "The arguments of this call were not valid JSON, so it was not run"
    return Text(f"{words}: {shown}")


def _speaks(block: AnswerBlock) -> bool:
    """Whether a block can stand in an answer without another; reasoning and sources cannot."""
    if isinstance(block, Opaque):
        return block.kind not in _BESIDE
    if isinstance(block, Text):
        return bool(block.text.strip())
    return not isinstance(block, Thinking)


def _unsigned_text(block: Text, *, own: bool) -> Text:
    return block if own or block.signature is None else Text(block.text)


def _legal_call(call: ToolCall, *, own: bool) -> ToolCall:
    name = _legal_name(call.name)
    signature = call.signature if own else None
    same = name == call.name and signature is call.signature
    return call if same else replace(call, name=name, signature=signature)


def _legal_name(name: str) -> str:
    """A tool's name as all wires take it; a model may have asked for anything."""
    return name if _NAME.fullmatch(name) else _NAME_FAULT.sub("_", name)[:64] or "unknown"


def _with_id(call: ToolCall, call_id: str) -> ToolCall:
    if call.arguments is not None:
        same = call.id == call_id
        return call if same else replace(call, id=call_id)
    return replace(call, id=call_id, arguments={}, malformed=None)


def _replaced(message: Assistant, content: tuple[AnswerBlock, ...]) -> Assistant:
    if _same(content, message.content):
        return message
    return replace(message, content=content)


def _same(new: Sequence[object], old: Sequence[object]) -> bool:
    return len(new) == len(old) and all(map(is_, new, old))
