"""Where Ollama's methods are."""

from urllib.parse import urlencode

from hame.base.model import Endpoint
from hame.base.ports import HttpRequest


def address(method: str, endpoint: Endpoint, place: str, body: bytes) -> HttpRequest:
    """A request. The base URL is taken as people write it: bare, with `/api`, or with `/v1`."""
    base = endpoint.base_url.rstrip("/").removesuffix("/v1").removesuffix("/api")
    own = {"accept": "application/x-ndjson" if body else "application/json"}
    if body:
        own["content-type"] = "application/json"
    if endpoint.api_key:
        own["authorization"] = f"Bearer {endpoint.api_key}"
    given = {name.lower(): value for name, value in endpoint.headers}
    query = f"?{urlencode(endpoint.query)}" if endpoint.query else ""
    return HttpRequest(
        method=method,
        url=f"{base}/api/{place}{query}",
        headers=tuple((own | given).items()),
        body=body,
    )
