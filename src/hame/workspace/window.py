"""Some lines of a text file of any size, read in pieces that do not grow with it."""

import codecs
import os

import anyio.from_thread

from hame.base.errors import PathError
from hame.base.path import TextWindow
from hame.workspace.locate import Place
from hame.workspace.reading import opened
from hame.workspace.textcode import SAMPLE, decode_line, looks_binary

LINE_LIMIT = 16_384
"""Bytes of a line that are kept."""

_CHUNK = 1 << 20
_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def read_window(place: Place, first: int, count: int, size: int) -> TextWindow:
    """At most `count` lines and about `size` bytes, from the line `first` (from 1).

    Runs in a worker thread; notices at each piece when it is cancelled.

    Raises:
        PathError: if it cannot be read as text.
    """
    gathered = _Gathered(first, count, size)
    with opened(place) as descriptor:
        chunk = os.read(descriptor, _CHUNK)
        _require_text(chunk, place.shown)
        chunk = chunk.removeprefix(codecs.BOM_UTF8)
        while chunk and not gathered.full:
            anyio.from_thread.check_cancelled()
            if gathered.take(chunk) and b"\0" in chunk:
                raise PathError(f"{place.shown} is a binary file, not text")
            chunk = os.read(descriptor, _CHUNK)
    return gathered.window(more=bool(chunk))


def _require_text(sample: bytes, shown: str) -> None:
    if sample.startswith(_WIDE):
        raise PathError(
            f"{shown} is in UTF-16 and too large to be read whole; convert a part of it with a"
            " command and read that"
        )
    if looks_binary(sample[:SAMPLE]):
        raise PathError(f"{shown} is a binary file, not text")


class _Gathered:
    """The lines that are wanted, out of pieces of the file that come one after another."""

    def __init__(self, first: int, count: int, size: int) -> None:
        """Want `count` lines from `first` on, about `size` bytes."""
        self._first = first
        self._count = count
        self._size = size
        self._to_skip = first - 1
        self._lines: list[bytes] = []
        self._cut: list[int] = []
        self._open = False
        """The last of the lines has not ended yet."""
        self._left_over = False

    @property
    def full(self) -> bool:
        """Whether nothing more is wanted."""
        return self._left_over

    def take(self, chunk: bytes) -> bool:
        """Take the next piece; whether any of it was wanted."""
        start = self._skip(chunk)
        if start is None:
            return False
        while start < len(chunk):
            if not self._open and self._enough():
                self._left_over = True
                break
            end = chunk.find(b"\n", start)
            whole = end >= 0
            self._add(chunk[start : end if whole else len(chunk)])
            self._open = not whole
            start = end + 1 if whole else len(chunk)
        return True

    def window(self, *, more: bool) -> TextWindow:
        """What was gathered; `more`: the file has further pieces."""
        lines = [line.removesuffix(b"\r") if not cut else line for line, cut in self._pairs()]
        return TextWindow(
            first=self._first,
            lines=tuple(map(decode_line, lines)),
            cut=tuple(self._cut),
            more=more or self._left_over,
        )

    def _pairs(self) -> list[tuple[bytes, int]]:
        return list(zip(self._lines, self._cut, strict=True))

    def _enough(self) -> bool:
        return len(self._lines) >= self._count or self._size <= 0

    def _skip(self, chunk: bytes) -> int | None:
        """Where the wanted lines begin in a piece; None when they begin after it."""
        ends = chunk.count(b"\n") if self._to_skip else 0
        if ends < self._to_skip:
            self._to_skip -= ends
            return None
        start = 0
        for _ in range(self._to_skip):
            start = chunk.index(b"\n", start) + 1
        self._to_skip = 0
        return start

    def _add(self, part: bytes) -> None:
        if not self._open:
            self._lines.append(b"")
            self._cut.append(0)
        kept = part[: LINE_LIMIT - len(self._lines[-1])]
        self._lines[-1] += kept
        self._cut[-1] += len(part) - len(kept)
        self._size -= len(kept) + 1
