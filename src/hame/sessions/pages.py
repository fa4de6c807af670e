"""Pages: what the records of a session file say, read from it when it is asked for.

What was written or read last is held, up to a limit, so that a session of usual size is in memory as a
whole and a large one is not. A record that is too large for any model is shown as a stand-in that says
so; whoever copies or exports a session gets it whole.
"""

import os
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar, overload

import msgspec
from typing_extensions import override

from hame.base.entry import Entry, LabelSet, Record
from hame.base.errors import SessionError
from hame.base.labels import name_record
from hame.sessions.large import HEAD, stand_in
from hame.sessions.lines import LONG, records_in
from hame.sessions.tree import KINDS, STRANGER, Tree, last_in, places_in

HELD = 4 * 1024 * 1024
"""Bytes of lines whose entries are held."""
_RECORDS = msgspec.json.Decoder(Record)
_Item = TypeVar("_Item")


class Pages:
    """The records of one session file."""

    def __init__(self, path: Path, tree: Tree) -> None:
        """Read from this file; it is opened when something has to be read."""
        self.path, self.tree = path, tree
        self.reads = 0
        """How many records were read from the file again."""
        self._held: dict[int, Entry] = {}
        self._weight = 0
        self._descriptor: int | None = None

    @property
    def held(self) -> int:
        """How many entries are in memory."""
        return len(self._held)

    def hold(self, place: int, entry: Entry) -> None:
        """Keep an entry; those that were kept first go, as far as they are in the file."""
        self._held[place] = entry
        self._weight += self.tree.sizes[place]
        while self._weight > HELD and len(self._held) > 1:
            oldest = next(iter(self._held))
            if self.tree.offsets[oldest] < 0:
                break
            del self._held[oldest]
            self._weight -= self.tree.sizes[oldest]

    def entry(self, place: int) -> Entry:
        """What a record says.

        Raises:
            SessionError: if it cannot be read any more.
        """
        found = self._held.get(place)
        if found is not None:
            return found
        if self.tree.sizes[place] > LONG:
            kind, head = KINDS[self.tree.codes[place]], self._read(place, HEAD)
            shown = stand_in(kind, self.tree.sizes[place], head)
            if shown is not None:
                return shown
        return self.record(place).entry

    def labels(self) -> dict[str, str]:
        """The records that have a name, by it, branches that were left included.

        Raises:
            SessionError: if they cannot be read any more.
        """
        found: dict[str, str] = {}
        for place in places_in(self.tree.codes, (LabelSet,), 0):
            entry = self.entry(place)
            if isinstance(entry, LabelSet):
                name_record(found, entry)
        return found

    def record(self, place: int) -> Record:
        """The whole record.

        Raises:
            SessionError: if it cannot be read any more.
        """
        self.reads += 1
        line = self._read(place, self.tree.sizes[place])
        name = self.tree.name(place)
        try:
            found = _RECORDS.decode(line)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            pass
        else:
            if found.id == name:
                return found
        for each in records_in(line)[0]:
            if each.id == name and isinstance(each, Record):
                return each
        raise SessionError(
            f"record {name} of session {self.path.stem} cannot be read any more",
            hint=f"Something has changed {self.path}. A copy of what can be read: hame sessions"
            f" export {self.path.stem}",
        )

    def close(self) -> None:
        """Let go of the file; it is opened again where something has to be read."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)

    def __del__(self) -> None:
        """Let go of the file."""
        self.close()

    # ------------------------------------------------------------ inside

    def _read(self, place: int, size: int) -> bytes:
        """The first `size` bytes of a record's line.

        Raises:
            SessionError: if they cannot be read.
        """
        try:
            if self._descriptor is None:
                self._descriptor = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
            return os.pread(self._descriptor, size, self.tree.offsets[place])
        except OSError as error:
            raise SessionError(
                f"cannot read session {self.path.stem}: {error.strerror}",
                hint=f"Check the disk that holds {self.path.parent}.",
            ) from error


class _Stored(Sequence[_Item]):
    """What a branch holds, one for each of its records."""

    def __init__(self, pages: Pages, places: "array[int]") -> None:
        self.pages, self._places = pages, places

    @override
    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, index: int) -> _Item: ...
    @overload
    def __getitem__(self, index: slice) -> list[_Item]: ...
    @override
    def __getitem__(self, index: int | slice) -> _Item | list[_Item]:
        if isinstance(index, slice):
            return [self._item(place) for place in self._places[index]]
        return self._item(self._places[index])

    @override
    def __iter__(self) -> Iterator[_Item]:
        for number in range(len(self._places)):
            yield self._item(self._places[number])

    def _item(self, place: int) -> _Item:
        raise NotImplementedError


class StoredEntries(_Stored[Entry]):
    """The entries of a branch. Implements `hame.base.kinds.KnowsKinds`."""

    def __init__(self, pages: Pages, places: "array[int]") -> None:
        """Of the records at these places."""
        super().__init__(pages, places)
        self._codes = pages.tree.codes_of(places)

    def append(self, place: int) -> None:
        """The branch goes on with this record."""
        self._places.append(place)
        self._codes.append(self.pages.tree.codes[place])

    @property
    def held(self) -> bool:
        """Whether the whole file is in memory."""
        codes = self.pages.tree.codes
        return self.pages.held == len(codes) - codes.count(STRANGER)

    def places(self, kinds: Sequence[type[Entry]], start: int = 0) -> Iterator[int]:
        """The places, from `start` on, of entries of these kinds."""
        return places_in(self._codes, kinds, start)

    def last_place(self, kinds: Sequence[type[Entry]]) -> int:
        """The last place of an entry of one of these kinds; -1 where there is none."""
        return last_in(self._codes, kinds)

    @override
    def _item(self, place: int) -> Entry:
        return self.pages.entry(place)


class StoredIds(_Stored[str]):
    """The ids of a branch's records."""

    @override
    def index(self, value: str, start: int = 0, stop: int | None = None) -> int:
        """The place of an id, without going through them.

        Raises:
            ValueError: if it is not there.
        """
        place = self.pages.tree.find(value)
        number = bisect_left(self._places, place) if place >= 0 else len(self)
        end = len(self) if stop is None else stop
        if not start <= number < min(end, len(self)) or self._places[number] != place:
            raise ValueError(value)
        return number

    @override
    def __contains__(self, value: object) -> bool:
        if not isinstance(value, str):
            return False
        try:
            self.index(value)
        except ValueError:
            return False
        return True

    @override
    def _item(self, place: int) -> str:
        return self.pages.tree.name(place)


class StoredRecords(_Stored[Record]):
    """The records of a branch, whole."""

    @property
    def entries(self) -> StoredEntries:
        """What they say."""
        return StoredEntries(self.pages, self._places)

    @property
    def ids(self) -> StoredIds:
        """Their ids."""
        return StoredIds(self.pages, self._places)

    @override
    def _item(self, place: int) -> Record:
        return self.pages.record(place)
