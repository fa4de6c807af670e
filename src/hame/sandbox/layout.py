"""Which places lie over which in a sandbox's file system.

Mounts apply in their order, and a later one hides what it lies over. So they go from the root downwards:
a folder before what lies in it, and at the same place what allows before what forbids.
"""

from collections.abc import Iterable, Mapping
from enum import IntEnum

import msgspec

from hame.base.zone import is_below, split


class Kind(IntEnum):
    """What happens to a place, in the order in which it is done at one place."""

    SHOW = 0
    """It is seen where something above was hidden or replaced."""
    WRITE = 1
    """It may be written."""
    PIN = 2
    """A folder that may be written but neither moved nor replaced: something below is protected."""
    GUARD = 3
    """It may not be changed."""
    MASK = 4
    """Nothing may come there; on disk it is an empty folder for the time being."""
    HIDE = 5
    """It may not be read."""


REPLACED: tuple[str, str] = ("/tmp", "/run")  # noqa: S108 - what lies there is what others may not see
"""Folders that are others inside, so that nothing of what they hold outside is seen."""
_WRITABLE = frozenset({Kind.WRITE, Kind.PIN})


class Mount(msgspec.Struct, frozen=True):
    """One place and what happens to it."""

    path: str
    """Real and absolute."""
    kind: Kind


class Layout:
    """Gathers places, in any order."""

    def __init__(self) -> None:
        """Nothing is there but the machine's own files, to be read."""
        self._kinds: dict[str, Kind] = {}

    def put(self, kind: Kind, paths: Iterable[str]) -> None:
        """Say what happens to places; of two that are said of one, the stricter holds."""
        for path in paths:
            clean = "/" + "/".join(split(path))
            self._kinds[clean] = max(kind, self._kinds.get(clean, kind))

    def guard(self, root: str, kind: Kind, paths: Iterable[str]) -> None:
        """The same for places below a folder that may be written; those between are pinned."""
        depth = len(split(root))
        for path in paths:
            parts = split(path)
            above = ("/" + "/".join(parts[:end]) for end in range(depth + 1, len(parts)))
            self.put(Kind.PIN, above)
            self.put(kind, [path])

    def mounts(self) -> list[Mount]:
        """All of them in their order, without those that change nothing.

        What is protected needs no mount where nothing may be written, and nothing is seen of what lies in
        a hidden folder but what is shown there again.
        """
        return [Mount(path, kind) for path, kind in self._kept().items() if path not in REPLACED]

    def writable(self, paths: Iterable[str]) -> list[str]:
        """Those of these places in whose folder a program may write."""
        kept = self._kept()
        return [path for path in paths if _nearest(kept, split(path)[:-1]) in _WRITABLE]

    def _kept(self) -> dict[str, Kind]:
        kept = dict[str, Kind].fromkeys(REPLACED, Kind.HIDE)
        for path, kind in sorted(self._kinds.items(), key=lambda each: (len(split(each[0])), each)):
            above = _nearest(kept, split(path)[:-1])
            if kind is Kind.HIDE:
                needed = above is not Kind.HIDE
            elif kind is Kind.SHOW:
                needed = above is Kind.HIDE
            else:
                needed = kind is Kind.WRITE or above in _WRITABLE
            if needed:
                kept[path] = kind
        return kept


def _nearest(kinds: Mapping[str, Kind], parts: tuple[str, ...]) -> Kind | None:
    """What happens to a place, or to the nearest one above it."""
    for end in range(len(parts), -1, -1):
        kind = kinds.get("/" + "/".join(parts[:end]))
        if kind is not None:
            return kind
    return None


def lies_below(path: str, folder: str) -> bool:
    """Whether a place lies below a folder and is not that folder."""
    parts = split(path)
    return is_below(parts, folder) and len(parts) > len(split(folder))
