"""The difference between two texts, as a unified diff.

Lines end at LF only, so a CR is part of its line and is shown as it will be written.
Format: https://www.gnu.org/software/diffutils/manual/html_node/Detailed-Unified.html
"""

from itertools import takewhile

from hame.base.outcome import DiffView

_CONTEXT = 3


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
    from difflib import SequenceMatcher

    skip, old_end, new_end = _changed_part(old, new)
    matcher = SequenceMatcher(None, old[skip:old_end], new[skip:new_end])
    hunks: list[str] = []
    added = removed = 0
    for group in matcher.get_grouped_opcodes(_CONTEXT):
        if all(tag == "equal" for tag, *_ in group):
            continue
        first, last = group[0], group[-1]
        rows = [_header(first[1] + skip, last[2] + skip, first[3] + skip, last[4] + skip)]
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                rows += [_row(" ", line) for line in old[skip + i1 : skip + i2]]
                continue
            rows += [_row("-", line) for line in old[skip + i1 : skip + i2]]
            rows += [_row("+", line) for line in new[skip + j1 : skip + j2]]
            removed += i2 - i1
            added += j2 - j1
        hunks.append("".join(rows))
    return hunks, added, removed


def _changed_part(old: list[str], new: list[str]) -> tuple[int, int, int]:
    """Where the texts begin to differ and, in each, where they stop, with some context around."""
    head = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))
    left = min(len(old), len(new)) - head
    backwards = zip(reversed(old), reversed(new), strict=False)
    tail = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], backwards))
    tail = min(tail, left)
    keep = max(tail - _CONTEXT, 0)
    return max(head - _CONTEXT, 0), len(old) - keep, len(new) - keep


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
