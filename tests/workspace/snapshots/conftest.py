"""A project on disk, sessions that change it, and everything in it byte for byte."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from hame.base.ports import Snapshots
from hame.base.snapshot import Attempt, UndoPlan
from hame.base.zone import ProjectPaths
from hame.sandbox.unconfined import Unconfined
from hame.workspace.process import LocalProcesses
from hame.workspace.snapshots.keeper import LocalSnapshots
from hame.workspace.snapshots.store import Store, store_of

USER = ("-c", "user.name=u", "-c", "user.email=u@example.org", "-c", "commit.gpgsign=false")


def git(folder: Path, *arguments: str) -> str:
    run = subprocess.run(
        ["git", *USER, *arguments], cwd=folder, check=True, capture_output=True, text=True
    )
    return run.stdout


def state_of(folder: Path, *, without: tuple[str, ...] = (".git",)) -> dict[str, Any]:
    """Every file below a folder: bytes and execute bit, or a link's target."""
    found: dict[str, Any] = {}
    for here, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in without]
        for name in [*names, *(each for each in folders if Path(here, each).is_symlink())]:
            path = Path(here, name)
            key = str(path.relative_to(folder))
            if name in without:
                continue
            if path.is_symlink():
                found[key] = str(path.readlink())
            else:
                found[key] = (path.read_bytes(), bool(path.stat().st_mode & 0o100))
    return found


class Session:
    """One session: commands and edits, each a step."""

    def __init__(self, project: "Project", name: str) -> None:
        self.project = project
        self.snapshots: Snapshots = LocalSnapshots(
            project.store, name, project.paths, LocalProcesses(dict(os.environ), Unconfined())
        )
        self.notices: list[str] = []
        self._calls = 0

    async def run(self, command: str, *, check: bool = True, settle: bool = True) -> None:
        """A shell command as a step."""
        self._calls += 1
        call = f"c{self._calls}"
        await self._begin(Attempt(call=call, tool="run_command", title=command, record=call,
                                  command=command))  # fmt: skip
        await anyio.run_process(["bash", "-c", command], cwd=self.project.root, check=check)
        self.snapshots.end(call)
        if settle:
            await self.snapshots.settle()

    async def edit(self, path: str, data: bytes | None) -> None:
        """A tool that says which file it writes, or deletes."""
        self._calls += 1
        call = f"c{self._calls}"
        whole = self.project.root / path
        await self._begin(Attempt(call=call, tool="edit_file", title=path, record=call,
                                  paths=(str(whole),), deletes=data is None))  # fmt: skip
        if data is None:
            shutil.rmtree(whole) if whole.is_dir() else whole.unlink()
        else:
            whole.parent.mkdir(parents=True, exist_ok=True)
            whole.write_bytes(data)
        self.snapshots.end(call)
        await self.snapshots.settle()

    async def _begin(self, attempt: Attempt) -> None:
        words = await self.snapshots.begin(attempt)
        if words:
            self.notices.append(words)

    async def undo(self, *numbers: int, over: bool = False) -> tuple[UndoPlan, Any]:
        """Take steps back, all that hold when none are named; the plan, and the step it made."""
        chosen = numbers or tuple(
            step.number
            for step in await self.snapshots.steps()
            if not step.undone and not step.reverts
        )
        plan = await self.snapshots.plan(chosen, over=over)
        return plan, await self.snapshots.undo(plan, "undo", "r")


class Project:
    """A folder with hame's data beside it."""

    def __init__(self, root: Path, data: Path, home: Path) -> None:
        self.root = root
        self.paths = ProjectPaths(root=str(root), home=str(home))
        self.base = data / "snapshots"
        self.store: Store = store_of(self.base, str(root), str(home))

    def session(self, name: str = "s1") -> Session:
        return Session(self, name)

    def put(self, path: str, data: bytes, mode: int = 0o644) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        file.chmod(mode)
        return file

    def state(self) -> dict[str, Any]:
        return state_of(self.root)


def fill(project: Project) -> None:
    """What projects hold: text in several codings, links, programs, ignored and untracked files."""
    project.put("src/app.py", b"import os\n\nprint('hi')\n")
    project.put("src/deep/er/crlf.txt", b"one\r\ntwo\r\n")
    project.put("src/mixed.txt", b"a\nb\r\nc\rd")
    project.put("src/latin.txt", b"caf\xe9\n")
    project.put("src/empty", b"")
    project.put("bin/run.sh", b"#!/bin/sh\necho\n", 0o755)
    project.put("data.bin", bytes(range(256)) * 40)
    project.put("sp ace/n\xc3\xb6\n.txt".encode().decode("utf-8", "surrogateescape"), b"odd\n")
    project.put(".gitattributes", b"*.txt text eol=lf\n*.bin filter=lfs\n")
    project.put(".gitignore", b"/build/\n*.log\n.env\nnode_modules/\n")
    (project.root / "link").symlink_to("src/app.py")
    (project.root / "folder-link").symlink_to("src")


def add_untracked(project: Project) -> None:
    """What no commit holds."""
    project.put("notes.md", b"mine, never committed\n")
    project.put("src/new.py", b"x = 1\n")
    project.put(".env", b"KEY=1\n", 0o600)
    project.put("build/out.o", b"\0\1\2")
    project.put("debug.log", b"line\n")
    for number in range(3):
        (project.root / "node_modules").mkdir(exist_ok=True)
        (project.root / "node_modules" / f"m{number}.js").write_bytes(b"1")


Maker = Callable[[], Project]


@pytest.fixture(params=["repository", "worktree", "plain", "subfolder"])
def filled(request: pytest.FixtureRequest, tmp_path: Path, home: Path) -> Project:
    """A full project: a repository, a worktree of one, no repository, or a folder in a repository."""
    kind = request.param
    root = tmp_path / "project"
    if kind == "subfolder":
        root = tmp_path / "outer" / "packages" / "project"
    if kind == "worktree":
        main = tmp_path / "main"
        main.mkdir()
        git(main, "init", "-q")
        git(main, "commit", "-q", "--allow-empty", "-m", "first")
        git(main, "worktree", "add", "-q", str(root))
    root.mkdir(parents=True, exist_ok=True)
    project = Project(root, tmp_path / "data", home)
    fill(project)
    if kind != "plain":
        top = root if kind != "subfolder" else tmp_path / "outer"
        if kind != "worktree":
            git(top, "init", "-q")
        git(root, "-c", "filter.lfs.clean=cat", "-c", "core.safecrlf=false", "add", "-A")
        git(root, "commit", "-q", "-m", "all")
    add_untracked(project)
    return project


@pytest.fixture
def project(tmp_path: Path, home: Path) -> Project:
    """A project without a repository, empty."""
    root = tmp_path / "project"
    root.mkdir()
    return Project(root, tmp_path / "data", home)
