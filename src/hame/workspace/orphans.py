"""Background jobs that outlive the hame that started them, because it was killed.

While a job runs that is not kept, a record of it lies in a folder of hame's. A hame that ends well
takes its records away with its jobs. One that was killed cannot: the next hame that starts, in
whatever folder, ends those jobs.

A process id is given again to others, so a process is known by its id and the moment of its start,
and by the mark that it and its children bear. Where there is no /proc (not Linux) marks cannot be
seen, and only a job whose first process still runs is found.
"""

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path

import anyio
import anyio.to_thread
import msgspec

from hame.base.job import Job
from hame.workspace.descendants import send, send_to_bearers
from hame.workspace.private import make_private_folder

_TERM_GRACE_S = 1.0
_POLL_S = 0.02


class _Record(msgspec.Struct, frozen=True, kw_only=True):
    """A job that runs, and the hame it belongs to."""

    owner: int
    owner_started: str
    pid: int
    started: str
    mark: str
    command: str


class JobRecords:
    """Records of this process's jobs."""

    def __init__(self, folder: str) -> None:
        """Use this folder; it is made with the first record."""
        self._folder = Path(folder)

    def add(self, job: Job, mark: str) -> None:
        """A job has been started; what cannot be recorded is not, and is not ended by others."""
        record = _Record(
            owner=os.getpid(),
            owner_started=started_at(os.getpid()),
            pid=job.pid,
            started=started_at(job.pid),
            mark=mark,
            command=job.command,
        )
        with contextlib.suppress(OSError):
            make_private_folder(self._folder)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            descriptor = os.open(self._folder / job.id, flags, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(msgspec.json.encode(record))

    def remove(self, job: str) -> None:
        """A job has ended, or is left alone."""
        with contextlib.suppress(OSError):
            (self._folder / job).unlink(missing_ok=True)


async def end_orphans(folder: str) -> list[str]:
    """End the jobs of hames that are gone; the commands of those that still ran."""
    ended: list[str] = []
    for path, record in await anyio.to_thread.run_sync(_orphaned, Path(folder)):
        if await _end(record):
            ended.append(record.command)
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
    return ended


def _orphaned(folder: Path) -> list[tuple[Path, _Record]]:
    """The records whose hame does not run any more."""
    found: list[tuple[Path, _Record]] = []
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            with contextlib.suppress(OSError, msgspec.DecodeError):
                record = msgspec.json.decode(path.read_bytes(), type=_Record)
                if started_at(record.owner) != record.owner_started:
                    found.append((path, record))
    return found


async def _end(record: _Record) -> bool:
    """End what is left of a job; whether there was anything."""
    alive = was_alive = _signal(record, signal.SIGTERM)
    deadline = time.monotonic() + _TERM_GRACE_S
    while alive and time.monotonic() < deadline:
        await anyio.sleep(_POLL_S)
        alive = _signal(record, 0)
    if alive:
        _signal(record, signal.SIGKILL)
    return was_alive


def _signal(record: _Record, number: int) -> bool:
    """Send a signal to what is surely of the job; whether anything of it was alive."""
    if record.started and started_at(record.pid) == record.started:
        return send(record.pid, record.mark, number) or not _has_proc()
    # Its first process has ended: the id of its group may be somebody else's by now.
    return send_to_bearers(record.mark, number)


def started_at(pid: int) -> str:
    """When a process started, in words that only it has; empty when it does not run."""
    if not _has_proc():
        return _asked_of_ps(pid)
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        return ""
    # The 22nd field: clock ticks since the machine started (proc_pid_stat(5)).
    return "" if fields[0] in b"ZX" else f"{int(fields[19])} {boot}"


def _asked_of_ps(pid: int) -> str:
    asked = subprocess.run(
        ["/bin/ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return asked.stdout.strip()


def _has_proc() -> bool:
    return Path("/proc/self/stat").exists()
