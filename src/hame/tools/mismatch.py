"""Why a text was not found: the line that is nearest to it, and the first character that differs."""

import re
from itertools import islice

from hame.tools.endings import even

_NUMBERED = re.compile(r"\s*\d+\t")
_LINES_COMPARED = 20_000
_COMPARED = 400
"""Characters of a line that are compared."""
_LINE_SHOWN = 160
_LIKENESS = 0.6

_LOOK_ALIKES = str.maketrans({
    **dict.fromkeys("\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000\t", " "),
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033", '"'),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
})  # fmt: skip
"""Characters that are easily taken for another, one for one."""

_NAMES = {" ": "a space", "\t": "a tab", "\r": "a carriage return", "\n": "the end of the line"}


def explain_missing(text: str, old: str) -> str:
    """One or two sentences on why `old` is not in `text`; empty when there is nothing to say."""
    text, old = even(text), even(old)
    if not old.strip():
        return ""
    if all(_NUMBERED.match(line) for line in old.splitlines() if line.strip()):
        return "It contains the line numbers that read_file shows; leave them out."
    place = text.translate(_LOOK_ALIKES).find(old.translate(_LOOK_ALIKES))
    if place >= 0:
        return _first_difference(text, place, old)
    return _spacing(text, old) or _nearest_line(text, old)


def _first_difference(text: str, place: int, old: str) -> str:
    """Where texts of one length, look-alike all through, are not the same."""
    for index, wanted in enumerate(old, place):
        if text[index] != wanted:
            line = text.count("\n", 0, index) + 1
            column = index - text.rfind("\n", 0, index)
            has, wants = _name(text[index]), _name(wanted)
            return f"Line {line} of the file has {has} at column {column} where old_string has {wants}."
    return ""


def _spacing(text: str, old: str) -> str:
    """The first line that differs in the spaces at its ends, when nothing else differs."""
    lines, wanted = text.split("\n"), old.split("\n")
    for bare in (str.rstrip, str.strip):
        place = "\n".join(map(bare, lines)).find("\n".join(map(bare, wanted)))
        if place < 0:
            continue
        first = "\n".join(map(bare, lines)).count("\n", 0, place)
        for index, part in enumerate(wanted):
            line = lines[first + index]
            # The text may begin and end inside a line; the lines between must be the same.
            begins = line.startswith(part) if index else part in line
            ends = line.endswith(part) if index < len(wanted) - 1 else part in line
            if not (begins and ends):
                return _compare_lines(line, part, first + index + 1)
    return ""


def _nearest_line(text: str, old: str) -> str:
    """The line of the file that is most like the first line of `old` that is not in it."""
    absent = [line for line in old.split("\n") if line.strip() and line not in text]
    if not absent:
        return "Its lines are all in the file, but not one after another."
    wanted = absent[0]
    lines = text.split("\n")
    number = _most_alike(lines, wanted.strip())
    if number is None:
        return "No line of the file is like it."
    return _compare_lines(lines[number], wanted, number + 1)


def _most_alike(lines: list[str], wanted: str) -> int | None:
    from difflib import SequenceMatcher

    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(wanted[:_COMPARED])
    best, number = _LIKENESS, None
    for index, line in enumerate(islice(lines, _LINES_COMPARED)):
        matcher.set_seq1(line.strip()[:_COMPARED])
        if matcher.real_quick_ratio() > best and matcher.quick_ratio() > best:
            ratio = matcher.ratio()
            if ratio > best:
                best, number = ratio, index
    return number


def _compare_lines(line: str, wanted: str, number: int) -> str:
    if line.strip() == wanted.strip():
        if line.rstrip() == wanted.rstrip():
            return f"Line {number} differs in the spaces at its end."
        return (
            f"Line {number} is indented with {_indent(line)}, in old_string with {_indent(wanted)}."
        )
    shown = line if len(line) <= _LINE_SHOWN else line[:_LINE_SHOWN] + "…"
    column = next(
        (i for i, (a, b) in enumerate(zip(line, wanted, strict=False)) if a != b),
        min(len(line), len(wanted)),
    )
    has, wants = _name(line[column : column + 1]), _name(wanted[column : column + 1])
    return f"Nearest is line {number}: {shown}\nIt has {has} at column {column + 1} where old_string has {wants}."


def _indent(line: str) -> str:
    indent = line[: len(line) - len(line.lstrip())]
    if not indent:
        return "nothing"
    if len(set(indent)) == 1 and indent[0] in " \t":
        kind = "space" if indent[0] == " " else "tab"
        return f"{len(indent)} {kind}{'' if len(indent) == 1 else 's'}"
    return " and ".join(sorted({_name(letter) for letter in indent})) + " mixed"


def _name(letter: str) -> str:
    """A character so that it cannot be mistaken: `"a"`, `a tab`, `NO-BREAK SPACE (U+00A0)`."""
    if not letter:
        return "the end of the line"
    if letter in _NAMES:
        return _NAMES[letter]
    if letter.isascii() and letter.isprintable():
        return f"`{letter}`"
    import unicodedata

    return f"{unicodedata.name(letter, 'a character')} (U+{ord(letter):04X})"
