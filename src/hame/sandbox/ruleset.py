"""Landlock's system calls: what a thread, and all it starts, may still do to files.

https://docs.kernel.org/userspace-api/landlock.html; the numbers of system calls and flags are those of
linux/landlock.h, the same on every architecture that has Landlock.
"""

import ctypes
import functools
import os
import stat
import struct
import sys
from collections.abc import Iterable

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION = 1
_PATH_BENEATH = 1

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
TRUNCATE, IOCTL_DEV = 1 << 14, 1 << 15
_MAKE_CHAR, _MAKE_BLOCK = 1 << 6, 1 << 11

LOOK = EXECUTE | READ_FILE | READ_DIR
"""To read and run what lies there."""
_ALL_OF_ABI = {3: (1 << 15) - 1, 5: (1 << 16) - 1}
"""Rights over files that an ABI knows: 3 has all up to truncating, 5 also ioctl on devices."""
_OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
"""Rights that a rule about something that is no directory may hold."""
_NET = (1 << 0) | (1 << 1)
"""To bind and to connect TCP sockets; ABI 4."""
_SCOPES = (1 << 0) | (1 << 1)
"""Abstract Unix sockets and signals do not leave the domain; ABI 6."""

LEAST_ABI = 3
"""Below this a file outside could be truncated."""
SCOPED_ABI = 6
"""From this on signals do not leave the domain."""


@functools.cache
def abi() -> int:
    """The version of Landlock that this kernel has; 0: none, or it is switched off."""
    if not sys.platform.startswith("linux"):
        return 0
    try:
        return _call(_CREATE_RULESET, None, 0, _ASK_VERSION)
    except OSError:
        return 0


def change(version: int) -> int:
    """All rights over a place but to make devices in it, and ioctl on those that are there."""
    return _handled(version) & ~(_MAKE_CHAR | _MAKE_BLOCK | IOCTL_DEV)


class Ruleset:
    """Rules that are put together once, and then hold for the threads that take them on.

    Everything is forbidden that no rule allows. Of a path that is gone, or cannot be reached, the
    rule is left out: it is forbidden as well.
    """

    def __init__(self, version: int) -> None:
        """Begin one for a kernel of this ABI.

        Raises:
            OSError: if the kernel refuses.
        """
        self._handled = _handled(version)
        net = _NET if version >= 4 else 0
        scopes = _SCOPES if version >= SCOPED_ABI else 0
        size = 24 if scopes else 16 if net else 8
        attributes = struct.pack("=QQQ", self._handled, net, scopes)[:size]
        self._descriptor = _call(_CREATE_RULESET, attributes, size, 0)

    def allow(self, rights: int, paths: Iterable[str]) -> None:
        """Allow this on what the paths name, and below. A link is no place; it is left out.

        Raises:
            OSError: if the kernel does not take a rule.
        """
        for path in paths:
            try:
                place = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
            except OSError:
                continue
            try:
                self._add(rights, place)
            finally:
                os.close(place)

    def _add(self, rights: int, place: int) -> None:
        mode = os.fstat(place).st_mode
        if stat.S_ISLNK(mode):
            return
        rights &= self._handled if stat.S_ISDIR(mode) else self._handled & _OF_FILES
        if rights:
            _call(_ADD_RULE, self._descriptor, _PATH_BENEATH, struct.pack("=Qi", rights, place), 0)

    def restrict(self) -> None:
        """Let the rules hold for the thread that calls, for good, and for all it will start.

        Raises:
            OSError: if they cannot; then nothing is confined.
        """
        _call(_RESTRICT_SELF, self._descriptor, 0)

    def close(self) -> None:
        """Forget the rules; threads that took them on keep them. May be called twice."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


def _handled(version: int) -> int:
    return _ALL_OF_ABI[5 if version >= 5 else 3]


@functools.cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _call(number: int, *arguments: int | bytes | None) -> int:
    """One system call.

    Raises:
        OSError: if it fails.
    """
    plain = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    result: int = _libc().syscall(ctypes.c_long(number), *plain)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
