"""hame's command line on a scripted session: as a process with pipes, and in a terminal."""

import importlib.util
import os
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pexpect
import pyte
import pytest

SCRIPT = Path(__file__).with_name("scripted.py")


@pytest.fixture
def scripted():
    """The module of the scripted session."""
    spec = importlib.util.spec_from_file_location("scripted", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def environment(**more: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    source = str(Path(__file__).parents[2] / "src")
    return {**kept, "LANG": "C.UTF-8", "TERM": "xterm-256color", "PYTHONPATH": source, **more}


def command(*, real: bool, pace: float = 0) -> list[str]:
    """How hame is started: as it is, or with the scripted session."""
    own = ["-m", "hame"] if real else [str(SCRIPT), str(pace)]
    return [sys.executable, *own]


@pytest.fixture
def hame(tmp_path):
    """Runs hame with pipes to its end."""

    def run(
        *arguments: str, stdin: str = "", real: bool = False, **more: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command(real=real), *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=environment(**more),
            timeout=30,
            check=False,
        )

    return run


class Terminal:
    """hame in a terminal of its own, and what eyes see there."""

    def __init__(self, command: list[str], cwd: Path, columns: int, rows: int, **more: str):
        self.screen = pyte.HistoryScreen(columns, rows, history=2000)
        self.stream = pyte.ByteStream(self.screen)
        self.raw = b""
        self.child = pexpect.spawn(
            command[0],
            command[1:],
            cwd=str(cwd),
            env=environment(**more),
            dimensions=(rows, columns),
            timeout=10,
        )

    def send(self, text: str) -> None:
        self.child.send(text)

    @property
    def lines(self) -> list[str]:
        """All lines, those that scrolled away included."""
        top = [
            "".join(line[column].data for column in range(self.screen.columns)).rstrip()
            for line in self.screen.history.top
        ]
        return top + [line.rstrip() for line in self.screen.display]

    @property
    def text(self) -> str:
        return "\n".join(self.lines).rstrip()

    def wait_for(self, pattern: str, seconds: float = 10.0) -> str:
        """The screen's text as soon as it shows the pattern, on one line or wrapped between words."""
        deadline = time.monotonic() + seconds
        wrapped = pattern.replace(" ", r"\s+")
        while not any(re.search(each, self.text, re.MULTILINE) for each in (pattern, wrapped)):
            if time.monotonic() > deadline:
                raise AssertionError(f"no {pattern!r} on the screen:\n{self.text}")
            self._read(0.1)
        return self.text

    def wait_gone(self, pattern: str, seconds: float = 10.0) -> str:
        """The screen's text as soon as it no longer shows the pattern."""
        deadline = time.monotonic() + seconds
        while re.search(pattern, self.text, re.MULTILINE):
            if time.monotonic() > deadline:
                raise AssertionError(f"{pattern!r} is still on the screen:\n{self.text}")
            self._read(0.1)
        return self.text

    def ended(self) -> int:
        """The exit code, once it has left."""
        deadline = time.monotonic() + 20.0
        while not self.child.flag_eof and time.monotonic() < deadline:
            self._read(0.1)
        assert self.child.flag_eof, f"it has not left:\n{self.text}"
        self.child.close()
        status = self.child.exitstatus
        return status if status is not None else -(self.child.signalstatus or 0)

    def _read(self, seconds: float) -> bool:
        try:
            data = self.child.read_nonblocking(65536, timeout=seconds)
        except pexpect.TIMEOUT:
            return False
        except pexpect.EOF:
            return False
        self.raw += data
        self.stream.feed(data)
        return True


@pytest.fixture
def terminal(tmp_path):
    """Starts hame in a terminal."""
    opened: list[Terminal] = []

    def start(
        *arguments: str, pace: float = 0.02, real=False, columns=90, rows=40, **more: str
    ) -> Terminal:
        started = [*command(real=real, pace=pace), *arguments]
        opened.append(Terminal(started, tmp_path, columns, rows, **more))
        return opened[-1]

    yield start
    for each in opened:
        each.child.close(force=True)


@pytest.fixture
def shell(tmp_path):
    """Starts hame from a shell that can stop it and bring it back."""
    opened: list[Terminal] = []

    def start(*arguments: str, more: str = "") -> Terminal:
        bash = Terminal(["bash", "--norc", "--noprofile", "-i"], tmp_path, 90, 40)
        opened.append(bash)
        bash.send(shlex.join([*command(real=False, pace=0.02), *arguments]) + more + "\r")
        return bash

    yield start
    for each in opened:
        each.child.close(force=True)
