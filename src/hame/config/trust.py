"""Which folders the user trusts, kept in a file of hame's own that no project can reach.

A folder is known by its real path and by what it is: device, inode, and what tells two folders apart
that were given the same inode one after the other (ext4 does so at once). A folder that was renamed,
replaced, copied, or that only claims to belong to another (a worktree's `gitdir`, a forged
`commondir`) is a stranger. Nothing in the folder is read to decide.

Trusting starts nothing. What it changes is said in `resolve.py` (settings) and in
`hame.prompts.opening` (instruction files).
"""

import fcntl
import os
import stat
import struct
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress

import msgspec

from hame.base.errors import ConfigError
from hame.config.places import Places
from hame.config.whole import alone_beside, write_whole

VERSION = 1
_LIMIT = 1 << 20
"""Bytes of the file; a larger one is something else."""
_SIZE_OF_LONG = struct.calcsize("l")
_GET_GENERATION = 0x80007601 | _SIZE_OF_LONG << 16
"""FS_IOC_GETVERSION: which of the files that had this inode number (ioctl_iflags(2), linux/fs.h)."""


class Identity(msgspec.Struct, frozen=True):
    """Which folder it is, whatever it is called."""

    device: int
    inode: int
    generation: int
    """Tells it from the next folder that gets its inode number; 0 where the file system cannot say."""


class Trust(msgspec.Struct, frozen=True, kw_only=True):
    """One folder that the user trusts."""

    path: str
    """Real and absolute."""
    identity: Identity
    below: bool = False
    """So is everything below it, on the same file system."""
    since: float
    """When the user said so; seconds since 1970."""

    @property
    def stands(self) -> bool:
        """Whether the folder at the path is still the one that was trusted."""
        return identify(self.path) == self.identity

    def covers(self, folder: str) -> bool:
        """Whether this is why a folder, given by its real path, is trusted."""
        if folder == self.path:
            return self.stands
        inside = folder.startswith(f"{self.path.rstrip('/')}/")
        if not (self.below and inside and self.stands):
            return False
        here = identify(folder)
        return here is not None and here.device == self.identity.device


class _File(msgspec.Struct, frozen=True, kw_only=True):
    version: int = VERSION
    folders: tuple[Trust, ...] = ()


class TrustStore:
    """The folders that are trusted."""

    def __init__(self, path: str) -> None:
        """Read nothing yet."""
        self._path = path

    def folders(self) -> Sequence[Trust]:
        """All of them, by path.

        Raises:
            ConfigError: if the file cannot be relied on.
        """
        return sorted(_read(self._path).folders, key=lambda trust: trust.path)

    def why(self, folder: str) -> Trust | None:
        """What makes a folder trusted; None: it is not.

        Raises:
            ConfigError: if the file cannot be relied on.
        """
        real = os.path.realpath(folder)
        return next((trust for trust in _read(self._path).folders if trust.covers(real)), None)

    def grant(self, folder: str, *, below: bool = False) -> Trust:
        """Trust a folder from now on, as it is now.

        Raises:
            ConfigError: if there is no such folder, or the file cannot be read or written.
        """
        real = os.path.realpath(folder)
        identity = identify(real)
        if identity is None:
            raise ConfigError(f"{folder} is not a folder", hint="hame trust PATH names a folder.")
        trust = Trust(path=real, identity=identity, below=below, since=round(time.time(), 3))
        with self._editing() as folders:
            folders[:] = [*(each for each in folders if each.path != real), trust]
        return trust

    def revoke(self, folder: str) -> bool:
        """Trust a folder no more; False when it was not trusted by itself. It need not exist.

        Raises:
            ConfigError: if the file cannot be read or written.
        """
        real = os.path.realpath(folder)
        if all(trust.path != real for trust in _read(self._path).folders):
            return False
        with self._editing() as folders:
            folders[:] = [each for each in folders if each.path != real]
        return True

    @contextmanager
    def _editing(self) -> Generator[list[Trust]]:
        """The folders as they are now; written when the block ends well, one writer at a time.

        Raises:
            ConfigError: if they cannot be read or written.
        """
        with alone_beside(self._path):
            folders = list(_read(self._path).folders)
            yield folders
            data = msgspec.json.encode(_File(folders=tuple(folders)))
            write_whole(self._path, msgspec.json.format(data, indent=1) + b"\n")


def is_trusted(places: Places, folder: str) -> bool:
    """Whether the user trusts a folder; where their word cannot be read, they trust none."""
    try:
        return TrustStore(places.trust_file).why(folder) is not None
    except ConfigError:
        return False


def identify(folder: str) -> Identity | None:
    """Which folder stands at a real path; None when there is none, or a link."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        descriptor = os.open(folder, flags)
    except OSError:
        return None
    try:
        found = os.fstat(descriptor)
        return Identity(found.st_dev, found.st_ino, _generation(descriptor, found))
    finally:
        os.close(descriptor)


def _generation(descriptor: int, found: os.stat_result) -> int:
    """The generation of an inode, else when it was born in nanoseconds, else 0."""
    room = bytearray(_SIZE_OF_LONG)
    with suppress(OSError):
        fcntl.ioctl(descriptor, _GET_GENERATION, room)
        (number,) = struct.unpack("l", room)
        if number:
            return number & 0xFFFFFFFF  # It is an int in a place for a long.
    born = getattr(found, "st_birthtime", None)
    return _born(descriptor) if born is None else int(born * 1e9)


_STATX_BTIME, _AT_EMPTY_PATH = 0x800, 0x1000


def _born(descriptor: int) -> int:
    """When a file was made, in nanoseconds, where Linux tells (statx(2)); else 0."""
    import ctypes

    statx = getattr(ctypes.CDLL(None), "statx", None)
    room = ctypes.create_string_buffer(256)
    if statx is None or statx(descriptor, b"", _AT_EMPTY_PATH, _STATX_BTIME, room) != 0:
        return 0
    mask, seconds, nanoseconds = struct.unpack_from("=I76xqI", room.raw)
    return seconds * 10**9 + nanoseconds if mask & _STATX_BTIME else 0


def _read(path: str) -> _File:
    """The file; empty where there is none.

    Raises:
        ConfigError: if it cannot be read, others may write it, or it is of a newer version.
    """
    try:
        # Not blocking: a FIFO must not hold up the start.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return _File()
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_size > _LIMIT:
            raise ConfigError(f"{path}: is not a file of trust", hint="Move it out of the way.")
        if found.st_uid not in {0, os.getuid()} or found.st_mode & 0o022:
            raise ConfigError(
                f"{path}: others can write it, so it proves nothing",
                hint=f"Look through it with hame trust --list after chmod 600 {path}.",
            )
        data = file.read()
    hint = f"Move {path} aside; folders are then to be trusted anew."
    try:
        kept = msgspec.json.decode(data, type=_File)
    except msgspec.DecodeError as error:
        raise ConfigError(f"{path}: is not a file that hame can read", hint=hint) from error
    if kept.version > VERSION:
        raise ConfigError(f"{path}: was written by a newer hame", hint="Update hame.")
    return kept
