"""Other ways in which a model may have written a text that is in the file.

With the line numbers of read_file, with blank lines around it, with escapes in the place of the
characters they stand for. What it wants instead is then written in the same way.
"""

import re
from collections.abc import Callable, Iterator
from itertools import pairwise

import msgspec

_NUMBERED = re.compile(r"\s*\d+(?:\t|→|: |\| ?)")
_QUOTES = re.compile(r"\\([\"'`/])")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([ntr\"'`/\\]))")
_ENTITY = re.compile(r"&(?:lt|gt|amp|quot|apos|nbsp|#\d{1,6}|#x[0-9a-fA-F]{1,6});")
_MEANT = {"n": "\n", "t": "\t", "r": "\r"}


class Wish(msgspec.Struct, frozen=True):
    """A text to find, the one to put there, and what was forgiven so far."""

    old: str
    new: str
    note: str = ""

    def noting(self, note: str) -> "Wish":
        """The same, with one more note."""
        return Wish(self.old, self.new, f"{self.note}; {note}" if self.note else note)


def spellings(wish: Wish) -> Iterator[Wish]:
    """Those that differ from the way it is written, the most harmless first."""
    old, new = wish.old, wish.new
    if (bare := _without_numbers(old)) is not None:
        kept = _without_numbers(new)
        yield Wish(bare, new if kept is None else kept, "line numbers were left out")
    if (bare := old.strip("\n")) != old and bare.strip():
        yield Wish(bare, *_trimmed_alike(old, new, bare))
    for note, read in _READINGS:
        meant = read(old)
        if meant != old and meant.strip():
            yield Wish(meant, read(new), note)


def _without_numbers(text: str) -> str | None:
    """The lines without numbers that go up by one; None when they have none."""
    lines = text.split("\n")
    filled = [line for line in lines if line.strip()]
    found = [_NUMBERED.match(line) for line in filled]
    if not filled or not all(found):
        return None
    numbers = [int(re.sub(r"\D", "", mark[0])) for mark in found if mark]
    if any(after <= before for before, after in pairwise(numbers)):
        return None
    return "\n".join(_NUMBERED.sub("", line, count=1) for line in lines)


def _trimmed_alike(old: str, new: str, bare: str) -> tuple[str, str]:
    """The new text without the blank lines that the old one has around it."""
    lead = len(old) - len(old.lstrip("\n"))
    tail = len(old) - lead - len(bare)
    for _ in range(lead):
        new = new.removeprefix("\n")
    for _ in range(tail):
        new = new.removesuffix("\n")
    return new, "blank lines around old_string were left out"


def _unquoted(text: str) -> str:
    return _QUOTES.sub(r"\1", text)


def _unescaped(text: str) -> str:
    def meant(found: re.Match[str]) -> str:
        code = found[1] or found[2]
        return chr(int(code, 16)) if code else _MEANT.get(found[3], found[3])

    return _ESCAPE.sub(meant, text)


def _without_entities(text: str) -> str:
    from html import unescape

    return _ENTITY.sub(lambda found: unescape(found[0]), text)


_READINGS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("escaped quotes were read as quotes, in new_string too", _unquoted),
    ("escapes were read as the characters they stand for, in new_string too", _unescaped),
    (
        "HTML entities were read as the characters they stand for, in new_string too",
        _without_entities,
    ),
)
