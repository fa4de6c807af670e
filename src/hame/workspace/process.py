"""Starting programs, and making sure that nothing of them stays behind.

Every program has a session and a process group of its own. Its exit status is looked at without
being collected, so that its id, and with it the group's, cannot be given to another process before
the last signal was sent.
"""

import os
import signal
import subprocess
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from types import TracebackType

import anyio
import anyio.to_thread
import msgspec
from typing_extensions import override

from hame.base.errors import ToolError
from hame.base.ports import Cell, Process, Processes, Sandbox
from hame.base.process import CHANGED, Exit, Launch
from hame.workspace.descendants import MARK, descendants, send
from hame.workspace.environment import child_environment
from hame.workspace.ownprograms import OwnPrograms
from hame.workspace.pipe import GRACE_S, Ending, InputPipe, OutputPipe
from hame.workspace.spawn import Ends, Watch, spawn

TERM_GRACE_S = 0.3
"""How long programs may take to end after TERM, before KILL."""
KILL_GRACE_S = 2.0
"""How long the system may take to end them after KILL; what waits for a dead disk takes longer."""
_FIRST_POLL_S = 0.001
_POLL_S = 0.01


_LEFT: list[subprocess.Popen[bytes]] = []
"""Programs that were left running: their exit status is collected when they have ended."""


class LocalProcesses(Processes):
    """Starts programs on this machine."""

    def __init__(
        self,
        environment: Mapping[str, str],
        sandbox: Sandbox | None = None,
        *,
        without: Sequence[str] = (),
    ) -> None:
        """Take the environment children inherit from; secrets in it are kept back.

        Without a sandbox only programs of hame's own can be started. `without` are folders, by their
        real paths, in which no program of hame's own is looked for: the project, and what is added to it.
        """
        self._environment = child_environment(environment)
        self._sandbox = sandbox
        self._own = OwnPrograms(environment, without)

    @override
    def start(self, launch: Launch) -> AbstractAsyncContextManager[Process]:
        """Start a program when the context is entered; end all of it when it is left.

        Raises:
            ToolError: if it cannot be started.
        """
        _LEFT[:] = [left for left in _LEFT if left.poll() is None]
        given = self._environment if launch.env is None else dict(launch.env)
        if launch.env is None and launch.confinement is None:
            given = given | {"PATH": self._own.path}
        launch = msgspec.structs.replace(
            launch,
            argv=self._resolved(launch.argv),
            env=tuple((given | dict(launch.extra_env)).items()),
        )
        return _Running(launch, self._sandbox, self._own)

    def _resolved(self, argv: tuple[str, ...]) -> tuple[str, ...]:
        """The words of a start with the program's path in place of its bare name.

        Raises:
            ToolError: when there is no such program.
        """
        found = self._own.find(argv[0]) if argv else None
        if argv and found is None:
            raise ToolError(f"cannot start {argv[0]}: there is no such program")
        return argv if found is None else (found, *argv[1:])


class _Running(AbstractAsyncContextManager[Process]):
    """The time in which a program may live."""

    def __init__(self, launch: Launch, sandbox: Sandbox | None, own: OwnPrograms) -> None:
        """Remember what to start; its environment is whole."""
        self._own = own
        self._launch = launch
        self._sandbox = sandbox
        self._cell = AsyncExitStack()
        self._process: LocalProcess | None = None

    @override
    async def __aenter__(self) -> Process:
        """Start it.

        Raises:
            ToolError: if it cannot be started.
        """
        async with AsyncExitStack() as stack:
            cell = Cell(launch=self._launch)
            if self._launch.confinement is not None:
                if self._sandbox is None:
                    raise ToolError("there is no sandbox here to confine a program with")
                cell = await stack.enter_async_context(self._sandbox.confine(self._launch))
            if self._launch.still is not None and not self._launch.still():
                raise ToolError(CHANGED)
            self._process = LocalProcess(cell, self._own)
            self._cell = stack.pop_all()
        return self._process

    @override
    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End what is left of it, also while being cancelled."""
        process, self._process = self._process, None
        if process is not None:
            with anyio.CancelScope(shield=True):
                try:
                    await process.finish()
                finally:
                    await self._cell.aclose()


class LocalProcess(Process):
    """A program that was started."""

    def __init__(self, cell: Cell, own: OwnPrograms) -> None:
        """Start it; `own` finds what has to run beside it.

        Raises:
            ToolError: if it cannot be started.
        """
        launch = cell.launch
        self._mark = os.urandom(8).hex()
        self._refused = cell.refused
        self._aftermath = cell.aftermath
        self._inmates = cell.inmates
        self._terminal = launch.pty
        self._ending = Ending()
        environment = {**dict(launch.env or ()), MARK: self._mark}
        self._enclosure = cell.enclosure
        inside = self._enclosure is not None
        self._popen, ends = spawn(launch, environment, own, cell.restrict, inside=inside)
        if self._enclosure is not None:
            self._enclosure.started()
        if self._inmates is not None:
            self._inmates.began(self._popen.pid)
        self._output = None if ends.output is None else OutputPipe(ends.output, self._ending)
        self._errors = None if ends.errors is None else OutputPipe(ends.errors, self._ending)
        shared = ends.relay is not None
        self._input = None if ends.input is None else InputPipe(_own(ends), shared=shared)
        self._relay = ends.relay
        self._left = False
        self._watch = Watch(self._popen.pid, self._ending)

    @property
    @override
    def pid(self) -> int:
        """Process id; also the id of its group and of its session."""
        return self._popen.pid

    @property
    @override
    def mark(self) -> str:
        """What it and its descendants bear in their environment."""
        return self._mark

    @override
    def output(self) -> AsyncIterator[bytes]:
        """What it prints, until the pipe closes or shortly after the program itself has ended."""
        return self._output.chunks() if self._output else _nothing()

    @override
    def errors(self) -> AsyncIterator[bytes]:
        """Standard error when it is kept apart; nothing when it is merged."""
        return self._errors.chunks() if self._errors else _nothing()

    @override
    async def write(self, data: bytes) -> None:
        """Write to an open stdin.

        Raises:
            ToolError: when the program no longer reads, or was started without an open stdin.
        """
        if self._input is None:
            raise ToolError("this program was started without an open input")
        try:
            await self._input.write(data)
        except OSError as error:
            raise ToolError("the program no longer reads its input") from error

    @override
    async def wait(self) -> Exit:
        """Wait until the program itself has ended; its children may live until the context ends."""
        await self._ending.wait()
        return self._exit()

    @override
    async def end_input(self) -> None:
        """The program sees the end of its input: a closed pipe, or the key for it at a terminal."""
        if self._input is not None and self._terminal:
            await self.write(b"\x04")
        elif self._input is not None:
            self._input.close()

    @override
    def ended(self) -> Exit | None:
        """How the program itself has ended; None while it runs."""
        self._watch.look()
        return self._exit() if self._ending.reached else None

    @property
    @override
    def refused(self) -> Sequence[str]:
        """Machines that its sandbox kept it from so far."""
        return self._refused()

    @property
    @override
    def aftermath(self) -> Sequence[str]:
        """Once its context is left: what its sandbox put right after it, one line each."""
        return self._aftermath()

    @override
    def leave(self) -> None:
        """Let it run on when the context ends; only one whose output goes to a file can.

        Raises:
            ToolError: for any other.
        """
        if self._output is not None:
            raise ToolError("a program whose output is read here cannot be left alone")
        self._left = True

    @override
    def survivors(self) -> bool:
        """Whether children of the program still run although it has ended itself."""
        if not self._ending.reached:
            return False
        if self._enclosure is not None:
            return self._enclosure.left_behind()
        return any(descendants(self.pid, self._mark)) or self._reach_inmates(0)

    @override
    async def kill(self) -> None:
        """End the program and all its descendants: TERM, a short grace, then KILL."""
        if await self._end(signal.SIGTERM, TERM_GRACE_S):
            await self._end(signal.SIGKILL, KILL_GRACE_S)
        with anyio.move_on_after(KILL_GRACE_S):
            await self._ending.wait()

    async def finish(self) -> None:
        """End what is left, collect the exit status and close the pipes."""
        if self._input is not None:
            self._input.close()
        if self._left:
            _LEFT.append(self._popen)
        else:
            await self.kill()
        self._watch.close()
        # After the last signal: from here on the id may belong to another process.
        self._popen.poll()
        if self._output is not None:
            self._output.close()
        if self._errors is not None:
            self._errors.close()
        if self._relay is not None:
            await self._end_relay(self._relay)

    async def _end_relay(self, relay: subprocess.Popen[bytes]) -> None:
        """It ends by itself when nobody has the terminal open any more; else it is ended."""
        deadline = time.monotonic() + GRACE_S
        ended = relay.poll()
        while ended is None and time.monotonic() < deadline:
            await anyio.sleep(_POLL_S)
            ended = relay.poll()
        if ended is None:
            relay.kill()
            await anyio.to_thread.run_sync(relay.wait)

    async def _end(self, number: signal.Signals, grace_s: float) -> bool:
        """Send a signal and give it time; whether anything is still alive."""
        alive = self._send(number)
        deadline = time.monotonic() + grace_s
        pause = _FIRST_POLL_S
        while alive and time.monotonic() < deadline:
            await anyio.sleep(pause)
            pause = min(2 * pause, _POLL_S)
            # KILL again reaches what was born meanwhile; TERM again could cut a clean-up short.
            again = signal.SIGKILL if number is signal.SIGKILL else 0
            alive = self._send(again)
        return alive

    def _send(self, number: int) -> bool:
        """Send a signal (0: none) to all that is left of it; whether anything was."""
        spare = self._enclosure is not None and number != signal.SIGKILL
        found = send(self.pid, self._mark, number, spare=spare)
        return self._reach_inmates(number) or found

    def _reach_inmates(self, number: int) -> bool:
        return self._inmates is not None and self._inmates.send(number)

    def _exit(self) -> Exit:
        ended = self._watch.exit
        return ended if self._enclosure is None else self._enclosure.exit(ended)


def _own(ends: Ends) -> int:
    """The descriptor to write to; of a terminal a second one, so that each is closed once."""
    assert ends.input is not None
    return os.dup(ends.input) if ends.input == ends.output else ends.input


async def _nothing() -> AsyncIterator[bytes]:
    for chunk in ():
        yield chunk
