"""One run, followed by a view: redrawing, signals, and the end."""

import asyncio
import os
import signal
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import anyio
from anyio.abc import TaskGroup

from hame.base.event import RunEnded
from hame.cli.exits import ExitCode, KilledError
from hame.cli.session import Session
from hame.cli.view import View

_REDRAW_S = 0.05
_GRACE_S = 1.5
"""Seconds in which a run that is killed may end its children before the process is gone."""


class Interrupts:
    """Ctrl-C and its like during a run: the first stops it, the second kills."""

    def __init__(
        self, session: Session, scope: anyio.CancelScope, leave: Callable[[], None]
    ) -> None:
        """Watch over a run of `session` inside `scope`; `leave` puts the terminal right."""
        self._session, self._scope, self._leave = session, scope, leave
        self._stopping = False
        self.code: int | None = None
        """Set when the process is to end."""

    def interrupt(self) -> None:
        """Ctrl-C was pressed."""
        if self._stopping:
            self._kill(128 + signal.SIGINT)
        self._stopping = True
        self._session.cancel("stopped by the user")

    def terminate(self, number: int) -> None:
        """The process was told to end: stop the run, and end after it."""
        if self.code is not None:
            self._kill(self.code)
        self.code = 128 + number
        self._session.cancel("stopped because hame was told to end")

    def _kill(self, code: int) -> None:
        self.code = code
        self._scope.cancel()
        timer = threading.Timer(_GRACE_S, self._exit, (code,))
        timer.daemon = True
        timer.start()

    def _exit(self, code: int) -> None:
        self._leave()
        os._exit(code)


async def follow(
    session: Session,
    text: str,
    view: View,
    *,
    started: Callable[[TaskGroup], None] = lambda _tasks: None,
    leave: Callable[[], None] = lambda: None,
) -> RunEnded:
    """Run a prompt and show it. Ctrl-C stops the run; a second one kills it.

    `started` is handed the task group of the run; `leave` puts the terminal right when the process
    cannot wait for the run to end.

    Raises:
        KilledError: if the process is to end now.
        HameError: if the run could not be started.
        OSError: if the view can no longer be written to.
    """
    scope = anyio.CancelScope()
    interrupts = Interrupts(session, scope, leave)
    follower = _Follower(session, view)
    unsubscribe = session.subscribe(view.show)
    try:
        with scope:
            async with _signals(interrupts), anyio.create_task_group() as tasks:
                started(tasks)
                tasks.start_soon(follower.redraw)
                await follower.run(text)
                tasks.cancel_scope.cancel()
    finally:
        unsubscribe()
    view.close()
    if follower.error is not None:
        raise follower.error
    if follower.ended is None or interrupts.code is not None:
        raise KilledError(interrupts.code or ExitCode.FAILED, follower.ended)
    return follower.ended


class _Follower:
    """Keeps errors out of the task group, which would wrap them up."""

    def __init__(self, session: Session, view: View) -> None:
        self._session, self._view = session, view
        self.ended: RunEnded | None = None
        self.error: Exception | None = None

    async def run(self, text: str) -> None:
        try:
            self.ended = await self._session.prompt(text)
        except Exception as error:  # noqa: BLE001 - raised by `follow`
            self.error = self.error or error

    async def redraw(self) -> None:
        try:
            while True:
                self._view.tick()
                await anyio.sleep(_REDRAW_S)
        except OSError as error:
            self.error = error
            self._session.cancel("stopped because its terminal went away")


@asynccontextmanager
async def _signals(interrupts: Interrupts) -> AsyncGenerator[None]:
    """Handle signals on the event loop while the block runs."""
    loop = asyncio.get_running_loop()
    handlers: dict[signal.Signals, Callable[[], None]] = {
        signal.SIGINT: interrupts.interrupt,
        signal.SIGTERM: lambda: interrupts.terminate(signal.SIGTERM),
        signal.SIGHUP: lambda: interrupts.terminate(signal.SIGHUP),
    }
    before = {number: signal.getsignal(number) for number in handlers}
    for number, handler in handlers.items():
        loop.add_signal_handler(number, handler)
    try:
        yield
    finally:
        for number, handler in before.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)
