"""Results that are kept whole, each in a file of its own in hame's folder of results.

The model names one as `result:ID`. Files are private to the user; old ones go when new ones come.
"""

import contextlib
import os
import re
import secrets
import time
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from typing_extensions import override

from hame.base.ports import Blobs, BlobWriter
from hame.workspace.private import make_private_folder

LARGEST = 64 * 1024 * 1024
"""Bytes of one result; what is beyond is counted."""
_KEEP_S = 30 * 86400.0
_KEEP_BYTES = 1024 * 1024 * 1024
"""Of all results together; the oldest go first."""
_ID = re.compile(r"[0-9a-f]{8}")


class ResultStore(Blobs):
    """Implements the Blobs port."""

    def __init__(
        self, folder: str, *, largest: int = LARGEST, now: Callable[[], float] = time.time
    ) -> None:
        """Use this folder; it is made with the first result."""
        self._folder = Path(folder)
        self._largest = largest
        self._now = now
        self._tidied = False

    @override
    def begin(self) -> BlobWriter | None:
        """Begin a result; None where nothing can be kept."""
        try:
            make_private_folder(self._folder)
            self._tidy()
            name = secrets.token_hex(4)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            descriptor = os.open(self._folder / name, flags, 0o600)
        except OSError:
            return None
        return _Result(name, os.fdopen(descriptor, "wb"), self._largest)

    @override
    def put(self, text: str) -> str | None:
        """Keep a text; its id, None where nothing can be kept."""
        writer = self.begin()
        if writer is None:
            return None
        writer.write(text)
        writer.close()
        return writer.id

    @override
    def path(self, blob: str) -> str | None:
        """The file that holds a result; None when there is none of that id."""
        if not _ID.fullmatch(blob):
            return None
        place = self._folder / blob
        return str(place) if place.is_file() else None

    def _tidy(self) -> None:
        """Take away what is too old or too much; once in a process's life."""
        if self._tidied:
            return
        self._tidied = True
        found: list[tuple[float, int, Path]] = []
        for path in self._folder.iterdir():
            with contextlib.suppress(OSError):
                if _ID.fullmatch(path.name):
                    stat = path.stat(follow_symlinks=False)
                    found.append((stat.st_mtime, stat.st_size, path))
        room = _KEEP_BYTES
        for changed, size, path in sorted(found, reverse=True):
            room -= size
            if room < 0 or changed < self._now() - _KEEP_S:
                path.unlink(missing_ok=True)


class _Result(BlobWriter):
    def __init__(self, name: str, file: BinaryIO, room: int) -> None:
        self._name = name
        self._file = file
        self._room = room
        self._beyond = 0

    @property
    @override
    def id(self) -> str:
        return self._name

    @override
    def write(self, text: str) -> None:
        data = text.encode("utf-8", "replace")
        kept = data[: self._room]
        try:
            self._file.write(kept)
        except OSError:
            self._room = 0
            kept = b""
        self._room -= len(kept)
        self._beyond += len(data) - len(kept)

    @override
    def close(self) -> None:
        if self._file.closed:
            return
        with contextlib.suppress(OSError):
            if self._beyond:
                words = f"\n[{self._beyond:,} bytes beyond the limit of a result left out here]\n"
                self._file.write(words.encode())
        with contextlib.suppress(OSError):
            self._file.close()
