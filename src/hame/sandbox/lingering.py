"""Masks that outlast their command for a moment.

The next command nearly always wants the same ones, and to take sixteen folders away costs some file systems
forty milliseconds: a moment after the last command nobody waits for that.
"""

import threading
from contextlib import suppress

import msgspec

from hame.sandbox.masks import Hold


class _Left(msgspec.Struct):
    hold: Hold
    wait_s: float
    """How long its sandbox may need to be gone."""


class Lingering:
    """The latest hold whose command has ended; it is let go of when no other has followed."""

    def __init__(self, linger_s: float) -> None:
        """Nothing is held. 0 seconds: nothing ever is."""
        self._linger_s = linger_s
        self._turn = threading.Lock()
        self._left: _Left | None = None
        self._timer: threading.Timer | None = None

    def take(self, hold: Hold, wait_s: float) -> None:
        """Keep a hold for a moment; the one before is let go of now, with what only it needed."""
        if not self._linger_s:
            _release(_Left(hold, wait_s))
            return
        with self._turn:
            before, self._left = self._left, _Left(hold, wait_s)
            self._wait_anew()
        _release(before)

    def end(self) -> None:
        """Let go of what is held; called at the end, and when the moment is over."""
        with self._turn:
            last, self._left = self._left, None
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
        _release(last)

    def _wait_anew(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = threading.Timer(self._linger_s, self.end)
        self._timer.daemon = True
        self._timer.start()


def _release(left: _Left | None) -> None:
    # What cannot be taken away now is in the register: the next sandbox, or the next hame, does it.
    with suppress(OSError):
        if left is not None:
            left.hold.release(left.wait_s)
