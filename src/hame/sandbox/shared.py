"""What several sessions that run commands in one project at the same time count as before.

Whoever begins while nobody else has a command running writes it down; who comes later reads it. A lock that
ends with its process says whether anybody has one running (flock(2)).
"""

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import msgspec

from hame.sandbox.baseline import Baseline
from hame.sandbox.private import make_private_folder


class Shared:
    """One project's; a file in hame's own folder."""

    def __init__(self, path: str) -> None:
        """The file is made with the first command."""
        self._path = path
        self._descriptor = -1

    def join(self, make: Callable[[], Baseline]) -> Baseline:
        """A command begins here, and none runs here yet.

        Raises:
            OSError: if the file cannot be used.
        """
        make_private_folder(str(Path(self._path).parent))
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        self._descriptor = os.open(self._path, flags, 0o600)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            fcntl.flock(self._descriptor, fcntl.LOCK_SH)
            known = self._read()
            if known is not None:
                return known
        baseline = make()
        self.write(baseline)
        fcntl.flock(self._descriptor, fcntl.LOCK_SH)
        return baseline

    def write(self, baseline: Baseline) -> None:
        """Say anew what counts as before, for all sessions.

        Raises:
            OSError: if it cannot be written.
        """
        data = msgspec.msgpack.encode(baseline)
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, data, 0)

    def leave(self) -> None:
        """No command runs here any more."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def _read(self) -> Baseline | None:
        size = os.fstat(self._descriptor).st_size
        try:
            return msgspec.msgpack.decode(os.pread(self._descriptor, size, 0), type=Baseline)
        except msgspec.DecodeError:
            return None
