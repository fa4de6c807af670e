"""The bottom of the terminal: lines that stay, and below them a few that are drawn again and again.

Everything that has scrolled away is the terminal's own history and is never touched again.
"""

import re
from collections.abc import Callable, Sequence
from typing import TextIO

from hame.cli.cells import width

_ESCAPES = re.compile(r"\x1b\[[0-9;]*m")
_BEGIN, _END = "\x1b[?2026h", "\x1b[?2026l"
"""Synchronized output: a terminal that knows it shows all of it at once, others ignore it."""


def without_escapes(line: str) -> str:
    """What a line of hame's own shows, without its colours."""
    return _ESCAPES.sub("", line)


class Screen:
    """Owns the lines below the last one that stays."""

    def __init__(self, out: TextIO, size: Callable[[], tuple[int, int]]) -> None:
        """`size` gives columns and rows as they are now."""
        self._out = out
        self._size = size
        self._live: list[str] = []

    @property
    def columns(self) -> int:
        """Cells of a line; the last column stays free, terminals differ in how they wrap there."""
        return max(self._size()[0] - 1, 10)

    @property
    def rows(self) -> int:
        """Lines that the terminal shows."""
        return max(self._size()[1], 4)

    def draw(self, stay: Sequence[str], live: Sequence[str]) -> None:
        """Write lines that stay and redraw the live ones; a line is at most `columns` wide.

        Of the live lines, the last that fit the screen are shown; the cursor stands after them.
        """
        shown = list(live)[-(self.rows - 1) :]
        if not stay and shown == self._live:
            return
        parts = [_BEGIN, self._erasure(), *(f"{line}\n" for line in stay), "\n".join(shown), _END]
        self._out.write("".join(parts))
        self._out.flush()
        self._live = shown

    def forget(self) -> None:
        """The live lines are no longer where they were; do not erase them."""
        self._live = []

    def _erasure(self) -> str:
        if not self._live:
            return ""
        up = sum(self._rows_of(line) for line in self._live) - 1
        return (f"\x1b[{up}A" if up else "") + "\r\x1b[J"

    def _rows_of(self, line: str) -> int:
        """Rows that a line takes now, which is more than one after the terminal got narrower."""
        columns = max(self._size()[0], 1)
        return max(-(-width(without_escapes(line)) // columns), 1)
