"""Where the parts of a patch go in a file: by what stands there, not by line numbers.

The place a part is said to be at is tried first, then the nearest one. What fits several places and
says nothing about which is refused, and so is a part that has nothing to be found by.
"""

from collections.abc import Sequence

import msgspec

from hame.base.edit import TextEdit
from hame.base.errors import ToolError
from hame.tools.endings import EvenText
from hame.tools.matching.canonical import Span, TextLines
from hame.tools.patch_text import Hunk

_LINES_NAMED = 6


class PatchPlacement(msgspec.Struct, frozen=True):
    """The edits of a file's patch, and what was not exact."""

    edits: tuple[TextEdit, ...]
    notes: tuple[str, ...]


class _Place(msgspec.Struct, frozen=True):
    span: Span
    new: str
    note: str = ""


def place_hunks(text: str, hunks: Sequence[Hunk], shown: str) -> PatchPlacement:
    """Find every part of a patch in the file as it is.

    Raises:
        ToolError: naming the part that has no place, or more than one.
    """
    source = EvenText(text)
    lines = TextLines(source.text)
    placed: list[tuple[_Place, str]] = []
    cursor = 0
    for each in hunks:
        hunk = msgspec.structs.replace(each, label=f"{each.label} of {shown}")
        place = _place(lines, hunk, cursor)
        cursor = lines.line_at(place.span.end)
        placed.append((place, hunk.label))
    placed.sort(key=lambda each: each[0].span)
    done = -1
    for place, label in placed:
        if place.span.start < done:
            raise ToolError(f"{label} overlaps another one. Nothing was changed.")
        done = place.span.end
    return PatchPlacement(
        tuple(_edit(source, place) for place, _ in placed),
        tuple(f"{label}: {place.note}." for place, label in placed if place.note),
    )


def _edit(source: EvenText, place: _Place) -> TextEdit:
    start, end = (source.original_index(index) for index in place.span)
    return TextEdit(start, end, source.adapt(start, end, place.new))


def _place(lines: TextLines, hunk: Hunk, cursor: int) -> _Place:
    after = _after_anchors(lines, hunk, cursor)
    if not hunk.old:
        return _insert(lines, hunk, after)
    starts = _exact_places(lines, hunk.old)
    if not starts:
        return _inexact(lines, hunk)
    start, note = _choose(lines, starts, hunk, (cursor, after))
    count = len(_lines(lines))
    last = start + len(hunk.old) - 1
    span = lines.span_of(start, last, newline=True)
    ends = last < count - 1 or lines.text.endswith("\n")
    return _Place(span, _joined(hunk, ends=ends), note)


def _lines(lines: TextLines) -> list[str]:
    """The lines of the file; what stands after the last line ending is one only if there is some."""
    return lines.lines if lines.lines[-1] else lines.lines[:-1]


def _joined(hunk: Hunk, *, ends: bool) -> str:
    ends = ends if hunk.newline is None else hunk.newline
    text = "".join(f"{line}\n" for line in hunk.new)
    return text if ends else text.removesuffix("\n")


def _exact_places(lines: TextLines, old: Sequence[str]) -> list[int]:
    """Lines, from 0, at which the old lines stand exactly."""
    every = _lines(lines)
    first = old[0]
    size = len(old)
    return [
        index
        for index, line in enumerate(every[: len(every) - size + 1])
        if line == first and every[index : index + size] == list(old)
    ]


def _choose(
    lines: TextLines, starts: list[int], hunk: Hunk, bounds: tuple[int, int | None]
) -> tuple[int, str]:
    """One of several places, and a note when it is not where it was said to be.

    Raises:
        ToolError: when nothing says which of them is meant.
    """
    cursor, after = bounds
    if hunk.at_end and starts[-1] + len(hunk.old) == len(_lines(lines)):
        return starts[-1], ""
    if after is not None:
        below = [start for start in starts if start >= after]
        if below:
            return below[0], ""
        raise ToolError(f"{hunk.label} does not stand after its @@ line. Nothing was changed.")
    if hunk.expected is not None:
        return _nearest(starts, hunk.expected - 1, hunk.label)
    following = [start for start in starts if start >= cursor] or starts
    if len(following) > 1:
        raise ToolError(
            f"{hunk.label} fits several places (lines {_named(following)}). Add lines of context, or an"
            " @@ line that names what it lies in. Nothing was changed."
        )
    return following[0], ""


def _nearest(starts: list[int], expected: int, label: str) -> tuple[int, str]:
    ordered = sorted(starts, key=lambda start: abs(start - expected))
    best = ordered[0]
    if len(ordered) > 1 and abs(ordered[1] - expected) == abs(best - expected):
        raise ToolError(
            f"{label} fits two places that are as near (lines {_named(sorted(ordered[:2]))}). Add"
            " lines of context. Nothing was changed."
        )
    if best == expected:
        return best, ""
    return best, f"it was found at line {best + 1}, not at line {expected + 1}"


def _after_anchors(lines: TextLines, hunk: Hunk, cursor: int) -> int | None:
    """The line, from 0, that the last of its anchors is; None when it has none.

    Raises:
        ToolError: when one is not in the file.
    """
    at: int | None = None
    for anchor in hunk.anchors:
        start = cursor if at is None else at + 1
        at = _find_anchor(lines, anchor, start)
        if at is None and start == cursor:
            at = _find_anchor(lines, anchor, 0)
        if at is None:
            raise ToolError(
                f"{hunk.label}: its line `@@ {anchor}` is not in the file. Nothing was changed."
            )
    return at


def _find_anchor(lines: TextLines, anchor: str, start: int) -> int | None:
    wanted = anchor.strip()
    stripped = [line.strip() for line in _lines(lines)]
    for index in range(start, len(stripped)):
        if stripped[index] == wanted:
            return index
    for index in range(start, len(stripped)):
        if stripped[index].startswith(wanted):
            return index
    return None


def _insert(lines: TextLines, hunk: Hunk, after: int | None) -> _Place:
    """Lines that only come in: after the anchor, at the end that was said, or into an empty file.

    Raises:
        ToolError: when nothing says where.
    """
    if after is not None and not hunk.at_end:
        span = lines.span_of(after, after, newline=True)
        ends = lines.text[span.start : span.end].endswith("\n")
        new = _joined(hunk, ends=ends)
        return _Place(Span(span.end, span.end), new if ends else f"\n{new}")
    if hunk.at_end or not lines.text:
        size = len(lines.text)
        ends = not lines.text or lines.text.endswith("\n")
        new = _joined(hunk, ends=True)
        return _Place(Span(size, size), new if ends else f"\n{new}".removesuffix("\n"))
    raise ToolError(
        f"{hunk.label} has no line of context and no @@ line, so nothing says where it goes. Nothing was"
        " changed."
    )


def _inexact(lines: TextLines, hunk: Hunk) -> _Place:
    """A part whose old lines are not in the file as they are written.

    Raises:
        ToolError: when they have no place, or more than one.
    """
    from hame.tools.matching.ladder import Doubtful, Placed, Several, find_inexact
    from hame.tools.mismatch import explain_missing

    old, new = ("".join(f"{line}\n" for line in part) for part in (hunk.old, hunk.new))
    found = find_inexact(lines, old, new)
    match found:
        case Placed():
            return _Place(
                found.span, found.new, f"it did not match exactly: {_of_patch(found.note)}"
            )
        case Several():
            raise ToolError(
                f"{hunk.label} fits several places inexactly (lines {_named(found.lines, 0)};"
                f" {_of_patch(found.note)}). Copy its lines exactly. Nothing was changed."
            )
        case Doubtful() | None:
            said = explain_missing(lines, old, found.reason if found else "")
            raise ToolError(
                f"the lines of {hunk.label} are not in the file. {_of_patch(said)}\nNothing was changed; read the"
                " file again."
            )


def _of_patch(words: str) -> str:
    """Words about an edit, for a patch."""
    return words.replace("old_string", "the patch").replace("new_string", "what comes in")


def _named(starts: Sequence[int], shift: int = 1) -> str:
    more = ", ..." if len(starts) > _LINES_NAMED else ""
    return ", ".join(str(start + shift) for start in starts[:_LINES_NAMED]) + more
