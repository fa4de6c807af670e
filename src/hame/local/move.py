"""Move: lines of the one-line protocol that make sense as the next step."""

from collections.abc import Sequence

import msgspec

from hame.base.lines import Lines

SHOW = "show"
"""Verb of the answer that repeats the last result."""
SAY = "say"
"""Verb of the answer in words."""


class Move(msgspec.Struct, frozen=True):
    """Lines that differ only in their last argument."""

    verb: str
    tool: str = ""
    """Name of the tool; empty for an answer."""
    values: tuple[str, ...] = ()
    """The spoken arguments before the last."""
    separators: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    """What the last argument may be; empty where the verb stands alone."""

    @property
    def prefix(self) -> str:
        """The line up to its last argument."""
        parts = [self.verb]
        for value, before in zip(self.values, (" ", *self.separators), strict=False):
            parts += [before, value]
        if self.choices:
            parts.append((" ", *self.separators)[len(self.values)])
        return "".join(parts)

    @property
    def lines(self) -> Lines:
        """Every line it allows."""
        return Lines(self.prefix, self.choices or ("",))


class Line(msgspec.Struct, frozen=True):
    """A line that was read and is allowed."""

    move: Move
    value: str = ""
    """The last argument."""

    @property
    def spoken(self) -> tuple[str, ...]:
        """Every argument, in the order spoken."""
        return (*self.move.values, self.value) if self.move.choices else self.move.values


def read_line(text: str, moves: Sequence[Move]) -> Line | None:
    """The line, if it is exactly one that the moves allow. A grammar may be ignored by a server."""
    for move in moves:
        if not move.choices:
            if text == move.prefix:
                return Line(move)
        elif text.startswith(move.prefix) and text[len(move.prefix) :] in move.choices:
            return Line(move, text[len(move.prefix) :])
    return None
