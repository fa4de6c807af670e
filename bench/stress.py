"""Commands that hang, fork, flood, hide and refuse to die: nothing of them may stay behind.

    python bench/stress.py [--count 500] [--seed 1] [--at-once 4]

Every command goes through the real run_command with a time limit, several at a time, some as
background jobs. Afterwards no process that bears the run's mark may live, no call may have taken
longer than its limit and the grace for ending it, and hame's own memory must have stayed small.
"""

import argparse
import os
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path

import anyio

from hame.base.confinement import Confinement
from hame.base.errors import ToolError
from hame.base.ports import ToolContext
from hame.sandbox.unconfined import Unconfined
from hame.tools.run_command import RunCommand
from hame.workspace.jobs import LocalJobs
from hame.workspace.local import open_workspace
from hame.workspace.process import LocalProcesses
from hame.workspace.results import ResultStore

MARK = "HAME_STRESS"
MEMORY_MB = 120
GRACE_S = 6.0
"""Beyond the limit: TERM, its grace, KILL, and a machine that is busy with the others."""

COMMANDS = [
    "true",
    "echo {n}",
    "exit {n}",
    "sleep 300",
    "cat",
    "yes",
    "yes | head -c 30M",
    "cat /dev/urandom | head -c 3M",
    "sleep 300 & sleep 300 & echo started",
    "(sleep 300 &) ; echo gone",
    "setsid sleep 300 & echo session",
    "setsid setsid sleep 300 > /dev/null 2>&1 < /dev/null & exit 0",
    "nohup sleep 300 > /dev/null 2>&1 &",
    "trap '' TERM; sleep 300",
    "trap '' TERM INT HUP; while :; do sleep 1; done",
    "trap '' TERM; (trap '' TERM; sleep 300) & wait",
    "for i in 1 2 3 4 5 6 7 8; do (while :; do :; done) & done; sleep {n}",
    "f() {{ sleep 0.05; [ $1 -gt 0 ] && f $(($1 - 1)) & f2=1; sleep 1; }}; f 5; wait",
    "exec >&- 2>&-; sleep 300",
    "exec <&- >&- 2>&-; sleep 300 &",
    "printf 'no end'; sleep 300",
    "printf '\\033[2J\\r%s' x x x; sleep 0.2",
    "kill -9 $$",
    "kill -SEGV $$",
    "kill -STOP $$",
    "(kill -STOP $BASHPID) & sleep 0.3; echo stopped child",
    "python3 -c 'import os; os.fork(); os.fork(); os.setsid() if os.getpid() % 2 else 0; import time; time.sleep(300)'",
    "head -c 100000 /dev/zero | tr '\\0' '\\n'",
    "mkfifo p{n} && cat p{n}",
    "ulimit -n 20; for i in 1 2 3; do sleep 300 & done; wait",
]


def survivors(mark: str) -> list[str]:
    """Processes that bear the mark in their environment."""
    found: list[str] = []
    for place in Path("/proc").iterdir():
        if not place.name.isdigit() or int(place.name) == os.getpid():
            continue
        try:
            state = (place / "stat").read_text(encoding="utf-8", errors="replace")
            if mark.encode() in (place / "environ").read_bytes() and not state.rpartition(")")[
                2
            ].split()[0].startswith("Z"):
                found.append((place / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue
    return found


async def attempt(context: ToolContext, command: str, limit: float, *, background: bool) -> float:
    """One command; how long it took beyond its limit, in seconds."""
    arguments: dict[str, object] = {
        "command": command,
        "timeout_s": limit,
        "background": background,
    }
    began = time.monotonic()
    try:
        action = await RunCommand().prepare(arguments, context)
        try:
            await action.run(Confinement())
        finally:
            action.close()
    except ToolError:
        pass  # Too many jobs: that, too, is an answer.
    return time.monotonic() - began - (limit if not background else 1.0)


def fresh_folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="hame-stress-")).resolve()


def peak_memory_mb() -> float:
    """Of this program alone: ru_maxrss begins with the peak of whoever started it."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


async def stress(count: int, seed: int, at_once: int) -> list[str]:
    """Run so many commands; what went wrong."""
    rng = random.Random(seed)
    mark = f"{os.getpid()}-{seed}"
    folder = fresh_folder()
    processes = LocalProcesses({**os.environ, MARK: mark}, Unconfined())
    results = ResultStore(str(folder / "results"))
    jobs = LocalJobs(processes, results)
    (folder / "project").mkdir()
    context = ToolContext(
        workspace=open_workspace(str(folder / "project"), home=str(folder)),
        processes=processes,
        sandbox=Unconfined(),
        progress=lambda _: None,
        blobs=results,
        jobs=jobs,
    )
    wrong: list[str] = []
    todo = [(rng.choice(COMMANDS), rng.random()) for _ in range(count)]

    async def worker() -> None:
        while todo:
            pattern, draw = todo.pop()
            command = pattern.format(n=int(draw * 1000) % 250)
            limit = 0.3 + draw
            over = await attempt(context, command, limit, background=draw < 0.08)
            if over > GRACE_S:
                wrong.append(f"{over:.1f} s beyond its limit: {command}")
            if draw > 0.97:
                for job in jobs.list():
                    await jobs.kill(job.id)

    async def interrupted() -> None:
        """A run that is stopped at any moment."""
        while todo:
            pattern, draw = todo.pop()
            with anyio.move_on_after(draw):
                await attempt(context, pattern.format(n=1), 5, background=False)

    async with anyio.create_task_group() as group:
        for _ in range(at_once):
            group.start_soon(worker)
        group.start_soon(interrupted)
    await jobs.close()
    left = survivors(f"{MARK}={mark}")
    wrong += [f"still alive: {command}" for command in left]
    peak = peak_memory_mb()
    if peak > MEMORY_MB:
        wrong.append(f"{peak:.0f} MB of memory at the most")
    print(f"{count} commands, seed {seed}: {len(left)} left alive, peak memory {peak:.0f} MB")
    shutil.rmtree(folder, ignore_errors=True)
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--at-once", type=int, default=4)
    options = parser.parse_args()
    wrong = anyio.run(stress, options.count, options.seed, options.at_once)
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
