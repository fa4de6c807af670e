"""History: what a session file says, however the file was treated.

Power loss, full disks and older versions leave NUL bytes, half lines, a record that was written in
part and then again whole, and records this version does not know. All that can be read is read; what
was left out is said in `notices`.
"""

import json
from typing import BinaryIO

import msgspec

from hame.base.entry import (
    VERSION,
    AnswerInterrupted,
    CallSettled,
    Entry,
    ModelAnswered,
    OutcomesLost,
    Record,
)
from hame.base.message import ToolCall

_RECORDS = msgspec.json.Decoder(Record)
_PADDING = b"\0 \t\r\n"
_START = '{"id":"'
"""How every record of ours begins; found again inside a line that holds more than one."""


class _Kind(msgspec.Struct, frozen=True):
    type: str


class _Stub(msgspec.Struct, frozen=True):
    """The frame of a record whose entry this version does not know."""

    id: str
    parent: str | None
    at: float
    entry: _Kind
    v: int = VERSION


_STUBS = msgspec.json.Decoder(_Stub)


class _Node(msgspec.Struct, frozen=True):
    """A record's place in the tree; `entry` is None where it is not known."""

    parent: str | None
    entry: Entry | None


class History(msgspec.Struct, frozen=True, kw_only=True):
    """What was read from one session file."""

    entries: list[Entry]
    """The active branch: the ancestry of the last record, from the root."""
    ids: list[str]
    """The ids of their records."""
    head: str | None
    """Id of the last record of the branch."""
    last_number: int
    """Largest id that is a number."""
    whole: int
    """Bytes up to the end of the last record that is whole."""
    size: int
    """Bytes read; more than `whole` when the last line is torn."""
    unterminated: bool
    """The last record is whole, but its line has no end."""
    damaged: tuple[int, ...]
    """Numbers, from 1, of the lines that are not whole records, the torn last one left out."""
    damage_end: int
    """Bytes up to the end of the last damaged line."""
    version: int
    """Newest version of the records in it."""
    notices: tuple[str, ...]
    """What was left out, for people."""

    @property
    def torn(self) -> bool:
        """Whether the last line is only a part of a record: torn, or being written just now."""
        return self.size > self.whole


def read_history(file: BinaryIO, name: str, head: str | None = None) -> History:
    """Read a session file from its beginning; `name` stands for it in the notices.

    The branch is the one that ends in the record `head`; None: in the last one.

    Raises:
        OSError: if the file cannot be read.
        KeyError: if there is no record `head`.
    """
    reader = _Reader()
    for line in file:
        reader.take(line)
    return reader.history(name, head)


def unsettled_calls(entries: list[Entry]) -> tuple[ToolCall, ...]:
    """The calls of the last answer that came to no outcome."""
    settled: set[str] = set()
    for entry in reversed(entries):
        match entry:
            case CallSettled(call_id=call):
                settled.add(call)
            case OutcomesLost(calls=calls):
                settled.update(call.id for call in calls)
            case ModelAnswered(message=message) | AnswerInterrupted(message=message):
                return tuple(call for call in message.calls if call.id not in settled)
            case _:
                continue
    return ()


class _Reader:
    """Takes the lines of one file, in order."""

    def __init__(self) -> None:
        self._nodes: dict[str, _Node] = {}
        self._head: str | None = None
        self._number = 0
        self._lines = 0
        self._size = 0
        self._whole = 0
        self._unterminated = False
        self._damaged: list[int] = []
        self._damage_end = 0
        self._strangers = 0
        self._version = 0

    def take(self, line: bytes) -> None:
        self._lines += 1
        self._size += len(line)
        ended = line.endswith(b"\n")
        found, sound = _records_in(line)
        for record in found:
            self._add(record)
        if not (ended or sound or found):
            return  # Torn: cut off by whoever writes next.
        self._unterminated = not ended
        self._whole = self._size
        if not sound:
            self._damaged.append(self._lines)
            self._damage_end = self._size

    def history(self, name: str, head: str | None) -> History:
        entries: list[Entry] = []
        ids: list[str] = []
        at = head = head or self._head
        while at is not None:
            node = self._nodes[at]
            if node.entry is not None:
                entries.append(node.entry)
                ids.append(at)
            at = node.parent
        entries.reverse()
        ids.reverse()
        return History(
            entries=entries,
            ids=ids,
            head=head,
            last_number=self._number,
            whole=self._whole,
            size=self._size,
            unterminated=self._unterminated,
            damaged=tuple(self._damaged),
            damage_end=self._damage_end,
            version=self._version,
            notices=tuple(self._notices(name)),
        )

    def _add(self, record: Record | _Stub) -> None:
        self._version = max(self._version, record.v)
        if record.id.isascii() and record.id.isdigit():
            self._number = max(self._number, int(record.id))
        if record.id in self._nodes:
            return  # Written twice; the first one counts.
        parent = record.parent
        if parent is not None and parent not in self._nodes:
            parent = self._head  # Its parent was on a damaged line: what came before stays joined.
        entry = record.entry if isinstance(record, Record) else None
        self._strangers += entry is None
        self._nodes[record.id] = _Node(parent, entry)
        self._head = record.id

    def _notices(self, name: str) -> list[str]:
        notices: list[str] = []
        if self._damaged:
            lines = ", ".join(str(number) for number in self._damaged[:5])
            more = ", ..." if len(self._damaged) > 5 else ""
            notices.append(f"{name}: what is damaged was skipped (line {lines}{more})")
        if self._strangers:
            notices.append(
                f"{name}: {self._strangers} entries of kinds this hame does not know were skipped;"
                " they stay in the file"
            )
        if self._version > VERSION:
            notices.append(
                f"{name}: written by a newer hame (format {self._version}, this one writes"
                f" {VERSION}); it can be read here, not continued"
            )
        return notices


def _records_in(line: bytes) -> tuple[list[Record | _Stub], bool]:
    """The records on a line, and whether the line is as it should be (empty ones are)."""
    text = line.strip(_PADDING)
    if not text:
        return [], b"\0" not in line
    record = _decode(text)
    if record is not None:
        return [record], True
    return _salvage(text.decode("utf-8", "replace")), False


def _decode(text: bytes) -> Record | _Stub | None:
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


def _salvage(text: str) -> list[Record | _Stub]:
    """Whole records on a line that holds something else too, such as the half of one."""
    found: list[Record | _Stub] = []
    scanner = json.JSONDecoder()
    at = text.find(_START)
    while at >= 0:
        try:
            _, end = scanner.raw_decode(text, at)
        except (ValueError, RecursionError):
            at = text.find(_START, at + 1)
            continue
        record = _decode(text[at:end].encode())
        if record is not None:
            found.append(record)
        at = text.find(_START, end)
    return found
