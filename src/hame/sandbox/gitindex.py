"""Which files a git repository holds just as they are on disk.

To hide such a file from a program that can read the repository would hide nothing, and make git believe
that it was changed. The index: https://git-scm.com/docs/index-format.
"""

import hashlib
import os
from collections.abc import Iterable

from hame.sandbox.regular import read_regular
from hame.sandbox.repository import pointed_at

_SIGNATURE = b"DIRC"
_LIMIT = 64 << 20
_LARGEST = 1 << 20
"""Bytes of a file that is compared."""
_NAME_LENGTH = 0xFFF
_EXTENDED = 0x4000
_DIGESTS = ((20, hashlib.sha1), (32, hashlib.sha256))
_STAT = 40
"""Bytes of an entry before its object's name."""


class GitIndex:
    """Looks into indexes; one that has not changed is not read again."""

    def __init__(self) -> None:
        """Nothing has been read."""
        self._read: dict[str, tuple[tuple[int, ...], bytes]] = {}

    def holds(self, path: str, repositories: Iterable[str]) -> bool:
        """Whether the innermost of these repositories that a file lies in holds it unchanged."""
        tops = [top for top in repositories if path.startswith(f"{top}/")]
        if not tops:
            return False
        top = max(tops, key=len)
        # The index of a linked worktree, and of a submodule, lies where its `.git` leads.
        index = self._index(f"{pointed_at(f'{top}/.git') or f'{top}/.git'}/index")
        name = os.fsencode(path[len(top) + 1 :])
        return bool(index) and _holds(index, name, path)

    def _index(self, path: str) -> bytes:
        """An index as it is now; nothing where there is none that can be read."""
        try:
            found = os.lstat(path)
        except OSError:
            return b""
        stamp = (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
        known = self._read.get(path)
        if known and known[0] == stamp:
            return known[1]
        data = read_regular(path, _LIMIT) or b""
        self._read[path] = (stamp, data)
        return data


def _holds(index: bytes, name: bytes, path: str) -> bool:
    """Whether an entry of that name names the object that the file is.

    Names are whole and end with NUL but in version 4, where what is not found counts as not held.
    """
    if not index.startswith(_SIGNATURE):
        return False
    wanted = name + b"\0"
    digests: set[bytes] = set()
    place = index.find(wanted)
    while place >= 0:
        for size, _ in _DIGESTS:
            digests.update(_digest_before(index, place, len(name), size))
        place = index.find(wanted, place + 1)
    return bool(digests) and not digests.isdisjoint(_digests_of(path))


def _digest_before(index: bytes, place: int, length: int, size: int) -> Iterable[bytes]:
    """The name of an entry's object, read backwards from the entry's own name.

    Two bytes of flags lie between them, four in an extended entry.
    """
    for between in (2, 4):
        start = place - between - size
        flags = int.from_bytes(index[place - between : place - between + 2])
        fits = flags & _NAME_LENGTH == min(length, _NAME_LENGTH)
        if start >= _STAT and fits and bool(flags & _EXTENDED) == (between == 4):
            yield index[start : start + size]


def _digests_of(path: str) -> set[bytes]:
    """What git would call a file's content, in either of its ways to name objects."""
    data = read_regular(path, _LARGEST)
    if data is None:
        return set()
    blob = b"blob %d\0" % len(data) + data
    return {make(blob, usedforsecurity=False).digest() for _, make in _DIGESTS}
