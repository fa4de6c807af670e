"""Bytes of a streamed body -> frames. Holds no socket and knows no vendor.

Both classes take the body in whatever pieces it arrives. Text is decoded line by line, never piece by
piece, so a character cut in two by the network stays whole. An event larger than the limit raises
ValueError: the stream is not what it claims to be.

Server-sent events: https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
"""

from hame.base.json import parse
from hame.base.ports import Frame

MAX_EVENT_BYTES = 64 * 1024 * 1024
"""Room for a generated picture in base64; beyond it the stream is taken for broken."""

_FIELDS = frozenset({b"", b"data", b"event", b"id", b"retry"})
"""What lines of such a stream begin with; a comment begins with its colon."""
_BOM = b"\xef\xbb\xbf"


class _Lines:
    """Splits bytes into lines at LF, CR and CRLF, wherever the pieces were cut."""

    __slots__ = ("_after_cr", "_limit", "_partial", "_started")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._partial = bytearray()
        self._after_cr = False
        self._started = False

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that are whole now, without their endings.

        Raises:
            ValueError: if a line is longer than the limit.
        """
        if self._after_cr and chunk[:1] == b"\n":
            chunk = chunk[1:]
            self._after_cr = False
        if not chunk:
            return []
        self._after_cr = chunk.endswith(b"\r")
        pieces = chunk.splitlines(keepends=True)
        self._partial += pieces[0]
        if len(self._partial) > self._limit:
            raise ValueError(f"an event is larger than {self._limit} bytes")
        if len(pieces) == 1 and not _ended(pieces[0]):
            return []
        lines = [self._begin(bytes(self._partial).rstrip(b"\r\n"))]
        self._partial.clear()
        if len(pieces) > 1:
            lines.extend(piece.rstrip(b"\r\n") for piece in pieces[1:-1])
            if _ended(pieces[-1]):
                lines.append(pieces[-1].rstrip(b"\r\n"))
            else:
                self._partial += pieces[-1]
        return lines

    def rest(self) -> bytes:
        """The last line when nothing ended it."""
        rest = self._begin(bytes(self._partial)) if self._partial else b""
        self._partial.clear()
        return rest

    def _begin(self, line: bytes) -> bytes:
        if self._started:
            return line
        self._started = True
        return line.removeprefix(_BOM)


class SseFrames:
    """Server-sent events.

    Servers that give up midway sometimes write a bare JSON object or `[DONE]` without `data:`; lines
    that begin so are kept as the data of an event of their own. Others leave out the blank line between
    two events; lines that are each whole where they are not together count as events.
    """

    __slots__ = ("_bare", "_data", "_event", "_limit", "_lines", "_size", "stray")

    def __init__(self, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        """Start at the beginning of a body."""
        self._limit = max_event_bytes
        self._lines = _Lines(max_event_bytes)
        self.stray = ""
        """The first line that is none of such a stream: what a server says that speaks otherwise."""
        self._data: list[bytes] = []
        self._bare = False
        self._event = ""
        self._size = 0

    def feed(self, chunk: bytes) -> list[Frame]:
        """The events that are whole now.

        Raises:
            ValueError: if an event is too large.
        """
        frames: list[Frame] = []
        for line in self._lines.feed(chunk):
            if line:
                self._take(line)
            else:
                self._dispatch(frames)
        return frames

    def close(self) -> list[Frame]:
        """The body has ended: the last event when no blank line ended it.

        An event whose last line was cut in the middle of its JSON is dropped.
        """
        rest = self._lines.rest()
        if rest:
            self._take(rest)
        frames: list[Frame] = []
        self._dispatch(frames)
        return [frame for frame in frames if not rest or _whole(frame.data)]

    def _take(self, line: bytes) -> None:
        if self._bare or (not self._data and line[:1] in b"{["):
            self._bare = True
            self._add(line)
            return
        name, _, value = line.partition(b":")
        if name not in _FIELDS and not self.stray:
            self.stray = line.decode("utf-8", "replace")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._add(value)
        elif name == b"event":
            self._event = value.decode("utf-8", "replace")

    def _add(self, line: bytes) -> None:
        self._size += len(line)
        if self._size > self._limit:
            raise ValueError(f"an event is larger than {self._limit} bytes")
        self._data.append(line)

    def _dispatch(self, frames: list[Frame]) -> None:
        if self._data:
            data = b"\n".join(self._data).decode("utf-8", "replace")
            frames.extend(Frame(part, self._event) for part in _parts(data))
        self._data = []
        self._bare = False
        self._event = ""
        self._size = 0


class NdjsonFrames:
    """Newline-delimited JSON: one frame a line, blank lines skipped."""

    __slots__ = ("_lines",)
    stray = ""
    """Here every line is one of the stream."""

    def __init__(self, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        """Start at the beginning of a body."""
        self._lines = _Lines(max_event_bytes)

    def feed(self, chunk: bytes) -> list[Frame]:
        """The lines that are whole now.

        Raises:
            ValueError: if a line is too long.
        """
        lines = self._lines.feed(chunk)
        return [Frame(line.decode("utf-8", "replace")) for line in lines if line.strip()]

    def close(self) -> list[Frame]:
        """The last line when nothing ended it; dropped if its JSON was cut."""
        rest = self._lines.rest().decode("utf-8", "replace")
        return [Frame(rest)] if rest.strip() and _whole(rest) else []


def _ended(piece: bytes) -> bool:
    return piece.endswith((b"\n", b"\r"))


def _parts(data: str) -> list[str]:
    """The events in the data of one: its lines, where each is JSON and all of them together are not."""
    lines = data.split("\n")
    if len(lines) == 1 or _whole(data) or not all(_whole(line) for line in lines if line.strip()):
        return [data]
    return lines


def _whole(data: str) -> bool:
    if data.strip() == "[DONE]":
        return True
    try:
        parse(data)
    except ValueError:
        return False
    return True
