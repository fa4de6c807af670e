"""What several sessions that run commands in one project at the same time count as before.

Whoever begins while nobody else has a command running writes it down; who comes later reads it. A lock that
ends with its process says whether anybody has one running (flock(2)).
"""

import fcntl
import os
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec
from msgspec.structs import replace

from hame.sandbox.baseline import Baseline, Held
from hame.sandbox.keepsake import Kept
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
        data = msgspec.msgpack.encode(_renamed(baseline, _to_text))
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
            read = msgspec.msgpack.decode(os.pread(self._descriptor, size, 0), type=Baseline)
            return _renamed(read, _to_path)
        except (msgspec.DecodeError, ValueError):
            return None


def _renamed(baseline: Baseline, rename: Callable[[str], str]) -> Baseline:
    """The same with every path in another spelling."""

    def all_of(files: Mapping[str, Kept]) -> dict[str, Kept]:
        return {rename(name): kept for name, kept in files.items()}

    return Baseline(
        held={
            rename(path): Held(
                repository=replace(held.repository, path=rename(path)), files=all_of(held.files)
            )
            for path, held in baseline.held.items()
        },
        entries={
            rename(path): replace(entry, files=all_of(entry.files))
            for path, entry in baseline.entries.items()
        },
    )


def _to_text(path: str) -> str:
    """Paths are bytes that need be no text at all; each becomes a letter."""
    return os.fsencode(path).decode("latin-1")


def _to_path(text: str) -> str:
    return os.fsdecode(text.encode("latin-1"))
