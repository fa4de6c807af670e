"""A program's output from bytes to what the model reads, shown while it comes."""

import codecs
from collections.abc import Callable

from hame.tools.terminal import Terminal
from hame.tools.transcript import Transcript

_PROGRESS_LIMIT = 200_000
"""Characters shown while a program runs; a flood is not drawn."""


class Recorder:
    """Takes what a program prints."""

    def __init__(self, progress: Callable[[str], None]) -> None:
        """`progress` takes text for eyes."""
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")
        self._transcript = Transcript()
        self._terminal = Terminal(self._transcript.add)
        self._progress = progress
        self._shown = 0

    def take(self, chunk: bytes) -> None:
        """Take what was printed."""
        self._show(self._terminal.feed(self._decoder.decode(chunk)))

    def close(self) -> str:
        """The whole output, as far as it is kept."""
        self._show(self._terminal.feed(self._decoder.decode(b"", final=True)))
        self._terminal.close()
        return self._transcript.text()

    def _show(self, text: str) -> None:
        text = text[: _PROGRESS_LIMIT - self._shown]
        if text:
            self._shown += len(text)
            self._progress(text)
