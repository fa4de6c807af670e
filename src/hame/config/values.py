"""One value of one key: converted to its type and checked."""

import math
import os
import re
from collections.abc import Callable, Mapping
from typing import Any, cast

import msgspec

from hame.config.accents import ACCENTS, accent_code
from hame.config.keys import Key

_YES = frozenset({"true", "yes", "on", "1"})
_NO = frozenset({"false", "no", "off", "0"})


class Place(msgspec.Struct, frozen=True):
    """Against what the paths in a value are resolved."""

    folder: str
    """Where relative paths start."""
    home: str
    """What `~` stands for."""


def read_text(key: Key, text: str, place: Place) -> object:
    """A value given as text, in the environment, on the command line or to `hame config set`.

    Raises:
        ValueError: if it is no value of the key, saying what is allowed.
    """
    raw: object = text
    kind = key.expects
    if kind == "true or false":
        folded = text.strip().casefold()
        raw = True if folded in _YES else False if folded in _NO else text
    elif kind.startswith("a list"):
        separator = os.pathsep if kind.endswith("paths") else ","
        raw = [part.strip() for part in text.split(separator) if part.strip()]
    elif kind.startswith("tables"):
        raise ValueError(
            "is set value by value: providers.NAME.base_url, providers.NAME.model, ..."
        )
    elif kind in {"a whole number", "a number"}:
        raw = _number(text)
    return read_value(key, raw, place)


def read_value(key: Key, raw: object, place: Place) -> object:
    """A value as TOML or the command line's parser gives it.

    Raises:
        ValueError: if it is no value of the key, saying what is allowed.
    """
    try:
        value: Any = msgspec.convert(raw, key.type, strict=True)
    except msgspec.ValidationError as error:
        raise ValueError(f"should be {key.expects}, not {_show(raw)}") from error
    leaf = key.name.rpartition(".")[2]
    number = key.expects in {"a whole number", "a number"}
    check = _CHECKS.get(leaf, _check_number if number else _check_nothing)
    if value is not None and (problem := check(value)):
        raise ValueError(problem)
    return _resolve_paths(leaf, value, place)


def _number(text: str) -> object:
    for convert in (int, float):
        try:
            return convert(text.strip())
        except ValueError:
            continue
    return text


def _show(raw: object) -> str:
    if isinstance(raw, str):
        return f'"{raw}"' if len(raw) <= 60 else f'"{raw[:57]}..."'
    if isinstance(raw, dict):
        return "a table"
    if isinstance(raw, list):
        return "a list"
    return str(raw).lower() if isinstance(raw, bool) else str(raw)


def _resolve_paths(leaf: str, value: object, place: Place) -> object:
    if leaf == "add_dirs" and isinstance(value, tuple):
        return tuple(_resolve(path, place) for path in cast("tuple[str, ...]", value))
    return _resolve(value, place) if leaf == "ca_file" and isinstance(value, str) else value


def _resolve(path: str, place: Place) -> str:
    if path == "~" or path.startswith("~/"):
        path = place.home + path[1:]
    return os.path.normpath(f"{place.folder}/{path}" if not path.startswith("/") else path)


def _check_nothing(_value: object) -> str:
    return ""


def _check_number(value: float) -> str:
    return "" if math.isfinite(value) and value > 0 else f"should be more than 0, not {value:g}"


def _check_wait(value: float) -> str:
    good = math.isfinite(value) and value >= 0
    return "" if good else f"should be 0 or more seconds, not {value:g}"


def _check_layers(value: int) -> str:
    return "" if value >= -1 else f"should be a number of layers, 0 for none, not {value}"


def _check_accent(value: str) -> str:
    if accent_code(value):
        return ""
    return f'should be one of {", ".join(ACCENTS)} or #rrggbb, not "{value}"'


def _check_model(value: str) -> str:
    good = value and not re.search(r"[\s\x00-\x1f]", value)
    return "" if good else "should be a model's name: backend/model"


def _check_url(value: str) -> str:
    good = re.fullmatch(r"https?://[^\s/?#]+[^\s]*", value)
    return "" if good else f'should be a URL that starts with https:// or http://, not "{value}"'


def _check_proxy(value: str) -> str:
    good = re.fullmatch(r"[a-z0-9]+://[^\s/?#]+[^\s]*", value)
    return "" if good else "should be a URL such as http://proxy.example:3128"


def _check_models(value: tuple[str, ...]) -> str:
    wrong = next((name for name in value if "/" not in name or _check_model(name)), None)
    return "" if wrong is None else f'should be models, backend/model, not "{wrong}"'


def _check_variable(value: str) -> str:
    good = re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", value)
    # The value is not repeated: people write the key itself here by mistake.
    return "" if good else "should be the name of an environment variable, not the key itself"


def _check_text(value: str) -> str:
    return "" if value.strip() else "should not be empty"


_CHECKS: Mapping[str, Callable[[Any], str]] = {
    "accent": _check_accent,
    "api_key": _check_text,
    "api_key_cmd": _check_text,
    "api_key_env": _check_variable,
    "base_url": _check_url,
    "ca_file": _check_text,
    "fallbacks": _check_models,
    "keep_alive": _check_text,
    "max_retry_wait_s": _check_wait,
    "model": _check_model,
    "num_gpu": _check_layers,
    "proxy": _check_proxy,
    "wire": _check_text,
}
