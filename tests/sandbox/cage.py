"""A project, a home with secrets, and programs that are let loose on them in the real sandbox."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import Any

import msgspec

from hame.base.zone import ProjectPaths
from hame.sandbox.site import Site

DRIVER = Path(__file__).with_name("driver.py")
ORDINARY = 54321
"""An ordinary user; it need not be known to the system."""
SECRET = "hush-7c1f"
"""What every secret holds."""


class Said(msgspec.Struct, kw_only=True):
    """How a program ended and what it said."""

    output: str = ""
    code: int | None = None
    signal: int | None = None
    ended: bool = True
    left: bool = False
    error: str = ""
    refused: list[str] = []
    pid: int = 0
    aftermath: list[str] = []
    """What was put right afterwards."""

    @property
    def ok(self) -> bool:
        return self.code == 0

    @property
    def lines(self) -> list[str]:
        return self.output.splitlines()


class Driver:
    """A process in which hames of one user run."""

    def __init__(self, user: int, wrapper: Sequence[str] = ()) -> None:
        self.user = user
        self._process = subprocess.Popen(
            [*wrapper, sys.executable, str(DRIVER), str(user), python_inside()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd="/",
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    def ask(self, what: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(what) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, "the driver has ended"
        return json.loads(line)

    def kill(self) -> None:
        self._process.kill()
        self.close()

    def close(self) -> None:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        self._process.wait(20)
        self._process.stdout.close()


class Cage:
    """One place on disk, and a hame that runs programs in it."""

    def __init__(self, base: Path, driver: Driver, mechanism: str) -> None:
        self.base, self.driver, self.user = base, driver, driver.user
        self.mechanism = mechanism
        self.home, self.root = base / "home", base / "home" / "dev" / "proj"
        self.temporary, self.outside = base / "temporary", base / "outside"
        self.environment = {
            "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
        }
        self.added: tuple[str, ...] = ()
        self.search_path = os.environ["PATH"]
        self._session = ""
        for folder in (self.root, self.temporary, self.outside, self.state):
            folder.mkdir(parents=True)
        self.temporary.chmod(0o700)

    @property
    def is_landlock(self) -> bool:
        return self.mechanism.startswith("landlock")

    def hides_in_project(self, reach: str) -> bool:
        """Whether secrets in the project are hidden from a program that reaches so far."""
        return reach == "read" or not self.is_landlock

    @property
    def state(self) -> Path:
        """Where hame keeps what is its own."""
        return self.home / ".local" / "state" / "hame"

    @property
    def caches(self) -> Path:
        return self.home / ".cache" / "hame" / "build" / "proj"

    @property
    def site(self) -> Site:
        home = str(self.home)
        data = f"{home}/.local/share/hame"
        return Site(
            paths=ProjectPaths(
                root=str(self.root),
                added=self.added,
                temporary=str(self.temporary),
                temporary_alias="" if self.is_landlock else "/tmp",
                home=home,
                results=f"{data}/results",
                config=f"{home}/.config/hame",
            ),
            own=(f"{home}/.config/hame", data, str(self.state), f"{home}/.cache/hame"),
            caches=str(self.caches),
            scratch=f"{self.state}/sandbox",
            search_path=self.search_path,
        )

    def write(self, path: Path | str, text: str = SECRET, mode: int = 0o644) -> Path:
        """Write a file below the base; all of it belongs to the user who runs programs."""
        place = self.base / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
        place.chmod(mode)
        return place

    def give(self) -> None:
        """Let all of it belong to the user who runs programs."""
        for path in (self.base, *self.base.rglob("*")):
            os.chown(path, self.user, self.user, follow_symlinks=False)

    @property
    def pid(self) -> int:
        """hame's own process."""
        return self.driver.pid

    def restart(self) -> None:
        """Another hame, which knows nothing of this one."""
        self._session = ""

    def ask(self, **asked: Any) -> dict[str, Any]:
        if not self._session:
            if os.geteuid() == 0:
                self.give()
            self._session = token_hex(4)
            made = {"mechanism": self.mechanism, "site": msgspec.to_builtins(self.site)}
            made["environment"] = self.environment
            self.driver.ask({"session": self._session, **made})
        return self.driver.ask({"session": self._session, **asked})

    def run(self, command: str, reach: str = "write", **more: Any) -> Said:
        """Run a shell command to its end."""
        asked = self.launch(command, reach, **more) | {"do": "run", "limit": more.get("limit", 20)}
        return msgspec.convert(self.ask(**asked), Said)

    def begin(self, command: str, name: str = "a", reach: str = "write", **more: Any) -> Said:
        """Start a shell command that goes on."""
        asked = self.launch(command, reach, **more) | {"do": "start", "name": name}
        return msgspec.convert(self.ask(**asked), Said)

    def line(self, name: str = "a") -> str:
        return self.ask(do="line", name=name)["output"]

    def end(self, name: str = "a") -> Said:
        return msgspec.convert(self.ask(do="kill", name=name), Said)

    def wait(self, name: str = "a", limit: float = 20) -> Said:
        return msgspec.convert(self.ask(do="wait", name=name, limit=limit), Said)

    def launch(self, command: str, reach: str, **more: Any) -> dict[str, Any]:
        if self.is_landlock:  # It cannot put another folder in the place of /tmp.
            command = re.sub(r"(?<![\w/.])/tmp\b", str(self.temporary), command)
        return {
            "argv": more.get("argv", ["bash", "--noprofile", "--norc", "-c", command]),
            "cwd": str(more.get("cwd", self.root)),
            "confinement": {
                "reach": reach,
                "writable": [str(path) for path in more.get("writable", ())],
                "hosts": more.get("hosts", []),
            },
            **{key: more[key] for key in ("pty", "keep", "output", "open_stdin") if key in more},
        }

    def git(self, *arguments: str, cwd: Path | None = None) -> str:
        """git outside of any sandbox, as the user who works there would run it."""
        who = [
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@example.org",
            "-c",
            "init.defaultBranch=main",
        ]
        safe = ["-c", "safe.directory=*", "-c", "protocol.file.allow=always"]
        done = subprocess.run(
            ["git", *who, *safe, *arguments],
            cwd=cwd or self.root,
            env={"PATH": os.environ["PATH"], "HOME": str(self.home)},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout


@contextmanager
def caged(
    driver: Driver, below: str = "/var/tmp", mechanism: str = "bubblewrap"
) -> Generator[Cage]:
    """A cage in a new folder; everything is gone afterwards."""
    base = Path(os.path.realpath(tempfile.mkdtemp(prefix="hame-", dir=below)))
    base.chmod(0o755)
    try:
        yield Cage(base, driver, mechanism)
    finally:
        shutil.rmtree(base, ignore_errors=True)


def identities() -> list[int]:
    """Who programs are run as: all that this process can be."""
    return [0, ORDINARY] if os.geteuid() == 0 else [os.geteuid()]


def python_inside() -> str:
    """A Python that every user of this machine may run."""
    usual = (Path("/usr/bin/python3"), Path("/usr/local/bin/python3"))
    return next((str(path) for path in usual if path.exists()), sys.executable)
