"""The difference between two texts, as a unified diff.

Lines end at LF only, so a CR is part of its line and is shown as it will be written.
Format: https://www.gnu.org/software/diffutils/manual/html_node/Detailed-Unified.html
"""

from collections.abc import Iterator
from itertools import takewhile
from typing import TypeAlias

from hame.base.outcome import DiffView

_CONTEXT = 3

_Opcode: TypeAlias = tuple[str, int, int, int, int]
"""As difflib has them: what it is, from and to in the old lines, from and to in the new ones."""


def difference(path: str, before: str, after: str, *, created: bool = False) -> DiffView:
    """What turns `before` into `after`."""
    old, new = split_lines(before), split_lines(after)
    hunks, added, removed = _hunks(old, new)
    source = "/dev/null" if created else f"a/{path}"
    head = f"--- {source}\n+++ b/{path}\n" if hunks else ""
    return DiffView(
        path=path, diff=head + "".join(hunks), added=added, removed=removed, created=created
    )


def split_lines(text: str) -> list[str]:
    """Lines with their endings; only LF ends a line."""
    *whole, rest = text.split("\n")
    lines = [line + "\n" for line in whole]
    return [*lines, rest] if rest else lines


def _hunks(old: list[str], new: list[str]) -> tuple[list[str], int, int]:
    hunks: list[str] = []
    added = removed = 0
    for group in _groups(_opcodes(old, new)):
        first, last = group[0], group[-1]
        rows = [_header(first[1], last[2], first[3], last[4])]
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                rows += [_row(" ", line) for line in old[i1:i2]]
                continue
            rows += [_row("-", line) for line in old[i1:i2]]
            rows += [_row("+", line) for line in new[j1:j2]]
            removed += i2 - i1
            added += j2 - j1
        hunks.append("".join(rows))
    return hunks, added, removed


def _opcodes(old: list[str], new: list[str]) -> list[_Opcode]:
    """What turns one into the other; only what lies between their common ends is compared."""
    from difflib import SequenceMatcher

    head = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))
    left = min(len(old), len(new)) - head
    backwards = zip(reversed(old), reversed(new), strict=False)
    tail = min(sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], backwards)), left)
    old_end, new_end = len(old) - tail, len(new) - tail
    matcher = SequenceMatcher(None, old[head:old_end], new[head:new_end])
    between = [
        (tag, i1 + head, i2 + head, j1 + head, j2 + head)
        for tag, i1, i2, j1, j2 in matcher.get_opcodes()
    ]
    ends = ("equal", 0, head, 0, head), ("equal", old_end, len(old), new_end, len(new))
    return [code for code in (ends[0], *between, ends[1]) if code[1] < code[2] or code[3] < code[4]]


def _groups(opcodes: list[_Opcode]) -> Iterator[list[_Opcode]]:
    """Changes that lie near each other, with the lines around them."""
    group: list[_Opcode] = []
    for index, (tag, i1, i2, j1, j2) in enumerate(opcodes):
        if tag != "equal":
            group.append((tag, i1, i2, j1, j2))
            continue
        after = min(_CONTEXT, i2 - i1) if group else 0
        last = index == len(opcodes) - 1
        before = 0 if last else min(_CONTEXT, i2 - i1)
        if group and not last and i2 - i1 <= after + before:
            group.append((tag, i1, i2, j1, j2))
            continue
        if group:
            yield [*group, (tag, i1, i1 + after, j1, j1 + after)]
        group = [(tag, i2 - before, i2, j2 - before, j2)] if before else []
    if group and group[-1][0] != "equal":
        yield group


def _header(i1: int, i2: int, j1: int, j2: int) -> str:
    return f"@@ -{_range(i1, i2)} +{_range(j1, j2)} @@\n"


def _range(start: int, end: int) -> str:
    length = end - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"


def _row(mark: str, line: str) -> str:
    if line.endswith("\n"):
        return mark + line
    return f"{mark}{line}\n\\ No newline at end of file\n"
