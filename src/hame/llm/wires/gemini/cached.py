"""Gemini's cachedContents: a fixed part that is sent once, kept by the hour, and named by requests.

https://ai.google.dev/api/caching
https://cloud.google.com/vertex-ai/generative-ai/docs/context-cache/context-cache-create
"""

import re
from urllib.parse import urlsplit

import msgspec
from msgspec.structs import replace

from hame.base.json import (
    JsonObject,
    as_list,
    dump_bytes,
    get_int,
    get_object,
    get_string,
    parse_object,
)
from hame.base.model import Endpoint, ModelFacts
from hame.base.ports import HttpRequest
from hame.llm.storage import StorageTerms, StoredContent
from hame.llm.wires.gemini.address import resource, versioned, write_request
from hame.llm.wires.gemini.generation import generation

_PUBLISHER = re.compile(r"(?P<root>.+)/(?P<parent>projects/[^/]+/locations/[^/]+/)publishers/[^/]+")
_NAME = re.compile(r"(?:projects/[\w.:-]+/locations/[\w-]+/)?cachedContents/[\w-]+")
_LEAST, _LEAST_OF_LARGE, _LEAST_OF_FIRST = 2_048, 4_096, 32_768
_USD_PER_HOUR, _USD_PER_HOUR_OF_FLASH = 4.50, 1.00
"""https://ai.google.dev/gemini-api/docs/pricing"""


class _Place(msgspec.Struct, frozen=True):
    """Where cached contents live."""

    endpoint: Endpoint
    """Its base URL ends before the parent."""
    parent: str
    """`projects/P/locations/L/` with Vertex, empty with the Gemini API."""
    publisher: str
    """What stands before `models/NAME` in the full name of a model."""


def terms(facts: ModelFacts, endpoint: Endpoint) -> StorageTerms | None:
    """The terms for a model; none for what is not Gemini's own, nor for Vertex without a project."""
    number = generation(facts.model)
    if not number or "/" in facts.model or _place(endpoint) is None:
        return None
    host = urlsplit(endpoint.base_url).hostname or ""
    return StorageTerms(
        least_tokens=_least(facts.model, number),
        usd_per_hour=_USD_PER_HOUR_OF_FLASH if "flash" in facts.model else _USD_PER_HOUR,
        vendors_own=host.endswith(".googleapis.com"),
    )


def make_request(
    fixed: JsonObject, facts: ModelFacts, endpoint: Endpoint, seconds: int
) -> HttpRequest:
    """The request that makes one of a fixed part."""
    place = _expect(endpoint)
    named = f"{place.publisher}{resource(facts.model)}"
    body = dump_bytes({"model": named, **fixed, "ttl": f"{seconds}s"})
    return write_request("POST", place.endpoint, f"{place.parent}cachedContents", body=body)


def renew_request(name: str, endpoint: Endpoint, seconds: int) -> HttpRequest:
    """The request that gives one that long from now on."""
    body = dump_bytes({"ttl": f"{seconds}s"})
    query = (("updateMask", "ttl"),)
    return write_request("PATCH", _expect(endpoint).endpoint, name, query=query, body=body)


def drop_request(name: str, endpoint: Endpoint) -> HttpRequest:
    """The request that deletes one."""
    return write_request("DELETE", _expect(endpoint).endpoint, name)


def list_request(endpoint: Endpoint) -> HttpRequest:
    """The request that lists the first one there is."""
    place = _expect(endpoint)
    path = f"{place.parent}cachedContents"
    return write_request("GET", place.endpoint, path, query=(("pageSize", "1"),))


def read_content(body: bytes) -> StoredContent:
    """Read one.

    Raises:
        ValueError: if the body is none.
    """
    found = parse_object(body) or {}
    name = get_string(found, "name") or ""
    if not _NAME.fullmatch(name):
        raise ValueError("the answer names no cached content")
    return StoredContent(name, get_int(get_object(found, "usageMetadata"), "totalTokenCount"))


def read_list(body: bytes) -> None:
    """Read a list of them; it is an empty object where there are none.

    Raises:
        ValueError: if the body is no such list.
    """
    found = parse_object(body)
    if found is None or (found and as_list(found.get("cachedContents")) is None):
        raise ValueError("the answer is no list of cached contents")


def _least(model: str, number: int) -> int:
    """Tokens below which none is made.

    https://ai.google.dev/gemini-api/docs/caching
    """
    if number == 1:
        return _LEAST_OF_FIRST
    return _LEAST_OF_LARGE if number > 2 or "pro" in model else _LEAST


def _place(endpoint: Endpoint) -> _Place | None:
    base = versioned(endpoint.base_url)
    found = _PUBLISHER.fullmatch(base)
    if found is not None:
        parent = found["parent"]
        publisher = base.removeprefix(f"{found['root']}/")
        return _Place(replace(endpoint, base_url=found["root"]), parent, f"{publisher}/")
    return None if "/publishers/" in base else _Place(endpoint, "", "")


def _expect(endpoint: Endpoint) -> _Place:
    """The place.

    Raises:
        ValueError: where `terms` knows of none.
    """
    place = _place(endpoint)
    if place is None:
        raise ValueError("nothing can be cached at this address")
    return place
