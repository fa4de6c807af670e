"""Hidden files beside those that are written: new texts before they have their name, old ones aside.

A hame that is killed leaves them behind. Whoever writes a draft holds a lock on it (flock(2)), which
ends with its process, however that ends: the next hame that writes in the folder takes away drafts
that nobody holds. What was set aside may be the last copy of something and stays, unless another name
holds the same file.
"""

import contextlib
import fcntl
import os
import stat
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import NamedTuple

_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_LOOK = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_PREFIX, _DRAFT, _ASIDE = ".hame-", ".tmp", ".old"
_ASIDE_S = 24 * 3600.0
"""Longer than any change of several files takes, also one that an editor has to agree to."""
_MOST_FOLDERS = 4_096

_swept: set[tuple[int, int]] = set()
"""Device and inode of the folders that this process has looked through."""


class Draft(NamedTuple):
    """A file that is being written under a name of its own."""

    name: str
    descriptor: int
    """Open for writing; whoever writes closes it before the file gets its name, since a program
    that is open for writing cannot be run."""


@contextmanager
def drafted(directory: int, mode: int) -> Generator[Draft]:
    """A new draft in a directory; gone afterwards unless it was renamed.

    Raises:
        OSError: if it cannot be made.
    """
    _sweep_once(directory)
    draft, lock = _create(directory, mode)
    try:
        yield draft
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(draft.name, dir_fd=directory)
        os.close(lock)


def _create(directory: int, mode: int) -> tuple[Draft, int]:
    """A draft, and the descriptor that holds its lock."""
    while True:
        name = f"{_PREFIX}{os.urandom(8).hex()}{_DRAFT}"
        descriptor = os.open(name, _CREATE, mode, dir_fd=directory)
        try:
            lock = os.open(name, _LOOK, dir_fd=directory)
        except FileNotFoundError:  # Another hame has taken it away already.
            os.close(descriptor)
            continue
        except PermissionError:  # An unusual umask.
            lock = os.dup(descriptor)
        if _hold(lock) and os.fstat(lock).st_nlink:
            return Draft(name, descriptor), lock
        os.close(lock)
        os.close(descriptor)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=directory)


def aside_name() -> str:
    """A name that nothing has, for a file that may have to come back."""
    return f"{_PREFIX}{os.urandom(8).hex()}{_ASIDE}"


def _hold(descriptor: int) -> bool:
    """Lock a draft; False when somebody else has. A file system without locks keeps all drafts."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def _sweep_once(directory: int) -> None:
    """Look through a folder the first time that this process writes there."""
    with contextlib.suppress(OSError):
        found = os.fstat(directory)
        place = (found.st_dev, found.st_ino)
        if place in _swept:
            return
        if len(_swept) >= _MOST_FOLDERS:
            _swept.clear()
        _swept.add(place)
        sweep(directory)


def sweep(directory: int) -> None:
    """Take away what hames that are gone have left in a directory.

    Raises:
        OSError: if it cannot be listed.
    """
    # The directory may be open as a place only (O_PATH), which cannot be read.
    readable = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=directory)
    try:
        with os.scandir(readable) as found:
            names = [entry.name for entry in found]
    finally:
        os.close(readable)
    for name in names:
        if name.startswith(_PREFIX) and name.endswith((_DRAFT, _ASIDE)):
            with contextlib.suppress(OSError):
                _sweep_one(name, directory)


def _sweep_one(name: str, directory: int) -> None:
    descriptor = os.open(name, _LOOK, dir_fd=directory)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
            return
        if name.endswith(_DRAFT):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        elif found.st_nlink < 2 or time.time() - found.st_ctime < _ASIDE_S:
            return
        os.unlink(name, dir_fd=directory)
    finally:
        os.close(descriptor)
