"""History: what a session file says, however the file was treated.

The file is read once from its beginning; where its records lie is remembered (`hame.sessions.tree`), and
what they say is read again when it is asked for. All that can be read is read; what was left out is
said in `notices`.
"""

import os
from collections.abc import Sequence
from pathlib import Path
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
from hame.base.kinds import last_place, places
from hame.base.message import ToolCall
from hame.sessions.lines import Frame, Stub, decode_block, next_block, next_line, records_in
from hame.sessions.pages import HELD, Pages, StoredEntries, StoredIds, StoredRecords
from hame.sessions.tree import BY_TAG, CODES, STRANGER, Tree


class History(msgspec.Struct, frozen=True, kw_only=True):
    """What was read from one session file."""

    pages: Pages
    """What the records of the whole file say."""
    entries: StoredEntries
    """The active branch: the ancestry of the last record, from the root."""
    ids: StoredIds
    """The ids of their records."""
    records: StoredRecords
    """The records of the branch."""
    head: str | None
    """Id of the last record of the file; None: it holds none."""
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


def read_history(path: Path) -> History:
    """Read a session file from its beginning.

    Raises:
        OSError: if the file cannot be read.
    """
    with path.open("rb") as file:
        reader = _Reader(path, os.fstat(file.fileno()).st_size)
        reader.read(file)
    return reader.history()


def unsettled_calls(entries: Sequence[Entry]) -> tuple[ToolCall, ...]:
    """The calls of the last answer that came to no outcome."""
    place = last_place(entries, (ModelAnswered, AnswerInterrupted))
    answer = entries[place] if place >= 0 else None
    if not isinstance(answer, ModelAnswered | AnswerInterrupted) or not answer.message.calls:
        return ()
    settled: set[str] = set()
    for later in places(entries, (CallSettled, OutcomesLost), place):
        match entries[later]:
            case CallSettled(call_id=call):
                settled.add(call)
            case OutcomesLost(calls=calls):
                settled.update(call.id for call in calls)
            case _:
                pass
    return tuple(call for call in answer.message.calls if call.id not in settled)


class _Reader:
    """Reads one file, line by line."""

    def __init__(self, path: Path, size: int) -> None:
        self._tree = Tree()
        self._pages = Pages(path, self._tree)
        self._held_from = size - HELD
        self._head: str | None = None
        self._lines = 0
        self._size = 0
        self._whole = 0
        self._unterminated = False
        self._damaged: list[int] = []
        self._damage_end = 0
        self._strangers = 0
        self._version = 0

    def read(self, file: BinaryIO) -> None:
        while True:
            block = next_block(file)
            if block:
                self._take_block(block)
                continue
            line, size, frame = next_line(file)
            if not size:
                return
            if frame is not None:
                self._add_long(frame, size)
            else:
                self._take(line)

    def history(self) -> History:
        tree = self._tree
        branch = tree.branch(len(tree) - 1)
        return History(
            pages=self._pages,
            entries=StoredEntries(self._pages, branch),
            ids=StoredIds(self._pages, branch),
            records=StoredRecords(self._pages, branch),
            head=self._head,
            last_number=tree.last_number,
            whole=self._whole,
            size=self._size,
            unterminated=self._unterminated,
            damaged=tuple(self._damaged),
            damage_end=self._damage_end,
            version=self._version,
            notices=tuple(self._notices(self._pages.path.name)),
        )

    def _take_block(self, block: bytes) -> None:
        """Take whole lines; all at once where nothing is the matter with them."""
        decoded = decode_block(block)
        if decoded is None:
            for line in block[:-1].split(b"\n"):
                self._take(line + b"\n")
            return
        records, sizes = decoded
        place, offset = len(self._tree), self._size
        names, parents = [each.id for each in records], [each.parent for each in records]
        codes = bytes([CODES[type(each.entry)] for each in records])
        if not self._tree.extend(names, parents, codes, offset=offset, sizes=sizes):
            for record, size in zip(records, sizes, strict=True):
                self._add(record, size)
                self._size += size
        elif offset + len(block) > self._held_from:
            for number, record in enumerate(records, place):
                self._pages.hold(number, record.entry)
        self._head = self._tree.name(len(self._tree) - 1)
        self._version = max(self._version, *{each.v for each in records})
        self._lines += len(records)
        self._size = self._whole = offset + len(block)
        self._unterminated = False

    def _take(self, line: bytes) -> None:
        self._lines += 1
        ended = line.endswith(b"\n")
        found, sound = records_in(line)
        for record in found:
            self._add(record, len(line))
        self._size += len(line)
        if not (ended or sound or found):
            return  # Torn: cut off by whoever writes next.
        self._unterminated = not ended
        self._whole = self._size
        if not sound:
            self._damaged.append(self._lines)
            self._damage_end = self._size

    def _add(self, record: Record | Stub, size: int) -> None:
        self._version = max(self._version, record.v)
        known = isinstance(record, Record)
        code = CODES[type(record.entry)] if known else STRANGER
        place = self._tree.add(record.id, record.parent, code, offset=self._size, size=size)
        if place < 0:
            return  # Written twice; the first one counts.
        self._head = record.id
        if not known:
            self._strangers += 1
        elif self._size >= self._held_from:
            self._pages.hold(place, record.entry)

    def _add_long(self, frame: Frame, size: int) -> None:
        self._lines += 1
        self._version = max(self._version, frame.v)
        code = BY_TAG.get(frame.tag, STRANGER)
        added = self._tree.add(frame.id, frame.parent, code, offset=self._size, size=size)
        if added >= 0:
            self._head = frame.id
            self._strangers += code == STRANGER
        self._size += size
        self._whole, self._unterminated = self._size, False

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
