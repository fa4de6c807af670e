"""Writing small files of hame's own: private to the user, and whole at every moment."""

import fcntl
import os
from collections.abc import Generator
from contextlib import contextmanager

from hame.base.errors import ConfigError


@contextmanager
def alone_beside(path: str) -> Generator[None]:
    """The right to change a file: one process at a time, by a lock on its folder, which is made.

    What was put in its place within the block lasts when it ends well.

    Raises:
        ConfigError: if the folder cannot be made or locked, or the file could not be written.
    """
    folder = os.path.dirname(path)  # noqa: PTH120 - pathlib is 8 ms of start
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)  # noqa: PTH103 - as above
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
    os.makedirs(folder, mode=0o700, exist_ok=True)  # noqa: PTH103 - as above
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
