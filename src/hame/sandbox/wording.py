"""Lines of a program's output that hold certain words, however much it printed and whatever it is."""

import re
from collections.abc import Iterator, Sequence

import msgspec

_FIRST, _LAST = 24 * 1024, 72 * 1024
"""Characters at the beginning and at the end that are looked at; in between are the many others."""
_MOST_HITS = 200
_LONGEST = 600
"""Characters of a line that are looked at on each side of the words."""

_ESCAPES = re.compile(
    r"\x1b(?:\[[0-9;?]{0,20}[@-~]|\][^\x07\x1b]{0,500}(?:\x07|\x1b\\)?|[@-Z\\-_])"
)
_SOURCE = re.compile(
    r"""^\s*(?:[>+-]|\d+\s*[|:])?\s*(?:
    (?:raise|return|assert|def|class|import|from|if|elif|with|except|throw|expect|it|test|describe|const|let
       |var|func|fn|public|private|self|mock|monkeypatch|match|case|when|echo|printf)\b[^({=\[]*[({=\[]
    |\#\s|//|/\*)""",
    re.VERBOSE,
)
"""A line that is likely to be a program's text, shown or commented on, and not what it said."""
_TELLING = re.compile(
    r"side_effect|return_value|pytest\.raises|assertRaises|\b[mM]ock\w*\(|\.patch\(|toThrow|rejects\.|"
    r"\bassert\w*\(|match=r?[\"']|^\s*E\s+(?:(?:assert|AssertionError|where)\b|[+?-] )"
)


_PLAIN = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\r": "\n"})
"""Quotation marks as all tools write them, and one end of lines."""


class Hit(msgspec.Struct, frozen=True):
    """Words that were found, and the line they stand in."""

    line: str
    start: int
    """Where the words are in the line."""
    end: int
    words: str
    number: int
    """Of the line, among all."""


class Printed:
    """What a program printed."""

    def __init__(self, output: str) -> None:
        """Keep what is looked at."""
        if len(output) > _FIRST + _LAST:
            output = f"{output[:_FIRST]}\n{output[-_LAST:]}"
        text = _ESCAPES.sub("", output).translate(_PLAIN)
        self._lines = text.split("\n")

    def find(self, words: re.Pattern[str]) -> Iterator[Hit]:
        """The first place in each line where the words stand, the lines of shown programs left out."""
        left = _MOST_HITS
        for number, line in enumerate(self._lines):
            if (match := words.search(line)) is None:
                continue
            begin = max(0, match.start() - _LONGEST)
            part = line[begin : match.end() + _LONGEST]
            if _is_source(part):
                continue
            yield Hit(part, match.start() - begin, match.end() - begin, match[0], number)
            left -= 1
            if not left:
                return

    def around(self, hit: Hit, before: int, after: int) -> Sequence[str]:
        """The lines near a hit, the nearest first, those above it before those below."""
        above = self._lines[max(0, hit.number - before) : hit.number]
        below = self._lines[hit.number + 1 : hit.number + 1 + after]
        return [line[: 2 * _LONGEST] for line in (*reversed(above), *below)]

    def has(self, words: re.Pattern[str]) -> re.Match[str] | None:
        """The first place where the words stand."""
        for line in self._lines:
            if match := words.search(line):
                return match
        return None


def _is_source(line: str) -> bool:
    return _TELLING.search(line) is not None or _SOURCE.match(line) is not None
