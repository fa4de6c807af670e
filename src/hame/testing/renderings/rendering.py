"""What the server needs of a wire, and how frames are written."""

from collections.abc import Iterator, Sequence
from typing import Protocol

import msgspec

from hame.base.json import JsonObject, dump_bytes
from hame.base.message import Assistant, Opaque, StopReason
from hame.base.model import Usage


class Utterance(msgspec.Struct, frozen=True, kw_only=True):
    """An answer about to be sent."""

    answer: Assistant
    number: int
    """Which answer of the server it is, from 1; makes ids."""
    model: str
    usage: Usage
    usage_asked: bool = True
    """Whether the request asked for its usage, where a wire leaves that to the request."""

    def stop(self, words: dict[StopReason, str], usual: str) -> str:
        """The wire's own word for why it stopped."""
        return self.answer.raw_stop_reason or words.get(self.answer.stop_reason, usual)


class Rendering(Protocol):
    """One wire, from the server's side."""

    @property
    def wire(self) -> str:
        """Its name, as catalogue rows say it."""
        ...

    @property
    def media_type(self) -> str:
        """Content type of a streamed answer."""
        ...

    @property
    def streams_unasked(self) -> bool:
        """Whether the answer is streamed when the request does not say."""
        ...

    def answers(self, path: str) -> bool:
        """Whether a POST to this path asks for an answer on this wire."""
        ...

    def prefix(self, request: JsonObject) -> Sequence[object]:
        """The parts of a request in the order in which providers cache them."""
        ...

    def stream(self, said: Utterance) -> Iterator[bytes]:
        """The frames of a streamed answer."""
        ...

    def whole(self, said: Utterance) -> JsonObject:
        """The body of an answer that is not streamed."""
        ...

    def error(self, status: int, message: str, /) -> JsonObject:
        """The body that goes with a status of 400 or more."""
        ...


def sse(data: object, event: str = "") -> bytes:
    """One server-sent event with JSON data."""
    head = f"event: {event}\n".encode() if event else b""
    return head + b"data: " + dump_bytes(data) + b"\n\n"


def pieces(text: str, size: int = 24) -> list[str]:
    """The text in pieces of that many characters."""
    return [text[at : at + size] for at in range(0, len(text), size)]


def own_payload(block: Opaque, wire: str) -> JsonObject:
    """The payload of an opaque block of this wire.

    Raises:
        ValueError: for one of another wire, which no server of this one would send.
    """
    if block.wire != wire:
        raise ValueError(f"a block of {block.wire} cannot be said on {wire}")
    return block.payload


ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}
"""Names that Anthropic, and in part OpenAI, give to errors by status."""
