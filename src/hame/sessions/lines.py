"""Lines of a session file: the records on each, however it was treated.

Power loss, full disks and older versions leave NUL bytes, half lines, a record that was written in part
and then again whole, and records this version does not know.
"""

import json
import re
from typing import BinaryIO

import msgspec

from hame.base.entry import VERSION, Record

LONG = 24 * 1024 * 1024
"""Bytes of a line that is not read as a whole to go on with a session: more than hame writes, and more
than a model takes."""
CHUNK = 1 << 20
_RECORDS = msgspec.json.Decoder(Record)
_PADDING = b"\0 \t\r\n"
_START = b'{"id":"'
"""How every record of ours begins; found again inside a line that holds more than one."""
_FRAME = re.compile(
    rb'\{"id":"(\d{1,18})","parent":(?:null|"(\d{1,18})"),"at":([-+.\deE]{1,32}),"entry":\{"type":"(\w+)"'
)
_VERSION = re.compile(rb',"v":(\d+)\}\s*\Z')
_TAIL = 64


class Kind(msgspec.Struct, frozen=True):
    """What is known of an entry of an unknown kind."""

    type: str


class Stub(msgspec.Struct, frozen=True):
    """The frame of a record whose entry this version does not know."""

    id: str
    parent: str | None
    at: float
    entry: Kind
    v: int = VERSION


_STUBS = msgspec.json.Decoder(Stub)


class Frame(msgspec.Struct, frozen=True):
    """What is known of a record that is too large to be read as a whole."""

    id: str
    parent: str | None
    at: float
    tag: str
    v: int


def records_in(line: bytes) -> tuple[list[Record | Stub], bool]:
    """The records on a line, and whether the line is as it should be (empty ones are)."""
    text = line.strip(_PADDING)
    if not text:
        return [], b"\0" not in line
    record = decode(text)
    if record is not None:
        return [record], True
    return _salvage(text.decode("utf-8", "replace")), False


def decode(text: bytes) -> Record | Stub | None:
    """The record that a text is; None where it is none."""
    try:
        return _RECORDS.decode(text)
    except msgspec.ValidationError:
        pass
    except (ValueError, RecursionError):
        return None
    try:
        return _STUBS.decode(text)
    except ValueError:
        return None


def next_block(file: BinaryIO) -> bytes:
    """The next whole lines, about a megabyte of them; empty where the next line is longer, or the last.

    Raises:
        OSError: if the file cannot be read.
    """
    start = file.tell()
    block = file.read(CHUNK)
    whole = block.rfind(b"\n") + 1
    if whole < len(block):
        file.seek(start + whole)
    return block[:whole]


def decode_block(block: bytes) -> tuple[list[Record], list[int]] | None:
    """The records of these lines and the sizes of the lines; None where not every line is a record."""
    try:
        records = _RECORDS.decode_lines(block)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None
    sizes = [size + 1 for size in map(len, block[:-1].split(b"\n"))]
    return (records, sizes) if len(records) == len(sizes) else None


def frame_of(head: bytes, tail: bytes = b"}") -> Frame | None:
    """The frame of a record of hame's own from the beginning and the end of its line."""
    found = _FRAME.match(head)
    if found is None or not tail.rstrip(b"\r\n").endswith(b"}"):
        return None
    version = _VERSION.search(tail)
    return Frame(
        found[1].decode(),
        found[2].decode() if found[2] is not None else None,
        _number(found[3]),
        found[4].decode(),
        int(version[1]) if version else VERSION,
    )


def _number(text: bytes) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def next_line(file: BinaryIO) -> tuple[bytes, int, Frame | None]:
    """The next line and its size; of one that is too long only its frame, where it is in order.

    Raises:
        OSError: if the file cannot be read.
    """
    line = file.readline(CHUNK)
    if len(line) < CHUNK or line.endswith(b"\n"):
        return line, len(line), None
    start = file.tell() - len(line)
    size, tail, more = len(line), line[-_TAIL:], line.find(_START, 1) >= 0
    while piece := file.readline(CHUNK):
        size += len(piece)
        joined = tail + piece
        more, tail = more or _START in joined, joined[-_TAIL:]
        if piece.endswith(b"\n"):
            break
    frame = frame_of(line, tail) if size > LONG and not more and tail.endswith(b"\n") else None
    if frame is not None:
        return b"", size, frame
    file.seek(start)
    return file.readline(), size, None


def _salvage(text: str) -> list[Record | Stub]:
    """Whole records on a line that holds something else too, such as the half of one."""
    found: list[Record | Stub] = []
    scanner = json.JSONDecoder()
    start = _START.decode()
    at = text.find(start)
    while at >= 0:
        try:
            _, end = scanner.raw_decode(text, at)
        except (ValueError, RecursionError):
            at = text.find(start, at + 1)
            continue
        record = decode(text[at:end].encode())
        if record is not None:
            found.append(record)
        at = text.find(start, end)
    return found
