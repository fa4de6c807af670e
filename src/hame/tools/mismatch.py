"""Why a text was not found: the place that is nearest to it, and the first character that differs."""

from hame.tools.matching.canonical import TextLines, fold
from hame.tools.matching.indentation import describe_indent, indent_of
from hame.tools.matching.likeness import Likeness, find_alike
from hame.tools.matching.naming import name_difference

_LINES_SHOWN = 12
_LINE_SHOWN = 160
_BEFORE = 60
"""Characters shown before the difference in a line that is cut."""
_ALIKE = 0.4
_SCATTERED = "Its lines are all in the file, but not one after another."


def explain_missing(text: TextLines, old: str, reason: str = "") -> str:
    """Why `old` is not in the text, and what stands there instead; `reason` is known already.

    Empty when there is nothing to say.
    """
    if not old.strip():
        return reason
    block = old.strip("\n").split("\n")
    places = find_alike(text, block)
    if not places or places[0].score < _ALIKE:
        return reason or _nothing_alike(text, block)
    place = places[0]
    if any(pair.ours is None for pair in place.pairs) and _are_scattered(text, block):
        return _SCATTERED
    where = f"lines {place.first + 1}-{place.last + 1}"
    if place.first == place.last:
        where = f"line {place.first + 1}"
    said = reason or _difference(text, place, block)
    return f"Nearest is {where}{': ' if said else '.'}{said}{_excerpt(text, place, block)}"


def _nothing_alike(text: TextLines, block: list[str]) -> str:
    return _SCATTERED if _are_scattered(text, block) else "No line of the file is like it."


def _are_scattered(text: TextLines, block: list[str]) -> bool:
    filled = [fold(line).strip() for line in block if line.strip()]
    return len(filled) > 1 and all(line in text.numbers_of for line in filled)


def _difference(text: TextLines, place: Likeness, block: list[str]) -> str:
    """The first of its lines that differs, and where; spaces count only when nothing else does."""
    spaces = ""
    for pair in place.pairs:
        if pair.old is None:
            return f"line {(pair.ours or 0) + 1} is not in old_string."
        if pair.ours is None:
            if block[pair.old].strip():
                return f"the file has no line `{block[pair.old].strip()[:_LINE_SHOWN]}` there."
            continue
        wanted, line, number = block[pair.old], text.lines[pair.ours], pair.ours + 1
        if line.strip() != wanted.strip():
            return _in_line(line, wanted, number)
        if line != wanted and not spaces:
            spaces = _in_spaces(line, wanted, number)
    return spaces


def _in_line(line: str, wanted: str, number: int) -> str:
    found = name_difference(line.strip(), wanted.strip())
    if found is None:
        return ""
    column = found.column + len(line) - len(line.lstrip())
    return f"line {number} has {found.has} at column {column} where old_string has {found.wants}."


def _in_spaces(line: str, wanted: str, number: int) -> str:
    if line.rstrip() == wanted.rstrip():
        return f"line {number} differs in the spaces at its end."
    ours, theirs = describe_indent(indent_of(line)), describe_indent(indent_of(wanted))
    return f"line {number} is indented with {ours}, in old_string with {theirs}."


def _excerpt(text: TextLines, place: Likeness, block: list[str]) -> str:
    """The lines of the file, numbered as read_file does."""
    shown: list[str] = []
    wanted = {pair.ours: block[pair.old] for pair in place.pairs if pair.old is not None}
    for number in range(place.first, min(place.last + 1, place.first + _LINES_SHOWN)):
        line = _around(text.lines[number], wanted.get(number, ""))
        shown.append(f"\n{number + 1}\t{line}")
    more = place.last + 1 - place.first - len(shown)
    return "".join(shown) + (f"\n[{more} more lines]" if more > 0 else "")


def _around(line: str, wanted: str) -> str:
    """A line; of a long one the part where it first differs."""
    if len(line) <= _LINE_SHOWN:
        return line
    found = name_difference(line, wanted)
    start = max((found.column if found else 0) - _BEFORE, 0)
    part = line[start : start + _LINE_SHOWN]
    return f"{'…' if start else ''}{part}{'…' if start + len(part) < len(line) else ''}"
