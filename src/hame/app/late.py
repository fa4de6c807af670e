"""Ports whose makers are imported when they are first used: most sessions need few of them."""

import os
from collections.abc import Callable, Sequence

from typing_extensions import override

from hame.base.job import Job, JobOutput
from hame.base.ports import Jobs, Snapshots, Web
from hame.base.process import Launch
from hame.base.snapshot import Attempt, Step, UndoPlan
from hame.base.web import WebRequest, WebResponse


class LateSnapshots(Snapshots):
    """Implements the Snapshots port by what `make` makes, once it is needed."""

    def __init__(self, make: Callable[[], Snapshots]) -> None:
        """Make nothing yet."""
        self._make = make
        self._made: Snapshots | None = None

    @property
    def _inner(self) -> Snapshots:
        if self._made is None:
            self._made = self._make()
        return self._made

    @override
    async def prepare(self) -> None:
        """As the real ones do."""
        await self._inner.prepare()

    @override
    async def begin(self, attempt: Attempt) -> str | None:
        """As the real ones do."""
        return await self._inner.begin(attempt)

    @override
    def end(self, call: str) -> None:
        """As the real ones do; a call that was not begun has no end."""
        if self._made is not None:
            self._made.end(call)

    @override
    async def settle(self) -> Sequence[str]:
        """As the real ones do."""
        return await self._made.settle() if self._made is not None else ()

    @override
    async def steps(self) -> Sequence[Step]:
        """As the real ones do."""
        return await self._inner.steps()

    @override
    async def plan(self, numbers: Sequence[int], *, over: bool = False) -> UndoPlan:
        """As the real ones do.

        Raises:
            ToolError: as they do.
        """
        return await self._inner.plan(numbers, over=over)

    @override
    async def undo(self, plan: UndoPlan, title: str, record: str, head: str = "") -> Step | None:
        """As the real ones do.

        Raises:
            ToolError: as they do.
        """
        return await self._inner.undo(plan, title, record, head)


class NoSnapshots(Snapshots):
    """Implements the Snapshots port where nothing is to be undone."""

    @override
    async def prepare(self) -> None:
        """Nothing to do."""

    @override
    async def begin(self, attempt: Attempt) -> str | None:
        """Nothing is held."""

    @override
    def end(self, call: str) -> None:
        """Nothing was held."""

    @override
    async def settle(self) -> Sequence[str]:
        """Nothing is known."""
        return ()

    @override
    async def steps(self) -> Sequence[Step]:
        """There are none."""
        return ()

    @override
    async def plan(self, numbers: Sequence[int], *, over: bool = False) -> UndoPlan:
        """Nothing can be taken back."""
        return UndoPlan(steps=())

    @override
    async def undo(self, plan: UndoPlan, title: str, record: str, head: str = "") -> Step | None:
        """Nothing is changed."""
        return None


class LateJobs(Jobs):
    """Implements the Jobs port by what `make` makes with the first job."""

    def __init__(self, make: Callable[[], Jobs]) -> None:
        """Make nothing yet."""
        self._make = make
        self._made: Jobs | None = None

    @property
    def _inner(self) -> Jobs:
        if self._made is None:
            self._made = self._make()
        return self._made

    @override
    async def start(self, launch: Launch, command: str, *, keep: bool = False) -> Job:
        """As the real ones do.

        Raises:
            ToolError: as they do.
        """
        return await self._inner.start(launch, command, keep=keep)

    @override
    def list(self) -> Sequence[Job]:
        """As the real ones do."""
        return self._made.list() if self._made is not None else ()

    @override
    async def read(self, job: str, wait_s: float = 0.0, *, settle_s: float = 0.0) -> JobOutput:
        """As the real ones do.

        Raises:
            ToolError: as they do.
        """
        return await self._inner.read(job, wait_s, settle_s=settle_s)

    @override
    async def send(self, job: str, data: bytes, *, close: bool = False) -> Job:
        """As the real ones do.

        Raises:
            ToolError: as they do.
        """
        return await self._inner.send(job, data, close=close)

    @override
    async def kill(self, job: str) -> Job:
        """As the real ones do.

        Raises:
            ToolError: as they do.
        """
        return await self._inner.kill(job)

    @override
    async def close(self) -> None:
        """As the real ones do."""
        if self._made is not None:
            await self._made.close()


async def end_orphans(folder: str) -> Sequence[str]:
    """End the jobs of hames that were killed; where there are none, nothing is imported for it."""
    try:
        with os.scandir(folder) as entries:
            there = next(entries, None)
    except OSError:
        return ()
    if there is None:
        return ()
    from hame.workspace import orphans

    return await orphans.end_orphans(folder)


class LateWeb(Web):
    """Implements the Web port by what `make` makes with the first request."""

    def __init__(self, make: Callable[[], Web]) -> None:
        """Make nothing yet."""
        self._make = make
        self._made: Web | None = None

    @override
    async def fetch(self, request: WebRequest) -> WebResponse:
        """As the real one does.

        Raises:
            ToolError: as it does.
        """
        if self._made is None:
            self._made = self._make()
        return await self._made.fetch(request)
