"""Where the replacements of one call go in a file: all of them, or a reason why not."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import msgspec

from hame.base.edit import TextEdit
from hame.base.errors import ToolError
from hame.base.outcome import DiffView
from hame.tools.endings import EvenText, even
from hame.tools.matching.canonical import Span, TextLines
from hame.tools.matching.exact import find_spans, line_of, without_overlaps

if TYPE_CHECKING:
    from hame.tools.matching.ladder import Placed

_LINES_NAMED = 10
_DIFF_LIMIT = 6_000
_TELLING = 8
"""A new text of fewer characters may stand in the file by chance."""


class Replacement(msgspec.Struct, frozen=True):
    """One replacement as the model asked for it."""

    old: str
    new: str
    label: str = ""
    """How errors name it: empty for a single one."""
    everywhere: bool = False
    """At every place where the text stands exactly."""


class Placement(msgspec.Struct, frozen=True):
    """All replacements in their places."""

    edits: tuple[TextEdit, ...]
    """In the file's own text, in its order."""
    notes: tuple[str, ...]
    """What was not exact, for the model."""


class _Change(msgspec.Struct, frozen=True, order=True):
    start: int
    end: int
    new: str
    label: str


def place_all(text: str, wanted: Sequence[Replacement], shown: str) -> Placement:
    """Find every replacement in the file as it is.

    Raises:
        ToolError: when a text is not found, fits several places, or two replacements overlap.
    """
    source = EvenText(text)
    lines = TextLines(source.text)
    changes: list[_Change] = []
    notes: list[str] = []
    done: list[Replacement] = []
    for each in wanted:
        spans = find_spans(source.text, even(each.old))
        if spans and not _holds_new(source.text, each, spans):
            changes += _exactly(source, each, spans, shown)
        elif spans or not (placed := _inexactly(lines, each, shown)):
            done.append(each)
        else:
            changes.append(_change(source, placed.span, placed.new, each.label))
            notes.append(f"{each.label}old_string did not match exactly: {placed.note}.")
    if done:
        raise ToolError(_already(done, wanted, shown))
    changes.sort()
    _require_apart(text, changes, shown)
    edits = tuple(TextEdit(change.start, change.end, change.new) for change in changes)
    return Placement(edits, tuple(notes))


def inexact_note(notes: Sequence[str], view: DiffView) -> str:
    """For the model: what was not exact, and the difference it made; empty when all was."""
    if not notes:
        return ""
    diff = view.diff
    if len(diff) > _DIFF_LIMIT:
        diff = diff[:_DIFF_LIMIT] + "\n[the rest of the difference is left out]"
    return "\n" + "\n".join(notes) + f"\nWhat it made:\n{diff.rstrip()}"


def _already(done: Sequence[Replacement], wanted: Sequence[Replacement], shown: str) -> str:
    """The words for replacements that were made before."""
    if len(done) == len(wanted):
        return f"already done: {shown} holds new_string already. Nothing was changed."
    labels = ", ".join(each.label.removesuffix(": ") or "old_string" for each in done)
    return f"already done in {shown}: {labels}. Leave it out. Nothing was changed."


def _holds_new(text: str, wanted: Replacement, spans: Sequence[Span]) -> bool:
    """Whether the old text stands only inside of the new one, which is there already."""
    old, new = even(wanted.old), even(wanted.new)
    added = len("".join(new.split())) - len("".join(old.split()))
    if added < _TELLING or old not in new:
        return False
    places = find_spans(text, new)
    return all(any(a.start <= b.start and b.end <= a.end for a in places) for b in spans)


def _exactly(source: EvenText, wanted: Replacement, spans: list[Span], shown: str) -> list[_Change]:
    if len(spans) > 1 and not wanted.everywhere:
        lines = [line_of(source.text, span.start) for span in spans]
        raise ToolError(
            f"{wanted.label}old_string occurs {len(spans)} times in {shown} ({_named(lines)}). Add"
            " lines around it until it is unique, or set replace_all. Nothing was changed."
        )
    return [_change(source, span, wanted.new, wanted.label) for span in without_overlaps(spans)]


def _inexactly(lines: TextLines, wanted: Replacement, shown: str) -> "Placed | None":
    """Where a text goes that is not there as it is written; None when that was done before.

    Raises:
        ToolError: when there is no such place, or more than one.
    """
    from hame.tools.matching.ladder import Doubtful, Placed, Several, find_inexact

    new = even(wanted.new)
    found = find_inexact(lines, even(wanted.old), new)
    match found:
        case Placed(span=(start, end)):
            return found if lines.text[start:end] != found.new else None
        case Several():
            raise ToolError(
                f"{wanted.label}old_string is not in {shown} as it is written, and fits several"
                f" places inexactly ({_named(found.lines)}; {found.note}). Copy the text exactly,"
                " with lines around it until it is unique. Nothing was changed."
            )
        case Doubtful() | None:
            if len(new.strip()) >= _TELLING and lines.text.count(new) == 1:
                return None
            raise ToolError(_not_found(lines, wanted, shown, found.reason if found else ""))


def _change(source: EvenText, span: Span, new: str, label: str) -> _Change:
    start, end = source.original_index(span.start), source.original_index(span.end)
    return _Change(start, end, source.adapt(start, end, new), label)


def _not_found(lines: TextLines, wanted: Replacement, shown: str, reason: str) -> str:
    from hame.tools.mismatch import explain_missing

    said = explain_missing(lines, even(wanted.old), reason)
    new = even(wanted.new)
    if new.strip() and new in lines.text:
        line = line_of(lines.text, lines.text.index(new))
        said += f"{chr(10) if chr(10) in said else ' '}new_string is there already, at line {line}."
    hint = "Nothing was changed. Read the file again and copy the text exactly."
    return f"{wanted.label}old_string was not found in {shown}. {said.strip()}\n{hint}"


def _require_apart(text: str, changes: Sequence[_Change], shown: str) -> None:
    for one, other in pairwise(changes):
        if other.start < one.end or (other.start, other.end) == (one.start, one.end):
            raise ToolError(
                f"{other.label or one.label}two replacements overlap at line"
                f" {line_of(text, other.start)} of {shown}; make them one. Nothing was changed."
            )


def _named(lines: Sequence[int]) -> str:
    more = ", ..." if len(lines) > _LINES_NAMED else ""
    return f"lines {', '.join(map(str, lines[:_LINES_NAMED]))}{more}"
