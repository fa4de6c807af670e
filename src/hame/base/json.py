"""Reading JSON that somebody else wrote.

Providers and models put anything anywhere, so every access here is total: the wrong type reads as
absent, never as an exception. The functions return plain Python values.
"""

from typing import TypeAlias, cast

import msgspec

Json: TypeAlias = object
"""Any JSON value: None, bool, int, float, str, a list or an object. Narrow it with the functions below."""
JsonObject: TypeAlias = dict[str, object]

_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder()


def parse(data: str | bytes) -> Json:
    """Parse one JSON text.

    Raises:
        ValueError: if `data` is not JSON.
    """
    try:
        return _DECODER.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ValueError(str(error)) from error


def parse_object(data: str | bytes) -> JsonObject | None:
    """Parse a JSON text that should be an object; None when it is not one."""
    try:
        return as_object(parse(data))
    except ValueError:
        return None


def dump(value: object) -> str:
    """Write compact JSON with keys in insertion order."""
    return _ENCODER.encode(value).decode()


def dump_bytes(value: object) -> bytes:
    """Write compact JSON as UTF-8 with keys in insertion order."""
    return _ENCODER.encode(value)


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
    """The number under `key`; booleans are absent."""
    found = cast("JsonObject", source).get(key) if isinstance(source, dict) else None
    if isinstance(found, bool) or not isinstance(found, int | float):
        return None
    return float(found)


def get_bool(source: object, key: str) -> bool | None:
    """The boolean under `key`."""
    found = cast("JsonObject", source).get(key) if isinstance(source, dict) else None
    return found if isinstance(found, bool) else None
