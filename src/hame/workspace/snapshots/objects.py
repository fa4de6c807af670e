r"""Bytes by their hash, in the format of git's loose objects, written without starting git.

Format: https://git-scm.com/docs/gitformat-loose and `git hash-object`: zlib over `blob SIZE\0` and
the bytes, named by the SHA-1 of what is compressed.
"""

import contextlib
import os
import secrets
import zlib
from hashlib import sha1
from pathlib import Path

from hame.workspace.private import make_private_folder

_LEVEL = 1
"""Speed counts here; what is kept for long is packed by the collection."""


def blob_id(data: bytes) -> str:
    """The id under which git knows these bytes."""
    hasher = sha1(b"blob %d\0" % len(data), usedforsecurity=False)
    hasher.update(data)
    return hasher.hexdigest()


class Objects:
    """A folder of objects; several processes may write into it at once."""

    def __init__(self, folder: Path) -> None:
        """Use this folder; it is made with the first object."""
        self.folder = folder

    def put(self, data: bytes) -> str:
        """Keep these bytes; their id.

        Raises:
            OSError: if they cannot be written (disk full).
        """
        name = blob_id(data)
        place = self._place(name)
        try:
            os.utime(place)  # What is wanted again is young again, so that no collection takes it.
        except FileNotFoundError:
            self._write(place, zlib.compress(b"blob %d\0" % len(data) + data, _LEVEL))
        return name

    def get(self, name: str) -> bytes | None:
        """The bytes of a blob; None when it is not here as a file of its own.

        Raises:
            OSError: if it cannot be read.
        """
        try:
            whole = zlib.decompress(self._place(name).read_bytes())
        except (FileNotFoundError, zlib.error):
            return None
        kind, _, data = whole.partition(b"\0")
        return data if kind.startswith(b"blob ") else None

    def _place(self, name: str) -> Path:
        return self.folder / name[:2] / name[2:]

    def _write(self, place: Path, packed: bytes) -> None:
        make_private_folder(place.parent)
        draft = place.parent / f"tmp_obj_{secrets.token_hex(6)}"
        try:
            descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o400)
            with os.fdopen(descriptor, "wb") as file:
                file.write(packed)
            draft.rename(place)
        except OSError:
            with contextlib.suppress(OSError):
                draft.unlink()
            raise
