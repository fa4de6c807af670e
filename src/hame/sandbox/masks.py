"""What stands in the place of protected files that are not there, while sandboxes are open.

A mount needs something to lie over. For the time of a sandbox that may write a project, an empty folder is
made for each protected name that is missing: git does not see empty folders, and one that is not empty
cannot be removed by mistake. They go when no sandbox that may write there is open any more, in any
process of the user's. A sandbox holds the lock of its own record for as long as anything in it lives, also
when hame was killed; what such a one has left is taken away by the next.
"""

import errno
import fcntl
import os
import stat
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import TypeAlias

import msgspec

from hame.base.zone import is_below, split
from hame.sandbox.private import make_private_folder

_ENDING = ".masks"
_POLL_S = 0.001


class Opened(msgspec.Struct, frozen=True, tag="opened"):
    """A sandbox that may write these folders was opened."""

    roots: tuple[str, ...]


class Intended(msgspec.Struct, frozen=True, tag="intended"):
    """An empty folder is about to be made."""

    path: str


class Made(msgspec.Struct, frozen=True, tag="made"):
    """It was made."""

    path: str
    inode: int


class Found(msgspec.Struct, frozen=True, tag="found"):
    """It was not made: something was there already, or nothing can be put there."""

    path: str


Line: TypeAlias = Opened | Intended | Made | Found


class Masks:
    """The register of one user, in a private folder."""

    def __init__(self, folder: str) -> None:
        """The folder is made when it is needed."""
        self._folder = folder

    def hold(self, roots: Sequence[str]) -> "Hold":
        """Keep what stands in the place of missing names below these folders.

        Raises:
            OSError: if the register cannot be written.
        """
        with self._locked():
            path = f"{self._folder}/{token_hex(8)}{_ENDING}"
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
            descriptor = os.open(path, flags, 0o600)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            _write(descriptor, Opened(tuple(roots)))
        return Hold(self, descriptor)

    def sweep(self) -> None:
        """Take away what sandboxes have left that are open no more.

        Raises:
            OSError: if the register cannot be read.
        """
        if os.path.lexists(self._folder):
            with self._locked():
                self._sweep()

    @contextmanager
    def _locked(self) -> Generator[None]:
        """Nobody else changes the register meanwhile."""
        make_private_folder(self._folder)
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        descriptor = os.open(f"{self._folder}/lock", flags, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def add(self, descriptor: int, paths: Sequence[str]) -> list[str]:
        """Make empty folders, and note them in a record; those that are there then.

        Raises:
            OSError: if the record cannot be written.
        """
        with self._locked():
            _write(descriptor, *map(Intended, paths))
            made = [_make(path) for path in paths]
            _write(descriptor, *made)
        return [each.path for each in made if isinstance(each, Made)]

    def leave(self, descriptor: int, wait_s: float) -> None:
        """Close a record, and take away what nobody needs.

        Raises:
            OSError: if the register cannot be read.
        """
        path = f"/proc/self/fd/{descriptor}"
        again = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        os.close(descriptor)
        try:
            deadline = time.monotonic() + wait_s
            while _is_held(again) and time.monotonic() < deadline:
                time.sleep(_POLL_S)
        finally:
            os.close(again)
        with self._locked():
            self._sweep()

    def _sweep(self) -> None:
        held: list[str] = []
        left: dict[str, tuple[int, list[Line]]] = {}
        try:
            for path in sorted(Path(self._folder).glob(f"*{_ENDING}")):
                descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
                lines = _read(descriptor)
                if _is_held(descriptor):
                    held += [
                        root for line in lines if isinstance(line, Opened) for root in line.roots
                    ]
                    os.close(descriptor)
                else:
                    left[str(path)] = (descriptor, lines)
            for path, (_, lines) in left.items():
                settled = [_take_away(each, held) for each in _made(lines)]
                if all(settled):
                    Path(path).unlink()
        finally:
            for descriptor, _ in left.values():
                os.close(descriptor)


class Hold:
    """One open sandbox's part in the register."""

    def __init__(self, masks: Masks, descriptor: int) -> None:
        """Take over the descriptor of a record whose lock is held."""
        self._masks = masks
        self.descriptor = descriptor
        """Whoever has a copy of it keeps the lock."""

    def put(self, paths: Sequence[str]) -> list[str]:
        """Make empty folders where nothing is; those that were made.

        Raises:
            OSError: if the register cannot be written.
        """
        return self._masks.add(self.descriptor, paths) if paths else []

    def release(self, wait_s: float = 0.0) -> None:
        """Let go of it: what no open sandbox needs is taken away.

        A sandbox that was ended may need a moment to be gone; it is waited for so long.

        Raises:
            OSError: if the register cannot be read.
        """
        self._masks.leave(self.descriptor, wait_s)


def _make(path: str) -> Made | Found:
    folder, _, name = path.rpartition("/")
    try:
        above = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return Found(path)
    try:
        os.mkdir(name, 0o755, dir_fd=above)
        return Made(path, os.stat(name, dir_fd=above, follow_symlinks=False).st_ino)
    except OSError:
        return Found(path)
    finally:
        os.close(above)


def _made(lines: list[Line]) -> Iterator[tuple[str, int | None]]:
    """What a record says was made, and its inode; None where a kill came between."""
    last: dict[str, Line] = {line.path: line for line in lines if not isinstance(line, Opened)}
    for path, line in last.items():
        if not isinstance(line, Found):
            yield path, line.inode if isinstance(line, Made) else None


def _take_away(made: tuple[str, int | None], held: list[str]) -> bool:
    """Remove an empty folder, unless an open sandbox may write there; whether it is settled."""
    path, inode = made
    parts = split(path)
    if any(is_below(parts, root) for root in held):
        return False
    try:
        found = os.lstat(path)
        if stat.S_ISDIR(found.st_mode) and inode in {None, found.st_ino}:
            Path(path).rmdir()
    except OSError as error:
        # Not empty: it is somebody's now.
        return error.errno in {errno.ENOENT, errno.ENOTDIR, errno.ENOTEMPTY, errno.EEXIST}
    return True


def _is_held(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False


def _write(descriptor: int, *lines: Line) -> None:
    os.write(descriptor, b"".join(msgspec.json.encode(line) + b"\n" for line in lines))


def _read(descriptor: int) -> list[Line]:
    """The lines of a record; one that a kill has cut is left out."""
    data = os.pread(descriptor, os.fstat(descriptor).st_size, 0)
    lines: list[Line] = []
    for text in data.splitlines():
        with suppress(msgspec.DecodeError, msgspec.ValidationError):
            lines.append(msgspec.json.decode(text, type=Line))
    return lines
