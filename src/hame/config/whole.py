"""Writing small files of hame's own: private to the user, and whole at every moment."""

import fcntl
import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from errno import ENOTDIR

from hame.base.errors import ConfigError


def make_private_folder(folder: str) -> None:
    """Make a folder, and the missing ones above it, that only the user can look into.

    Python's own way gives those above it whatever the umask leaves.

    Raises:
        OSError: if it cannot be made.
    """
    missing: list[str] = []
    place = folder
    while place and not os.path.isdir(place):  # noqa: PTH112 - pathlib is 8 ms of start
        missing.append(place)
        place = os.path.dirname(place)  # noqa: PTH120 - as above
    for each in reversed(missing):
        with suppress(FileExistsError):  # Another process may have made it meanwhile.
            os.mkdir(each, 0o700)  # noqa: PTH102 - as above
    if not os.path.isdir(folder):  # noqa: PTH112 - as above
        raise OSError(ENOTDIR, os.strerror(ENOTDIR), folder)


@contextmanager
def alone_beside(path: str) -> Generator[None]:
    """The right to change a file: one process at a time, by a lock on its folder, which is made.

    What was put in its place within the block lasts when it ends well.

    Raises:
        ConfigError: if the folder cannot be made or locked, or the file could not be written.
    """
    folder = os.path.dirname(path)  # noqa: PTH120 - pathlib is 8 ms of start
    try:
        make_private_folder(folder)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise ConfigError(f"{folder}: cannot be written: {error.strerror}") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
        os.fsync(descriptor)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error.strerror}") from error
    finally:
        os.close(descriptor)


def write_whole(path: str, data: bytes) -> None:
    """Put a file in place of what is there; its folder is made if it is missing.

    Raises:
        OSError: if it cannot be written; what was there is then still there.
    """
    folder = os.path.dirname(path)  # noqa: PTH120 - pathlib is 8 ms of start
    make_private_folder(folder)
    # A name of this process and moment is its own; `tempfile` would only add its import.
    temporary = f"{folder}/.{os.getpid()}-{os.urandom(6).hex()}.tmp"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)  # noqa: PTH105 - as above
    except BaseException:
        os.unlink(temporary)  # noqa: PTH108 - as above
        raise
