"""Making the model's change in lines that are not quite the ones it wrote.

The model says what `old` becomes. Where the file differs from `old`, the file stays as it is unless
the change goes over that very place: a three-way merge, by lines and within lines by words.
"""

import re
from collections.abc import Sequence

import msgspec

_WORDS = re.compile(r"\w+|[^\S\n]+|.", re.DOTALL)


class Pair(msgspec.Struct, frozen=True):
    """A line of `old` and the line of the file that stands for it; None where there is none."""

    old: int | None
    ours: int | None


class UnseenLineError(Exception):
    """The change goes over, or beside, a line of the file that is not in `old`."""

    def __init__(self, line: int) -> None:
        """Name the line, from 0 among the file's lines that were compared."""
        super().__init__(line)
        self.line = line


def graft(
    old: Sequence[str], ours: Sequence[str], pairs: Sequence[Pair], new: Sequence[str]
) -> list[str]:
    """The file's lines `ours` with the change from `old` to `new` made in them.

    `old` and `new` are indented as the file is already. `pairs` go through both in order.

    Raises:
        UnseenLineError: when the change would take away a line that `old` does not have, or put
            something on one of its two sides.
    """
    before, after = _borders(len(old), pairs, len(ours))
    out: list[str] = []
    done = 0
    for tag, i1, i2, j1, j2 in _changes(list(old), list(new)):
        if tag == "insert":
            # What is put between two lines follows the first one; blank lines that the file has
            # there stay with the second.
            _require_seen(range(i1, i1 + 1), before, after, ours)
            out += new[j1:j2]
            continue
        out += ours[done : after[i1]]
        done = max(after[i1], before[i2])
        if tag == "equal":
            out += ours[after[i1] : before[i2]]
            continue
        _require_seen(range(i1 + 1, i2), before, after, ours)
        lines = ours[after[i1] : done]
        out += merge_words(old[i1:i2], lines, new[j1:j2])
    return out


def merge_words(old: Sequence[str], ours: Sequence[str], new: Sequence[str]) -> list[str]:
    """Lines with the change from `old` to `new`; where it does not touch what differs, ours stays."""
    if not new or [line.rstrip() for line in old] == [line.rstrip() for line in ours]:
        return list(new)
    base, mine, theirs = ("\n".join(lines) for lines in (old, ours, new))
    words = _WORDS.findall(base)
    wanted = _replacements(words, _WORDS.findall(theirs))
    kept = [
        own
        for own in _replacements(words, _WORDS.findall(mine))
        if not any(_touch(own, change) for change in wanted)
    ]
    merged = "".join(_replaced(words, sorted([*wanted, *kept])))
    return merged.split("\n")


class _Replacement(msgspec.Struct, frozen=True, order=True):
    start: int
    end: int
    words: tuple[str, ...]


def _borders(count: int, pairs: Sequence[Pair], total: int) -> tuple[list[int], list[int]]:
    """For each border between lines of `old`: where the file's lines before and after it meet it."""
    line_of = {pair.old: pair.ours for pair in pairs if pair.old is not None}
    before, after = [0], [0] * (count + 1)
    for index in range(count):
        ours = line_of.get(index)
        before.append(before[-1] if ours is None else ours + 1)
    after[count] = total
    for index in reversed(range(count)):
        ours = line_of.get(index)
        after[index] = after[index + 1] if ours is None else ours
    # A line that the file lacks lies where the one before it ends.
    for index in range(count + 1):
        after[index] = max(after[index], before[index])
    return before, after


def _require_seen(inner: range, before: list[int], after: list[int], ours: Sequence[str]) -> None:
    for border in inner:
        for line in range(before[border], after[border]):
            if ours[line].strip():
                raise UnseenLineError(line)


def _changes(old: list[str], new: list[str]) -> list[tuple[str, int, int, int, int]]:
    from difflib import SequenceMatcher

    return list(SequenceMatcher(None, old, new, autojunk=False).get_opcodes())


def _replacements(base: list[str], other: list[str]) -> list[_Replacement]:
    from difflib import SequenceMatcher

    matcher = SequenceMatcher(None, base, other, autojunk=False)
    return [
        _Replacement(i1, i2, tuple(other[j1:j2]))
        for tag, i1, i2, j1, j2 in matcher.get_opcodes()
        if tag != "equal"
    ]


def _touch(own: _Replacement, change: _Replacement) -> bool:
    """Whether two replacements of the same words cannot both be made."""
    if own.start == own.end and not "".join(own.words).strip():
        return change.start <= own.start <= change.end
    both_insert = own.start == own.end == change.start == change.end
    return both_insert or (own.start < change.end and change.start < own.end)


def _replaced(words: list[str], replacements: list[_Replacement]) -> list[str]:
    out: list[str] = []
    done = 0
    for replacement in replacements:
        out += [*words[done : replacement.start], *replacement.words]
        done = replacement.end
    return [*out, *words[done:]]
