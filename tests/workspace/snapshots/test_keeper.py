"""What is captured ahead of the first command, and what that must not hold up."""

import os
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import anyio
import pytest
from typing_extensions import override

from hame.base.ports import Process, Processes
from hame.base.process import Launch
from hame.base.snapshot import Attempt
from hame.workspace.process import LocalProcesses
from hame.workspace.snapshots.keeper import LocalSnapshots
from workspace.snapshots.conftest import Project


class WatchedProcesses(Processes):
    """Real processes; git's updates of the index are counted, and wait while they may not go on."""

    def __init__(self) -> None:
        self._real = LocalProcesses(dict(os.environ))
        self.updates: list[int] = []
        """How many files each one took."""
        self.going = anyio.Event()
        self.going.set()
        self.stop_after: int | None = None
        self.stopped = anyio.Event()

    @override
    def start(self, launch: Launch) -> AbstractAsyncContextManager[Process]:
        return self._started(launch)

    @asynccontextmanager
    async def _started(self, launch: Launch) -> AsyncGenerator[Process]:
        if "update-index" in launch.argv:
            if self.stop_after == len(self.updates):
                self.stopped.set()
                await anyio.sleep_forever()
            self.updates.append((launch.stdin or b"").count(b"\0"))
            await self.going.wait()
        async with self._real.start(launch) as process:
            yield process


@pytest.fixture
def processes() -> WatchedProcesses:
    return WatchedProcesses()


@pytest.fixture
def snapshots(project: Project, processes: WatchedProcesses) -> LocalSnapshots:
    return LocalSnapshots(project.store, "s1", project.paths, processes)


def command(call: str = "c") -> Attempt:
    return Attempt(call=call, tool="run_command", title="t", record="r", command="make")


def fill(project: Project, files: int) -> None:
    for number in range(files):
        (project.root / f"f{number}.txt").write_text(f"{number}\n", "ascii")


async def test_what_was_captured_ahead_is_not_captured_by_the_first_command(
    project: Project, snapshots: LocalSnapshots, processes: WatchedProcesses
) -> None:
    fill(project, 30)
    await snapshots.prepare()
    assert sum(processes.updates) == 30
    processes.updates.clear()
    assert await snapshots.begin(command()) is None
    assert processes.updates == []
    (project.root / "f3.txt").unlink()
    snapshots.end("c")
    assert list(await snapshots.settle()) == ["f3.txt"]


async def test_a_command_waits_for_the_capture_that_is_going_and_an_edit_does_not(
    project: Project, snapshots: LocalSnapshots, processes: WatchedProcesses
) -> None:
    fill(project, 30)
    processes.going = anyio.Event()
    begun: list[str] = []

    async def begin(attempt: Attempt) -> None:
        await snapshots.begin(attempt)
        begun.append(attempt.call)

    edit = Attempt(
        call="e", tool="edit_file", title="t", record="r", paths=(str(project.root / "f1.txt"),)
    )
    with anyio.fail_after(20):
        async with anyio.create_task_group() as group:
            group.start_soon(snapshots.prepare)
            await anyio.wait_all_tasks_blocked()
            await begin(edit)
            snapshots.end("e")
            group.start_soon(begin, command())
            await anyio.wait_all_tasks_blocked()
            assert begun == ["e"]
            processes.going.set()
    assert begun == ["e", "c"]
    assert sum(processes.updates) == 30


async def test_a_capture_that_is_stopped_goes_on_where_it_was(
    project: Project, snapshots: LocalSnapshots, processes: WatchedProcesses
) -> None:
    fill(project, 4_500)
    processes.stop_after = 1
    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            group.start_soon(snapshots.prepare)
            await processes.stopped.wait()
            group.cancel_scope.cancel()
    processes.stop_after = None
    first = sum(processes.updates)
    assert 0 < first < 4_500
    assert await snapshots.begin(command()) is None
    assert sum(processes.updates) == 4_500
    (project.root / "f4400.txt").unlink()
    snapshots.end("c")
    assert list(await snapshots.settle()) == ["f4400.txt"]


async def test_what_cannot_be_captured_ahead_is_said_with_the_first_command(
    project: Project,
) -> None:
    """Without git nothing is captured, and `prepare` raises nothing."""
    bare = LocalProcesses({"PATH": "/nowhere"})
    snapshots = LocalSnapshots(project.store, "s1", project.paths, bare)
    await snapshots.prepare()
    words = await snapshots.begin(command())
    assert words is not None
    assert "git is not installed" in words
