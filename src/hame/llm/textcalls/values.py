"""JSON and Python literals that stand inside other text."""

import ast
import json
from typing import NoReturn, cast

from hame.base.json import Json, JsonObject, as_object, dump

_DEEPEST = 100


def read_value(text: str, at: int) -> tuple[Json, int] | None:
    """The JSON value that begins there and where it ends; None for none, or one that was cut.

    Literal newlines and tabs inside strings are taken: models write them, and nothing is lost.
    """
    start = _skip_space(text, at)
    if text[start : start + 1] not in {"{", "["}:
        return None
    try:
        value, end = _DECODER.raw_decode(text, start)
        dump(value)  # Nested too deeply, or half a character: it could not be sent on.
    except (ValueError, RecursionError):
        return _read_python(text, start)
    return value, end


def read_object(text: str) -> JsonObject | None:
    """A text that is one JSON object and nothing else."""
    found = read_value(text, 0)
    if found is None or text[found[1] :].strip():
        return None
    return as_object(found[0])


def literal(node: ast.expr) -> Json:
    """The plain value that an expression of Python stands for.

    Raises:
        ValueError: if it is anything but a literal, or holds what JSON cannot.
    """
    try:
        value: object = ast.literal_eval(node)
    except TypeError as error:  # A dict as member of a set, or as key: `{{...}}`.
        raise ValueError(str(error)) from error
    if not _is_plain(value, _DEEPEST):
        raise ValueError("no plain value")
    return value


def _read_python(text: str, start: int) -> tuple[Json, int] | None:
    """A dict or list as Python writes it; only where it ends its line's brackets."""
    end = _balanced_end(text, start)
    if end is None:
        return None
    try:
        value = literal(ast.parse(text[start:end], mode="eval").body)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
    return value, end


def _balanced_end(text: str, start: int) -> int | None:
    """Where the bracket that opens there is closed; quotes of Python are looked through."""
    depth, at, quote = 0, start, ""
    while at < len(text):
        letter = text[at]
        if quote:
            if letter == "\\":
                at += 1
            elif letter == quote:
                quote = ""
        elif letter in "\"'":
            quote = letter
        elif letter in "{[(":
            depth += 1
        elif letter in "}])":
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1
    return None


def _is_plain(value: object, levels: int) -> bool:
    if value is None or isinstance(value, bool | int | float | str):
        return True
    if levels == 0:
        return False
    if isinstance(value, dict):
        members = cast("dict[object, object]", value).items()
        return all(isinstance(k, str) and _is_plain(v, levels - 1) for k, v in members)
    if isinstance(value, list):
        return all(_is_plain(item, levels - 1) for item in cast("list[object]", value))
    return False


def _skip_space(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _refuse(word: str) -> NoReturn:
    raise ValueError(word)


_DECODER = json.JSONDecoder(strict=False, parse_constant=_refuse)
