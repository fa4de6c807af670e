"""What a wire says of prefixes that its provider stores for hire.

Such a prefix is sent once, is paid by the hour, and is named by later requests in place of itself.
"""

from typing import Protocol, runtime_checkable

import msgspec

from hame.base.model import Endpoint, ModelFacts
from hame.base.ports import HttpRequest, ModelRequest


class StorageTerms(msgspec.Struct, frozen=True, kw_only=True):
    """On what terms a model's prefixes are stored."""

    least_tokens: int
    """Fewer are not stored."""
    usd_per_hour: float
    """US dollars for a million tokens that are kept for an hour."""
    vendors_own: bool
    """Whether the endpoint is the vendor's own; another may know nothing of storing."""


class StoredContent(msgspec.Struct, frozen=True):
    """A prefix that the provider has stored."""

    name: str
    tokens: int | None
    """As the provider counts them; None where it does not say."""


@runtime_checkable
class StoresPrefixes(Protocol):
    """A codec whose provider stores the fixed part of requests: system prompt and tools. Pure."""

    def storage_terms(self, facts: ModelFacts, endpoint: Endpoint) -> StorageTerms | None:
        """The terms; None where nothing can be stored."""
        ...

    def fixed_part(self, request: ModelRequest, facts: ModelFacts) -> bytes:
        """What would be stored of a request, as it is sent."""
        ...

    def encode_stored(
        self, request: ModelRequest, facts: ModelFacts, endpoint: Endpoint, stored: str
    ) -> HttpRequest:
        """Write a request that names what is stored in place of its fixed part."""
        ...

    def store_request(
        self, request: ModelRequest, facts: ModelFacts, endpoint: Endpoint, seconds: int
    ) -> HttpRequest:
        """The request that stores the fixed part of another for that long."""
        ...

    def renew_request(self, stored: str, endpoint: Endpoint, seconds: int) -> HttpRequest:
        """The request that keeps what is stored for that long from now on."""
        ...

    def drop_request(self, stored: str, endpoint: Endpoint) -> HttpRequest:
        """The request that lets go of what is stored."""
        ...

    def stored_list_request(self, endpoint: Endpoint) -> HttpRequest:
        """A request that costs nothing and that only a server which stores prefixes answers."""
        ...

    def decode_stored(self, body: bytes) -> StoredContent:
        """Read the answer to a request that stores or renews.

        Raises:
            ValueError: if it names nothing that was stored.
        """
        ...

    def decode_stored_list(self, body: bytes) -> None:
        """Read the answer to `stored_list_request`.

        Raises:
            ValueError: if it is no list of what is stored.
        """
        ...
