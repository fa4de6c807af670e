"""Commands in the background: each writes its own log, so it goes on while nobody looks.

They end with the session, with everything they have started, unless they are kept.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager

import anyio
import msgspec
from typing_extensions import override

from hame.base.errors import ToolError
from hame.base.job import Job, JobOutput
from hame.base.ports import Blobs, Jobs, Process, Processes
from hame.base.process import Exit, Launch
from hame.workspace.orphans import JobRecords
from hame.workspace.trimmer import BoundedLog, Trimmer

LOG_LIMIT = 32 * 1024 * 1024
"""Bytes of one job's log."""
MOST_RUNNING = 20
_READ_LIMIT = 256 * 1024
"""Bytes that one read gives: the last ones."""
_POLL_S = 0.02
_SEND_LIMIT_S = 5.0
"""How long a program may take to read what is sent to it."""


class _Job:
    """A job and what holds it."""

    def __init__(
        self,
        job: Job,
        process: Process,
        context: AbstractAsyncContextManager[Process],
        log: BoundedLog,
    ) -> None:
        self.facts = job
        self.process = process
        self.context = context
        self.log = log
        self.read = 0
        self.exit: Exit | None = None
        self.closed = False

    def has_news(self) -> bool:
        return self.log.printed > self.read or self.process.ended() is not None

    def now(self) -> Job:
        if self.exit is None:
            self.exit = self.process.ended()
        return msgspec.structs.replace(self.facts, printed=self.log.printed, exit=self.exit)


class LocalJobs(Jobs):
    """Implements the Jobs port for one session."""

    def __init__(
        self,
        processes: Processes,
        blobs: Blobs,
        *,
        records: JobRecords | None = None,
        log_limit: int = LOG_LIMIT,
        now: Callable[[], float] = time.time,
    ) -> None:
        """Logs are results: the whole of one is read under its job's `result:ID`.

        With `records` jobs that are not kept are ended also when this process is killed, by the
        next hame that starts.
        """
        self._processes = processes
        self._blobs = blobs
        self._records = records
        self._log_limit = log_limit
        self._now = now
        self._jobs: dict[str, _Job] = {}
        self._trimmer = Trimmer()

    @override
    async def start(self, launch: Launch, command: str, *, keep: bool = False) -> Job:
        """Start one.

        Raises:
            ToolError: if it cannot be started, or too many run already.
        """
        if sum(job.now().exit is None for job in self._jobs.values()) >= MOST_RUNNING:
            raise ToolError(f"{MOST_RUNNING} jobs run already; stop one first")
        name = self._blobs.put("")
        path = self._blobs.path(name) if name is not None else None
        if name is None or path is None:
            raise ToolError("there is no place for the job's log (is the disk full?)")
        context = self._processes.start(
            msgspec.structs.replace(launch, output=path, open_stdin=not keep, label="job")
        )
        process = await context.__aenter__()
        facts = Job(
            id=name,
            command=command,
            cwd=launch.cwd,
            pid=process.pid,
            started=self._now(),
            printed=0,
            kept=keep,
            open_input=not keep,
        )
        job = _Job(facts, process, context, BoundedLog(path, self._log_limit))
        self._jobs[name] = job
        self._trimmer.add(job.log)
        if self._records is not None and not keep:
            self._records.add(facts, process.mark)
        return facts

    @override
    def list(self) -> Sequence[Job]:
        """All of them, ended ones too, in the order of their starting."""
        return [job.now() for job in self._jobs.values()]

    @override
    async def read(self, job: str, wait_s: float = 0.0, *, settle_s: float = 0.0) -> JobOutput:
        """What was printed since the last read; waits for something to come, or for its end.

        Raises:
            ToolError: if there is no such job.
        """
        found = self._find(job)
        deadline = anyio.current_time() + wait_s
        news = found.has_news()
        while not news and anyio.current_time() < deadline:
            await anyio.sleep(_POLL_S)
            news = found.has_news()
        if settle_s and found.now().exit is None:
            with anyio.move_on_after(settle_s):
                await found.process.wait()
        ended = found.now().exit is not None
        if ended:
            await self._finish(found)  # What its children print after this is not awaited.
        data, skipped = found.log.read(found.read, _READ_LIMIT)
        found.read += skipped + len(data)
        return JobOutput(job=found.now(), data=data, skipped=skipped)

    @override
    async def send(self, job: str, data: bytes, *, close: bool = False) -> Job:
        """Write to its input, and close that afterwards where asked.

        Raises:
            ToolError: if there is no such job, or it reads no more.
        """
        found = self._find(job)
        if found.now().exit is not None:
            raise ToolError(f"job {job} has ended and reads no input")
        if not found.facts.open_input:
            raise ToolError(f"job {job} was started to be kept, without an input")
        with anyio.move_on_after(_SEND_LIMIT_S) as scope:
            await found.process.write(data)
            if close:
                await found.process.end_input()
        if scope.cancelled_caught:
            raise ToolError(f"job {job} does not read its input; a part of this was sent")
        return found.now()

    @override
    async def kill(self, job: str) -> Job:
        """End it with everything it has started.

        Raises:
            ToolError: if there is no such job.
        """
        found = self._find(job)
        if not found.closed:
            await found.process.kill()
            found.now()
            await self._finish(found)
        return found.now()

    @override
    async def close(self) -> None:
        """The session ends: end all that are not kept."""
        jobs, self._jobs = self._jobs, {}
        with anyio.CancelScope(shield=True):
            async with anyio.create_task_group() as group:
                for job in jobs.values():
                    if job.facts.kept and job.now().exit is None:
                        job.process.leave()
                    group.start_soon(self._finish, job)
        self._trimmer.close()

    def _find(self, name: str) -> _Job:
        """The job of that id.

        Raises:
            ToolError: if there is none.
        """
        found = self._jobs.get(name.removeprefix("result:"))
        if found is None:
            known = ", ".join(self._jobs) or "none"
            raise ToolError(f"there is no job {name}; jobs of this session: {known}")
        return found

    async def _finish(self, job: _Job) -> None:
        """Let go of a job that has ended, or is to end."""
        if job.closed:
            return
        job.closed = True
        await job.context.__aexit__(None, None, None)
        process = job.process
        job.facts = msgspec.structs.replace(
            job.facts, aftermath=tuple(process.aftermath), refused=tuple(process.refused)
        )
        if self._records is not None:
            self._records.remove(job.facts.id)
        self._trimmer.remove(job.log)
