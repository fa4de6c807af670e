"""The codec of the Responses API."""

from collections.abc import Sequence
from typing import Literal

from hame.base.model import Endpoint, ModelFacts, ModelListing
from hame.base.ports import Decoder, HttpRequest, ModelRequest
from hame.base.stream import StreamEvent
from hame.llm.openai_server import bearer_request, read_listings
from hame.llm.wires.openai_responses.decode import ResponsesDecoder, decode_body
from hame.llm.wires.openai_responses.encode import write_body
from hame.llm.wires.openai_responses.items import WIRE
from hame.llm.wires.openai_responses.messages import ResponsesPage
from hame.llm.written import Written


class ResponsesCodec:
    """Implements `hame.base.ports.Codec`."""

    __slots__ = ("_written",)

    def __init__(self) -> None:
        """Start with nothing written."""
        self._written = Written(ResponsesPage)

    @property
    def name(self) -> str:
        """`openai_responses`."""
        return WIRE

    @property
    def framing(self) -> Literal["sse", "ndjson"]:
        """Server-sent events."""
        return "sse"

    def encode(self, request: ModelRequest, facts: ModelFacts, endpoint: Endpoint) -> HttpRequest:
        """Write a request."""
        items = self._written.page(request, facts).pieces
        return bearer_request("POST", endpoint, "responses", write_body(request, facts, items))

    def decoder(self, facts: ModelFacts) -> Decoder:
        """A decoder for one streamed answer."""
        return ResponsesDecoder(facts)

    def decode_body(self, body: bytes, facts: ModelFacts) -> Sequence[StreamEvent]:
        """Read an answer that came whole."""
        return decode_body(body, facts)

    def list_request(self, endpoint: Endpoint) -> HttpRequest:
        """The request that lists the server's models."""
        return bearer_request("GET", endpoint, "models")

    def decode_list(self, body: bytes) -> Sequence[ModelListing]:
        """Read a list of models.

        Raises:
            ValueError: if the body is no such list.
        """
        return read_listings(body)
