"""Asking a model: the model, the wire beneath it, and which models there are."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Literal, Protocol, runtime_checkable

import msgspec

from hame.base.json import JsonObject
from hame.base.lines import Lines
from hame.base.message import Message
from hame.base.model import (
    CacheLifetime,
    Effort,
    Endpoint,
    ModelFacts,
    ModelListing,
    Timeouts,
    Vendor,
)
from hame.base.stream import StreamEvent
from hame.base.tool import ToolSpec


class ModelRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One question to a model, in no provider's words."""

    system: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    max_output_tokens: int | None = None
    effort: Effort | None = None
    session: str = ""
    """Stable within a session; routes to the provider's cache."""
    cache: CacheLifetime = CacheLifetime.SHORT
    """How long the provider is to keep it, where a wire can say so."""
    shape: JsonObject | None = None
    """JSON Schema that the whole answer is to be held to, by a server that can."""
    lines: tuple[Lines, ...] = ()
    """The answer is to be one of these lines, in the form that the model's `constraint` says."""
    temperature: float | None = None
    """For an answer that is held to something; None: the server's own. Only the wires of local servers
    say it."""
    web_search: bool = False
    """Let the provider search the web by itself, where its wire offers that."""


class Model(Protocol):
    """One model that can be asked. Asking is always streaming; `complete` is a fold of the stream."""

    @property
    def facts(self) -> ModelFacts:
        """What is known of it."""
        ...

    def stream(
        self, request: ModelRequest
    ) -> AbstractAsyncContextManager[AsyncIterator[StreamEvent]]:
        """Ask. The events end with one `Completed` or `Failed`; failures do not raise.

        Leaving the context early cancels the request and closes its connection.
        """
        ...


class HttpRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request that is ready to be sent."""

    method: str
    url: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""


class HttpResponse(Protocol):
    """An answer whose body has not been read yet."""

    @property
    def status(self) -> int:
        """HTTP status."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """Headers, names in lower case."""
        ...

    def chunks(self) -> AsyncIterator[bytes]:
        """The body as it arrives, content coding undone.

        Raises:
            ModelError: kind timeout after too long a silence, network when the connection broke.
        """
        ...


class Http(Protocol):
    """The one door to the network."""

    def send(
        self, request: HttpRequest, timeouts: Timeouts
    ) -> AbstractAsyncContextManager[HttpResponse]:
        """Send and wait for the head of the response. Redirects are not followed.

        Raises:
            ModelError: kind network (refused, unreachable, TLS) or timeout.
        """
        ...


class Frame(msgspec.Struct, frozen=True):
    """One event of a server-sent stream, or one line of NDJSON."""

    data: str
    event: str = ""


class Decoder(Protocol):
    """Turns the frames of one answer into events. Holds no socket and knows no time."""

    def feed(self, frame: Frame) -> Sequence[StreamEvent]:
        """Take one frame. Nothing may follow `Completed` or `Failed`."""
        ...

    def close(self) -> Sequence[StreamEvent]:
        """The body has ended: whatever is missing is made plain here.

        A stream that ended before its proper end yields `Failed` (kind network, retryable,
        mid_stream set if anything had been said); after `Completed` or `Failed`, nothing.
        """
        ...


class Codec(Protocol):
    """One wire: how a request is written and an answer is read. Pure."""

    @property
    def name(self) -> str:
        """The wire's name, as catalogue rows say it."""
        ...

    @property
    def framing(self) -> Literal["sse", "ndjson"]:
        """How frames lie in a streamed body."""
        ...

    def encode(self, request: ModelRequest, facts: ModelFacts, endpoint: Endpoint) -> HttpRequest:
        """Write a request. The history has been repaired; equal prefixes give equal bytes."""
        ...

    def decoder(self, facts: ModelFacts) -> Decoder:
        """A decoder for one streamed answer."""
        ...

    def decode_body(self, body: bytes, facts: ModelFacts) -> Sequence[StreamEvent]:
        """Read an answer that came whole, as one JSON body with status 200."""
        ...

    def list_request(self, endpoint: Endpoint) -> HttpRequest:
        """The request that lists the server's models."""
        ...

    def decode_list(self, body: bytes) -> Sequence[ModelListing]:
        """Read a list of models.

        Raises:
            ValueError: if the body is no such list.
        """
        ...


class Backend(Protocol):
    """Models that exist here. What is optional is a protocol of its own, asked for by type."""

    @property
    def id(self) -> str:
        """First part of `backend/model`."""
        ...

    @property
    def display_name(self) -> str:
        """Name for eyes."""
        ...

    def default_model(self) -> str | None:
        """The model to use when only the backend is named."""
        ...

    def ready(self) -> bool:
        """Whether it could be asked: a key is set, or none is needed."""
        ...

    def chosen(self) -> bool:
        """Whether the user set it up, by a key or an address; a server that needs no key is not."""
        ...

    def open(self, model: str) -> Model:
        """A model by the name its server knows.

        Raises:
            ConfigError: when it cannot be asked (no key, not set up), with the remedy.
        """
        ...


@runtime_checkable
class ListsModels(Protocol):
    """A backend whose server can be asked what it serves."""

    async def list_models(self) -> Sequence[ModelListing]:
        """What the server lists.

        Raises:
            ModelError: if it could not be asked.
        """
        ...


class Catalogue(Protocol):
    """Vendors and models as rows."""

    def vendors(self) -> Sequence[str]:
        """Ids of all vendors."""
        ...

    def vendor(self, vendor_id: str) -> Vendor | None:
        """One vendor's row."""
        ...

    def facts(self, vendor: Vendor, model: str) -> ModelFacts:
        """What is known of a model; safe defaults for one the catalogue does not hold."""
        ...
