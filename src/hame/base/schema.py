"""Checking a call's arguments against a tool's JSON Schema, before anything else sees them.

Lenient only where nothing is lost: "3" is 3 where an integer is wanted, "true" is true, 3.0 is 3,
one value is a list of one where a list is wanted, null is absent where the member is optional.
Everything else is an error that names the member and what it should be. Keywords outside the subset
(type, properties, required, additionalProperties, enum, const, items, minimum, maximum, minItems,
maxItems, minLength, maxLength, anyOf, oneOf) are left to the tool itself.
"""

from typing import cast

from hame.base.errors import ArgumentError
from hame.base.json import (
    Json,
    JsonObject,
    as_list,
    as_object,
    dump,
    get_list,
    get_number,
    get_object,
    get_objects,
    get_string,
    parse,
)


def check_arguments(arguments: JsonObject, schema: JsonObject) -> JsonObject:
    """The arguments, with lossless conversions done.

    Raises:
        ArgumentError: naming every member that does not fit.
    """
    problems: list[str] = []
    checked = _check_object(arguments, schema, "", problems)
    if problems:
        raise ArgumentError("; ".join(problems))
    return checked


def _check_object(
    value: JsonObject, schema: JsonObject, path: str, problems: list[str]
) -> JsonObject:
    properties = get_object(schema, "properties")
    required = [name for name in get_list(schema, "required") if isinstance(name, str)]
    checked: JsonObject = {}
    for name, member in value.items():
        rule = {} if properties.get(name) is True else as_object(properties.get(name))
        if rule is None:
            if schema.get("additionalProperties") is False:
                known = ", ".join(properties) or "none"
                problems.append(f"unknown argument {_at(path, name)} (there are: {known})")
            else:
                checked[name] = member
        elif member is None and name not in required and not _accepts_null(rule):
            continue
        else:
            checked[name] = _check_value(member, rule, _at(path, name), problems)
    for name in required:
        if name not in value:
            rule = get_object(properties, name)
            problems.append(f"missing argument {_at(path, name)} ({_describe(rule)})")
    return checked


def _check_value(value: Json, schema: JsonObject, path: str, problems: list[str]) -> Json:
    branches = get_objects(schema, "anyOf") or get_objects(schema, "oneOf")
    if branches:
        return _check_branches(value, branches, path, problems)
    kinds = _types(schema)
    fitted, fits = _fit_any(value, kinds)
    if not fits:
        problems.append(f"{path} should be {_describe(schema)}, not {_name(value)}")
        return value
    choices = get_list(schema, "enum")
    if choices and not any(_same(fitted, choice) for choice in choices):
        allowed = ", ".join(dump(choice) for choice in choices)
        problems.append(f"{path} should be one of {allowed}, not {_shorten(fitted)}")
    if "const" in schema and not _same(fitted, schema["const"]):
        problems.append(f"{path} should be {dump(schema['const'])}")
    _check_bounds(fitted, schema, path, problems)
    inner = as_object(fitted)
    if inner is not None:
        return _check_object(inner, schema, path, problems)
    items = as_list(fitted)
    if items is not None:
        rule = get_object(schema, "items")
        if rule:
            return [
                _check_value(item, rule, f"{path}[{index}]", problems)
                for index, item in enumerate(items)
            ]
    return fitted


def _check_branches(
    value: Json, branches: list[JsonObject], path: str, problems: list[str]
) -> Json:
    """By the first branch that takes the value as it is, else the first that takes it converted."""
    converted: list[Json] = []
    fewest: list[str] | None = None
    for branch in branches:
        found: list[str] = []
        checked = _check_value(value, branch, path, found)
        if not found:
            if _same(checked, value):
                return checked
            converted.append(checked)
        elif fewest is None or len(found) < len(fewest):
            fewest = found
    if converted:
        return converted[0]
    problems.extend(fewest or [])
    return value


def _check_bounds(value: Json, schema: JsonObject, path: str, problems: list[str]) -> None:
    if isinstance(value, bool):
        return
    size: float | None = None
    low = high = None
    what = ""
    if isinstance(value, int | float):
        size, low, high = value, get_number(schema, "minimum"), get_number(schema, "maximum")
    elif isinstance(value, str):
        size, what = len(value), " characters"
        low, high = get_number(schema, "minLength"), get_number(schema, "maxLength")
    elif (items := as_list(value)) is not None:
        size, what = len(items), " items"
        low, high = get_number(schema, "minItems"), get_number(schema, "maxItems")
    if size is None:
        return
    if low is not None and size < low:
        problems.append(f"{path} should be at least {_number(low)}{what}")
    if high is not None and size > high:
        problems.append(f"{path} should be at most {_number(high)}{what}")


def _types(schema: JsonObject) -> list[str]:
    one = get_string(schema, "type")
    if one is not None:
        return [one]
    return [kind for kind in get_list(schema, "type") if isinstance(kind, str)]


def _accepts_null(schema: JsonObject) -> bool:
    kinds = _types(schema)
    branches = get_objects(schema, "anyOf") + get_objects(schema, "oneOf")
    return "null" in kinds or any(_accepts_null(branch) for branch in branches)


def _fit_any(value: Json, kinds: list[str]) -> tuple[Json, bool]:
    if not kinds:
        return value, True
    for kind in kinds:
        if _is(value, kind):
            return value, True
    for kind in kinds:
        fitted = _convert(value, kind)
        if fitted is not None:
            return fitted, True
    return value, False


def _is(value: Json, kind: str) -> bool:
    match kind:
        case "string":
            return isinstance(value, str)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "boolean":
            return isinstance(value, bool)
        case "array":
            return isinstance(value, list)
        case "object":
            return isinstance(value, dict)
        case "null":
            return value is None
        case _:
            return True


def _convert(value: Json, kind: str) -> Json:
    """A lossless conversion, or None where there is none."""
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and kind in {"integer", "number", "boolean", "array", "object"}:
        try:
            parsed = parse(value.strip())
        except ValueError:
            parsed = None
        if parsed is not None and _is(parsed, kind):
            return parsed
        return [value] if kind == "array" else None
    if kind == "array" and isinstance(value, dict | int | float):
        return [cast("Json", value)]
    return None


def _same(one: Json, other: Json) -> bool:
    """Whether two values are the same JSON; unlike in Python, true is not 1."""
    return dump(one) == dump(other) or (
        isinstance(one, int | float)
        and isinstance(other, int | float)
        and not isinstance(one, bool)
        and not isinstance(other, bool)
        and one == other
    )


def _number(value: float) -> str:
    return dump(int(value) if value.is_integer() else value)


def _describe(schema: JsonObject) -> str:
    kinds = _types(schema)
    if not kinds:
        return "a value"
    words = {
        "string": "a string",
        "integer": "an integer",
        "number": "a number",
        "boolean": "true or false",
        "array": "a list",
        "object": "an object",
        "null": "null",
    }
    return " or ".join(words.get(kind, kind) for kind in kinds)


def _name(value: Json) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, dict):
        return "an object"
    return _shorten(value)


def _shorten(value: Json) -> str:
    text = dump(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _at(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
