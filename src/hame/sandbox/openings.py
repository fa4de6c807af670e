"""How to allow a whole file system but for some places, where rules can only add.

What is allowed on a folder is allowed on all below it. So a folder above a hidden place is allowed not as a
whole, but entry by entry: what comes into it later is not allowed until somebody looks again.
"""

import os
from collections.abc import Collection, Iterable, Iterator
from typing import TypeAlias

Opening: TypeAlias = tuple[str, int]
"""A path, and the inode that it leads to; the same path with another inode is another place."""


def open_all_but(hidden: Collection[str], top: str = "/") -> list[Opening]:
    """What to allow, so that all below `top` is but the hidden places; links are left out.

    Paths are real and absolute. A folder that cannot be listed and has a hidden place below it is not
    allowed itself, but what is known to be below it is.
    """
    below = [place for place in hidden if _is_below(place, top)]
    if any(_is_below(top, place) for place in hidden):
        return []
    closed = set(below)
    parted = {above for place in below for above in _between(top, place)}
    found: list[Opening] = []
    for folder in sorted(parted):
        if not any(_is_below(folder, place) for place in below):
            found += _entries(folder, closed | parted)
    if not parted:
        found.append((top, _inode(top)))
    return found


def parted_by(hidden: Collection[str], top: str) -> list[str]:
    """The folders from `top` downwards that have a hidden place below them."""
    return sorted({
        above for place in hidden if _is_below(place, top) for above in _between(top, place)
    })


def _entries(folder: str, without: Collection[str]) -> Iterator[Opening]:
    prefix = folder.rstrip("/")
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                path = f"{prefix}/{entry.name}"
                if path not in without and not entry.is_symlink():
                    yield path, entry.inode()
    except OSError:
        return


def _between(top: str, place: str) -> Iterable[str]:
    """The folders from `top` to the one that holds the place."""
    above = place
    while above != top:
        above = os.path.dirname(above)  # noqa: PTH120 - text, not a look at the disk
        yield above


def _is_below(path: str, folder: str) -> bool:
    """Whether a path lies below a folder, or is it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _inode(path: str) -> int:
    try:
        return os.lstat(path).st_ino
    except OSError:
        return 0
