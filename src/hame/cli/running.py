"""One run, followed by a view: redrawing, signals, and the end."""

import asyncio
import os
import signal
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import anyio

from hame.base.event import RunEnded
from hame.cli.exits import ExitCode
from hame.cli.session import Session
from hame.cli.view import View

_REDRAW_S = 0.05
_GRACE_S = 1.5
"""Seconds in which a run that is killed may end its children before the process is gone."""


class KilledError(Exception):
    """The user would not wait for the run to settle, or the system ended the process."""

    def __init__(self, code: int) -> None:
        """`code` is the exit code."""
        super().__init__(code)
        self.code = code


class Interrupts:
    """Ctrl-C and its like during a run: the first stops it, the second kills."""

    def __init__(self, session: Session, scope: anyio.CancelScope) -> None:
        """Watch over a run of `session` inside `scope`."""
        self._session, self._scope = session, scope
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
        timer = threading.Timer(_GRACE_S, os._exit, (code,))
        timer.daemon = True
        timer.start()


async def follow(session: Session, text: str, view: View) -> RunEnded:
    """Run a prompt and show it. Ctrl-C stops the run; a second one kills it.

    Raises:
        KilledError: if the process is to end now.
        ConfigError: if no model can be asked.
    """
    unsubscribe = session.subscribe(view.show)
    try:
        scope = anyio.CancelScope()
        interrupts = Interrupts(session, scope)
        ended: RunEnded | None = None
        with scope:
            async with _signals(interrupts), anyio.create_task_group() as tasks:
                tasks.start_soon(_redraw, view)
                ended = await session.prompt(text)
                tasks.cancel_scope.cancel()
        if ended is None or interrupts.code is not None:
            raise KilledError(interrupts.code or ExitCode.FAILED)
        return ended
    finally:
        unsubscribe()
        view.close()


async def _redraw(view: View) -> None:
    while True:
        view.tick()
        await anyio.sleep(_REDRAW_S)


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
