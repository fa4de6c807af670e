"""Giving a file a name that must be free, so that no race overwrites anything."""

import errno
import functools
import os
import stat
import sys
from collections.abc import Callable
from typing import TypeAlias

_RENAME_NOREPLACE = 1
"""From linux/fs.h; see renameat2(2)."""
_UNKNOWN = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM})
"""The file system, or the kernel, cannot do it this way."""

_Rename: TypeAlias = Callable[[int, bytes, int, bytes, int], int]


def rename_new(source: str, source_directory: int, target: str, target_directory: int) -> None:
    """Rename, unless the target exists.

    Raises:
        FileExistsError: if something is there.
        OSError: if it cannot be renamed.
    """
    if _rename_exclusive(source, source_directory, target, target_directory):
        return
    mode = os.stat(source, dir_fd=source_directory, follow_symlinks=False).st_mode
    if not stat.S_ISDIR(mode) and _link(source, source_directory, target, target_directory):
        os.unlink(source, dir_fd=source_directory)
        return
    _require_free(target, target_directory)
    os.rename(source, target, src_dir_fd=source_directory, dst_dir_fd=target_directory)


def _rename_exclusive(
    source: str, source_directory: int, target: str, target_directory: int
) -> bool:
    """By renameat2; False where that does not exist.

    Raises:
        OSError: if it exists and fails.
    """
    call = _renameat2()
    if call is None:
        return False
    import ctypes

    names = os.fsencode(source), os.fsencode(target)
    if call(source_directory, names[0], target_directory, names[1], _RENAME_NOREPLACE) == 0:
        return True
    number = ctypes.get_errno()
    if number in _UNKNOWN:
        return False
    raise OSError(number, os.strerror(number), target)


@functools.cache
def _renameat2() -> _Rename | None:
    if not sys.platform.startswith("linux"):
        return None
    import ctypes

    try:
        call = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return None
    call.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    call.restype = ctypes.c_int
    return call


def _link(source: str, source_directory: int, target: str, target_directory: int) -> bool:
    """By a second name; False where the file system has none.

    Raises:
        OSError: if it has and fails.
    """
    try:
        os.link(
            source,
            target,
            src_dir_fd=source_directory,
            dst_dir_fd=target_directory,
            follow_symlinks=False,
        )
    except OSError as error:
        if error.errno in _UNKNOWN | {errno.EMLINK}:
            return False
        raise
    return True


def _require_free(target: str, directory: int) -> None:
    try:
        os.stat(target, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target)
