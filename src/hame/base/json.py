"""Reading JSON that somebody else wrote.

Providers and models put anything anywhere, so every access here is total: the wrong type reads as
absent, never as an exception. The functions return plain Python values.
"""

import re
from collections.abc import Iterable, Sequence
from typing import TypeAlias, cast

import msgspec

Json: TypeAlias = object
"""Any JSON value: None, bool, int, float, str, a list or an object. Narrow it with the functions below."""
JsonObject: TypeAlias = dict[str, object]

_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder()
_ESCAPES = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|(?P<half>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
"""Any escape of a JSON string: a pair of surrogates, half of one, or another."""
_DEEPEST = 200
"""Levels of nesting. Nobody means more, and more could not be written again from deep in a call."""


def parse(data: str | bytes) -> Json:
    """Parse one JSON text. Half of a surrogate pair, which some servers escape, becomes U+FFFD.

    Raises:
        ValueError: if `data` is not JSON, or nested deeper than anybody means.
    """
    try:
        value = _decode(data)
    except RecursionError as error:
        raise ValueError("JSON is nested too deeply") from error
    except (msgspec.DecodeError, UnicodeError) as error:
        raise ValueError(str(error)) from error
    if _may_be_deep(data) and _is_deeper(value, _DEEPEST):
        raise ValueError("JSON is nested too deeply")
    return value


def parse_object(data: str | bytes) -> JsonObject | None:
    """Parse a JSON text that should be an object; None when it is not one."""
    try:
        return as_object(parse(data))
    except ValueError:
        return None


def dump(value: object) -> str:
    """Write compact JSON with keys in insertion order; half a surrogate pair becomes U+FFFD."""
    return dump_bytes(value).decode()


def dump_bytes(value: object) -> bytes:
    """Write compact JSON as UTF-8 with keys in insertion order; half a surrogate pair becomes U+FFFD."""
    try:
        return _ENCODER.encode(value)
    except UnicodeEncodeError:
        return _ENCODER.encode(_whole(msgspec.to_builtins(value, str_keys=True)))


def as_object(value: object) -> JsonObject | None:
    """The value if it is a JSON object."""
    return cast("JsonObject", value) if isinstance(value, dict) else None


def as_list(value: object) -> list[Json] | None:
    """The value if it is a JSON array."""
    return cast("list[Json]", value) if isinstance(value, list) else None


def get_object(source: object, key: str) -> JsonObject:
    """The object under `key`, or an empty one."""
    found = cast("JsonObject", source).get(key) if isinstance(source, dict) else None
    return cast("JsonObject", found) if isinstance(found, dict) else {}


def get_list(source: object, key: str) -> list[Json]:
    """The list under `key`, or an empty one."""
    found = cast("JsonObject", source).get(key) if isinstance(source, dict) else None
    return cast("list[Json]", found) if isinstance(found, list) else []


def get_objects(source: object, key: str) -> list[JsonObject]:
    """The objects in the list under `key`; items of other types are left out."""
    return [cast("JsonObject", item) for item in get_list(source, key) if isinstance(item, dict)]


def get_string(source: object, key: str) -> str | None:
    """The string under `key`."""
    found = cast("JsonObject", source).get(key) if isinstance(source, dict) else None
    return found if isinstance(found, str) else None


def get_int(source: object, key: str) -> int | None:
    """The number under `key` as an integer; booleans and fractions are absent."""
    found = cast("JsonObject", source).get(key) if isinstance(source, dict) else None
    if isinstance(found, bool):
        return None
    if isinstance(found, int):
        return found
    return int(found) if isinstance(found, float) and found.is_integer() else None


def get_number(source: object, key: str) -> float | None:
    """The number under `key`; booleans, and integers beyond any float, are absent."""
    found = cast("JsonObject", source).get(key) if isinstance(source, dict) else None
    if isinstance(found, bool) or not isinstance(found, int | float):
        return None
    try:
        return float(found)
    except OverflowError:
        return None


def get_bool(source: object, key: str) -> bool | None:
    """The boolean under `key`."""
    found = cast("JsonObject", source).get(key) if isinstance(source, dict) else None
    return found if isinstance(found, bool) else None


def _decode(data: str | bytes) -> Json:
    try:
        return _DECODER.decode(data)
    except (msgspec.DecodeError, UnicodeError):
        text = data if isinstance(data, str) else data.decode()
        mended = _ESCAPES.sub(_mended, _whole_text(text))
        if mended == text:
            raise
        return _DECODER.decode(mended)


def _mended(escape: re.Match[str]) -> str:
    return "\\ufffd" if escape["half"] else escape[0]


def _whole_text(text: str) -> str:
    """The text with whole characters only; both halves of a pair, side by side, are one."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _whole(value: Json) -> Json:
    if isinstance(value, str):
        return _whole_text(value)
    if isinstance(value, list | tuple):
        return [_whole(item) for item in cast("Sequence[Json]", value)]
    if isinstance(value, dict):
        members = cast("JsonObject", value)
        return {_whole_text(name): _whole(member) for name, member in members.items()}
    return value


def _may_be_deep(data: str | bytes) -> bool:
    if isinstance(data, str):
        return data.count("[") + data.count("{") > _DEEPEST
    return data.count(b"[") + data.count(b"{") > _DEEPEST


def _is_deeper(value: Json, levels: int) -> bool:
    """Whether a value holds more than so many levels of lists and objects."""
    level = _containers([value])
    while level:
        if levels == 0:
            return True
        levels -= 1
        level = _containers(
            item for each in level for item in (each if isinstance(each, list) else each.values())
        )
    return False


def _containers(values: Iterable[Json]) -> list[list[Json] | JsonObject]:
    return [
        cast("list[Json] | JsonObject", each) for each in values if isinstance(each, list | dict)
    ]
