"""Keeping things safe on disk: private folders and files, and copies of what is damaged."""

import hashlib
import os
from pathlib import Path


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
    with path.open("rb") as source:
        source.seek(offset)
        _write_private(kept, source.read())
    return kept


def keep_damaged(path: Path, end: int) -> Path:
    """Copy a file whose damage ends at `end` to `NAME.damaged-DIGEST` beside it.

    The digest is of the part up to `end`, which no writer changes any more: there is one copy however
    often the file is opened.

    Raises:
        OSError: if it cannot be kept.
    """
    data = path.read_bytes()
    digest = hashlib.sha256(data[:end]).hexdigest()[:8]
    kept = path.with_name(f"{path.name}.damaged-{digest}")
    if not kept.exists():
        _write_private(kept, data)
    return kept


def _write_private(path: Path, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
