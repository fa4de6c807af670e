"""What a confined program asks the system for, seen by strace, which stands outside of its sandbox."""

import ast
import os
import re
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from hame.base.confinement import Confinement, Level, SandboxDenied, Standing
from hame.base.ports import Cell, Sandbox
from hame.base.process import Launch

_OPENING = frozenset({"open", "openat", "openat2"})
_STARTING = frozenset({"execve", "execveat"})
_TALKING = frozenset({"socket", "socketpair", "io_uring_setup"})
_CHANGING = frozenset({
    "creat", "mkdir", "mkdirat", "rmdir", "unlink", "unlinkat", "rename", "renameat", "renameat2",
    "link", "linkat", "symlink", "symlinkat", "mknod", "mknodat", "truncate", "ftruncate",
    "fallocate", "chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat",
    "utime", "utimes", "futimesat", "utimensat", "setxattr", "lsetxattr", "fsetxattr", "removexattr",
    "lremovexattr", "fremovexattr", "mount", "umount", "umount2", "pivot_root", "move_mount",
    "open_by_handle_at", "acct", "swapon", "sethostname", "setdomainname", "settimeofday",
})  # fmt: skip
"""Calls that change something which others find; what is written to a file was opened for it."""
_CALLS = ",".join(f"?{call}" for call in sorted(_OPENING | _STARTING | _TALKING | _CHANGING))
"""Not every architecture has all of them."""
_EVENT = re.compile(r"^(?P<pid>\d+) +(?P<call>\w+)\((?P<rest>.*)$")
_RESULT = re.compile(r"\) += (?P<result>-?\d+|\?|0x[0-9a-f]+)(?P<words>.*)$")
_UNFINISHED, _RESUMED = " <unfinished ...>", re.compile(r"^(\d+) +<\.\.\. (\w+) resumed>(.*)$")
_STRING = r'"((?:[^"\\]|\\.)*)"'
_PLACE = re.compile(rf"(?:(?:AT_FDCWD|\d+)<((?:[^>\\]|\\.)*)>, )?{_STRING}")
_OPEN = re.compile(r"\b\d+<((?:[^>\\]|\\.)*)>")
_FLAGS = re.compile(r"\bO_(?:WRONLY|RDWR|CREAT|TRUNC|APPEND|TMPFILE)\b")


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """One call of the system."""

    pid: int
    call: str
    arguments: str
    """As strace writes them."""
    result: str
    """What came back, and the words for an error."""

    @property
    def failed(self) -> bool:
        return self.result.startswith("-1")

    @property
    def strings(self) -> list[str]:
        """All strings of the arguments, as they were."""
        return [_decoded(text) for text in re.findall(_STRING, self.arguments)]

    @property
    def places(self) -> list[str]:
        """The paths it names, absolute where strace knows from where."""
        named = _PLACE.findall(self.arguments)
        if not named:
            return [_decoded(path) for path in _OPEN.findall(self.arguments)]
        found = (Path(_decoded(folder) or "?", _decoded(name)) for folder, name in named)
        return [os.path.normpath(path) for path in found]

    @property
    def writes(self) -> bool:
        """Whether it would change something that others find, were it let."""
        if self.call in _OPENING:
            return _FLAGS.search(self.arguments) is not None
        return self.call in _CHANGING

    @property
    def starts(self) -> bool:
        """Whether it would become another program."""
        return self.call in _STARTING

    @property
    def talks(self) -> bool:
        """Whether it would get something to talk to other processes or machines with."""
        return self.call in _TALKING


class Traced:
    """A sandbox whose programs are looked at from outside, each into a file of its own."""

    def __init__(self, sandbox: Sandbox, folder: Path) -> None:
        """`folder` takes the traces; a program's name there is its launch's label."""
        self._sandbox = sandbox
        self._folder = folder

    @property
    def level(self) -> Level:
        return self._sandbox.level

    async def prepare(self) -> Standing:
        return await self._sandbox.prepare()

    @asynccontextmanager
    async def confine(self, launch: Launch) -> AsyncGenerator[Cell]:
        async with self._sandbox.confine(launch) as cell:
            trace = (
                "/usr/bin/strace", "-f", "-qq", "-y", "-s", "65536", "-e", f"trace={_CALLS}",
                "-e", "signal=none", "-o", str(self.trace(launch)), "--",
            )  # fmt: skip
            started = msgspec.structs.replace(cell.launch, argv=(*trace, *cell.launch.argv))
            yield msgspec.structs.replace(cell, launch=started)

    def explain(
        self, confinement: Confinement, output: str, refused: Sequence[str], cwd: str
    ) -> tuple[SandboxDenied, ...]:
        return self._sandbox.explain(confinement, output, refused, cwd)

    def trace(self, launch: Launch) -> Path:
        return self._folder / launch.label

    def events(self, launch: Launch) -> list[Event]:
        """What the program and all that it started asked for, once it was in its sandbox.

        Raises:
            AssertionError: if it was never started there.
        """
        before, inside = set[int](), list[Event]()
        argv = list(launch.argv)
        for event in _read(self.trace(launch)):
            if inside:
                if event.pid == inside[0].pid or event.pid not in before:
                    inside.append(event)
            elif event.call == "execve" and event.strings[1:] == argv and not event.failed:
                inside.append(event)
            else:
                before.add(event.pid)
        assert inside, f"{launch.argv} was not started"
        return inside


def _read(trace: Path) -> Iterator[Event]:
    """The calls in the order in which they ended."""
    begun: dict[tuple[str, str], str] = {}
    for line in trace.read_text("ascii").splitlines():
        if line.endswith(_UNFINISHED):
            if match := _EVENT.match(line):
                begun[match["pid"], match["call"]] = line.removesuffix(_UNFINISHED)
            continue
        whole = line
        if match := _RESUMED.match(line):
            whole = begun.pop((match[1], match[2]), f"{match[1]} {match[2]}(") + match[3]
        event, result = _EVENT.match(whole), _RESULT.search(whole)
        if event is None or result is None:
            continue
        yield Event(
            pid=int(event["pid"]),
            call=event["call"],
            arguments=whole[event.start("rest") : result.start()],
            result=f"{result['result']}{result['words']}",
        )


def _decoded(text: str) -> str:
    """What strace wrote as C does."""
    return os.fsdecode(ast.literal_eval(f'b"{text}"'))
