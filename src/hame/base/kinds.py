"""Looking for entries of some kinds in a branch, of which most may lie on the disk."""

from collections.abc import Iterator, Sequence
from typing import Protocol, TypeVar, runtime_checkable

from hame.base.entry import Entry

_Kind = TypeVar("_Kind", bound=Entry)


@runtime_checkable
class KnowsKinds(Protocol):
    """A sequence of entries that tells their kinds without reading them; see `places` below."""

    @property
    def held(self) -> bool:
        """Whether all of them are in memory, so that going through them costs nothing."""
        ...

    def places(self, kinds: Sequence[type[Entry]], start: int = 0) -> Iterator[int]:
        """The places, from `start` on, of entries of these kinds, as they are now."""
        ...

    def last_place(self, kinds: Sequence[type[Entry]]) -> int:
        """The last place of an entry of one of these kinds; -1 where there is none."""
        ...


def places(entries: Sequence[Entry], kinds: Sequence[type[Entry]], start: int = 0) -> Iterator[int]:
    """The places, from `start` on, of the entries of these kinds."""
    if isinstance(entries, KnowsKinds):
        return entries.places(kinds, start)
    wanted = tuple(kinds)
    return (place for place in range(start, len(entries)) if isinstance(entries[place], wanted))


def last_place(entries: Sequence[Entry], kinds: Sequence[type[Entry]]) -> int:
    """The last place of an entry of one of these kinds; -1 where there is none."""
    if isinstance(entries, KnowsKinds):
        return entries.last_place(kinds)
    wanted = tuple(kinds)
    backwards = range(len(entries) - 1, -1, -1)
    return next((place for place in backwards if isinstance(entries[place], wanted)), -1)


def newest(entries: Sequence[Entry], kind: type[_Kind]) -> _Kind | None:
    """The last entry of this kind."""
    place = last_place(entries, (kind,))
    found = entries[place] if place >= 0 else None
    return found if isinstance(found, kind) else None
