"""Words of the model that look like a question of hame's own: such lines get a mark.

Only what hame asks itself begins at the left edge with `? ` or with an answer's key.
"""

import re

_IMITATION = re.compile(r"\?\s|\s{0,4}[ysan]\s{1,4}(?:yes|no)\b|\u276f", re.IGNORECASE)
_NEEDED = 12
"""Characters of a line that tell."""
MARK = "| "


def imitates(line: str) -> bool:
    """Whether a line could be taken for one of a question."""
    return _IMITATION.match(line) is not None


def mark_imitation(line: str) -> str:
    """The line, marked when it imitates one of a question."""
    return MARK + line if imitates(line) else line


class Marking:
    """Marks lines of a text that comes in pieces; a line's beginning waits until it can be told."""

    def __init__(self) -> None:
        """Start at the beginning of a line."""
        self._start, self._inside = "", False

    def feed(self, text: str) -> str:
        """Take more text; what can be written of it."""
        ready: list[str] = []
        for index, piece in enumerate(text.split("\n")):
            if index:
                ready.append(self.finish() + "\n")
            if self._inside:
                ready.append(piece)
                continue
            self._start += piece
            if len(self._start) >= _NEEDED:
                ready.append(mark_imitation(self._start))
                self._start, self._inside = "", True
        return "".join(ready)

    def finish(self) -> str:
        """The line is over: what is left of it."""
        start, self._start, self._inside = self._start, "", False
        return mark_imitation(start)
