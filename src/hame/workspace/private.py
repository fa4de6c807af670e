"""Folders and files of hame's own: for the user alone, whatever the umask, and never through a link."""

import os
from pathlib import Path


def make_private_folder(folder: Path) -> None:
    """Make a folder, and the missing ones above it, that only the user can look into.

    Python's own way gives those above it whatever the umask leaves.

    Raises:
        OSError: if it cannot be made.
    """
    if not folder.is_dir():
        make_private_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def write_private(path: Path, data: bytes) -> None:
    """Write a new file.

    Raises:
        OSError: if it cannot be written, or something is there.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
        file.write(data)
