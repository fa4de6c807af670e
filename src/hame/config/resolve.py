"""Settings from all layers: defaults < user's file < project's file < environment < flags."""

import os
from collections.abc import Mapping
from typing import Any

import msgspec

from hame.base.settings import Mode, Settings
from hame.config.keys import find_key, keys
from hame.config.places import Places, project_file
from hame.config.sources import (
    Layer,
    Value,
    providers_of,
    read_file,
    read_flags,
    read_variables,
)

_FREE = frozenset({
    "accent", "color", "command_timeout_s", "effort", "first_byte_timeout_s", "idle_timeout_s",
    "show_thinking",
})  # fmt: skip
"""Keys that a project may set to anything: they open nothing."""

_LIMITS = frozenset({
    "max_cost_per_day_usd", "max_cost_usd", "max_output_tokens", "max_retry_wait_s", "max_steps",
    "max_steps_per_day", "max_time_per_day_s", "max_time_s", "max_tokens", "max_tokens_per_day",
})  # fmt: skip
"""Keys that a project may only lower."""

_STRICTNESS = (Mode.AUTO, Mode.ASK, Mode.PLAN)


class Loaded(msgspec.Struct, frozen=True, kw_only=True):
    """Settings, and where each comes from."""

    settings: Settings
    values: dict[str, Value]
    """By dotted key, every key of the top level but `providers` included."""
    notices: tuple[str, ...] = ()
    """What was left out and why; one line each."""


def load_settings(
    environment: Mapping[str, str],
    places: Places,
    project: str,
    flags: Mapping[str, object] | None = None,
) -> Loaded:
    """Read and combine all layers. `project` is the project's folder, absolute.

    Raises:
        ConfigError: naming the file and line, the variable or the flag that cannot be used.
    """
    chosen = {
        key.name: Value(key.default, Layer.DEFAULT)
        for key in keys().values()
        if key.name != "providers"
    }
    chosen |= read_file(places.config_file, Layer.USER, places)
    notices = _warn_of_open_file(places, chosen)
    variables, unknown = read_variables(environment, places, project)
    flag_values = read_flags(flags or {}, places, project)
    proposed = read_file(project_file(project), Layer.PROJECT, places)
    user = chosen | variables | flag_values
    for dotted, value in proposed.items():
        if refusal := _why_not(dotted, value, chosen, user):
            notices.append(f"{value.where}: {dotted} is ignored: {refusal}")
        else:
            chosen[dotted] = value
    chosen |= variables | flag_values
    plain: dict[str, Any] = {dotted: value.value for dotted, value in chosen.items()}
    top = {name: value for name, value in plain.items() if "." not in name}
    settings = Settings(**top, providers=providers_of(plain))
    return Loaded(settings=settings, values=chosen, notices=tuple(notices + unknown))


def _why_not(
    dotted: str, proposed: Value, below: Mapping[str, Value], user: Mapping[str, Value]
) -> str:
    """Why a project may not set this, or nothing: a project's own files never widen anything."""
    value: Any = proposed.value
    if dotted in _FREE:
        return ""
    if dotted in _LIMITS:
        limit: Any = below[dotted].value
        narrows = value is not None and (limit is None or value <= limit)
        return "" if narrows else f"a project may only lower it (yours is {limit:g})"
    if dotted == "mode":
        narrows = _STRICTNESS.index(value) >= _STRICTNESS.index(Mode(str(below["mode"].value)))
        return "" if narrows else f"a project may not loosen the mode; hame --mode {value} does"
    if dotted == "model":
        mine = user["model"].value
        same = isinstance(mine, str) and mine.partition("/")[0] == value.partition("/")[0]
        return "" if same else f"the provider is yours to choose; hame --model {value} takes it"
    return "only your own settings may set it"


def _warn_of_open_file(places: Places, values: Mapping[str, Value]) -> list[str]:
    if not any(dotted.endswith(".api_key") for dotted in values):
        return []
    path = places.config_file
    if os.stat(path).st_mode & 0o077 == 0:  # noqa: PTH116 - pathlib is 8 ms of start
        return []
    return [f"{path} holds a key and others can read it: chmod 600 {path}"]


def settled_value(loaded: Loaded, dotted: str) -> Value | None:
    """The value of a key and where it comes from; None for an unknown one.

    A provider's key that is not set has its default.
    """
    if (value := loaded.values.get(dotted)) is not None:
        return value
    key = find_key(dotted)
    return Value(key.default, Layer.DEFAULT) if key is not None and "." in dotted else None
