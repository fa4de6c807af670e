"""What a provider's error says, whatever its shape.

Vendors send an object under `error`, an object that is the error, a list of either, a bare string, a
proxy's HTML page or nothing. All of them are read into one `ErrorReport`.
"""

import re
from collections.abc import Iterator

import msgspec

from hame.base.json import (
    JsonObject,
    as_list,
    as_object,
    get_list,
    get_number,
    get_object,
    get_objects,
    get_string,
    parse,
)
from hame.llm.waits import LONGEST_S

_SAID_LIMIT = 300
_TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<[^>]*>")
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069]+")
_WORD_KEYS = ("type", "code", "status", "reason", "error_type", "__type")
_NUMBER_KEYS = (
    *("code", "status", "status_code", "http_code", "raw_status_code", "http_status"),
    *("StatusCode", "statusCode"),
)
_STATUS = re.compile(r"([45]\d\d)(?: [A-Z][\w -]*)?", re.ASCII)
"""A status as text, perhaps with its phrase: `401 Unauthorized`."""
_WAIT_KEYS = ("retry_after", "retryAfter", "resets_in_seconds", "estimated_time")
"""Members that tell a wait in seconds: gateways', ChatGPT's plans', Hugging Face's for a loading model."""


class ErrorReport(msgspec.Struct, frozen=True, kw_only=True):
    """An error as its sender put it."""

    message: str = ""
    """The provider's words in full."""
    words: frozenset[str] = frozenset()
    """Its types, codes and reasons, in lower case."""
    status: int | None = None
    """An HTTP status that is written inside the body."""
    parameter: str | None = None
    """What it names as the offending member of the request."""
    details: tuple[JsonObject, ...] = ()
    """Google's `details`."""
    metadata: JsonObject = {}
    """OpenRouter's `metadata`."""
    retry_after_s: float | None = None
    """A wait that is a member of the body, in seconds."""


def read_body(body: bytes) -> ErrorReport:
    """Read the body of a response that is an error."""
    text = body.decode("utf-8", "replace").strip()
    try:
        return read_error(parse(text)) if text else ErrorReport()
    except ValueError:
        return ErrorReport(message=_plain(text))


def read_error(error: object) -> ErrorReport:
    """Read an error that was found in a body or in a stream."""
    if isinstance(error, str):
        return _read_string(error)
    items = as_list(error)
    if items is not None:
        return read_error(items[0]) if items else ErrorReport()
    found = as_object(error)
    return _read_object(found) if found is not None else ErrorReport()


def one_line(text: str, limit: int = _SAID_LIMIT) -> str:
    """The first line of a text, flattened: no control or direction characters, at most `limit` long."""
    lines = [flat for line in text.splitlines() if (flat := _flatten(line))]
    if not lines:
        return ""
    first = lines[0]
    return first if len(first) <= limit else first[: limit - 1].rstrip() + "…"


def _flatten(text: str) -> str:
    return " ".join(_UNPRINTABLE.sub(" ", text).split())


def _read_string(text: str) -> ErrorReport:
    stripped = text.strip()
    if stripped.startswith(("{", "[")):
        try:
            return read_error(parse(stripped))
        except ValueError:
            pass
    return ErrorReport(message=_plain(stripped))


def _plain(text: str) -> str:
    """A text without markup: a proxy's error page is reduced to its title."""
    if not text.startswith("<"):
        return text
    title = _TITLE.search(text)
    return (_TAG.sub(" ", title.group(1)) if title else _TAG.sub(" ", text)).strip()


def _read_object(outer: JsonObject) -> ErrorReport:
    """Read an error object, and the object it may be wrapped in."""
    inner = _inner(outer)
    objects = [outer] if inner is outer else [inner, outer]
    metadata = get_object(inner, "metadata")
    return ErrorReport(
        message=_message(objects, metadata),
        words=frozenset(word.lower() for source in objects for word in _words(source)),
        status=next((n for source in objects for n in _statuses(source)), None),
        parameter=next((p for source in objects if (p := _parameter(source))), None),
        details=tuple(get_objects(inner, "details")),
        metadata=metadata,
        retry_after_s=next((n for source in objects if (n := _wait(source)) is not None), None),
    )


def _inner(outer: JsonObject) -> JsonObject:
    wrapped = outer.get("error")
    if isinstance(wrapped, str) and wrapped.lstrip().startswith("{"):
        try:
            wrapped = parse(wrapped)
        except ValueError:
            return outer
    inner = as_object(wrapped)
    if inner is None:
        errors = get_objects(outer, "errors") or get_objects(outer, "error")
        return errors[0] if errors else outer
    return _inner(inner) if isinstance(inner.get("error"), dict) else inner


def _message(objects: list[JsonObject], metadata: JsonObject) -> str:
    """The most telling words: what an upstream said comes before a gateway's own phrase."""
    raw = metadata.get("raw")
    upstream = read_error(raw).message if raw else ""
    own = next((text for source in objects if (text := _own_message(source))), "")
    if upstream and (not own or own.lower().startswith("provider returned error")):
        return upstream
    return own


def _own_message(source: JsonObject) -> str:
    for key in ("message", "error", "detail", "msg", "error_description", "description"):
        text = get_string(source, key)
        if text:
            return _plain(text.strip())
    wrapped = as_object(source.get("message"))
    if wrapped is not None:
        return _own_message(wrapped)
    complaints = [
        ": ".join(filter(None, (_location(item), get_string(item, "msg") or "")))
        for item in get_objects(source, "detail")
    ]
    return "; ".join(complaint for complaint in complaints if complaint)


def _location(complaint: JsonObject) -> str:
    return ".".join(str(part) for part in get_list(complaint, "loc") if part != "body")


def _words(source: JsonObject) -> Iterator[str]:
    for key in _WORD_KEYS:
        text = get_string(source, key)
        if text:
            yield text
    inner = get_object(source, "innererror")
    if inner:
        yield from _words(inner)
    for item in (*get_objects(source, "details"), *get_objects(source, "errors")):
        reason = get_string(item, "reason")
        if reason:
            yield reason
    for item in get_objects(source, "detail"):
        yield from _words(item)


def _statuses(source: JsonObject) -> Iterator[int]:
    for key in _NUMBER_KEYS:
        found = source.get(key)
        if isinstance(found, str) and (written := _STATUS.fullmatch(found)):
            found = int(written[1])
        if isinstance(found, int) and 400 <= found <= 599:
            yield found


def _wait(source: JsonObject) -> float | None:
    waits = (get_number(source, key) for key in _WAIT_KEYS)
    return next((wait for wait in waits if wait is not None and 0 <= wait <= LONGEST_S), None)


def _parameter(source: JsonObject) -> str | None:
    named = get_string(source, "param")
    if named:
        return named
    for complaint in get_objects(source, "detail"):
        place = _location(complaint)
        if place:
            return place
    return None
