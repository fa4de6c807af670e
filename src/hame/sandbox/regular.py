"""Reading regular files that somebody else may have put there."""

import os
import stat

_CHUNK = 1 << 16


def read_regular(path: str, limit: int) -> bytes | None:
    """A file as a whole; None where it is a link, no regular file, too large, or cannot be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_size > limit:
            return None
        data = bytearray()
        while len(data) <= limit and (chunk := os.read(descriptor, _CHUNK)):
            data += chunk
        return None if len(data) > limit else bytes(data)
    except OSError:
        return None
    finally:
        os.close(descriptor)
