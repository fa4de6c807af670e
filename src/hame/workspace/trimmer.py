"""Keeping log files bounded while programs write them and nobody reads.

A program in the background appends to its log by itself; between two prompts nothing of hame's event
loop runs. A thread looks at the sizes and takes the beginning out of a log that has grown too large;
its end stays. What a flood prints in the very moment of the cut may be lost with it.
"""

import contextlib
import os
import threading
from pathlib import Path

_PERIOD_S = 0.05
_TAIL_SHARE = 4
"""Of a log that is cut, one part in so many stays: its end."""


class BoundedLog:
    """One file that a program appends to."""

    def __init__(self, path: str, limit: int) -> None:
        """Watch this file; it is never much larger than `limit` bytes."""
        self.path = path
        self._limit = limit
        self._lock = threading.Lock()
        self._dropped = 0

    @property
    def printed(self) -> int:
        """Bytes that the program has written so far."""
        with self._lock:
            return self._dropped + self._size()

    def read(self, start: int, most: int) -> tuple[bytes, int]:
        """What was written from byte `start` on, at most the last `most` bytes; and how many are missing."""
        with self._lock:
            size = self._size()
            first = max(start - self._dropped, size - most, 0)
            skipped = self._dropped + first - start
            with contextlib.suppress(OSError), Path(self.path).open("rb") as file:
                file.seek(first)
                return file.read(size - first), skipped
            return b"", skipped

    def trim(self) -> None:
        """Take out what is too much."""
        with self._lock, contextlib.suppress(OSError):
            size = self._size()
            if size <= self._limit:
                return
            keep = self._limit // _TAIL_SHARE
            descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC)
            try:
                tail = os.pread(descriptor, keep, size - keep)
                os.ftruncate(descriptor, 0)
                os.write(descriptor, tail)
            finally:
                os.close(descriptor)
            self._dropped += size - len(tail)

    def _size(self) -> int:
        try:
            return Path(self.path).stat().st_size
        except OSError:
            return 0


class Trimmer:
    """The thread that looks at all logs of a session; it runs only while there are any."""

    def __init__(self) -> None:
        """Look at nothing yet."""
        self._logs: list[BoundedLog] = []
        self._thread: threading.Thread | None = None
        self._done = threading.Event()

    def add(self, log: BoundedLog) -> None:
        """Look at this one, too."""
        self._logs = [*self._logs, log]
        if self._thread is None:
            self._done.clear()
            self._thread = threading.Thread(target=self._look, name="hame-logs", daemon=True)
            self._thread.start()

    def remove(self, log: BoundedLog) -> None:
        """Its program has ended."""
        self._logs = [each for each in self._logs if each is not log]
        log.trim()
        if not self._logs:
            self.close()

    def close(self) -> None:
        """End the thread."""
        thread, self._thread = self._thread, None
        if thread is not None:
            self._done.set()
            thread.join()

    def _look(self) -> None:
        while not self._done.wait(_PERIOD_S):
            for log in self._logs:
                log.trim()
