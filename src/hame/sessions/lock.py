"""One writer per session file: an advisory lock that the kernel lets go when its holder dies."""

import errno
import fcntl
import os
from pathlib import Path

_UNSUPPORTED = frozenset({errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS})


def try_lock(descriptor: int) -> bool:
    """Take the exclusive lock without waiting; False when another descriptor holds it.

    A file system that knows no locks counts as locked: a session there is still of use.

    Raises:
        OSError: if the kernel refused for another reason.
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _UNSUPPORTED:
            raise
    return True


def holder(descriptor: int, table: Path = Path("/proc/locks")) -> int | None:
    """Process id of who holds the lock on this file, where the system tells (Linux does).

    The table is described in proc(5); its lines end `FLOCK ADVISORY WRITE pid major:minor:inode`.
    """
    try:
        lines = table.read_text("ascii", errors="replace").splitlines()
        inode = os.fstat(descriptor).st_ino
    except OSError:
        return None
    pids = [
        fields[4]
        for fields in map(str.split, lines)
        if len(fields) > 5 and fields[1] == "FLOCK" and fields[5].endswith(f":{inode}")
    ]
    return int(pids[0]) if len(pids) == 1 and pids[0].isdigit() and pids[0] != "0" else None
