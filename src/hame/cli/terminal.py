"""The terminal that hame runs in: its size, and how keys come in while a run is going."""

import asyncio
import os
import signal
import sys
import termios
import tty
from collections.abc import Callable, Generator
from contextlib import contextmanager

from hame.cli.drawing import Drawing
from hame.cli.launch import Launch, paint_for
from hame.cli.render import TerminalView
from hame.cli.screen import Screen
from hame.cli.stopping import stop_here
from hame.cli.terminal_size import terminal_size
from hame.config.accents import accent_code

_PASTE_ON, _PASTE_OFF = "\x1b[?2004h", "\x1b[?2004l"


def terminal_view(
    launch: Launch,
    typed: Callable[[], str | None] = lambda: None,
    drawing: Drawing | None = None,
) -> TerminalView:
    """A view on this process's terminal."""
    return TerminalView(
        Screen(sys.stdout, terminal_size),
        paint_for(launch, terminal=True),
        drawing=drawing or new_drawing(launch),
        show_thinking=launch.settings.show_thinking,
        typed=typed,
    )


def new_drawing(launch: Launch) -> Drawing:
    """Draws Markdown in the user's colour."""
    return Drawing(accent_code(launch.settings.accent) or "36")


@contextmanager
def keys_to(
    feed: Callable[[bytes], None], resumed: Callable[[], None]
) -> Generator[Callable[[], None]]:
    """Send what is typed to `feed` key by key while the block runs on the event loop.

    Typed characters are not echoed. Ctrl-C still interrupts; Ctrl-Z gives the terminal back as it
    was for as long as hame is stopped. What is yielded puts the terminal right at once.
    """
    loop, descriptor = asyncio.get_running_loop(), sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)

    def enter() -> None:
        tty.setcbreak(descriptor, termios.TCSADRAIN)
        sys.stdout.write(_PASTE_ON)
        sys.stdout.flush()

    def leave() -> None:
        sys.stdout.write(_PASTE_OFF)
        sys.stdout.flush()
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)

    def suspend() -> None:
        loop.remove_signal_handler(signal.SIGTSTP)
        leave()
        stop_here()
        enter()
        loop.add_signal_handler(signal.SIGTSTP, suspend)
        resumed()

    enter()
    loop.add_reader(descriptor, lambda: feed(os.read(descriptor, 4096)))
    loop.add_signal_handler(signal.SIGTSTP, suspend)
    try:
        yield leave
    finally:
        loop.remove_signal_handler(signal.SIGTSTP)
        loop.remove_reader(descriptor)
        leave()


@contextmanager
def lines_to(
    feed: Callable[[bytes], None], _resumed: Callable[[], None]
) -> Generator[Callable[[], None]]:
    """Send what is typed to `feed` line by line, for terminals that know no escapes."""
    loop, descriptor = asyncio.get_running_loop(), sys.stdin.fileno()
    loop.add_reader(descriptor, lambda: feed(os.read(descriptor, 4096)))
    try:
        yield lambda: None
    finally:
        loop.remove_reader(descriptor)
