"""Ctrl-Z: hame stops, with the terminal as it was, until the shell brings it back."""

import signal
from types import FrameType
from typing import NoReturn


class StopAskedError(Exception):
    """Ctrl-Z was pressed while readline held the terminal."""


def stop_here() -> None:
    """Stop this process until it is told to go on.

    The system's own way: where no shell is there to bring hame back, nothing happens.
    """
    before = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
    signal.raise_signal(signal.SIGTSTP)
    signal.signal(signal.SIGTSTP, before)


def read_line(mark: str, begun: str = "") -> str:
    """A line by readline, which after Ctrl-Z is there again as it was; `begun` is in it already.

    Readline leaves signals to Python. Stopped in its midst, it would come back to a terminal that is
    set up for something else, and not draw the line again; so it ends the line, and is asked anew.

    Raises:
        EOFError: on Ctrl-D.
        KeyboardInterrupt: on Ctrl-C.
    """
    import readline

    def stop(_number: int, _frame: FrameType | None) -> NoReturn:
        raise StopAskedError

    while True:
        readline.set_startup_hook(
            (lambda text=begun: readline.insert_text(text)) if begun else None
        )
        before = signal.signal(signal.SIGTSTP, stop)
        try:
            return input(mark)
        except StopAskedError:
            begun = readline.get_line_buffer()
        finally:
            signal.signal(signal.SIGTSTP, before)
            readline.set_startup_hook(None)
        stop_here()
