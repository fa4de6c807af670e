"""Settings from all layers: defaults < user's file < project's file < environment < flags.

A project's own file never widens anything. Of a folder that the user does not trust it counts as far
as it takes something away: a lower limit, a stricter mode. Of a trusted one also what is a matter of
taste or of the project's nature counts: colours, time limits, effort, another model of the same
provider. What executes, connects or opens further places is the user's alone, trusted or not.
"""

import os
from collections.abc import Mapping
from typing import Any

import msgspec

from hame.base.errors import ConfigError
from hame.base.settings import Mode, Settings
from hame.config.environment import say_direnv
from hame.config.keys import Key, Scope, find_key, keys
from hame.config.leftout import say_left_out
from hame.config.places import Places, project_file
from hame.config.sources import (
    Layer,
    Value,
    providers_of,
    read_file,
    read_flags,
    read_variables,
)
from hame.config.trust import TrustStore

_STRICTNESS = (Mode.AUTO, Mode.ASK, Mode.PLAN)
_NO_LIMIT = frozenset({
    "max_cost_per_day_usd", "max_cost_usd", "max_output_tokens", "max_steps_per_day",
    "max_time_per_day_s", "max_time_s", "max_tokens", "max_tokens_per_day",
})  # fmt: skip
"""Keys that mean "no limit" when they are not set; others that are not set are chosen by model."""


class Proposed(msgspec.Struct, frozen=True, kw_only=True):
    """One value of a project's own file, and what became of it."""

    key: Key
    value: Value
    ignored: str = ""
    """Why it does not count; empty: it does."""
    waits: bool = False
    """It would count if the folder were trusted."""


class Loaded(msgspec.Struct, frozen=True, kw_only=True):
    """Settings, and where each comes from."""

    settings: Settings
    values: dict[str, Value]
    """By dotted key, every key of the top level but `providers` included."""
    notices: tuple[str, ...] = ()
    """What is wrong or was left out, and why; one line each."""
    proposed: tuple[Proposed, ...] = ()
    """What the project's own file says, in its order."""
    trusted: bool = False
    """Whether the user trusts the project's folder, for good or for this run."""


def load_settings(
    environment: Mapping[str, str],
    places: Places,
    project: str,
    flags: Mapping[str, object] | None = None,
    *,
    trusted: bool = False,
) -> Loaded:
    """Read and combine all layers. `project` is the project's folder, absolute.

    With `trusted` the folder is trusted for this run, whatever the user said before.

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
    notices += say_direnv(environment)
    flag_values = read_flags(flags or {}, places, project)
    trusted = trusted or _is_trusted(places, project, notices)
    user = chosen | variables | flag_values
    proposed = tuple(
        _judge(dotted, value, chosen, user, trusted=trusted)
        for dotted, value in read_file(project_file(project), Layer.PROJECT, places).items()
    )
    notices += say_left_out(project, proposed, trusted=trusted)
    chosen |= {each.key.name: each.value for each in proposed if not each.ignored}
    chosen |= variables | flag_values
    plain: dict[str, Any] = {dotted: value.value for dotted, value in chosen.items()}
    top = {name: value for name, value in plain.items() if "." not in name}
    settings = Settings(**top, providers=providers_of(plain))
    return Loaded(
        settings=settings,
        values=chosen,
        notices=tuple(notices + unknown),
        proposed=proposed,
        trusted=trusted,
    )


def _is_trusted(places: Places, project: str, notices: list[str]) -> bool:
    """What the user said of the folder; where that cannot be read, nothing is trusted."""
    try:
        return TrustStore(places.trust_file).why(project) is not None
    except ConfigError as error:
        notices.append(f"no folder is trusted: {error.message}. {error.hint}".rstrip())
        return False


def _judge(
    dotted: str,
    value: Value,
    below: Mapping[str, Value],
    user: Mapping[str, Value],
    *,
    trusted: bool,
) -> Proposed:
    """What becomes of a value of the project's own file."""
    key = find_key(dotted)
    assert key is not None, "reading the file has found it"
    mark, why = key.mark, ""
    if mark.scope is Scope.USER or mark.executes or mark.connects:
        why = "only your own settings may set it"
    elif not _narrows(dotted, value.value, below[dotted].value):
        wanted = str(value.value)
        if mark.scope is Scope.NARROWED:
            why = _too_wide(dotted, value.value, below[dotted].value)
        elif dotted == "model" and (refusal := _other_provider(wanted, user[dotted].value)):
            why = refusal
        elif not trusted:
            return Proposed(
                key=key, value=value, ignored="you have not trusted this folder", waits=True
            )
    return Proposed(key=key, value=value, ignored=why)


def _narrows(dotted: str, value: Any, mine: Any) -> bool:  # noqa: ANN401 - as the key has it
    """Whether a value takes something away from the user's own, and gives nothing."""
    if dotted == "mode":
        return _STRICTNESS.index(value) >= _STRICTNESS.index(Mode(str(mine)))
    if value is None or isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return dotted in _NO_LIMIT if mine is None else value <= mine


def _too_wide(dotted: str, value: object, mine: object) -> str:
    if dotted == "mode":
        return f"a project may not loosen the mode; hame --mode {value} does"
    return f"a project may only lower it (yours is {mine:g})"


def _other_provider(wanted: str, mine: object) -> str:
    """Why a project may not choose this model, or nothing: it is another of the user's provider."""
    provider = wanted.partition("/")[0]
    if not isinstance(mine, str) or mine.partition("/")[0] != provider:
        return f"the provider is yours to choose; hame --model {wanted} takes it"
    # What stands after `local/` may be a file of the project's own, for a parser in native code.
    return "a model that runs here is yours to choose" if provider == "local" else ""


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
