"""The codec of Gemini's generateContent."""

import re
from collections.abc import Sequence
from typing import Literal
from urllib.parse import quote, urlencode

from hame.base.json import (
    JsonObject,
    as_list,
    get_int,
    get_list,
    get_objects,
    get_string,
    parse_object,
)
from hame.base.model import Endpoint, ModelFacts, ModelListing
from hame.base.ports import Decoder, HttpRequest, ModelRequest
from hame.base.stream import StreamEvent
from hame.llm.wires.gemini.decode import WIRE, GeminiDecoder, decode_body
from hame.llm.wires.gemini.encode import write_body
from hame.llm.wires.gemini.messages import GeminiPage
from hame.llm.written import Written

_VERSION = re.compile(r"/v\d+(?:(?:alpha|beta)\d*)?(?:/|$)")
_TOKEN = re.compile(r"ya29\.")
"""How an OAuth access token of Google's begins, which Vertex takes in place of a key."""


class GeminiCodec:
    """Implements `hame.base.ports.Codec`."""

    __slots__ = ("_written",)

    def __init__(self) -> None:
        """Start with nothing written."""
        self._written = Written(GeminiPage)

    @property
    def name(self) -> str:
        """`gemini`."""
        return WIRE

    @property
    def framing(self) -> Literal["sse", "ndjson"]:
        """Server-sent events, which `alt=sse` asks for."""
        return "sse"

    def encode(self, request: ModelRequest, facts: ModelFacts, endpoint: Endpoint) -> HttpRequest:
        """Write a request."""
        contents = self._written.page(request, facts).pieces
        path = f"{_resource(facts.model)}:streamGenerateContent"
        body = write_body(request, facts, contents)
        return _request("POST", endpoint, path, query=(("alt", "sse"),), body=body)

    def decoder(self, facts: ModelFacts) -> Decoder:
        """A decoder for one streamed answer."""
        return GeminiDecoder(facts)

    def decode_body(self, body: bytes, facts: ModelFacts) -> Sequence[StreamEvent]:
        """Read an answer that came whole."""
        return decode_body(body, facts)

    def list_request(self, endpoint: Endpoint) -> HttpRequest:
        """The request that lists the server's models."""
        return _request("GET", endpoint, "models", query=(("pageSize", "1000"),))

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


def _resource(model: str) -> str:
    """A model as part of the path; `models/` unless it names another collection (tunedModels/x)."""
    return quote(model if "/" in model else f"models/{model}", safe="/@:")


def _request(
    method: str,
    endpoint: Endpoint,
    path: str,
    *,
    query: tuple[tuple[str, str], ...],
    body: bytes = b"",
) -> HttpRequest:
    """A request below the base URL; `/v1beta` is added where the URL has no version of its own."""
    base = (
        endpoint.base_url if _VERSION.search(endpoint.base_url) else f"{endpoint.base_url}/v1beta"
    )
    headers: list[tuple[str, str]] = []
    if body:
        headers.append(("content-type", "application/json"))
    key = endpoint.api_key
    if key and _TOKEN.match(key):
        headers.append(("authorization", f"Bearer {key}"))
    elif key:
        headers.append(("x-goog-api-key", key))
    return HttpRequest(
        method=method,
        url=f"{base}/{path}?{urlencode((*query, *endpoint.query))}",
        headers=(*headers, *endpoint.headers),
        body=body,
    )


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
