"""Lines of a text in the forms in which they are compared, and the way back to the text itself."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

_ALIKE = str.maketrans({
    **dict.fromkeys("\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000", " "),
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u00b4\u02bc", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
    **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad", None),
    "\u2026": "...",
})  # fmt: skip
"""Characters that are easily taken for others, and some that nobody sees."""


_IN_WORD = re.compile(r"\w\w")


class _Fold(dict[int, str | None]):
    """What each character is compared as; worked out when it first occurs."""

    def __missing__(self, code: int) -> str:
        import unicodedata

        letter = chr(code)
        plain = letter.translate(_ALIKE)
        if plain == letter:
            wide = 0xFF01 <= code <= 0xFF5E
            plain = chr(code - 0xFEE0) if wide else unicodedata.normalize("NFD", letter)
        self[code] = plain
        return plain


_FOLD = _Fold()


def fold(line: str) -> str:
    """A line with every look-alike in its plain form."""
    return line if line.isascii() else line.translate(_FOLD)


class Span(NamedTuple):
    """Characters `start` to `end`, exclusive."""

    start: int
    end: int


class _Joined:
    """Lines in one form, joined so that one search goes over all of them."""

    def __init__(self, lines: list[str]) -> None:
        self.text = "\n".join(lines)
        self.starts: list[int] = []
        at = 0
        for line in lines:
            self.starts.append(at)
            at += len(line) + 1

    def place(self, index: int) -> tuple[int, int]:
        """The line, from 0, and the column of an index."""
        line = bisect_right(self.starts, index) - 1
        return line, index - self.starts[line]

    def find_all(self, wanted: str, most: int) -> list[int]:
        found: list[int] = []
        index = self.text.find(wanted)
        while index >= 0 and len(found) < most:
            found.append(index)
            index = self.text.find(wanted, index + 1)
        return found


class TextLines:
    """A text with even line endings, by its lines; each form is made when it is first asked for."""

    def __init__(self, text: str) -> None:
        """Take a text."""
        self.text = text
        self.lines = text.split("\n")

    @cached_property
    def starts(self) -> list[int]:
        """Where each line begins in the text."""
        return _Joined(self.lines).starts

    @cached_property
    def _trimmed(self) -> _Joined:
        return _Joined([line.rstrip() for line in self.lines])

    @cached_property
    def _folded(self) -> _Joined:
        if self.text.isascii():
            return self._trimmed
        return _Joined([fold(line).rstrip() for line in self.lines])

    @cached_property
    def _bare(self) -> _Joined:
        return _Joined([line.strip() for line in self.lines])

    @cached_property
    def bare_folded(self) -> list[str]:
        """Every line in its plain form, without the spaces around it."""
        return [fold(line).strip() for line in self.lines]

    @cached_property
    def _bare_folded(self) -> _Joined:
        return self._bare if self.text.isascii() else _Joined(self.bare_folded)

    @cached_property
    def numbers_of(self) -> dict[str, list[int]]:
        """For each line in its plain, bare form: the numbers, from 0, of those like it."""
        numbers: dict[str, list[int]] = {}
        for number, line in enumerate(self.bare_folded):
            numbers.setdefault(line, []).append(number)
        return numbers

    def find_trimmed(self, old: str, most: int) -> list[Span]:
        """Where `old` stands when spaces at the ends of lines do not count."""
        wanted = "\n".join(line.rstrip() for line in old.split("\n"))
        return self._spans(self._trimmed, wanted, most, folded=False)

    def find_folded(self, old: str, most: int) -> list[Span]:
        """The same, and look-alikes are equal."""
        wanted = "\n".join(fold(line).rstrip() for line in old.split("\n"))
        return self._spans(self._folded, wanted, most, folded=not self.text.isascii())

    def find_bare(self, old: list[str], most: int, *, folded: bool) -> list[int]:
        """The lines, from 0, at which whole lines like `old` begin, whatever their indentation."""
        joined = self._bare_folded if folded else self._bare
        wanted = "\n".join((fold(line) if folded else line).strip() for line in old)
        if not wanted.strip():
            return []
        found: list[int] = []
        for index in joined.find_all(wanted, 20 * most):
            line, column = joined.place(index)
            end = index + len(wanted)
            if column == 0 and (end == len(joined.text) or joined.text[end] == "\n"):
                found.append(line)
        return found[:most]

    def whole_words(self, spans: Sequence[Span]) -> list[Span]:
        """The places that do not begin or end inside a word, where nobody means an inexact text."""
        return [span for span in spans if not (self._inside(span.start) or self._inside(span.end))]

    def _inside(self, index: int) -> bool:
        around = self.text[max(index - 1, 0) : index + 1]
        return len(around) == 2 and index > 0 and _IN_WORD.fullmatch(around) is not None

    def lines_with(self, word: str, most: int) -> list[int]:
        """The lines, from 0, that hold a word in its plain form; stops at `most`."""
        joined = self._bare_folded
        return sorted({joined.place(index)[0] for index in joined.find_all(word, most)})

    def has_word(self, word: str) -> bool:
        """Whether the text has this very word somewhere."""
        if word not in self.text:
            return False
        return re.search(rf"\b{re.escape(word)}\b", self.text) is not None

    def span_of(self, first: int, last: int, *, newline: bool) -> Span:
        """The lines `first` to `last`, inclusive; with the last one's ending, if there is one."""
        end = self.starts[last] + len(self.lines[last])
        return Span(self.starts[first], min(end + newline, len(self.text)))

    def line_at(self, index: int) -> int:
        """The number, from 0, of the line that a place in the text lies in."""
        return bisect_right(self.starts, index) - 1

    def _spans(self, joined: _Joined, wanted: str, most: int, *, folded: bool) -> list[Span]:
        if not wanted.strip():
            return []
        spans: list[Span] = []
        for index in joined.find_all(wanted, most):
            first, start = joined.place(index)
            last, end = joined.place(index + len(wanted))
            if folded:
                start = _unfolded(self.lines[first], start, end=False)
                end = _unfolded(self.lines[last], end, end=True)
            if end and not self.lines[last][end:].strip():
                end = len(self.lines[last])
            spans.append(Span(self.starts[first] + start, self.starts[last] + end))
        return spans


def _unfolded(line: str, column: int, *, end: bool) -> int:
    """The column in a line of what stands at a column of its plain form."""
    at = 0
    for index, letter in enumerate(line):
        if at >= column and (end or fold(letter)):
            return index
        at += len(fold(letter))
    return len(line)
