"""What protected files held, and putting it back.

Acts on descriptors of folders, one component at a time and never through a link: what a command has put in
the place of a folder leads nowhere else. Nothing is deleted: what has to go is set aside in hame's own
folder, where the user finds it.
"""

import contextlib
import errno
import os
import secrets
import shutil
import stat
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TypeAlias

import msgspec

from hame.sandbox.private import make_private_folder

LARGEST = 1 << 20
"""Bytes of one file; of a larger one only is known whether it has changed."""
MOST_BYTES = 16 << 20
MOST_FILES = 3000
"""Of all that is kept for one command."""

_LONGEST_NAME = 200
"""Bytes; with what is added to make it another's, within NAME_MAX."""
_KEEP_S = 30 * 86400.0

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_Signature: TypeAlias = tuple[int, int, int, int]


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """A file or a link as it was."""

    mode: int
    """Of stat(2), with the type."""
    owner: tuple[int, int]
    """User and group."""
    signature: _Signature
    """Inode, time of change, size, mode: as long as it is the same, so is the content."""
    data: bytes | None
    """The content, of a link its target; None: it was too large, or could not be read."""

    def equals(self, other: "Kept | None") -> bool:
        """Whether both are the same, whenever they were written."""
        if other is None or (self.mode, self.data) != (other.mode, other.data):
            return False
        return self.data is not None or self.signature == other.signature


class Keeper:
    """Takes files into memory, within bounds."""

    def __init__(self) -> None:
        """Nothing is kept yet."""
        self._bytes = 0
        self._files = 0

    def keep(self, path: str, known: Kept | None = None) -> Kept | None:
        """One file or link; what is `known` of it already is not read again. None: it is neither."""
        try:
            status = os.lstat(path)
        except OSError:
            return None
        if not (stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode)):
            return None
        signature = (status.st_ino, status.st_ctime_ns, status.st_size, status.st_mode)
        self._files += 1
        if known is not None and known.signature == signature:
            self._bytes += len(known.data or b"")
            return known
        data = None
        if self._files <= MOST_FILES and self._bytes < MOST_BYTES:
            data = _read(path, status)
            self._bytes += len(data or b"")
        owner = (status.st_uid, status.st_gid)
        return Kept(mode=status.st_mode, owner=owner, signature=signature, data=data)


def files_below(path: str, depth: int = 8) -> Iterator[str]:
    """All files and links in a folder, and in those below it; the path itself where it is one."""
    try:
        with os.scandir(path) as entries:
            found = list(entries)
    except NotADirectoryError:
        yield path
        return
    except OSError:
        return
    for entry in found:
        if not entry.is_dir(follow_symlinks=False):
            yield entry.path
        elif depth > 0:
            yield from files_below(entry.path, depth - 1)


class Aside:
    """hame's folder for what was found in the place of a protected file."""

    def __init__(self, folder: str) -> None:
        """It is made with the first thing."""
        self._folder = folder
        self.used = ""
        """Where the things of one command went; empty: nowhere yet."""

    def take(self, root: str, path: str) -> None:
        """Move something below a root there, whatever it is.

        Raises:
            OSError: if it cannot be moved.
        """
        parent, name = _split(path)
        with _opened(root, parent, make=False, aside=None) as folder:
            self.take_from(folder, name, os.path.relpath(path, root))

    def take_from(self, folder: int, name: str, shown: str) -> None:
        """Move what has this name in an open folder.

        Raises:
            OSError: if it cannot be moved.
        """
        if not self.used:
            self._tidy()
            self.used = f"{self._folder}/{secrets.token_hex(4)}"
            make_private_folder(self.used)
        # Of a long path the end: no name may be longer than the system takes.
        plain = os.fsencode(shown.replace("/", "%"))[-_LONGEST_NAME:]
        target = first = f"{self.used}/{os.fsdecode(plain)}"
        number = 1
        while os.path.lexists(target):
            number += 1
            target = f"{first}~{number}"
        try:
            os.rename(name, target, src_dir_fd=folder)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            _move_across(folder, name, target)

    def _tidy(self) -> None:
        """Forget what was set aside long ago."""
        with contextlib.suppress(OSError), os.scandir(self._folder) as entries:
            for entry in entries:
                if entry.stat(follow_symlinks=False).st_mtime < time.time() - _KEEP_S:
                    shutil.rmtree(entry.path, ignore_errors=True)


def put_back(root: str, path: str, kept: Kept, aside: Aside) -> None:
    """Make a file below a root what it was.

    Raises:
        OSError: if it cannot be, or its content is not known.
    """
    if kept.data is None:
        raise OSError(errno.EFBIG, "its content was not kept", path)
    parent, name = _split(path)
    with _opened(root, parent, make=True, aside=aside) as folder:
        if _exists(folder, name):
            aside.take_from(folder, name, os.path.relpath(path, root))
        temporary = f".{name}.{secrets.token_hex(4)}"
        if stat.S_ISLNK(kept.mode):
            os.symlink(kept.data, temporary, dir_fd=folder)
        else:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            with os.fdopen(os.open(temporary, flags, 0o600, dir_fd=folder), "wb") as file:
                file.write(kept.data)
                if os.geteuid() == 0:
                    os.fchown(file.fileno(), *kept.owner)
                os.fchmod(file.fileno(), stat.S_IMODE(kept.mode))
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)


def move_back(root: str, source: str, target: str, aside: Aside) -> None:
    """Give a folder below a root its former path again; what is there by now is set aside.

    Raises:
        OSError: if it cannot be moved.
    """
    parent, name = _split(target)
    with _opened(root, parent, make=True, aside=aside) as folder:
        if _exists(folder, name):
            aside.take_from(folder, name, os.path.relpath(target, root))
        above, left = _split(source)
        with _opened(root, above, make=False, aside=None) as other:
            os.rename(left, name, src_dir_fd=other, dst_dir_fd=folder)


@contextlib.contextmanager
def _opened(root: str, path: str, *, make: bool, aside: Aside | None) -> Generator[int]:
    """A folder below a root, reached without any link; what is no folder is set aside where asked.

    Raises:
        OSError: if it is not there.
    """
    descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        gone = root
        for name in os.path.relpath(path, root).split("/"):
            if name == ".":
                continue
            gone = f"{gone}/{name}"
            below = _step(descriptor, name, os.path.relpath(gone, root), make=make, aside=aside)
            os.close(descriptor)
            descriptor = below
        yield descriptor
    finally:
        os.close(descriptor)


def _step(folder: int, name: str, shown: str, *, make: bool, aside: Aside | None) -> int:
    try:
        return _open_folder(folder, name)
    except OSError as error:
        if not make:
            raise
        if error.errno != errno.ENOENT and aside is not None:
            aside.take_from(folder, name, shown)
    os.mkdir(name, dir_fd=folder)
    return _open_folder(folder, name)


def _open_folder(above: int, name: str) -> int:
    """A folder in which names can be changed; a command may have taken that right away.

    Raises:
        OSError: if it is none, is not there, or is somebody else's.
    """
    place = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=above)
    try:
        mode = os.fstat(place).st_mode
        if mode & stat.S_IRWXU != stat.S_IRWXU:
            Path(f"/proc/self/fd/{place}").chmod(stat.S_IMODE(mode) | stat.S_IRWXU)
        return os.open(".", _DIRECTORY, dir_fd=place)
    finally:
        os.close(place)


def _exists(folder: int, name: str) -> bool:
    try:
        os.lstat(name, dir_fd=folder)
    except FileNotFoundError:
        return False
    return True


def _move_across(folder: int, name: str, target: str) -> None:
    """Move to another file system; what is no file, folder or link is only removed.

    Raises:
        OSError: if it cannot be.
    """
    mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    if stat.S_ISDIR(mode):
        inside = _open_folder(folder, name)
        try:
            Path(target).mkdir(mode=0o700)
            for each in os.listdir(inside):  # noqa: PTH208 - names are moved while they are gone through
                _move_across(inside, each, f"{target}/{each}")
        finally:
            os.close(inside)
        os.rmdir(name, dir_fd=folder)
        return
    if stat.S_ISLNK(mode):
        Path(target).symlink_to(os.readlink(name, dir_fd=folder))
    elif stat.S_ISREG(mode):
        _copy_across(folder, name, target)
    os.unlink(name, dir_fd=folder)


def _copy_across(folder: int, name: str, target: str) -> None:
    """Copy a file, also one that a command has made unreadable.

    Raises:
        OSError: if it cannot be, or it is no file any more.
    """
    place = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        mode = os.fstat(place).st_mode
        if not stat.S_ISREG(mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name)
        same = Path(f"/proc/self/fd/{place}")
        if not mode & stat.S_IRUSR:
            same.chmod(stat.S_IMODE(mode) | stat.S_IRUSR)
        with same.open("rb") as source, Path(target).open("xb") as copy:
            shutil.copyfileobj(source, copy)
    finally:
        os.close(place)


def _split(path: str) -> tuple[str, str]:
    parent, _, name = path.rpartition("/")
    return parent, name


def _read(path: str, status: os.stat_result) -> bytes | None:
    if stat.S_ISLNK(status.st_mode):
        with contextlib.suppress(OSError):
            return os.fsencode(Path(path).readlink())
        return None
    if status.st_size > LARGEST:
        return None
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with contextlib.suppress(OSError), os.fdopen(os.open(path, flags), "rb") as file:
        return file.read(LARGEST)
    return None
