"""The end of a session, read backwards from the end of its file, without what lies before."""

from collections.abc import Iterator
from typing import BinaryIO

from hame.base.entry import Record
from hame.sessions.large import HEAD, stand_in
from hame.sessions.lines import LONG, Frame, decode, frame_of
from hame.sessions.tree import BY_TAG, KINDS

LARGE = 4 * 1024 * 1024
"""Bytes of a file from which only its end is shown, unless it is asked for as a whole."""
MOST_BYTES = 8 * 1024 * 1024
"""Of the lines that are read for it."""
_BLOCK = 1 << 18


def last_records(file: BinaryIO, size: int, count: int) -> list[Record]:
    """The last records of the active branch, in order, at most `count` and about `MOST_BYTES`.

    What cannot be read is left out; of a record that is too large there is a stand-in.

    Raises:
        OSError: if the file cannot be read.
    """
    found: list[Record] = []
    wanted: str | None = None
    left = MOST_BYTES
    for start, length in spans_backwards(file, size):
        record = _read(file, start, length, wanted if found else None)
        if record is None or (found and record.id != wanted):
            continue
        found.append(record)
        wanted, left = record.parent, left - min(length, LONG)
        if len(found) == count or wanted is None or left <= 0:
            break
    found.reverse()
    return found


def spans_backwards(file: BinaryIO, size: int) -> Iterator[tuple[int, int]]:
    """Where the lines of a file begin and how long they are, from the last to the first.

    A line's end counts with it; lines that are empty are left out.

    Raises:
        OSError: if the file cannot be read.
    """
    end, at = size, size
    while at > 0:
        start = max(0, at - _BLOCK)
        file.seek(start)
        block = file.read(at - start)
        newline = len(block)
        while (newline := block.rfind(b"\n", 0, newline)) >= 0:
            below = start + newline + 1
            if below < end:
                if end - below > 1:
                    yield below, end - below
                end = below
        at = start
    if end > 1:
        yield 0, end


def _read(file: BinaryIO, start: int, length: int, wanted: str | None) -> Record | None:
    """The record on a line; None where there is none, or another one than is wanted."""
    file.seek(start)
    line = file.read(min(length, HEAD))
    frame = frame_of(line)
    if wanted is not None and frame is not None and frame.id != wanted:
        return None
    if length > LONG:
        return _stand_in(frame, length, line)
    line += file.read(length - len(line))
    record = decode(line.strip(b"\0 \t\r\n"))
    return record if isinstance(record, Record) else None


def _stand_in(frame: Frame | None, length: int, head: bytes) -> Record | None:
    code = BY_TAG.get(frame.tag) if frame is not None else None
    entry = stand_in(KINDS[code], length, head) if code is not None else None
    if frame is None or entry is None:
        return None
    return Record(id=frame.id, parent=frame.parent, at=frame.at, entry=entry, v=frame.v)
