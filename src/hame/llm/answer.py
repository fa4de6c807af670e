"""One answer's body -> events, whether it comes as a stream or whole.

A server may answer a streaming request with one JSON body, with an HTML page or with nothing; the
content type says which, and where it says nothing the first byte does.
"""

from collections.abc import Sequence
from enum import Enum

import msgspec

from hame.base.json import parse
from hame.base.model import ModelFacts
from hame.base.ports import Codec, Decoder, Frame
from hame.base.stream import Completed, Failed, RetryScheduled, StreamEvent, UsageReported
from hame.llm.broken import cut_stream, not_an_answer
from hame.llm.errorbody import read_body
from hame.llm.frames import MAX_EVENT_BYTES, NdjsonFrames, SseFrames

_BOM = b"\xef\xbb\xbf"


class _Form(Enum):
    UNKNOWN = "unknown"
    FRAMES = "frames"
    WHOLE = "whole"


class AnswerReader:
    """Reads one answer. The events end with one `Completed` or `Failed`; nothing follows it."""

    __slots__ = (
        "_body",
        "_codec",
        "_decoder",
        "_facts",
        "_form",
        "_framed",
        "_frames",
        "ended",
        "spoke",
    )

    def __init__(self, codec: Codec, facts: ModelFacts, content_type: str = "") -> None:
        """Start at the beginning of a body with status 200."""
        self._codec = codec
        self._facts = facts
        self._decoder: Decoder = codec.decoder(facts)
        self._frames = NdjsonFrames() if codec.framing == "ndjson" else SseFrames()
        self._form = _form_of(content_type)
        self._framed = False
        """Whether the body had any frame."""
        self._body = bytearray()
        self.spoke = False
        """Whether any of the answer itself (not only a count of tokens) has been read."""
        self.ended = False

    def feed(self, chunk: bytes) -> list[StreamEvent]:
        """The events that a piece of the body completes."""
        if self.ended:
            return []
        if self._form is _Form.FRAMES:
            return self._feed_frames(chunk)
        self._body += chunk
        if len(self._body) > MAX_EVENT_BYTES:
            return self._admit([self._nonsense("the body is too large")])
        if self._form is _Form.UNKNOWN:
            self._form = _sniff(self._body, self._codec.framing)
            if self._form is _Form.FRAMES:
                begun, self._body = bytes(self._body), bytearray()
                return self._feed_frames(begun)
        return []

    def close(self) -> list[StreamEvent]:
        """The body has ended: the rest of the events."""
        if self.ended:
            return []
        if self._form is not _Form.FRAMES:
            return self._close_whole()
        return self._close_frames()

    def _close_frames(self) -> list[StreamEvent]:
        if self.ended:
            return []
        events = self._decode(self._frames.close())
        if not self._framed and self._frames.stray:
            return self._admit([self._nonsense(self._frames.stray)])
        if not self.ended:
            events += self._admit(self._decoder.close())
        return events if self.ended else [*events, *self._admit([self._cut()])]

    def _feed_frames(self, chunk: bytes) -> list[StreamEvent]:
        try:
            frames = self._frames.feed(chunk)
        except ValueError as error:
            return self._admit([self._nonsense(str(error))])
        return self._decode(frames)

    def _decode(self, frames: Sequence[Frame]) -> list[StreamEvent]:
        events: list[StreamEvent] = []
        self._framed = self._framed or bool(frames)
        for frame in frames:
            if self.ended:
                break
            events += self._admit(self._decoder.feed(frame))
        return events

    def _close_whole(self) -> list[StreamEvent]:
        body = bytes(self._body).removeprefix(_BOM)
        if not body.strip():
            return self._admit([self._cut()])
        try:
            parse(body)
        except ValueError:
            lines = self._codec.framing == "ndjson" or _ends_in_json(body)
            if lines and body.lstrip().startswith(b"{"):
                # Lines of JSON behind a proxy that calls them one JSON body.
                return [*self._feed_frames(body), *self._close_frames()]
            return self._admit([self._nonsense(read_body(body).message)])
        return self._admit(self._codec.decode_body(body, self._facts))

    def _admit(self, events: Sequence[StreamEvent]) -> list[StreamEvent]:
        """Pass events on up to the first that ends the answer, and mark what came before it."""
        admitted: list[StreamEvent] = []
        for event in events:
            if self.ended:
                break
            match event:
                case Completed():
                    self.ended = True
                case Failed(failure=failure):
                    self.ended = True
                    late = self.spoke or failure.mid_stream
                    admitted.append(Failed(msgspec.structs.replace(failure, mid_stream=late)))
                    break
                case UsageReported() | RetryScheduled():
                    pass
                case _:
                    self.spoke = True
            admitted.append(event)
        return admitted

    def _cut(self) -> Failed:
        return Failed(cut_stream(self._facts.vendor, mid_stream=self.spoke))

    def _nonsense(self, said: str) -> Failed:
        return Failed(not_an_answer(self._facts.vendor, said, mid_stream=self.spoke))


def _ends_in_json(body: bytes) -> bool:
    """Whether the last line is JSON by itself."""
    try:
        parse(body.strip().splitlines()[-1])
    except ValueError:
        return False
    return True


def _form_of(content_type: str) -> _Form:
    kind = content_type.partition(";")[0].strip().lower()
    if kind in {"text/event-stream", "application/x-ndjson", "application/ndjson"}:
        return _Form.FRAMES
    if kind in {"application/json", "text/html"}:
        return _Form.WHOLE
    return _Form.UNKNOWN


def _sniff(body: bytearray, framing: str) -> _Form:
    """Tell by the first byte: JSON and HTML come whole, except that NDJSON begins like JSON."""
    if _BOM.startswith(body):
        return _Form.UNKNOWN
    begun = body.removeprefix(_BOM).lstrip()[:1]
    if not begun:
        return _Form.UNKNOWN
    whole = b"<[" if framing == "ndjson" else b"<[{"
    return _Form.WHOLE if begun in whole else _Form.FRAMES
