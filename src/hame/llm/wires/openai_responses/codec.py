"""The codec of the Responses API."""

from typing import TYPE_CHECKING

from hame.base.model import Endpoint, ModelFacts
from hame.base.ports import HttpRequest, ModelRequest
from hame.llm.openai_server import BearerCodec, bearer_request
from hame.llm.wires.openai_responses.decode import ResponsesDecoder, decode_body
from hame.llm.wires.openai_responses.encode import write_body
from hame.llm.wires.openai_responses.items import WIRE
from hame.llm.wires.openai_responses.messages import ResponsesPage

if TYPE_CHECKING:
    from hame.llm.counting import Counting
    from hame.llm.embedding import Embedding


class ResponsesCodec(BearerCodec[ResponsesPage]):
    """Implements `hame.base.ports.Codec`."""

    __slots__ = ()

    def __init__(self) -> None:
        """Start with nothing written."""
        super().__init__(WIRE, ResponsesPage, ResponsesDecoder, decode_body)

    def encode(self, request: ModelRequest, facts: ModelFacts, endpoint: Endpoint) -> HttpRequest:
        """Write a request."""
        items = self.page(request, facts).pieces
        return bearer_request("POST", endpoint, "responses", write_body(request, facts, items))

    def embedding(self) -> "Embedding":
        """How texts become vectors."""
        import hame.llm.openai_embedding as way  # Seldom asked.

        return way

    def counting(self) -> "Counting":
        """How requests are counted."""
        import hame.llm.wires.openai_responses.counting as way  # Seldom asked.

        return way
