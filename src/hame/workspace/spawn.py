"""The system calls around a new process: its pipes, its start, and the news of its end."""

import asyncio
import contextlib
import fcntl
import os
import struct
import subprocess
import termios
import threading
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TypeAlias

import msgspec

from hame.base.errors import ToolError
from hame.base.process import Exit, Launch
from hame.workspace.ownprograms import OwnPrograms
from hame.workspace.pipe import Ending
from hame.workspace.refusal import reason

_LOG = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
_PIPE_ROOM = 1 << 16
"""Bytes that a pipe takes without anybody reading (pipe(7))."""
_POLL_S = 0.01


class Ends(msgspec.Struct, frozen=True):
    """Our ends of the pipes, as descriptors; those of a terminal are one and the same."""

    output: int | None
    errors: int | None
    input: int | None
    relay: subprocess.Popen[bytes] | None = None
    """What copies a terminal's output to a file."""


def spawn(
    launch: Launch,
    environment: Mapping[str, str],
    own: OwnPrograms,
    restrict: Callable[[str | None], None] | None = None,
    *,
    inside: bool = False,
) -> tuple[subprocess.Popen[bytes], Ends]:
    """Start a program in a session of its own, from a thread that was confined where it has to be.

    `own` finds what is started beside it, which nothing confines. `inside`: what is started holds the program, which takes its terminal for itself.

    Raises:
        ToolError: if it cannot be started.
    """
    if not launch.argv:
        raise ToolError("there is no program to start: the command is empty")
    with contextlib.ExitStack() as theirs, contextlib.ExitStack() as ours:
        if launch.pty:
            argv, streams, ends = _terminal(launch, own, theirs, ours, inside=inside)
        else:
            argv, streams, ends = _pipes(launch, theirs, ours)
        try:
            start = partial(
                subprocess.Popen[bytes],
                argv,
                cwd=launch.cwd,
                env=environment,
                stdin=streams[0],
                stdout=streams[1],
                stderr=streams[2],
                pass_fds=launch.pass_fds,
                start_new_session=True,
            )
            terminal = os.ttyname(streams[0]) if launch.pty else None
            popen = (
                start() if restrict is None else _start_confined(start, partial(restrict, terminal))
            )
        except (OSError, ValueError) as error:
            raise ToolError(_why_not_started(launch, error)) from error
        ours.pop_all()
    return popen, ends


def _start_confined(
    start: Callable[[], subprocess.Popen[bytes]], restrict: Callable[[], None]
) -> subprocess.Popen[bytes]:
    """Landlock and seccomp hold for the thread that asks for them, and for what it starts.

    So no code has to run between fork and exec, where a lock of another thread may be held for ever.
    """
    started: list[subprocess.Popen[bytes]] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            restrict()
            started.append(start())
        except BaseException as error:  # noqa: BLE001 - it is raised where the thread is waited for
            failed.append(error)

    thread = threading.Thread(target=run, name="hame confined start")
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return started[0]


_Streams: TypeAlias = tuple[int, int, int]
"""What the child gets as its input, output and errors."""

_TAKE_TERMINAL = 'exec <>"$0" >&0 2>&0; exec "$@"'
"""The leader of a session gets the terminal it opens as its own (tty_ioctl(4))."""
_ROWS, _COLUMNS = 40, 120


def _pipes(
    launch: Launch, theirs: contextlib.ExitStack, ours: contextlib.ExitStack
) -> tuple[tuple[str, ...], _Streams, Ends]:
    stdin, input_end = _stdin(launch, theirs, ours)
    if launch.output is None:
        stdout, output_end = _pipe(theirs, ours)
    else:
        stdout, output_end = _file(launch.output), None
        theirs.callback(os.close, stdout)
    stderr, errors_end = (subprocess.STDOUT, None) if launch.merge_stderr else _pipe(theirs, ours)
    return launch.argv, (stdin, stdout, stderr), Ends(output_end, errors_end, input_end)


def _terminal(
    launch: Launch,
    own: OwnPrograms,
    theirs: contextlib.ExitStack,
    ours: contextlib.ExitStack,
    *,
    inside: bool,
) -> tuple[tuple[str, ...], _Streams, Ends]:
    """A terminal of the child's own: what it prints comes out of our end, our words are its input."""
    mine, its = os.openpty()
    ours.callback(os.close, mine)
    theirs.callback(os.close, its)
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", _ROWS, _COLUMNS, 0, 0))
    settings = termios.tcgetattr(its)
    settings[3] &= ~termios.ECHOCTL  # A key that is no letter is not shown as two.
    termios.tcsetattr(its, termios.TCSANOW, settings)
    take = () if inside else ("/bin/sh", "-c", _TAKE_TERMINAL, os.ttyname(its))
    argv = (*take, *launch.argv)
    relay = None if launch.output is None else _relay(own, mine, launch.output, theirs)
    output = mine if relay is None else None
    return argv, (its, its, its), Ends(output, None, mine, relay)


def _relay(
    own: OwnPrograms, terminal: int, path: str, theirs: contextlib.ExitStack
) -> subprocess.Popen[bytes]:
    """Copies what a terminal shows to a file, also while nobody here reads; ends with the terminal.

    Raises:
        ToolError: if it cannot be started.
    """
    program = own.find("cat")
    if program is None:
        raise ToolError("cannot start cat: there is no such program outside the project")
    file = _file(path)
    theirs.callback(os.close, file)
    try:
        return subprocess.Popen(
            [program],
            env={"PATH": own.path},
            stdin=terminal,
            stdout=file,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        raise ToolError(f"cannot start cat: {reason(error)}") from error


def _file(path: str) -> int:
    """The end of a log file; only the user may read it.

    Raises:
        ToolError: if it cannot be opened.
    """
    try:
        return os.open(path, _LOG, 0o600)
    except OSError as error:
        raise ToolError(f"cannot write the log {path}: {reason(error)}") from error


def _pipe(theirs: contextlib.ExitStack, ours: contextlib.ExitStack) -> tuple[int, int]:
    """The child's end to write to and our end to read from."""
    reading, writing = os.pipe()
    ours.callback(os.close, reading)
    theirs.callback(os.close, writing)
    return writing, reading


def _stdin(
    launch: Launch, theirs: contextlib.ExitStack, ours: contextlib.ExitStack
) -> tuple[int, int | None]:
    """What the child reads from, and our end of it when it stays open."""
    if launch.open_stdin:
        reading, writing = os.pipe()
        theirs.callback(os.close, reading)
        ours.callback(os.close, writing)
        return reading, writing
    if not launch.stdin:
        return subprocess.DEVNULL, None
    if len(launch.stdin) <= _PIPE_ROOM:
        reading, writing = os.pipe()
        theirs.callback(os.close, reading)
        os.write(writing, launch.stdin)
        os.close(writing)
        return reading, None
    # More than a pipe takes would need a writer beside the reader; a file needs nobody.
    import tempfile

    descriptor, name = tempfile.mkstemp()
    theirs.callback(os.close, descriptor)
    Path(name).unlink()
    with open(descriptor, "wb", closefd=False) as file:
        file.write(launch.stdin)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor, None


def _why_not_started(launch: Launch, error: OSError | ValueError) -> str:
    program = launch.argv[0]
    if isinstance(error, ValueError):
        return f"cannot start {program}: the command holds a NUL byte"
    if error.filename == launch.cwd:
        return f"cannot start {program} in {launch.cwd}: {reason(error)}"
    if isinstance(error, FileNotFoundError):
        return f"cannot start {program}: there is no such program"
    if isinstance(error, PermissionError):
        return f"cannot start {program}: it may not be executed"
    return f"cannot start {program}: {reason(error)}"


class Watch:
    """Learns of a process's end without collecting its exit status, so that its id stays taken."""

    def __init__(self, pid: int, ending: Ending) -> None:
        """Watch from the running event loop."""
        self._pid = pid
        self._ending = ending
        self._loop = asyncio.get_running_loop()
        self._exit = Exit(code=None)
        self._timer: asyncio.TimerHandle | None = None
        self._descriptor = _open_process(pid)
        if self._descriptor is None:
            self._poll()
        else:
            self._loop.add_reader(self._descriptor, self._look)

    @property
    def exit(self) -> Exit:
        """How it ended."""
        return self._exit

    def look(self) -> None:
        """Look now, not only when the event loop comes round."""
        self._look()

    def close(self) -> None:
        """Stop watching; looks a last time."""
        self._look()
        if self._timer is not None:
            self._timer.cancel()
        self._forget()

    def _forget(self) -> None:
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            self._loop.remove_reader(descriptor)
            os.close(descriptor)

    def _poll(self) -> None:
        self._look()
        if not self._ending.reached:
            self._timer = self._loop.call_later(_POLL_S, self._poll)

    def _look(self) -> None:
        if self._ending.reached:
            return
        found = os.waitid(os.P_PID, self._pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if found is None:
            return
        by_itself = found.si_code == os.CLD_EXITED
        status = found.si_status
        self._exit = Exit(code=status) if by_itself else Exit(code=None, signal=status)
        self._forget()
        self._ending.set()


def _open_process(pid: int) -> int | None:
    """A descriptor that becomes readable when the process ends; None where there is no such thing."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None
