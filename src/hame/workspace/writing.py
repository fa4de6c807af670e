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
from typing import NamedTuple, NoReturn

from hame.base.errors import PathError
from hame.base.path import FileText
from hame.workspace.draft import drafted
from hame.workspace.locate import Place
from hame.workspace.reading import read, refuse_special
from hame.workspace.refusal import refusing
from hame.workspace.rename import rename_new
from hame.workspace.textcode import digest_of
from hame.workspace.tree import entered

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
    if like is not None and place.missing and like.on_disk != "":
        _refuse_gone(place)
    with refusing("write", place.shown), entered(place) as directory:
        _write(place, directory, data, like, replace=replace)


def _write(
    place: Place, directory: int, data: bytes, like: FileText | None, *, replace: bool
) -> None:
    before = found_at(place.leaf, directory)
    check_target(place, before, directory, replace=replace)
    old = Old(place.leaf, directory, before) if before else None
    with temporary(directory, data, old) as name:
        if like is not None:
            check_unchanged(place, like)
        if replace:
            os.rename(name, place.leaf, src_dir_fd=directory, dst_dir_fd=directory)
        else:
            rename_new(name, directory, place.leaf, directory)
    sync_directory(directory)


def found_at(leaf: str, directory: int) -> os.stat_result | None:
    """What stands under a name, links not followed; None when nothing does."""
    try:
        return os.stat(leaf, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return None


class Old(NamedTuple):
    """A file that another takes the place of: its name, its directory, and what stands there."""

    leaf: str
    directory: int
    found: os.stat_result


def check_target(
    place: Place, found: os.stat_result | None, directory: int, *, replace: bool
) -> None:
    """Make sure that a file may be put where `found` stands.

    Raises:
        PathError: when it may not.
    """
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


def check_unchanged(place: Place, like: FileText) -> None:
    """Make sure that a file still holds the bytes it was read from.

    Raises:
        PathError: when it is gone or holds others.
    """
    if place.missing or found_at(place.leaf, place.directory) is None:
        if like.on_disk == "":
            return
        _refuse_gone(place)
    if digest_of(read(place)) != (like.digest if like.on_disk is None else like.on_disk):
        raise PathError(
            f"{place.shown} was changed on disk since it was read; nothing was written. "
            "Read it again and repeat the change"
        )


def _refuse_gone(place: Place) -> NoReturn:
    raise PathError(f"{place.shown} was deleted since it was read; nothing was written")


@contextmanager
def temporary(directory: int, data: bytes, old: Old | None) -> Generator[str]:
    """The name of a synced file that holds the bytes; gone afterwards unless it was renamed."""
    with drafted(directory, _NEW_MODE if old is None else 0o600) as draft:
        try:
            _fill(draft.descriptor, data)
            if old is not None:
                _carry_over(old, draft.descriptor)
            os.fsync(draft.descriptor)
        finally:
            os.close(draft.descriptor)
        yield draft.name


def _fill(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _carry_over(old: Old, descriptor: int) -> None:
    """Owner first (changing it clears set-user-id bits), then mode, then attributes."""
    made, before = os.fstat(descriptor), old.found
    if (made.st_uid, made.st_gid) != (before.st_uid, before.st_gid):
        with contextlib.suppress(PermissionError):
            os.fchown(descriptor, before.st_uid, before.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(before.st_mode))
    _carry_attributes(old, descriptor)


def _carry_attributes(old: Old, descriptor: int) -> None:
    """Extended attributes as far as the file system and our rights allow; they are extras."""
    if not hasattr(os, "listxattr"):
        return
    with contextlib.suppress(OSError), _opened(old) as source:
        for attribute in os.listxattr(source):
            with contextlib.suppress(OSError):
                os.setxattr(descriptor, attribute, os.getxattr(source, attribute))


@contextmanager
def _opened(old: Old) -> Generator[int]:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(old.leaf, flags, dir_fd=old.directory)
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
