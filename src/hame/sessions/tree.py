"""Tree: where the records of a session file lie and which follows which, without what they say.

A few numbers for each record, so that a session of any size can be gone about in: branches, places
and kinds are known, and what a record says is read from the file when it is asked for
(`hame.sessions.pages`).
"""

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from operator import lt
from typing import get_args

from hame.base.entry import Entry

KINDS: tuple[type[Entry], ...] = get_args(Entry)
CODES = {kind: code for code, kind in enumerate(KINDS)}
"""A kind of entry as one byte."""
BY_TAG = {kind.__struct_config__.tag: code for kind, code in CODES.items()}
STRANGER = 255
"""Code of an entry of a kind that this version does not know."""
_MOST_NUMBER = 1 << 62


class Tree:
    """The records of one file, by their order in it."""

    def __init__(self) -> None:
        """There is none yet."""
        self.offsets = array("q")
        """Where the line begins that a record is on; -1 as long as it is not written."""
        self.sizes = array("q")
        """Bytes of that line."""
        self.codes = bytearray()
        self._parents = array("q")
        self._turns = array("q")
        """The places of the records that do not follow the one before them in the file."""
        self._numbers = array("q")
        """Ids that are growing numbers, as they nearly always are; else the number before again."""
        self._names: dict[int, str] = {}
        """The other ids, by place."""
        self._places: dict[str, int] = {}
        """The places of the other ids."""

    def __len__(self) -> int:
        """How many records there are."""
        return len(self.codes)

    @property
    def last_number(self) -> int:
        """The largest id that is a number."""
        others = (int(name) for name in self._places if name.isascii() and name.isdigit())
        return max(self._numbers[-1] if self._numbers else 0, *others, 0)

    def add(self, name: str, parent: str | None, code: int, *, offset: int, size: int) -> int:
        """A record that follows in the file; its place, -1 where there is one of this id already.

        One whose parent is not in the file follows what came before it in the file.
        """
        place = len(self.codes)
        last = self._numbers[-1] if place else 0
        number = int(name) if name.isdecimal() and name.isascii() and len(name) < 19 else 0
        if number > last and name[0] != "0":
            self._numbers.append(number)
        elif self.find(name) >= 0:
            return -1
        else:
            self._numbers.append(last)
            self._names[place], self._places[name] = name, place
        if parent is None:
            above = -1
        elif place and parent == self.name(place - 1):
            above = place - 1
        else:
            above = self.find(parent)
            above = above if 0 <= above < place else place - 1
        self._parents.append(above)
        if above != place - 1 or not place:
            self._turns.append(place)
        self.codes.append(code)
        self.offsets.append(offset)
        self.sizes.append(size)
        return place

    def extend(
        self, names: list[str], parents: list[str | None], codes: bytes, *, offset: int,
        sizes: list[int],
    ) -> bool:  # fmt: skip
        """Records on lines that follow each other from `offset` on, each after the one before it.

        False, and nothing is added, where they are not so: then `add` takes them one by one.
        """
        place = len(self.codes)
        before = self.name(place - 1) if place else None
        try:
            numbers = [*map(int, names)]
        except ValueError:
            return False
        growing = all(map(lt, [self._numbers[-1] if place else 0, *numbers], numbers))
        plain = list(map(str, numbers)) == names and numbers[-1] < _MOST_NUMBER
        if not growing or not plain or parents != [before, *names[:-1]]:
            return False
        self._numbers.extend(numbers)
        if not place:
            self._turns.append(0)
        self._parents.extend(range(place - 1, place - 1 + len(names)))
        self.codes += codes
        self.offsets.extend(accumulate(sizes[:-1], initial=offset))
        self.sizes.extend(sizes)
        return True

    def begin_at(self, offset: int) -> None:
        """All records so far were held back, and were now written, from there on."""
        for place, size in enumerate(self.sizes):
            self.offsets[place] = offset
            offset += size

    def find(self, name: str) -> int:
        """The place of the record with this id; -1 where there is none."""
        other = self._places.get(name)
        if other is not None:
            return other
        if not (name.isascii() and name.isdecimal()) or name[0] == "0":
            return -1
        number = int(name)
        place = bisect_left(self._numbers, number) if number < _MOST_NUMBER else len(self)
        return place if place < len(self) and self.name(place) == name else -1

    def name(self, place: int) -> str:
        """The id of a record."""
        other = self._names.get(place) if self._names else None
        return str(self._numbers[place]) if other is None else other

    def branch(self, head: int) -> "array[int]":
        """The places of the records from the root to this one, those of unknown kinds left out."""
        runs: list[range] = []
        at = head
        while at >= 0:
            turn = bisect_right(self._turns, at) - 1
            first = self._turns[turn]
            runs.append(range(first, at + 1))
            at = self._parents[first]
        found = array("q")
        for run in reversed(runs):
            found.extend(run)
        if self.codes.find(STRANGER) >= 0:
            return array("q", (place for place in found if self.codes[place] != STRANGER))
        return found

    def codes_of(self, places: "array[int]") -> bytearray:
        """The codes of these records, whose places grow."""
        if not places:
            return bytearray()
        if places[-1] - places[0] == len(places) - 1:
            return self.codes[places[0] : places[-1] + 1]
        return bytearray(map(self.codes.__getitem__, places))


def places_in(codes: bytes | bytearray, kinds: Sequence[type[Entry]], start: int) -> Iterator[int]:
    """The places, from `start` on, of these kinds among codes."""
    wanted = b"[" + b"".join(re.escape(bytes([CODES[kind]])) for kind in kinds) + b"]"
    # A copy: what grows cannot be searched meanwhile.
    copy = bytes(codes[start:])
    return (start + found.start() for found in re.compile(wanted, re.DOTALL).finditer(copy))


def last_in(codes: bytes | bytearray, kinds: Sequence[type[Entry]]) -> int:
    """The last place of one of these kinds among codes; -1 where there is none."""
    return max((codes.rfind(CODES[kind]) for kind in kinds), default=-1)
