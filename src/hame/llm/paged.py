"""What the codecs of all wires have in common: a page for each conversation, and a decoder."""

from collections.abc import Callable, Sequence
from typing import Generic, Literal

from hame.base.model import ModelFacts
from hame.base.ports import Decoder, ModelRequest
from hame.base.stream import StreamEvent
from hame.llm.written import PageT, Written


class PagedCodec(Generic[PageT]):
    """The part of `hame.base.ports.Codec` that is the same on every wire."""

    __slots__ = ("_decoder", "_name", "_read", "_written")

    framing: Literal["sse", "ndjson"] = "sse"
    """How frames lie in a streamed body."""

    def __init__(
        self,
        name: str,
        page: Callable[[ModelFacts], PageT],
        decoder: Callable[[ModelFacts], Decoder],
        read: Callable[[bytes, ModelFacts], Sequence[StreamEvent]],
    ) -> None:
        """Start with nothing written.

        `page` begins the wire form of a conversation, `decoder` reads a streamed answer, and `read`
        one that came whole.
        """
        self._name = name
        self._written = Written(page)
        self._decoder = decoder
        self._read = read

    @property
    def name(self) -> str:
        """The wire's name, as catalogue rows say it."""
        return self._name

    def page(self, request: ModelRequest, facts: ModelFacts) -> PageT:
        """The wire form of a request's messages."""
        return self._written.page(request, facts)

    def decoder(self, facts: ModelFacts) -> Decoder:
        """A decoder for one streamed answer."""
        return self._decoder(facts)

    def decode_body(self, body: bytes, facts: ModelFacts) -> Sequence[StreamEvent]:
        """Read an answer that came whole."""
        return self._read(body, facts)
