"""A home with a project in which commands are run as the model runs them, confined to reach it for writing."""

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path

from hame.base.confinement import Confinement, Level, Reach
from hame.base.outcome import Done, Failed
from hame.base.ports import ToolContext
from hame.base.schema import check_arguments
from hame.base.settings import SandboxChoice
from hame.base.zone import ProjectPaths
from hame.sandbox.ladder import Ladder
from hame.sandbox.site import Site
from hame.tools.run_command import RunCommand
from hame.workspace.local import open_workspace
from hame.workspace.process import LocalProcesses

LIMIT_S = 300.0
IN_CI = os.environ.get("HAME_CI") == "1"
TOOLS = ("git", "npm", "node", "go", "make", "gcc", "curl", "bash")


class Workshop:
    """One home, one project, its build caches and its folder for temporary files."""

    def __init__(self, base: Path, level: Level) -> None:
        self.level = level
        self.home, self.root = base / "home", base / "home" / "work" / "proj"
        self.caches, self.temporary = base / "caches", base / "temporary"
        self.state = base / "state"
        for folder in (self.root, self.temporary, self.state):
            folder.mkdir(0o700, parents=True)
        (self.home / ".gitconfig").write_text("[user]\nname = a\nemail = a@example.org\n")
        self.environment = {
            "PATH": search_path(),
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            # Neither this machine's mirrors, nor a long wait for what will not come.
            "PIP_CONFIG_FILE": "/dev/null",
            "PIP_RETRIES": "0",
            "NPM_CONFIG_GLOBALCONFIG": "/dev/null",
            "NPM_CONFIG_FETCH_RETRIES": "0",
            "CARGO_NET_RETRY": "0",
        }
        site = Site(
            paths=ProjectPaths(
                root=str(self.root), home=str(self.home), temporary=str(self.temporary),
                temporary_alias="/tmp" if level is Level.A else "",
                config=f"{self.home}/.config/hame",
            ),
            own=(str(self.state),),
            caches=str(self.caches),
            scratch=f"{self.state}/sandbox",
            search_path=self.environment["PATH"],
        )  # fmt: skip
        choice = SandboxChoice.BUBBLEWRAP if level is Level.A else SandboxChoice.LANDLOCK
        sandbox = Ladder(site, choice, partial(LocalProcesses, self.environment), linger_s=0)
        self._context = ToolContext(
            workspace=open_workspace(str(self.root), home=str(self.home)),
            processes=LocalProcesses(self.environment, sandbox),
            sandbox=sandbox,
            progress=lambda _: None,
        )

    def write(self, files: dict[str, str]) -> None:
        """Files of the project, by their paths there."""
        for path, text in files.items():
            place = self.root / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")

    async def run(self, command: str) -> Done | Failed:
        """As the tool runs what may write the project."""
        tool = RunCommand()
        asked = check_arguments({"command": command, "timeout_s": LIMIT_S}, tool.spec.schema())
        action = await tool.prepare(asked, self._context)
        try:
            return await action.run(Confinement(reach=Reach.WRITE))
        finally:
            action.close()

    async def work(self, *commands: str) -> str:
        """Run commands that must succeed; all that they printed."""
        said = ""
        for command in commands:
            outcome = await self.run(command)
            assert isinstance(outcome, Done), f"{command}\n{outcome}"
            said += f"{outcome.view.output}\n"
        return said

    def others(self) -> dict[str, tuple[int, int]]:
        """All that is in the home but the project: sizes and times."""
        return dict(self._others())

    def _others(self) -> Iterator[tuple[str, tuple[int, int]]]:
        for folder, folders, files in os.walk(self.home):
            if Path(folder) == self.root.parent:
                folders.remove(self.root.name)
            for name in (*folders, *files):
                status = Path(folder, name).lstat()
                is_above = self.root.is_relative_to(Path(folder, name))
                yield f"{folder}/{name}", (status.st_size, 0 if is_above else status.st_mtime_ns)


@contextmanager
def opened(level: Level) -> Generator[Workshop]:
    """A workshop that is gone afterwards."""
    base = Path(os.path.realpath(tempfile.mkdtemp(prefix="hame-", dir="/var/tmp")))
    try:
        yield Workshop(base, level)
    finally:
        # The module cache of Go is read-only.
        subprocess.run(["chmod", "-R", "u+w", str(base)], check=False)
        shutil.rmtree(base)


@cache
def search_path() -> str:
    """The folders of the tools that are worked with; launchers which need a home are passed by."""
    found = [Path(path).parent for tool in TOOLS if (path := shutil.which(tool))]
    cargo = shutil.which("cargo")
    if cargo is not None and Path(cargo).resolve().name == "rustup":
        home = pwd.getpwuid(os.geteuid()).pw_dir
        toolchain = subprocess.run(
            [Path(cargo).with_name("rustc"), "--print", "sysroot"],
            env=dict(os.environ) | {"HOME": home}, capture_output=True, text=True, check=True,
        )  # fmt: skip
        found.insert(0, Path(toolchain.stdout.strip(), "bin"))
    elif cargo is not None:
        found.append(Path(cargo).parent)
    return ":".join(dict.fromkeys([*map(str, found), "/usr/local/bin", "/usr/bin", "/bin"]))


PYTHON = sys.executable
"""A Python with pip, pytest and a build backend."""
