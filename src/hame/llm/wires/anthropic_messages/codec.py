"""The codec of Anthropic's Messages."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hame.base.json import JsonObject, as_list, get_int, get_objects, get_string, parse_object
from hame.base.model import Endpoint, ModelFacts, ModelListing
from hame.base.ports import HttpRequest, ModelRequest
from hame.llm.paged import PagedCodec
from hame.llm.wires.anthropic_messages.decode import MessagesDecoder, decode_body
from hame.llm.wires.anthropic_messages.encode import address, encode
from hame.llm.wires.anthropic_messages.messages import MessagesPage
from hame.llm.wires.anthropic_messages.opaque import WIRE

if TYPE_CHECKING:
    from hame.llm.counting import Counting


class MessagesCodec(PagedCodec[MessagesPage]):
    """Implements `hame.base.ports.Codec`."""

    __slots__ = ()

    def __init__(self) -> None:
        """Start with nothing written."""
        super().__init__(WIRE, MessagesPage, MessagesDecoder, decode_body)

    def encode(self, request: ModelRequest, facts: ModelFacts, endpoint: Endpoint) -> HttpRequest:
        """Write a request."""
        return encode(request, facts, endpoint, self.page(request, facts))

    def counting(self) -> "Counting":
        """How requests are counted."""
        import hame.llm.wires.anthropic_messages.counting as way  # Seldom asked.

        return way

    def list_request(self, endpoint: Endpoint) -> HttpRequest:
        """The request that lists the server's models."""
        return address("GET", endpoint, "models", query=(("limit", "1000"),))

    def decode_list(self, body: bytes) -> Sequence[ModelListing]:
        """Read a list of models.

        Raises:
            ValueError: if the body is no such list.
        """
        answer = parse_object(body)
        if answer is None or as_list(answer.get("data")) is None:
            raise ValueError("the answer holds no list of models")
        listed = [_listing(entry) for entry in get_objects(answer, "data")]
        return [listing for listing in listed if listing.id]


def _listing(entry: JsonObject) -> ModelListing:
    return ModelListing(
        id=get_string(entry, "id") or "",
        display_name=get_string(entry, "display_name") or "",
        context_window=get_int(entry, "max_input_tokens"),
        max_output=get_int(entry, "max_tokens"),
    )
