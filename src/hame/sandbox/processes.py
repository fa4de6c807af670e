"""Processes as /proc shows them (proc_pid_stat(5), proc_pid_status(5)); gone ones have nothing."""

import contextlib
import os
from pathlib import Path


def list_processes() -> list[int]:
    """Ids of all that can be seen."""
    with os.scandir("/proc") as entries:
        return [int(entry.name) for entry in entries if entry.name.isdigit()]


def is_alive(process: int) -> bool:
    """Whether it runs; one that only waits to be collected does not."""
    fields = _stat(process)
    return bool(fields) and fields[0] not in b"ZX"


def parent_of(process: int) -> int:
    """Id of its parent; 0 when it is gone."""
    fields = _stat(process)
    return int(fields[1]) if fields else 0


def started_at(process: int) -> int:
    """When it was started, in ticks since the machine was; 0 when it is gone."""
    fields = _stat(process)
    return int(fields[19]) if fields else 0


def filters_of(process: int) -> int:
    """How many filters of system calls it has, which only ever grow; 0 where that is not told."""
    for line in _read(f"/proc/{process}/status").splitlines():
        if line.startswith(b"Seccomp_filters:"):
            return int(line.split()[1])
    return 0


def has_variable(process: int, name: str) -> bool:
    """Whether it was started with a variable of this name in its environment."""
    start = f"{name}=".encode()
    return any(each.startswith(start) for each in _read(f"/proc/{process}/environ").split(b"\0"))


def send(process: int, number: int) -> bool:
    """Send a signal (0: none); whether it is there and may be sent one."""
    with contextlib.suppress(OSError):
        os.kill(process, number)
        return True
    return False


def _stat(process: int) -> list[bytes]:
    """The fields after the name: state, parent, group, ..."""
    return _read(f"/proc/{process}/stat").rpartition(b")")[2].split()


def _read(path: str) -> bytes:
    with contextlib.suppress(OSError), Path(path).open("rb") as file:
        return file.read()
    return b""
