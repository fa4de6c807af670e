"""A program's output from bytes to what the model reads, shown while it comes.

What the model does not see of a long output is kept whole as a result.
"""

import codecs
from collections.abc import Callable

from hame.base.ports import Blobs, BlobWriter
from hame.tools.terminal import Terminal
from hame.tools.transcript import KEPT, Transcript

_PROGRESS_LIMIT = 200_000
"""Characters shown while a program runs; a flood is not drawn."""


class Recorder:
    """Takes what a program prints."""

    def __init__(self, progress: Callable[[str], None], blobs: Blobs | None = None) -> None:
        """`progress` takes text for eyes; `blobs` keep what is too long whole."""
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")
        self._transcript = Transcript()
        self._terminal = Terminal(self._commit)
        self._progress = progress
        self._shown = 0
        self._blobs = blobs
        self._early: list[str] = []
        self._size = 0
        self._writer: BlobWriter | None = None

    @property
    def whole(self) -> str | None:
        """Id of the result that holds all of it; None when the model sees all, or nothing was kept."""
        return self._writer.id if self._writer is not None else None

    def take(self, chunk: bytes) -> None:
        """Take what was printed."""
        self._show(self._terminal.feed(self._decoder.decode(chunk)))

    def close(self) -> str:
        """The whole output, as far as it is kept for the model."""
        self._show(self._terminal.feed(self._decoder.decode(b"", final=True)))
        self._terminal.close()
        if self._writer is not None:
            self._writer.close()
        return self._transcript.text()

    def _commit(self, text: str) -> None:
        self._transcript.add(text)
        if self._writer is not None:
            self._writer.write(text)
        elif self._blobs is not None:
            self._early.append(text)
            self._size += len(text)
            if self._size > KEPT:
                self._spill(self._blobs)

    def _spill(self, blobs: Blobs) -> None:
        """More than the model will see: from here on all of it goes to a result."""
        self._writer = blobs.begin()
        if self._writer is None:
            self._blobs = None
        else:
            self._writer.write("".join(self._early))
        self._early.clear()

    def _show(self, text: str) -> None:
        text = text[: _PROGRESS_LIMIT - self._shown]
        if text:
            self._shown += len(text)
            self._progress(text)
