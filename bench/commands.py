"""What a shell step and its snapshots cost, against the programs they stand on, in one run.

    python bench/commands.py [--files 20000] [--rounds 30]

A step is one call of run_command through the real tool, gate aside, with the real snapshots around
it; its own time is what is left when `bash -c` itself is taken off. The capture of an unchanged
repository is compared with `git status` on the same files, turn by turn, so that a slow moment of the
machine meets both.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio

from hame.base.confinement import Confinement
from hame.base.ports import Snapshots, ToolContext
from hame.base.snapshot import Attempt
from hame.base.zone import ProjectPaths
from hame.sandbox.unconfined import Unconfined
from hame.tools.run_command import RunCommand
from hame.workspace.local import open_workspace
from hame.workspace.process import LocalProcesses
from hame.workspace.snapshots.keeper import LocalSnapshots
from hame.workspace.snapshots.store import store_of

GOALS = {"own_ms": 15.0, "with_snapshot_ms": 35.0, "begin_ms": 20.0, "ratio": 1.3}


class Bench:
    """A project and what works on it."""

    def __init__(self, root: Path, data: Path) -> None:
        self.root = root
        self.processes = LocalProcesses(dict(os.environ), Unconfined())
        paths = ProjectPaths(root=str(root), home=str(data))
        store = store_of(data / "snapshots", str(root), str(data))
        self.snapshots: Snapshots = LocalSnapshots(store, "bench", paths, self.processes)
        self.context = ToolContext(
            workspace=open_workspace(str(root), home=str(data)),
            processes=self.processes,
            sandbox=Unconfined(),
            progress=lambda _: None,
        )
        self.calls = 0

    async def step(self, command: str, *, held: bool) -> None:
        """One call, as the loop makes it; the capture after it is awaited by whoever times it."""
        action = await RunCommand().prepare({"command": command}, self.context)
        try:
            if held:
                await self.begin(command)
            await action.run(Confinement())
        finally:
            if held:
                self.snapshots.end(str(self.calls))
            action.close()

    async def begin(self, command: str) -> None:
        self.calls += 1
        await self.snapshots.begin(
            Attempt(
                call=str(self.calls), tool="run_command", title=command, record="1", command=command
            )
        )

    async def settle(self) -> None:
        await self.snapshots.settle()


async def timed(work: Callable[[], Awaitable[None]]) -> float:
    """Milliseconds."""
    began = time.perf_counter()
    await work()
    return (time.perf_counter() - began) * 1000


def bash(command: str, root: Path) -> float:
    began = time.perf_counter()
    subprocess.run(["bash", "-c", command], cwd=root, check=True, capture_output=True)
    return (time.perf_counter() - began) * 1000


def fill(root: Path, files: int) -> None:
    """A repository with so many committed files."""
    for number in range(files):
        path = root / f"d{number % 200}" / f"s{number % 7}" / f"f{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"value = {number}\n" * (20 + number % 180))
    git = ["git", "-c", "user.name=b", "-c", "user.email=b@example.org"]
    subprocess.run([*git, "init", "-q"], cwd=root, check=True)
    subprocess.run([*git, "add", "-A"], cwd=root, check=True)
    subprocess.run([*git, "commit", "-q", "-m", "all"], cwd=root, check=True)
    subprocess.run([*git, "status"], cwd=root, check=True, capture_output=True)


async def small(bench: Bench, rounds: int) -> dict[str, float]:
    """Steps in a small project."""
    bare: list[float] = []
    plain: list[float] = []
    held: list[float] = []
    begin: list[float] = []
    settle: list[float] = []
    await bench.step("true", held=True)
    await bench.settle()
    for _ in range(rounds):
        bare.append(bash("true", bench.root))
        plain.append(await timed(lambda: bench.step("true", held=False)))
        held.append(await timed(lambda: bench.step("true", held=True)))
        settle.append(await timed(bench.settle))
        begin.append(await timed(lambda: bench.begin("true")))
        bench.snapshots.end(str(bench.calls))
        await bench.settle()
    base = statistics.median(bare)
    return {
        "bash_ms": base,
        "own_ms": statistics.median(plain) - base,
        "with_snapshot_ms": statistics.median(held) - base,
        "begin_ms": statistics.median(begin),
        "settle_ms": statistics.median(settle),
    }


async def large(bench: Bench, rounds: int) -> dict[str, float]:
    """The capture of an unchanged repository against git status."""
    status: list[float] = []
    begin: list[float] = []
    # What is done while the model is asked for the first time, and what a command then waits for.
    first = await timed(bench.snapshots.prepare)
    after = await timed(lambda: bench.begin("true"))
    bench.snapshots.end(str(bench.calls))
    await bench.settle()
    for _ in range(rounds):
        status.append(bash("git status > /dev/null", bench.root))
        begin.append(await timed(lambda: bench.begin("true")))
        bench.snapshots.end(str(bench.calls))
        await bench.settle()
    ratios = [one / other for one, other in zip(begin, status, strict=True)]
    return {
        "first_capture_ms": first,
        "first_begin_ms": after,
        "git_status_ms": statistics.median(status),
        "capture_ms": statistics.median(begin),
        "ratio": statistics.median(ratios),
    }


def fresh_folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="hame-bench-")).resolve()


async def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=30)
    options = parser.parse_args()
    folder = fresh_folder()
    try:
        figures: dict[str, float] = {}
        for name, files, measure in (("small", 40, small), ("large", options.files, large)):
            root, data = folder / name, folder / f"{name}-data"
            root.mkdir()
            data.mkdir()
            fill(root, files)
            figures |= await measure(Bench(root, data), options.rounds)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    missed = False
    for name, value in figures.items():
        goal = GOALS.get(name)
        over = goal is not None and value > goal
        missed = missed or over
        wanted = "" if goal is None else f"  (goal {goal:g}{', MISSED' if over else ''})"
        print(f"{name:>18}  {value:8.2f}{wanted}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(anyio.run(main))
