"""One layer of settings: a file, the environment or the flags, read into checked values."""

import os
import stat
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import cast

import msgspec

from hame.base.errors import ConfigError
from hame.base.settings import ProviderSettings
from hame.config.keys import Key, find_key, keys, nearest, provider_keys, settable
from hame.config.places import Places
from hame.config.values import Place, read_text, read_value
from hame.config.versions import migrate

_LIMIT = 1 << 20
"""Bytes of a settings file; a larger one is something else."""

_FOREIGN = frozenset({
    "HAME_CONTINUE", "HAME_RESUME", "HAME_PRINT", "HAME_PROMPT", "HAME_CWD", "HAME_OUTPUT_FORMAT",
    "HAME_NO_COLOR",
})  # fmt: skip
"""Variables of command-line options that are not settings."""


class Layer(StrEnum):
    """Where a value may come from, the weakest first."""

    DEFAULT = "default"
    USER = "user"
    PROJECT = "project"
    ENVIRONMENT = "environment"
    FLAG = "flag"


class Value(msgspec.Struct, frozen=True):
    """A value and where it was given."""

    value: object
    layer: Layer
    where: str = ""
    """`FILE:LINE`, the variable or the flag; empty for a default."""


def read_file(path: str, layer: Layer, places: Places) -> dict[str, Value]:
    """The values of a settings file by dotted key; none where there is no file.

    Raises:
        ConfigError: if it cannot be read, is of a newer version, or holds a wrong value or something
            that is no setting.
    """
    text = read_settings_text(path)
    if text is None:
        return {}
    table = migrate(parse_toml(text, path), path)
    place = Place(os.path.dirname(path), places.home)  # noqa: PTH120 - pathlib is 8 ms of start
    found: dict[str, Value] = {}
    for dotted, raw in _flatten(table):
        key = find_key(dotted)
        where = f"{path}:{line_of(text, dotted)}"
        if key is None:
            message, hint = _unknown(dotted, where, _remedy(dotted, path, layer))
            raise ConfigError(message, hint=hint)
        try:
            value = read_value(key, raw, place)
        except ValueError as error:
            hint = _remedy(dotted, path, layer)
            raise ConfigError(f"{where}: {dotted} {error}", hint=hint) from error
        found[dotted] = Value(value, layer, where)
    return found


def read_variables(
    environment: Mapping[str, str], places: Places, folder: str
) -> tuple[dict[str, Value], list[str]]:
    """The values of `HAME_*` variables, and a notice for each that is no setting.

    Raises:
        ConfigError: if one holds what its key does not take.
    """
    found: dict[str, Value] = {}
    left = {name for name, text in environment.items() if name.startswith("HAME_") and text}
    for key in settable() if left else ():
        for variable in key.variables:
            if variable in left and key.name not in found:
                place = Place(folder, places.home)
                found[key.name] = _read_variable(key, variable, environment[variable], place)
            left.discard(variable)
    known = (
        {variable: None for key in keys().values() for variable in key.variables} if left else {}
    )
    notices = [
        f"{name} in the environment is not a setting of hame{nearest(name, known)}"
        for name in sorted(left - _FOREIGN)
    ]
    return found, notices


def read_flags(flags: Mapping[str, object], places: Places, folder: str) -> dict[str, Value]:
    """The values of the command line's flags by key; None is a flag that was not given.

    Raises:
        ConfigError: if one is not a value of its key.
    """
    found: dict[str, Value] = {}
    for name, raw in flags.items():
        key = find_key(name)
        if raw is None or key is None:
            continue
        place = Place(folder, places.home)
        try:
            text = isinstance(raw, str)
            value = read_text(key, raw, place) if text else read_value(key, raw, place)
        except ValueError as error:
            raise ConfigError(f"--{key.option} {error}", hint="See hame --help.") from error
        found[name] = Value(value, Layer.FLAG, f"--{key.option}")
    return found


def read_settings_text(path: str) -> str | None:
    """The text of a settings file; None where there is none.

    Raises:
        ConfigError: if it is not a readable UTF-8 file.
    """
    try:
        # Not blocking: a FIFO in a project must not hold up the start.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        message = f"{path}: cannot be read: {error.strerror}"
        raise ConfigError(message, hint="Make it readable for you, or move it away.") from error
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or status.st_size > _LIMIT:
        os.close(descriptor)  # `fdopen` takes no folder.
        raise ConfigError(f"{path}: is not a settings file", hint="Move it out of the way.")
    with os.fdopen(descriptor, "rb") as file:
        data = file.read(_LIMIT)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"{path}: is not UTF-8 (byte {error.start})"
        raise ConfigError(message, hint="Save it as UTF-8, or move it out of the way.") from error


def parse_toml(text: str, path: str) -> dict[str, object]:
    """The tables of a TOML text.

    Raises:
        ConfigError: if it is not TOML, naming the line.
    """
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: not valid TOML: {error}", hint=f"Correct {path}.") from error


def line_of(text: str, dotted: str) -> int:
    """The line, from 1, on which a setting's value begins."""
    return _first_line(text, lambda table: any(name == dotted for name, _ in _flatten(table)))


def line_at(text: str, path: Sequence[str]) -> int:
    """The line, from 1, on which a table, or a key's value, begins that is reached by these names.

    What is inside a list is as far as its list.
    """

    def holds(table: object) -> bool:
        for name in path:
            if isinstance(table, list):
                return True
            if not isinstance(table, dict) or name not in table:
                return False
            table = cast("dict[str, object]", table)[name]
        return True

    return _first_line(text, holds)


def _first_line(text: str, holds: Callable[[dict[str, object]], bool]) -> int:
    """The line on which that begins which first makes the text hold what is looked for; 1 where none does."""
    import tomllib

    lines = text.splitlines()
    start = 1
    for count in range(1, len(lines) + 1):
        try:
            table = tomllib.loads("\n".join(lines[:count]))
        except tomllib.TOMLDecodeError:
            continue
        if holds(table):
            return start
        start = count + 1
    return 1


def _read_variable(key: Key, variable: str, text: str, place: Place) -> Value:
    try:
        value = read_text(key, text, place)
    except ValueError as error:
        hint = f"Correct the variable {variable} or unset it."
        raise ConfigError(f"{variable} {error}", hint=hint) from error
    return Value(value, Layer.ENVIRONMENT, variable)


def _flatten(table: Mapping[str, object]) -> list[tuple[str, object]]:
    """Dotted keys and raw values; the values of a provider are keys of their own."""
    found: list[tuple[str, object]] = []
    for name, raw in table.items():
        if name != "providers" or not isinstance(raw, dict):
            found.append((name, raw))
            continue
        for provider, values in cast("dict[str, object]", raw).items():
            if isinstance(values, dict):
                inner = cast("dict[str, object]", values)
                found += [(f"providers.{provider}.{leaf}", value) for leaf, value in inner.items()]
            else:
                found.append((f"providers.{provider}", values))
    return found


def providers_of(values: Mapping[str, object]) -> dict[str, ProviderSettings]:
    """The providers in values by dotted key."""
    members: dict[str, dict[str, object]] = {}
    for dotted, value in values.items():
        if dotted.startswith("providers."):
            name, _, leaf = dotted.removeprefix("providers.").rpartition(".")
            members.setdefault(name, {})[leaf] = value
    return {name: msgspec.convert(inner, ProviderSettings) for name, inner in members.items()}


def _unknown(dotted: str, where: str, remedy: str) -> tuple[str, str]:
    head, _, leaf = dotted.rpartition(".")
    if head == "providers":
        return f"{where}: {dotted} should be a table: [providers.{leaf}]", remedy
    said, names = unknown_key(dotted)
    return f"{where}: {said}", f"{remedy} {names}"


def unknown_key(dotted: str) -> tuple[str, str]:
    """That a key is no setting, with the nearest that is one; and what tells all there are."""
    head, _, leaf = dotted.rpartition(".")
    if head.startswith("providers."):
        known = provider_keys()
        return (
            f"{leaf} is not a setting{nearest(leaf, known)}",
            f"A provider has {', '.join(known)}.",
        )
    return f"{dotted} is not a setting{nearest(leaf, keys())}", "`hame config` lists all settings."


def _remedy(dotted: str, path: str, layer: Layer) -> str:
    unset = f", or take it out: hame config unset {dotted}" if layer is Layer.USER else ""
    return f"Correct {path}{unset}."
