"""Writing a whole file so that there is never half of one.

The bytes go to a hidden file in the same directory, are synced, and take the name in one step. Mode,
owner and extended attributes of the file that is replaced are carried over.
"""

import contextlib
import errno
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager
from typing import NoReturn

from hame.base.errors import PathError
from hame.base.path import FileText
from hame.workspace.locate import Place
from hame.workspace.reading import read, refuse_special
from hame.workspace.refusal import refusing
from hame.workspace.rename import rename_new
from hame.workspace.textcode import digest_of
from hame.workspace.tree import entered

_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW_MODE = 0o666
"""Before the umask."""


def write(place: Place, data: bytes, like: FileText | None, *, replace: bool) -> None:
    """Put bytes at a place, all of them or none.

    With `like` the file there must still hold the bytes it was read from. Without `replace` nothing
    may be there.

    Raises:
        PathError: if it cannot be written; nothing is left behind.
    """
    if place.resolution.asked.endswith("/"):
        raise PathError(f"{place.shown}: the path ends with /, which names a directory")
    if like is not None and place.missing:
        _refuse_gone(place)
    with refusing("write", place.shown), entered(place) as directory:
        _write(place, directory, data, like, replace=replace)


def _write(
    place: Place, directory: int, data: bytes, like: FileText | None, *, replace: bool
) -> None:
    before = _stat(place.leaf, directory)
    _check_target(place, directory, before, replace=replace)
    with _temporary(place.leaf, directory, data, before) as name:
        if like is not None:
            _check_unchanged(place, like)
        if replace:
            os.rename(name, place.leaf, src_dir_fd=directory, dst_dir_fd=directory)
        else:
            rename_new(name, directory, place.leaf, directory)
    sync_directory(directory)


def _stat(leaf: str, directory: int) -> os.stat_result | None:
    try:
        return os.stat(leaf, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _check_target(
    place: Place, directory: int, found: os.stat_result | None, *, replace: bool
) -> None:
    if found is None:
        return
    if stat.S_ISDIR(found.st_mode):
        raise PathError(f"{place.shown} is a directory")
    if not replace:
        raise PathError(f"{place.shown} already exists")
    refuse_special(found.st_mode, place.shown)
    effective = os.access in os.supports_effective_ids
    writable = os.access(place.leaf, os.W_OK, dir_fd=directory, effective_ids=effective)
    if not writable:
        raise PathError(f"{place.shown} is read-only; nothing was changed")


def _check_unchanged(place: Place, like: FileText) -> None:
    if _stat(place.leaf, place.directory) is None:
        _refuse_gone(place)
    if digest_of(read(place)) != like.digest:
        raise PathError(
            f"{place.shown} was changed on disk since it was read; nothing was written. "
            "Read it again and repeat the change"
        )


def _refuse_gone(place: Place) -> NoReturn:
    raise PathError(f"{place.shown} was deleted since it was read; nothing was written")


@contextmanager
def _temporary(
    leaf: str, directory: int, data: bytes, before: os.stat_result | None
) -> Generator[str]:
    """The name of a synced file that holds the bytes; gone afterwards unless it was renamed."""
    name = f".hame-{os.urandom(8).hex()}.tmp"
    mode = _NEW_MODE if before is None else 0o600
    descriptor = os.open(name, _CREATE, mode, dir_fd=directory)
    try:
        try:
            _fill(descriptor, data)
            if before is not None:
                _carry_over(leaf, directory, before, descriptor)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        yield name
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=directory)


def _fill(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _carry_over(leaf: str, directory: int, before: os.stat_result, descriptor: int) -> None:
    """Owner first (changing it clears set-user-id bits), then mode, then attributes."""
    made = os.fstat(descriptor)
    if (made.st_uid, made.st_gid) != (before.st_uid, before.st_gid):
        with contextlib.suppress(PermissionError):
            os.fchown(descriptor, before.st_uid, before.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(before.st_mode))
    _carry_attributes(leaf, directory, descriptor)


def _carry_attributes(leaf: str, directory: int, descriptor: int) -> None:
    """Extended attributes as far as the file system and our rights allow; they are extras."""
    if not hasattr(os, "listxattr"):
        return
    with contextlib.suppress(OSError), _opened(leaf, directory) as old:
        for attribute in os.listxattr(old):
            with contextlib.suppress(OSError):
                os.setxattr(descriptor, attribute, os.getxattr(old, attribute))


@contextmanager
def _opened(leaf: str, directory: int) -> Generator[int]:
    descriptor = os.open(leaf, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def sync_directory(directory: int) -> None:
    """Make the names in a directory last, where the file system can.

    Raises:
        OSError: when the disk fails.
    """
    descriptor = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=directory)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in {errno.EINVAL, errno.ENOTSUP, errno.EROFS}:
            raise
    finally:
        os.close(descriptor)
