"""Keeping things safe on disk: private folders and files, and copies of what is damaged."""

import hashlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

_PIECE = 1 << 20
"""Bytes that are copied at a time."""


def make_private_folder(folder: Path) -> None:
    """Make a folder, and the missing ones above it, that only the user can look into.

    Raises:
        OSError: if it cannot be made.
    """
    missing = [folder]
    while not missing[-1].parent.exists():
        missing.append(missing[-1].parent)
    for each in reversed(missing):
        each.mkdir(mode=0o700, exist_ok=True)
    if folder.stat().st_mode & 0o077:
        folder.chmod(0o700)


def sync_folder(folder: Path) -> None:
    """Force to the disk which files are in a folder.

    Raises:
        OSError: if the disk failed.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def keep_tail(path: Path, offset: int) -> Path:
    """Copy what follows `offset` to a new file beside it, `NAME.torn-N`.

    Raises:
        OSError: if it cannot be kept.
    """
    number = 1
    while (kept := path.with_name(f"{path.name}.torn-{number}")).exists():
        number += 1
    _copy_private(path, offset, kept)
    return kept


def keep_damaged(path: Path, end: int) -> Path:
    """Copy a file whose damage ends at `end` to `NAME.damaged-DIGEST` beside it.

    The digest is of the part up to `end`, which no writer changes any more: there is one copy however
    often the file is opened.

    Raises:
        OSError: if it cannot be kept.
    """
    digest = hashlib.sha256()
    with path.open("rb") as source:
        for piece in _pieces(source, end):
            digest.update(piece)
    kept = path.with_name(f"{path.name}.damaged-{digest.hexdigest()[:8]}")
    if not kept.exists():
        _copy_private(path, 0, kept)
    return kept


def _copy_private(path: Path, offset: int, kept: Path) -> None:
    """Copy a file from `offset` on, however large it is."""
    descriptor = os.open(kept, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with path.open("rb") as source, os.fdopen(descriptor, "wb") as file:
        source.seek(offset)
        for piece in _pieces(source, sys.maxsize):
            file.write(piece)
        file.flush()
        os.fsync(file.fileno())


def _pieces(source: BinaryIO, size: int) -> Iterator[bytes]:
    """What follows in a file, at most `size` bytes of it."""
    while size > 0 and (piece := source.read(min(size, _PIECE))):
        size -= len(piece)
        yield piece
