"""Having a server count what a request would take, without answering it.

Counting costs nothing with the vendors that offer it, but a round trip; so it is asked for only where an
estimate does not do.
"""

from typing import Protocol, runtime_checkable

import anyio

from hame.base.errors import ModelError
from hame.base.json import JsonObject, dump_bytes, parse_object
from hame.base.model import ModelFacts, Timeouts
from hame.base.ports import Http, HttpRequest

PATIENCE_S = 5.0
_MOST_BYTES = 32_000_000
"""llama-server sends every token."""
_MOST_QUESTIONS = 2


class Counting(Protocol):
    """How the servers of a wire count. Pure."""

    def count_request(self, asked: HttpRequest, facts: ModelFacts) -> HttpRequest | None:
        """The question that has a request counted; None where the model's server does not count."""
        ...

    def read_count(self, body: bytes, asked: HttpRequest) -> int | HttpRequest:
        """The tokens, or the next question.

        Raises:
            ValueError: if the body is no answer to what was asked.
        """
        ...


@runtime_checkable
class CountsRequests(Protocol):
    """A codec some of whose servers count."""

    def counting(self) -> Counting:
        """How."""
        ...


async def count_tokens(
    way: Counting, asked: HttpRequest, facts: ModelFacts, http: Http
) -> int | None:
    """Tokens of a request that is ready to be sent; None where they were not counted in time."""
    found: int | HttpRequest | None = way.count_request(asked, facts)
    with anyio.move_on_after(PATIENCE_S):
        for _ in range(_MOST_QUESTIONS):
            if not isinstance(found, HttpRequest):
                break
            try:
                found = way.read_count(await _fetch(found, http), found)
            except (ModelError, ValueError):
                return None
        return found if isinstance(found, int) else None
    return None


def rewritten(asked: HttpRequest, url: str, body: JsonObject) -> HttpRequest:
    """The same request elsewhere, with another body and a whole answer."""
    headers = tuple(
        (name, "application/json" if name.lower() == "accept" else value)
        for name, value in asked.headers
    )
    return HttpRequest(method="POST", url=url, headers=headers, body=dump_bytes(body))


def body_of(asked: HttpRequest) -> JsonObject:
    """What a request says."""
    return parse_object(asked.body) or {}


async def _fetch(request: HttpRequest, http: Http) -> bytes:
    """The body of a good answer.

    Raises:
        ModelError: if there is no answer.
        ValueError: if it is no good one.
    """
    body = b""
    async with http.send(request, Timeouts()) as response:
        if response.status != 200:
            raise ValueError(f"status {response.status}")
        async for chunk in response.chunks():
            body += chunk
            if len(body) > _MOST_BYTES:
                raise ValueError("the answer is too large")
    return body
