"""What servers that follow OpenAI have in common whatever wire they speak: address, key, list of models."""

from collections.abc import Sequence
from urllib.parse import urlencode

import msgspec

from hame.base.json import (
    JsonObject,
    as_list,
    as_object,
    get_bool,
    get_int,
    get_list,
    get_object,
    get_string,
    parse,
)
from hame.base.model import Endpoint, ModelListing, Price
from hame.base.ports import HttpRequest
from hame.llm.paged import PagedCodec
from hame.llm.written import PageT

_WINDOW_KEYS = ("context_length", "context_window", "max_model_len", "max_context_length")
_RATES = {
    "input": "prompt",
    "output": "completion",
    "cache_read": "input_cache_read",
    "cache_write": "input_cache_write",
}
_OUTPUT_KEYS = ("max_completion_tokens", "max_output_tokens", "max_output_length")


def bearer_request(method: str, endpoint: Endpoint, path: str, body: bytes = b"") -> HttpRequest:
    """A request below the base URL (which includes `/v1`), with the key as a bearer token."""
    accept = "text/event-stream" if body else "application/json"
    headers: list[tuple[str, str]] = [("accept", accept)]
    if body:
        headers.append(("content-type", "application/json"))
    if endpoint.api_key:
        headers.append(("authorization", f"Bearer {endpoint.api_key}"))
    query = f"?{urlencode(endpoint.query)}" if endpoint.query else ""
    return HttpRequest(
        method=method,
        url=f"{endpoint.base_url}/{path}{query}",
        headers=(*headers, *endpoint.headers),
        body=body,
    )


class BearerCodec(PagedCodec[PageT]):
    """A codec whose server lists its models as OpenAI does."""

    __slots__ = ()

    def list_request(self, endpoint: Endpoint) -> HttpRequest:
        """The request that lists the server's models."""
        return bearer_request("GET", endpoint, "models")

    def decode_list(self, body: bytes) -> Sequence[ModelListing]:
        """Read a list of models.

        Raises:
            ValueError: if the body is no such list.
        """
        return read_listings(body)


def read_listings(body: bytes) -> Sequence[ModelListing]:
    """Read a list of models: under `data`, under `models`, or bare.

    Raises:
        ValueError: if the body is no such list.
    """
    answer = parse(body)
    found = as_object(answer)
    items = as_list(answer)
    if found is not None:
        items = as_list(found.get("data", found.get("models")))
    if items is None:
        raise ValueError("the answer holds no list of models")
    listed = [_listing(entry) for item in items if (entry := as_object(item)) is not None]
    return [listing for listing in listed if listing.id]


def _listing(entry: JsonObject) -> ModelListing:
    provider = get_object(entry, "top_provider")
    windows = [found for key in _WINDOW_KEYS if (found := get_int(entry, key))]
    outputs = [found for key in _OUTPUT_KEYS if (found := get_int(entry, key))]
    outputs += [found for key in _OUTPUT_KEYS if (found := get_int(provider, key))]
    trained = get_int(get_object(entry, "meta"), "n_ctx_train")
    abilities = get_object(entry, "capabilities")
    modalities = get_list(get_object(entry, "architecture"), "input_modalities")
    parameters = get_list(entry, "supported_parameters")
    return ModelListing(
        id=get_string(entry, "id") or get_string(entry, "name") or "",
        display_name=get_string(entry, "name") or get_string(entry, "display_name") or "",
        context_window=next(iter(windows), trained),
        max_output=next(iter(outputs), None),
        owned_by=get_string(entry, "owned_by") or "",
        tools="tools" in parameters if parameters else get_bool(abilities, "function_calling"),
        images="image" in modalities if modalities else get_bool(abilities, "vision"),
        price=_price(get_object(entry, "pricing")),
    )


def _price(pricing: JsonObject) -> Price | None:
    """OpenRouter's prices: US dollars for one token, as texts; a negative one is not known yet."""
    rates = {ours: _million(pricing.get(theirs)) for ours, theirs in _RATES.items()}
    if rates["input"] is None or rates["output"] is None:
        return None
    return msgspec.convert(rates, Price)


def _million(rate: object) -> float | None:
    try:
        found = float(rate) if isinstance(rate, str | float | int) else -1.0
    except ValueError:
        return None
    return round(found * 1e6, 6) if found >= 0 else None
