"""What an operating system's error means, in words for the model."""

import errno
from collections.abc import Generator
from contextlib import contextmanager

from hame.base.errors import PathError

_WORDS: dict[int, str] = {
    errno.ENOENT: "no such file or directory",
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied by the operating system",
    errno.EISDIR: "is a directory",
    errno.ENOTDIR: "a part of the path is not a directory",
    errno.EEXIST: "already exists",
    errno.ENOTEMPTY: "the directory is not empty",
    errno.ELOOP: "too many symbolic links, or a link was put there meanwhile",
    errno.ENAMETOOLONG: "the name is too long",
    errno.EINVAL: "the operating system does not take this name",
    errno.ENOSPC: "the disk is full; nothing was changed",
    errno.EDQUOT: "the disk quota is used up; nothing was changed",
    errno.EFBIG: "the file would be larger than is allowed; nothing was changed",
    errno.EROFS: "the file system is read-only",
    errno.ETXTBSY: "the program is running and cannot be written",
    errno.EBUSY: "is in use",
    errno.EXDEV: "lies on another file system",
    errno.EMFILE: "too many files are open",
    errno.ENFILE: "too many files are open on this machine",
    errno.EAGAIN: "has nothing to read now and would have to be waited for",
    errno.EIO: "the disk reports an error",
    errno.ENOEXEC: "it is not a program",
    errno.E2BIG: "the command is too long",
    errno.ESTALE: "the network file system lost it; try again",
}


@contextmanager
def refusing(doing: str, shown: str) -> Generator[None]:
    """Turn an error of the system into words: what could not be done to which path, and why.

    Raises:
        PathError: in the place of an OSError.
    """
    try:
        yield
    except OSError as error:
        raise PathError(f"cannot {doing} {shown}: {reason(error)}") from error


def reason(error: OSError) -> str:
    """Why, in lower case and without a full stop."""
    words = _WORDS.get(error.errno or 0)
    return words or (error.strerror or str(error)).lower()
