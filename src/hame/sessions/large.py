"""What is shown of a record that is too large to be read as a whole."""

import re

import msgspec

from hame.base.entry import (
    AnswerInterrupted,
    CallSettled,
    Entry,
    ModelAnswered,
    NoteAdded,
    UserSaid,
)
from hame.base.message import Assistant, Note, Text, User
from hame.base.outcome import Done, text_content

HEAD = 1 << 12
"""Bytes of a line in which its call is named."""
_SOURCE = "left out"
_CALL = re.compile(
    rb'"entry":\{"type":"call_settled","call_id":("(?:[^"\\]|\\.)*"),"name":("(?:[^"\\]|\\.)*")'
)


def stand_in(kind: type[Entry], size: int, head: bytes) -> Entry | None:
    """Stands for an entry whose line has that size and begins so; None for a kind that is never large.

    The history stays legal with it: a result still belongs to its call, and an answer asks for nothing.
    """
    words = f"[{size / 1e6:,.0f} MB that stand here in the session are too large to be shown]"
    if kind is UserSaid:
        return UserSaid(message=User((Note(words, _SOURCE),)))
    if kind is NoteAdded:
        return NoteAdded(text=words, source=_SOURCE)
    if kind is ModelAnswered:
        return ModelAnswered(message=Assistant((Text(words),)))
    if kind is AnswerInterrupted:
        return AnswerInterrupted(message=Assistant((Text(words),)))
    found = _CALL.search(head) if kind is CallSettled else None
    if found is None:
        return None
    try:
        call, name = (msgspec.json.decode(part, type=str) for part in found.groups())
    except msgspec.MsgspecError:
        return None
    return CallSettled(call_id=call, name=name, outcome=Done(text_content(words)))
