"""Asking a server which models it serves, and whether it accepts a key."""

from collections.abc import Sequence

from hame.base.errors import ModelError
from hame.base.model import Endpoint, ModelListing, Timeouts
from hame.base.ports import Clock, Codec, Http, HttpRequest
from hame.llm.broken import not_an_answer, redirected
from hame.llm.classify import classify_response

_LIST_BYTES = 32_000_000
_TIMEOUTS = Timeouts(connect_s=10, first_byte_s=20, idle_s=20, total_s=60)


async def list_models(
    codec: Codec,
    endpoint: Endpoint,
    http: Http,
    clock: Clock,
    *,
    provider: str = "",
    timeouts: Timeouts | None = None,
) -> Sequence[ModelListing]:
    """What the server lists, unfiltered and in its order.

    Raises:
        ModelError: if it could not be asked, refused, or sent no list.
    """
    request = codec.list_request(endpoint)
    body = await _fetch(request, http, clock, provider=provider, timeouts=timeouts or _TIMEOUTS)
    try:
        return codec.decode_list(body)
    except ValueError as error:
        raise ModelError(not_an_answer(provider, str(error))) from error


async def check_key(
    url: str, endpoint: Endpoint, http: Http, clock: Clock, *, provider: str = ""
) -> None:
    """Ask for an address that only a good key gets, as a bearer token.

    Raises:
        ModelError: if it could not be asked, or refused.
    """
    headers = (("authorization", f"Bearer {endpoint.api_key}"), ("accept", "application/json"))
    request = HttpRequest(method="GET", url=url, headers=(*headers, *endpoint.headers))
    await _fetch(request, http, clock, provider=provider, timeouts=_TIMEOUTS)


async def _fetch(
    request: HttpRequest, http: Http, clock: Clock, *, provider: str, timeouts: Timeouts
) -> bytes:
    body = b""
    async with http.send(request, timeouts) as response:
        async for chunk in response.chunks():
            body += chunk
            if len(body) > _LIST_BYTES:
                raise ModelError(not_an_answer(provider, "the list is too large"))
    if 300 <= response.status < 400:
        raise ModelError(redirected(response.status, response.headers, provider))
    if not 200 <= response.status < 300:
        failure = classify_response(
            response.status, response.headers, body, provider, now=clock.now()
        )
        raise ModelError(failure)
    return body
