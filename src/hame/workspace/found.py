"""What a search keeps while it runs: the first few in order, and how many there were."""

from typing import Generic, TypeVar

import msgspec

LINE_LIMIT = 4_000
"""Characters of a matching line that are kept."""
_BEFORE_MATCH = 1_000
"""Characters kept before the match in a line that is cut."""


_Item = TypeVar("_Item")
_SLACK = 1_000


class Line(msgspec.Struct, frozen=True):
    """A line that matches."""

    number: int
    text: str
    column: int
    """Where in `text` the match begins, from 1."""


class FileLines(msgspec.Struct):
    """The lines of one file that match."""

    path: str
    """Relative to where the search began."""
    limit: int
    """How many are kept."""
    kept: list[Line] = msgspec.field(default_factory=list[Line])
    """The first ones."""
    total: int = 0

    def add(self, number: int, text: str, column: int) -> None:
        """Take a line in, without its ending; the match begins at `column`, from 1."""
        self.total += 1
        if len(self.kept) < self.limit:
            self.kept.append(clip(Line(number, text, column)))


class First(Generic[_Item]):
    """The first `limit` items by their key, out of any number, in bounded memory."""

    def __init__(self, limit: int) -> None:
        """Keep that many."""
        self._limit = max(limit, 0)
        self._kept: list[tuple[tuple[str, int], _Item]] = []
        self.total = 0

    def add(self, key: tuple[str, int], item: _Item) -> None:
        """Take one in."""
        self.total += 1
        self._kept.append((key, item))
        if len(self._kept) > 2 * self._limit + _SLACK:
            self._cut()

    def items(self) -> list[_Item]:
        """The first ones in order."""
        self._cut()
        return [item for _, item in self._kept]

    def _cut(self) -> None:
        self._kept.sort(key=lambda kept: kept[0])
        del self._kept[self._limit :]


def clip(line: Line) -> Line:
    """A line that is too long, cut around its match, with a count of what is missing."""
    if len(line.text) <= LINE_LIMIT:
        return line
    start = max(min(line.column - 1 - _BEFORE_MATCH, len(line.text) - LINE_LIMIT), 0)
    mark = "\u2026" if start else ""
    part = line.text[start : start + LINE_LIMIT]
    left_out = f" [{len(line.text) - LINE_LIMIT:,} more characters]"
    return Line(line.number, f"{mark}{part}{left_out}", line.column - start + len(mark))
