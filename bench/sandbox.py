"""What it costs to confine a command, against the same command as it is, in one run.

    python bench/sandbox.py [--files 20000] [--rounds 40] [--level A|B]

Every command is `bash -c true`, started by hame's own Processes and read to its end; what a confined one
takes longer is its sandbox, from the look at the project to the last thing that is taken away. Plain and
confined commands take turns, so that a slow moment of the machine meets all of them.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import anyio

from hame.base.confinement import Confinement, Reach
from hame.base.process import Launch
from hame.base.settings import SandboxChoice
from hame.base.zone import ProjectPaths
from hame.sandbox.ladder import Ladder
from hame.sandbox.site import Site
from hame.workspace.process import LocalProcesses

GOAL_MS = 25.0
"""What a sandbox may add to a command in a small project."""


def fill(root: Path, files: int) -> None:
    """A repository with so many committed files, ten in a folder."""
    for number in range(files):
        path = root / f"d{number // 400}" / f"s{number // 10 % 40}" / f"f{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"value = {number}\n")
    git = ["git", "-c", "user.name=b", "-c", "user.email=b@example.org"]
    subprocess.run([*git, "init", "-q"], cwd=root, check=True)
    subprocess.run([*git, "add", "-A"], cwd=root, check=True)
    subprocess.run([*git, "commit", "-q", "-m", "all"], cwd=root, check=True)


def make_site(base: Path, root: Path) -> Site:
    """A project in the user's own home, and hame's folders elsewhere."""
    own = base / "own"
    temporary = own / "temporary"
    temporary.mkdir(parents=True, mode=0o700)
    return Site(
        paths=ProjectPaths(root=str(root), home=str(Path.home()), temporary=str(temporary)),
        own=(str(own),),
        caches=str(own / "caches"),
        scratch=str(own / "scratch"),
        search_path=os.environ["PATH"],
    )


async def run(processes: LocalProcesses, root: Path, reach: Reach | None) -> float:
    """Milliseconds of one command."""
    launch = Launch(
        argv=("bash", "--noprofile", "--norc", "-c", "true"),
        cwd=str(root),
        confinement=None if reach is None else Confinement(reach=reach),
    )
    began = time.perf_counter()
    async with processes.start(launch) as process:
        said = b"".join([chunk async for chunk in process.output()])
        ended = await process.wait()
    assert ended.ok, said.decode(errors="replace")
    return (time.perf_counter() - began) * 1000


def fresh_folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="hame-bench-", dir="/var/tmp")).resolve()


async def measure(name: str, files: int, options: argparse.Namespace) -> float:
    """Measure in a project with so many files; what writing it costs more than a plain command."""
    base = fresh_folder()
    choice = {"A": SandboxChoice.BUBBLEWRAP, "B": SandboxChoice.LANDLOCK}[options.level]
    try:
        root = base / "project"
        root.mkdir()
        fill(root, files)
        environment = dict(os.environ)
        ladder = Ladder(
            make_site(base, root), choice, lambda inside: LocalProcesses(environment, inside)
        )
        processes = LocalProcesses(environment, ladder)
        began = time.perf_counter()
        standing = await ladder.prepare()
        prepared = (time.perf_counter() - began) * 1000
        first = await run(processes, root, Reach.WRITE)
        times: dict[Reach | None, list[float]] = {None: [], Reach.READ: [], Reach.WRITE: []}
        for _ in range(options.rounds):
            for reach, found in times.items():
                found.append(await run(processes, root, reach))
        await ladder.close()
    finally:
        shutil.rmtree(base, ignore_errors=True)
    print(f"{name}: {files} files, {standing.mechanism}")
    print(f"  tried in {prepared:.0f} ms; the first command that writes {first:.0f} ms")
    for what, of in (("median", statistics.median), ("best", min)):
        plain, read, write = (of(found) for found in times.values())
        print(f"  {what}: {plain:.1f} ms; reads +{read - plain:.1f}; writes +{write - plain:.1f}")
    return statistics.median(times[Reach.WRITE]) - statistics.median(times[None])


async def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--level", choices=["A", "B"], default="A")
    options = parser.parse_args()
    added = await measure("small", 40, options)
    await measure("large", options.files, options)
    print(f"goal in the small project: +{GOAL_MS:g} ms{', MISSED' if added > GOAL_MS else ''}")
    return 1 if added > GOAL_MS else 0


if __name__ == "__main__":
    sys.exit(anyio.run(main))
