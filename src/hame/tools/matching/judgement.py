"""Whether a place that is like a block is the block that is meant."""

from collections.abc import Sequence
from typing import TypeAlias

import msgspec

from hame.tools.matching.canonical import TextLines, fold
from hame.tools.matching.deviation import (
    SPACING,
    first_difference,
    harmless,
    is_comment,
)
from hame.tools.matching.likeness import Likeness

_SHORT = 3
"""Blocks of fewer lines may differ in spacing and punctuation only."""
_DIFFERING = 5
"""One line in so many may differ, of those that are not blank."""


class Forgiven(msgspec.Struct, frozen=True):
    """It is meant; what differs does not matter."""

    words: str


class Refused(msgspec.Struct, frozen=True):
    """It may be another place, and why."""

    words: str


Verdict: TypeAlias = Forgiven | Refused


def judge(text: TextLines, place: Likeness, block: Sequence[str]) -> Verdict:
    """Compare line by line; both ends and the middle must be as they should be."""
    filled = sum(1 for line in block if line.strip())
    notes: list[str] = []
    for pair in place.pairs:
        theirs = None if pair.old is None else block[pair.old]
        ours = None if pair.ours is None else text.lines[pair.ours]
        verdict = _judge_line(theirs, ours, text)
        where = "" if pair.ours is None else f"line {pair.ours + 1} "
        if isinstance(verdict, Refused):
            return Refused(where + verdict.words)
        if verdict.words:
            notes.append(where + verdict.words)
    if len(notes) > max(1, filled // _DIFFERING):
        return Refused(f"{len(notes)} of {filled} lines differ: {'; '.join(notes[:3])}")
    return _judge_whole(text, place, block) or Forgiven("; ".join(notes) or "blank lines differ")


def _judge_line(theirs: str | None, ours: str | None, text: TextLines) -> Verdict:
    if ours is None:
        line = (theirs or "").strip()
        return Refused(f"the file has no line `{line}` there") if line else Forgiven("")
    if theirs is None:
        line = ours.strip()
        if is_comment(ours):
            return Forgiven("is not in old_string" if line else "")
        return Refused(f"is not in old_string: {line}")
    what = harmless(theirs, ours, text.has_word)
    if what is None:
        wants, has = first_difference(fold(theirs).strip(), fold(ours).strip())
        return Refused(f"has {_shown(has)} where old_string has {_shown(wants)}")
    return Forgiven(f"differs: {what}" if what else "")


def _judge_whole(text: TextLines, place: Likeness, block: Sequence[str]) -> Refused | None:
    """Ends and middle: there even little may not differ, or not much."""
    ours_of = {pair.old: pair.ours for pair in place.pairs if pair.old is not None}
    plain = [
        _plainly_same(line, None if (own := ours_of.get(index)) is None else text.lines[own])
        for index, line in enumerate(block)
        if line.strip()
    ]
    if len(plain) < _SHORT:
        return None if all(plain) else Refused("it is too short to be known by so little")
    if not plain[0] or not plain[-1]:
        return Refused(f"its {'first' if not plain[0] else 'last'} line differs")
    middle = plain[len(plain) // 4 : len(plain) - len(plain) // 4]
    return None if 2 * sum(middle) >= len(middle) else Refused("its middle differs")


def _plainly_same(theirs: str, ours: str | None) -> bool:
    """Whether two lines are the same but for spacing and punctuation."""
    if ours is None:
        return False
    return harmless(theirs, ours, lambda _: True) in {"", SPACING}


def _shown(words: str) -> str:
    return f"`{words}`" if words else "nothing"
