"""What a terminal would show in the end: carriage returns, backspaces and escape sequences resolved.

Only the last lines can still change, as on a screen; what has left them is final. Memory is bounded
whatever comes. Sequences: ECMA-48 (https://ecma-international.org/publications-and-standards/standards/ecma-48/).
"""

import re
from collections.abc import Callable

_ROWS = 48
"""Lines that the cursor can still reach."""
_ROW_LENGTH = 4_000
"""A longer line is passed on in pieces."""
_FURTHEST_COLUMN = 1_000
"""How far a sequence may move the cursor to the right."""
_PENDING = 4_096
"""An escape sequence that is longer is none."""

_PLAIN = re.compile(r"[\t\n\x20-\x7e\xa0-\U0010ffff]*")
_TOKEN = re.compile(
    r"(?P<text>[\t\x20-\x7e\xa0-\U0010ffff]+)"
    r"|\x1b\[(?P<parameters>[0-?]*)[ -/]*(?P<final>[@-~])"
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"
    r"|\x1b[PX^_][^\x1b]*\x1b\\"
    r"|\x1b[ -/]*[0-OQ-WYZ`-~\\]"
    r"|(?P<control>\x00+|[\x01-\x1f\x7f-\x9f])"
)
_COLOUR = re.compile(r"\x1b\[[0-9;:]*m")
_UNFINISHED = re.compile(
    r"(?:\x1b(?:\[[0-?]*[ -/]*|\][^\x07\x1b]*\x1b?|[PX^_][^\x1b]*\x1b?|[ -/]*)?|\r)\Z"
)
"""What the next piece may complete: an escape sequence, or a line ending."""


class Terminal:
    """Takes output as it comes and hands on lines once they can no longer change."""

    def __init__(self, commit: Callable[[str], None]) -> None:
        """`commit` takes final text, in order."""
        self._commit = commit
        self._rows = [""]
        self._row = 0
        self._column = 0
        self._pending = ""

    def feed(self, text: str) -> str:
        """Take output. Returns its plain text, for eyes that watch it come."""
        text = self._hold_back(self._pending + text)
        if "\x1b" in text:
            text = _COLOUR.sub("", text)
        text = text.replace("\r\n", "\n")
        if self._at_end() and _PLAIN.fullmatch(text):
            self._append(text)
            return text
        return self._interpret(text)

    def close(self) -> None:
        """The output has ended: everything left is final."""
        self._commit("\n".join(self._rows))
        self._rows, self._row, self._column = [""], 0, 0

    def _hold_back(self, text: str) -> str:
        """The text without what the next piece may complete, which is kept for then."""
        found = _UNFINISHED.search(text, max(len(text) - _PENDING, 0))
        end = found.start() if found else len(text)
        self._pending = text[end:]
        return text[:end]

    def _at_end(self) -> bool:
        return self._row == len(self._rows) - 1 and self._column == len(self._rows[-1])

    def _append(self, text: str) -> None:
        """Text without control characters at the very end: most output, and done in bulk."""
        rows = ("\n".join(self._rows) + text).rsplit("\n", _ROWS - 1)
        if "\n" in rows[0]:
            final, rows[0] = rows[0].rsplit("\n", 1)
            self._commit(final + "\n")
        self._rows = rows
        self._row = len(self._rows) - 1
        self._column = len(self._rows[-1])
        self._shorten()

    def _interpret(self, text: str) -> str:
        plain: list[str] = []
        at = 0
        while at < len(text):
            found = _TOKEN.match(text, at)
            if found is None:
                at += 1
                continue
            at = found.end()
            if found["text"]:
                self._write(found["text"])
                plain.append(found["text"])
            elif found["control"]:
                plain.append(self._control(found["control"]))
            elif found["final"]:
                self._sequence(found["final"], found["parameters"])
        return "".join(plain)

    def _write(self, text: str) -> None:
        row = self._rows[self._row].ljust(self._column)
        end = self._column + len(text)
        self._rows[self._row] = row[: self._column] + text + row[end:]
        self._column = end
        self._shorten()

    def _shorten(self) -> None:
        """Pass on a line that has grown too long to be kept, with all before it."""
        if len(self._rows[self._row]) > _ROW_LENGTH:
            self._commit("\n".join(self._rows))
            self._rows, self._row, self._column = [""], 0, 0

    def _control(self, control: str) -> str:
        match control:
            case "\n" | "\x0b" | "\x0c":
                self._next_line()
                return "\n"
            case "\r":
                self._column = 0
                return "\n"
            case "\b":
                self._column = max(self._column - 1, 0)
                return ""
            case _ if control[0] == "\0":
                visible = control.replace("\0", "\\0")
                self._write(visible)
                return visible
            case _:
                return ""

    def _next_line(self) -> None:
        self._row += 1
        self._column = 0
        if self._row == len(self._rows):
            self._rows.append("")
        if len(self._rows) > _ROWS:
            self._commit(self._rows.pop(0) + "\n")
            self._row -= 1

    def _sequence(self, final: str, parameters: str) -> None:
        """Move the cursor or erase; colours and everything else change nothing that is kept."""
        first = parameters.split(";", 1)[0]
        number = int(first[:6]) if first.isdecimal() else None
        steps = max(number or 1, 1)
        match final:
            case "A" | "F":
                self._row = max(self._row - steps, 0)
            case "B" | "E":
                self._row = min(self._row + steps, len(self._rows) - 1)
            case "C":
                self._column = min(self._column + steps, max(self._column, _FURTHEST_COLUMN))
            case "D":
                self._column = max(self._column - steps, 0)
            case "G" | "`":
                self._column = min(steps - 1, _FURTHEST_COLUMN)
            case "H" | "f":
                self._fresh_line()
            case "K" | "J":
                self._erase(final, number or 0)
            case _:
                pass
        if final in "EF":
            self._column = 0

    def _fresh_line(self) -> None:
        """Where a program draws a screen anew, begin below what is there."""
        self._row = len(self._rows) - 1
        self._column = 0
        if self._rows[-1]:
            self._next_line()

    def _erase(self, final: str, how: int) -> None:
        row = self._rows[self._row]
        match how:
            case 0:
                self._rows[self._row] = row[: self._column]
                if final == "J":
                    del self._rows[self._row + 1 :]
            case 1 if final == "K":
                self._rows[self._row] = " " * min(self._column, len(row)) + row[self._column :]
            case 2 if final == "K":
                self._rows[self._row] = ""
            case _:
                pass
