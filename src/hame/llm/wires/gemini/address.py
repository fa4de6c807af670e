"""Where Gemini's methods are, and how a request to one carries its key."""

import re
from urllib.parse import quote, urlencode

from hame.base.model import Endpoint
from hame.base.ports import HttpRequest

_VERSION = re.compile(r"/v\d+(?:(?:alpha|beta)\d*)?(?:/|$)")
_TOKEN = re.compile(r"ya29\.")
"""How an OAuth access token of Google's begins, which Vertex takes in place of a key."""


def resource(model: str) -> str:
    """A model as part of the path; `models/` unless it names another collection (tunedModels/x)."""
    return quote(model if "/" in model else f"models/{model}", safe="/@:")


def versioned(base_url: str) -> str:
    """The base URL; `/v1beta` is added where it has no version of its own."""
    return base_url if _VERSION.search(base_url) else f"{base_url}/v1beta"


def write_request(
    method: str,
    endpoint: Endpoint,
    path: str,
    *,
    query: tuple[tuple[str, str], ...] = (),
    body: bytes = b"",
) -> HttpRequest:
    """A request below the base URL."""
    headers: list[tuple[str, str]] = []
    if body:
        headers.append(("content-type", "application/json"))
    key = endpoint.api_key
    if key and _TOKEN.match(key):
        headers.append(("authorization", f"Bearer {key}"))
    elif key:
        headers.append(("x-goog-api-key", key))
    asked = urlencode((*query, *endpoint.query))
    return HttpRequest(
        method=method,
        url=f"{versioned(endpoint.base_url)}/{path}{'?' if asked else ''}{asked}",
        headers=(*headers, *endpoint.headers),
        body=body,
    )
