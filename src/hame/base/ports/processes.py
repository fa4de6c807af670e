"""Programs that are started, and what holds them back."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

import msgspec

from hame.base.confinement import Confinement, Level, SandboxDenied, Standing
from hame.base.job import Job, JobOutput
from hame.base.process import Exit, Launch


class Process(Protocol):
    """A program that was started. Leaving its context kills what is left of its group."""

    @property
    def pid(self) -> int:
        """Process id; also the id of its group."""
        ...

    @property
    def mark(self) -> str:
        """What tells it and its descendants from all other processes."""
        ...

    def output(self) -> AsyncIterator[bytes]:
        """What it prints, until the pipe closes or shortly after the program itself has ended."""
        ...

    def errors(self) -> AsyncIterator[bytes]:
        """Standard error when it is kept apart."""
        ...

    async def write(self, data: bytes) -> None:
        """Write to an open stdin."""
        ...

    async def end_input(self) -> None:
        """Nothing more is written: the program sees the end of its input."""
        ...

    async def wait(self) -> Exit:
        """Wait until the program itself has ended; its children may live on until the context ends."""
        ...

    def ended(self) -> Exit | None:
        """How the program itself has ended; None while it runs. Looks at the system, now."""
        ...

    @property
    def refused(self) -> Sequence[str]:
        """Machines that its sandbox kept it from so far."""
        ...

    @property
    def aftermath(self) -> Sequence[str]:
        """Once its context is left: what its sandbox put right after it, one line each."""
        ...

    def survivors(self) -> bool:
        """Whether children of the program still run although it has ended itself."""
        ...

    def leave(self) -> None:
        """Let it run on when the context ends; only one whose output goes to a file can."""
        ...

    async def kill(self) -> None:
        """End the whole group: TERM, a short grace, then KILL."""
        ...


class Processes(Protocol):
    """The one place that starts programs, each in a group of its own."""

    def start(self, launch: Launch) -> AbstractAsyncContextManager[Process]:
        """Start a program.

        Raises:
            ToolError: if it cannot be started (not found, not executable).
        """
        ...


class Inmates(Protocol):
    """What lives in a cell, whoever its parent is by now: for cells that do not end with their program."""

    def began(self, leader: int) -> None:
        """The program itself was started, as this process."""
        ...

    def send(self, number: int) -> bool:
        """Send a signal (0: none) to all that can be told to be of this cell; whether any was alive."""
        ...


class Enclosure(Protocol):
    """What is started only holds the program, which runs inside and by whose end it ends too.

    Signals that ask the program to end are for what is inside; one that kills it kills all. A program
    that gets a terminal takes it inside.
    """

    def started(self) -> None:
        """It was started, and has what it needed open."""
        ...

    def exit(self, ended: Exit) -> Exit:
        """How the program itself ended, by how what holds it did."""
        ...

    def left_behind(self) -> bool:
        """Whether the program left anything running when it ended; it was killed at that moment."""
        ...


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """A program that is ready to be started confined."""

    launch: Launch
    """What is really started."""
    restrict: Callable[[str | None], None] | None = None
    """Confines the thread that calls it, for good; the program is then started from that thread.

    It is given the path of the terminal that the program opens as its own, where it gets one.
    Raises OSError: nothing may be started then."""
    inmates: Inmates | None = None
    """How to reach what has left the program's group and its marks; None: nothing can outlive it."""
    enclosure: Enclosure | None = None
    """What `launch` starts holds the program; None: it is the program itself."""
    refused: Callable[[], Sequence[str]] = tuple
    """Machines it was kept from so far, by name."""
    aftermath: Callable[[], Sequence[str]] = tuple
    """Once the cell is closed: what was put right after the program, one line each."""


class Gateway(Protocol):
    """The way to the network for a program that has none of its own: to hosts it was granted."""

    def open(
        self, path: str, hosts: Sequence[str]
    ) -> AbstractAsyncContextManager[Callable[[], Sequence[str]]]:
        """Serve HTTP as a proxy on a Unix socket at `path`, in a folder only the user may enter.

        `hosts` are entries of `hame.base.hosts`; none: nothing is let through. Gives what says which
        hosts were refused so far, as they would be granted. Leaving ends every connection and removes
        the socket.

        Raises:
            ToolError: if it cannot be served, or `hosts` holds what is no entry.
        """
        ...


class Sandbox(Protocol):
    """How child processes are confined. Only `Processes` enters it, so nothing can forget to."""

    @property
    def level(self) -> Level:
        """What is expected, until `prepare` has found out by trying; shown on every surface."""
        ...

    async def prepare(self) -> Standing:
        """Try, once, in the very sandbox that will be used, whether it holds; falls to what does."""
        ...

    def confine(self, launch: Launch) -> AbstractAsyncContextManager[Cell]:
        """The same program in its cell; what the cell needs lives as long as the context.

        Afterwards protected files are as they were, and nothing of the cell is left on disk.

        Raises:
            ToolError: if it cannot be confined as it has to be; then it must not be started.
        """
        ...

    def explain(
        self, confinement: Confinement, output: str, refused: Sequence[str], cwd: str
    ) -> tuple[SandboxDenied, ...]:
        """What a program that failed was probably kept from: what it printed, whom it could not reach.

        `cwd` is the folder it ran in. Must not raise, whatever was printed.
        """
        ...


class Jobs(Protocol):
    """Commands that run in the background; they end with the session unless they are kept."""

    async def start(self, launch: Launch, command: str, *, keep: bool = False) -> Job:
        """Start one; `command` is what people are shown.

        Raises:
            ToolError: if it cannot be started, or too many run already.
        """
        ...

    def list(self) -> Sequence[Job]:
        """All of them, ended ones too, in the order of their starting."""
        ...

    async def read(self, job: str, wait_s: float = 0.0, *, settle_s: float = 0.0) -> JobOutput:
        """What was printed since the last read; waits `wait_s` for something, or for its end.

        Of one that has printed something and goes on, `settle_s` more are waited for its end.

        Raises:
            ToolError: if there is no such job.
        """
        ...

    async def send(self, job: str, data: bytes, *, close: bool = False) -> Job:
        """Write to its input, and close that afterwards where asked.

        Raises:
            ToolError: if there is no such job, or it reads no more.
        """
        ...

    async def kill(self, job: str) -> Job:
        """End it with everything it has started.

        Raises:
            ToolError: if there is no such job.
        """
        ...

    async def close(self) -> None:
        """The session ends: end all that are not kept."""
        ...
