"""Files of the project that have a second name elsewhere (hard links): to write to one is to write there.

A mount can keep them from being written; Landlock cannot, so they are held open while a command runs, and what
was written to them is undone in place.
"""

import os
import stat
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from hame.sandbox.keepsake import LARGEST


class Namesakes:
    """Those that a command could write to."""

    def __init__(self) -> None:
        """Hold nothing yet."""
        self._held: list[tuple[str, int, os.stat_result, bytes | None]] = []

    def hold(self, paths: Iterable[str]) -> None:
        """Hold what is a file with several names; the rest is left out."""
        for path in paths:
            with suppress(OSError):
                self._hold(path)

    def _hold(self, path: str) -> None:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        descriptor = os.open(path, flags)
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_nlink < 2:
            os.close(descriptor)
            return
        data = os.pread(descriptor, LARGEST, 0) if status.st_size <= LARGEST else None
        self._held.append((path, descriptor, status, data))

    def close(self) -> Sequence[str]:
        """Undo what was written; lines that say so. May be called twice."""
        held, self._held = self._held, []
        undone, failed = list[str](), list[str]()
        for path, descriptor, before, data in held:
            try:
                if _has_changed(descriptor, before, data):
                    _write_back(descriptor, before, data)
                    undone.append(path)
            except OSError:
                failed.append(path)
            finally:
                os.close(descriptor)
        told = ((undone, "so put back"), (failed, "and could NOT be put back"))
        return [
            f"written to although they have a second name elsewhere, {what}: {', '.join(paths)}"
            for paths, what in told
            if paths
        ]


def _has_changed(descriptor: int, before: os.stat_result, data: bytes | None) -> bool:
    now = os.fstat(descriptor)
    if (now.st_size, now.st_mtime_ns, now.st_ctime_ns) == (
        before.st_size,
        before.st_mtime_ns,
        before.st_ctime_ns,
    ):
        return False
    if (now.st_size, now.st_mode) != (before.st_size, before.st_mode) or data is None:
        return True
    return os.pread(descriptor, LARGEST, 0) != data


def _write_back(descriptor: int, before: os.stat_result, data: bytes | None) -> None:
    """Make the file, under all its names, what it was.

    Raises:
        OSError: if it cannot be written, or what it was is not known.
    """
    if data is None:
        raise OSError("its content was not kept")
    same = Path(f"/proc/self/fd/{descriptor}")
    same.chmod(stat.S_IMODE(before.st_mode) | stat.S_IWUSR)
    same.write_bytes(data)
    same.chmod(stat.S_IMODE(before.st_mode))
