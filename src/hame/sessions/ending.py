"""The end of a large session file, read backwards: enough to go on with, without what lies before.

A summary (`HistoryCompacted`) holds everything the model is still to know of what came before it, so a
session whose branch has one is gone on with from there. Whatever is out of order on the way makes this
give up; the file is then read from its beginning, with all the care of `hame.sessions.history`.
"""

from collections.abc import Iterator
from typing import BinaryIO

import msgspec

from hame.base.entry import VERSION, Entry, HistoryCompacted, Record, SessionStarted

LARGE = 4 * 1024 * 1024
"""Bytes from which a file is read from its end."""
_BLOCK = 1 << 18
_LONGEST = 64 * 1024 * 1024
"""Bytes of one line; a longer one is not waited for."""
_RECORDS = msgspec.json.Decoder(Record)


class Ending(msgspec.Struct, frozen=True, kw_only=True):
    """The end of the active branch."""

    entries: list[Entry]
    """The first entry of the session, then the last ones of its branch."""
    ids: list[str]
    last_number: int
    complete: bool
    """It is the whole branch."""


def read_ending(file: BinaryIO, size: int) -> Ending | None:
    """The end of a session file of that size, back to its last summary; None where it has none.

    Raises:
        OSError: if the file cannot be read.
    """
    found = _Branch()
    for line in lines_backwards(file, size):
        record = _decode(line) if line.endswith(b"\n") else None
        if record is None or not found.take(record):
            return None
        if found.enough:
            break
    first = _first(file) if found.enough else None
    return found.ending(first) if first is not None else None


def last_records(file: BinaryIO, size: int, count: int) -> list[Record]:
    """The last records of the active branch, in order; what cannot be read is left out.

    Raises:
        OSError: if the file cannot be read.
    """
    found: list[Record] = []
    wanted: str | None = None
    for line in lines_backwards(file, size):
        record = _decode(line)
        if record is None or (found and record.id != wanted):
            continue
        found.append(record)
        wanted = record.parent
        if len(found) == count or wanted is None:
            break
    found.reverse()
    return found


def lines_backwards(file: BinaryIO, size: int) -> Iterator[bytes]:
    """The lines of a file from its last to its first; empty ones are left out.

    Raises:
        OSError: if the file cannot be read.
    """
    at = size
    pieces: list[bytes] = []
    """What is known of the line that begins further up, the end of it first."""
    while at > 0 and sum(map(len, pieces)) <= _LONGEST:
        start = max(0, at - _BLOCK)
        file.seek(start)
        above, *lines = file.read(at - start).split(b"\n")
        at = start
        if not lines:
            pieces.append(above)
            continue
        lines[-1] += b"".join(reversed(pieces))
        ended = [line + b"\n" for line in lines[:-1]]
        yield from filter(bytes.strip, (lines[-1], *reversed(ended)))
        pieces = [above + b"\n"]
    yield from filter(bytes.strip, [b"".join(reversed(pieces))] if at == 0 else [])


class _Branch:
    """Takes records from the last to the first, and keeps those of the active branch."""

    def __init__(self) -> None:
        self._taken: list[Record] = []
        self._wanted: str | None = None
        self._left: int | None = None
        """Entries still to be taken before the last summary; None: it was not met yet."""
        self.number: int | None = None
        self.enough = False

    def take(self, record: Record) -> bool:
        """Whether it can be part of a file in order."""
        if record.v > VERSION or not (record.id.isascii() and record.id.isdigit()):
            return False
        if self.number is None:
            self.number = int(record.id)
        elif record.id != self._wanted:
            return int(record.id) < self.number
        self._taken.append(record)
        self._wanted = record.parent
        if self._left is not None:
            self._left -= 1
        elif isinstance(record.entry, HistoryCompacted):
            self._left = record.entry.kept
        self.enough = self._left is not None and self._left <= 0
        return self._wanted is not None or self.enough

    def ending(self, first: Record) -> Ending:
        taken = self._taken[::-1]
        complete = bool(taken) and taken[0].id == first.id
        records = taken if complete else [first, *taken]
        return Ending(
            entries=[record.entry for record in records],
            ids=[record.id for record in records],
            last_number=self.number or 0,
            complete=complete,
        )


def _first(file: BinaryIO) -> Record | None:
    file.seek(0)
    record = _decode(file.readline(1 << 20))
    return record if record is not None and isinstance(record.entry, SessionStarted) else None


def _decode(line: bytes) -> Record | None:
    try:
        return _RECORDS.decode(line)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None
