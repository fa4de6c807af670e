"""The codec of Gemini's generateContent."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hame.base.json import (
    JsonObject,
    as_list,
    dump_bytes,
    get_int,
    get_list,
    get_objects,
    get_string,
    parse_object,
)
from hame.base.model import Endpoint, ModelFacts, ModelListing
from hame.base.ports import HttpRequest, ModelRequest
from hame.llm.paged import PagedCodec
from hame.llm.storage import StorageTerms, StoredContent
from hame.llm.wires.gemini.address import resource, write_request
from hame.llm.wires.gemini.cached import (
    drop_request,
    list_request,
    make_request,
    read_content,
    read_list,
    renew_request,
    terms,
)
from hame.llm.wires.gemini.decode import WIRE, GeminiDecoder, decode_body
from hame.llm.wires.gemini.encode import fixed_part, write_body
from hame.llm.wires.gemini.messages import GeminiPage

if TYPE_CHECKING:
    from hame.llm.counting import Counting
    from hame.llm.embedding import Embedding


class GeminiCodec(PagedCodec[GeminiPage]):
    """Implements `hame.base.ports.Codec` and `hame.llm.storage.StoresPrefixes`."""

    __slots__ = ()

    def __init__(self) -> None:
        """Start with nothing written."""
        super().__init__(WIRE, GeminiPage, GeminiDecoder, decode_body)

    def encode(self, request: ModelRequest, facts: ModelFacts, endpoint: Endpoint) -> HttpRequest:
        """Write a request."""
        return self.encode_stored(request, facts, endpoint, "")

    def counting(self) -> "Counting":
        """How requests are counted."""
        import hame.llm.wires.gemini.counting as way  # Seldom asked.

        return way

    def embedding(self) -> "Embedding":
        """How texts become vectors."""
        import hame.llm.wires.gemini.embedding as way  # Seldom asked.

        return way

    def encode_stored(
        self, request: ModelRequest, facts: ModelFacts, endpoint: Endpoint, stored: str
    ) -> HttpRequest:
        """Write a request that names a cached content; with no name, one that holds everything."""
        contents = self.page(request, facts).pieces
        path = f"{resource(facts.model)}:streamGenerateContent"
        body = write_body(request, facts, contents, cached=stored)
        return write_request("POST", endpoint, path, query=(("alt", "sse"),), body=body)

    def list_request(self, endpoint: Endpoint) -> HttpRequest:
        """The request that lists the server's models."""
        return write_request("GET", endpoint, "models", query=(("pageSize", "1000"),))

    def decode_list(self, body: bytes) -> Sequence[ModelListing]:
        """Read a list of models: those that generate content.

        Raises:
            ValueError: if the body is no such list.
        """
        answer = parse_object(body)
        key = next((k for k in ("models", "publisherModels") if answer and k in answer), "")
        if answer is None or as_list(answer.get(key)) is None:
            raise ValueError("the answer holds no list of models")
        listed = [_listing(entry) for entry in get_objects(answer, key) if _generates(entry)]
        return [listing for listing in listed if listing.id]

    def storage_terms(self, facts: ModelFacts, endpoint: Endpoint) -> StorageTerms | None:
        """On what terms cached contents are kept."""
        return terms(facts, endpoint)

    def fixed_part(self, request: ModelRequest, facts: ModelFacts) -> bytes:
        """System prompt, tools and search, as they are sent."""
        return dump_bytes(fixed_part(request, facts))

    def store_request(
        self, request: ModelRequest, facts: ModelFacts, endpoint: Endpoint, seconds: int
    ) -> HttpRequest:
        """The request that makes a cached content of a request's fixed part."""
        return make_request(fixed_part(request, facts), facts, endpoint, seconds)

    def renew_request(self, stored: str, endpoint: Endpoint, seconds: int) -> HttpRequest:
        """The request that gives a cached content more time."""
        return renew_request(stored, endpoint, seconds)

    def drop_request(self, stored: str, endpoint: Endpoint) -> HttpRequest:
        """The request that deletes a cached content."""
        return drop_request(stored, endpoint)

    def stored_list_request(self, endpoint: Endpoint) -> HttpRequest:
        """The request that lists cached contents."""
        return list_request(endpoint)

    def decode_stored(self, body: bytes) -> StoredContent:
        """Read a cached content.

        Raises:
            ValueError: if the body is none.
        """
        return read_content(body)

    def decode_stored_list(self, body: bytes) -> None:
        """Read a list of cached contents.

        Raises:
            ValueError: if the body is no such list.
        """
        read_list(body)


def _generates(entry: JsonObject) -> bool:
    """Whether a listed model can be asked; a list that does not say is taken as it is."""
    methods = get_list(entry, "supportedGenerationMethods")
    return not methods or "generateContent" in methods


def _listing(entry: JsonObject) -> ModelListing:
    return ModelListing(
        id=(get_string(entry, "name") or "")
        .removeprefix("publishers/google/")
        .removeprefix("models/"),
        display_name=get_string(entry, "displayName") or "",
        context_window=get_int(entry, "inputTokenLimit"),
        max_output=get_int(entry, "outputTokenLimit"),
    )
