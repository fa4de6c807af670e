"""What is typed while a run is going: keys in, lines out.

The terminal is in cbreak mode then, so that the typed text can be shown below the running output;
this is a line editor of few keys: erase a character, a word or the line, begin a new one, paste, send.
"""

import codecs
import re

import msgspec

_ESCAPE = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|O.|[^\[O])")
_PASTE_ON, _PASTE_OFF = "\x1b[200~", "\x1b[201~"
_NEW_LINE = ("\x1b\r", "\x1b\n")
"""Alt-Enter."""
_LONGEST_ESCAPE = 16


class Sent(msgspec.Struct, frozen=True):
    """A line was sent."""

    text: str


class Closed(msgspec.Struct, frozen=True):
    """Ctrl-D on an empty line."""


class LineEditor:
    """Holds the line that is being typed."""

    def __init__(self) -> None:
        """Start with an empty line."""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._pending = ""
        self._pasting = False
        self.text = ""
        """The line so far; pasted line breaks are in it."""

    def feed(self, data: bytes) -> list[Sent | Closed]:
        """Take what was typed; what it came to."""
        events: list[Sent | Closed] = []
        self._pending += self._decoder.decode(data)
        while self._pending:
            if self._pasting:
                if not self._take_paste():
                    break
            elif self._pending[0] == "\x1b":
                if not self._take_escape():
                    break
            else:
                key, self._pending = self._pending[0], self._pending[1:]
                self._take_key(key, events)
        return events

    def take(self) -> str:
        """The unfinished line, which is then empty."""
        text, self.text = self.text, ""
        return text

    def _take_paste(self) -> bool:
        """Take pasted text up to its end; False when more is to come."""
        body, end, rest = self._pending.partition(_PASTE_OFF)
        if end:
            self._insert_paste(body)
            self._pending, self._pasting = rest, False
            return True
        # What might be the beginning of the end mark waits for the rest of it.
        keep = next(
            (
                size
                for size in range(len(_PASTE_OFF) - 1, 0, -1)
                if body.endswith(_PASTE_OFF[:size])
            ),
            0,
        )
        self._insert_paste(body[: len(body) - keep])
        self._pending = body[len(body) - keep :]
        return False

    def _insert_paste(self, text: str) -> None:
        self.text += text.replace("\r\n", "\n").replace("\r", "\n")

    def _take_escape(self) -> bool:
        """Leave out an escape sequence; False when it is not whole yet."""
        match = _ESCAPE.match(self._pending)
        if match is None:
            if len(self._pending) <= _LONGEST_ESCAPE:
                return False
            self._pending = self._pending[1:]
            return True
        self._pending = self._pending[match.end() :]
        self._pasting = match.group() == _PASTE_ON
        if match.group() in _NEW_LINE:
            self.text += "\n"
        return True

    def _take_key(self, key: str, events: list[Sent | Closed]) -> None:
        match key:
            case "\r" | "\n" if self.text.endswith("\\") and not self.text.endswith("\\\\"):
                self.text = self.text[:-1] + "\n"
            case "\r" | "\n":
                events.append(Sent(self.take()))
            case "\x7f" | "\x08":
                self.text = self.text[:-1]
            case "\x15":
                self.text = ""
            case "\x17":
                self.text = re.sub(r"\S*\s*$", "", self.text)
            case "\x04" if not self.text:
                events.append(Closed())
            case "\t":
                self.text += " "
            case _ if key.isprintable():
                self.text += key
            case _:
                pass
