"""Finding the processes that a program has left behind.

A program gets a session and a process group of its own, and a mark in its environment that its
children inherit. What is still in the session or the group, or bears the mark, is its descendant,
even after `setsid` or a double fork. Known gap: a process that left the session *and* cleared its
environment is not found; only a sandbox with its own process ids sees that one.

Without /proc (not Linux) only the process group can be reached.
"""

import contextlib
import os
from collections.abc import Iterator

MARK = "HAME_PROCESS"
"""Environment variable that tells a program's descendants."""


def send(leader: int, mark: str, number: int, *, spare: bool = False) -> bool:
    """Send a signal (0: none) once to the group and every descendant; whether any was alive.

    With `spare`, not to the leader, which then ends by itself when the others have.
    """
    living = dict(descendants(leader, mark))
    if not spare:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(leader, number)
    for process, grouped in living.items():
        if process != leader if spare else not grouped:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process, number)
    return bool(living)


def send_to_bearers(mark: str, number: int) -> bool:
    """Send a signal to every process that bears a mark; whether any was alive."""
    token = mark.encode()
    living = [
        process
        for process in _candidates(0)
        if _group_and_session(process) and _bears(process, token)
    ]
    for process in living:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(process, number)
    return bool(living)


def descendants(leader: int, mark: str) -> Iterator[tuple[int, bool]]:
    """The leader, if it lives, and its living descendants: id, and whether it is in the group."""
    token = mark.encode()
    for process in _candidates(leader):
        ids = _group_and_session(process)
        if leader in ids or (ids and _bears(process, token)):
            yield process, leader in ids[:1]


def _candidates(leader: int) -> Iterator[int]:
    """Processes that may be younger than the leader: ids grow until they start over."""
    try:
        latest = int(_read("/proc/loadavg").split()[-1])
        with os.scandir("/proc") as entries:
            ids = [int(entry.name) for entry in entries if entry.name.isdigit()]
    except (OSError, ValueError, IndexError):
        return
    started_over = latest < leader
    yield from (process for process in ids if started_over or process >= leader)


def _group_and_session(process: int) -> tuple[int, ...]:
    """Ids of the group and the session of a process; nothing when it has ended.

    The fields after the name, which may hold anything but ends at the last `)`: state, parent,
    group, session (proc_pid_stat(5)).
    """
    try:
        fields = _read(f"/proc/{process}/stat").rpartition(b")")[2].split()
    except OSError:
        return ()
    if len(fields) < 4 or fields[0] in b"ZX":
        return ()
    return int(fields[2]), int(fields[3])


def _bears(process: int, token: bytes) -> bool:
    """Whether a process was started with the mark in its environment."""
    try:
        return bool(token) and token in _read(f"/proc/{process}/environ")
    except OSError:
        return False


def _read(path: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        chunks: list[bytes] = []
        while chunk := os.read(descriptor, 1 << 16):
            chunks.append(chunk)
        return b"".join(chunks)
    finally:
        os.close(descriptor)
