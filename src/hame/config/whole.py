"""Writing small files of hame's own: private to the user, and whole at every moment."""

import os


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
