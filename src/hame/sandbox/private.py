"""Folders of hame's own: for the user alone, whatever the umask."""

import os
from contextlib import suppress


def make_private_folder(folder: str) -> None:
    """Make a folder, and the missing ones above it, that only the user can look into.

    Python's own way gives those above it whatever the umask leaves.

    Raises:
        OSError: if it cannot be made.
    """
    if not os.path.isdir(folder):  # noqa: PTH112 - pathlib is 8 ms of start
        make_private_folder(os.path.dirname(folder))  # noqa: PTH120 - as above
        with suppress(FileExistsError):  # Another process may have made it meanwhile.
            os.mkdir(folder, 0o700)  # noqa: PTH102 - as above
