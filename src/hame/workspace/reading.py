"""Reading a file through the directory that is held open."""

import os
import stat
from collections.abc import Generator
from contextlib import contextmanager

from hame.base.errors import PathError
from hame.base.path import FileKind, kind_of
from hame.workspace.locate import DIRECTORY, Place
from hame.workspace.refusal import refusing

BYTES_LIMIT = 64 * 1024 * 1024
"""Largest file that is read whole, in bytes."""
TEXT_LIMIT = 16 * 1024 * 1024
"""Largest text file that is read whole, in bytes."""

_CHUNK = 1 << 20
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_WHAT = {
    FileKind.DIRECTORY: "a directory",
    FileKind.FIFO: "a named pipe, and reading it could wait for ever",
    FileKind.SOCKET: "a socket",
    FileKind.DEVICE: "a device",
    FileKind.MISSING: "missing",
    FileKind.FILE: "a file",
}


def read(place: Place, limit: int | None = None) -> bytes:
    """A file's bytes, at most `limit` of them; without one the whole file.

    What would block or never end is refused by its type before it is opened.

    Raises:
        PathError: if it is no regular file, is too large, or cannot be read.
    """
    with opened(place) as descriptor:
        return _read(descriptor, limit, place.shown)


@contextmanager
def opened(place: Place) -> Generator[int]:
    """A regular file, open for reading.

    Raises:
        PathError: if it is none, or cannot be read.
    """
    if place.missing:
        raise PathError(f"no such file: {place.shown}")
    with refusing("read", place.shown):
        descriptor = _open(place)
        try:
            refuse_special(os.fstat(descriptor).st_mode, place.shown)
            yield descriptor
        finally:
            os.close(descriptor)


def open_below(directory: int, path: str) -> int | None:
    """Open what lies at a relative path, entered name by name; None when it cannot be read.

    A link among the names is not followed, nor one at their end.
    """
    *folders, leaf = path.split("/")
    here = os.dup(directory)
    try:
        for folder in folders:
            below = os.open(folder, DIRECTORY, dir_fd=here)
            os.close(here)
            here = below
        return os.open(leaf, _OPEN, dir_fd=here)
    except OSError:
        return None
    finally:
        os.close(here)


def refuse_special(mode: int, shown: str) -> None:
    """Refuse what is not a regular file.

    Raises:
        PathError: naming what it is.
    """
    if not stat.S_ISREG(mode):
        what = "a symbolic link" if stat.S_ISLNK(mode) else _WHAT[kind_of(mode)]
        raise PathError(f"{shown} is not a file but {what}")


def _open(place: Place) -> int:
    try:
        found = os.stat(place.leaf, dir_fd=place.directory, follow_symlinks=False)
    except FileNotFoundError as error:
        raise PathError(f"no such file: {place.shown}") from error
    refuse_special(found.st_mode, place.shown)
    return os.open(place.leaf, _OPEN, dir_fd=place.directory)


def _read(descriptor: int, limit: int | None, shown: str) -> bytes:
    found = os.fstat(descriptor).st_size
    most = BYTES_LIMIT if limit is None else limit
    if limit is None and found > most:
        raise _too_large(shown, found, most)
    chunks: list[bytes] = []
    left = most if limit is not None else most + 1
    while left > 0 and (chunk := os.read(descriptor, min(left, _CHUNK))):
        chunks.append(chunk)
        left -= len(chunk)
    if limit is None and left <= 0:
        raise _too_large(shown, None, most)
    return b"".join(chunks)


def _too_large(shown: str, size: int | None, most: int) -> PathError:
    what = "more than that" if size is None else f"{size:,} bytes"
    return PathError(
        f"{shown} is too large to be read whole ({what}; the limit is {most:,} bytes); "
        "search in it, or print a part of it with a command"
    )
