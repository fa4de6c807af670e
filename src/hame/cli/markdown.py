"""Markdown as it streams: where one block ends and the next begins.

The blocks are those of CommonMark as far as a terminal needs them: fenced code, and everything else
up to an empty line; a list goes on over empty lines while what follows is indented or an item.
"""

import re

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ITEM = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])(?:\s|$)")


class Blocks:
    """Takes text as it comes and hands out the blocks that are whole."""

    def __init__(self) -> None:
        """Start with no text."""
        self._lines: list[str] = []
        self._partial = ""
        self._fence = ""
        self._list = False

    @property
    def tail(self) -> str:
        """The block that is still being written."""
        return "\n".join([*self._lines, self._partial]).strip("\n")

    def feed(self, text: str) -> list[str]:
        """Take more text; the blocks that it completed."""
        done: list[str] = []
        *lines, self._partial = (self._partial + text).split("\n")
        for line in lines:
            done += self._take(line)
        return done

    def finish(self) -> list[str]:
        """The text is over: the blocks that are left."""
        line, self._partial = self._partial, ""
        return self._take(line) + self._close()

    def _take(self, line: str) -> list[str]:
        if self._fence:
            self._lines.append(line)
            return self._close() if self._closes(line) else []
        done: list[str] = []
        if self._lines and not self._lines[-1].strip() and not self._continues(line):
            done = self._close()
        if not line.strip():
            if not self._list:
                return done + self._close()
            self._lines.append(line)
            return done
        if not self._lines:
            self._list = _ITEM.match(line) is not None
        fence = _FENCE.match(line)
        if fence and not (self._list and line.startswith(" ")):
            done += self._close()
            self._fence = fence[1]
        self._lines.append(line)
        return done

    def _closes(self, line: str) -> bool:
        bare = line.strip()
        return len(bare) >= len(self._fence) and not bare.strip(self._fence[0])

    def _continues(self, line: str) -> bool:
        return not line.strip() or line.startswith((" ", "\t")) or _ITEM.match(line) is not None

    def _close(self) -> list[str]:
        block = "\n".join(self._lines).strip("\n")
        self._lines, self._fence, self._list = [], "", False
        return [block] if block.strip() else []
