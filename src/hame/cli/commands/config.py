"""`hame config`: show and change settings, and say where each value comes from."""

import os
import sys
from typing import cast

import click

from hame.base.errors import ConfigError
from hame.base.json import dump
from hame.cli.cells import wrap
from hame.cli.completing import completing, find_settings
from hame.cli.reveal import clean
from hame.cli.terminal_size import terminal_size
from hame.config import Loaded, load_settings
from hame.config.environment import read_environment
from hame.config.keys import Key, Scope, find_key, keys, provider_keys
from hame.config.places import Places, find_places, project_file
from hame.config.resolve import settled_value
from hame.config.sources import Layer, Value, unknown_key
from hame.config.write import set_value, unset_value

_SCOPES = {
    Scope.USER: "yours alone",
    Scope.TRUSTED: "also a trusted project's; of any other only what is narrower than yours",
    Scope.NARROWED: "a project may only make it narrower than yours",
}
"""Who may set a key."""


@click.group(invoke_without_command=True)
@click.pass_context
def config(ctx: click.Context) -> None:
    """Show and change settings.

    Without a subcommand: every key, its type, its default and what it means.
    """
    if ctx.invoked_subcommand is None:
        for key in keys().values():
            _explain(key)
        sys.stdout.write("\n[providers.NAME]\n")
        for key in provider_keys().values():
            _explain(key)


@config.command("list")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def list_values(*, as_json: bool) -> None:
    """All values, and where each comes from."""
    loaded = _load()
    shown = loaded.values
    if as_json:
        sys.stdout.write(
            dump({name: _json_value(name, value) for name, value in shown.items()}) + "\n"
        )
        return
    widest = max(map(len, shown))
    for name, value in shown.items():
        key = find_key(name)
        marks = _marks(key) if key is not None and key.mark.executes else ""
        shown_value = f"{_show(name, value.value)}{_origin(value)}{marks}"
        sys.stdout.write(f"{name:<{widest}} = {shown_value}\n")
    for notice in loaded.notices:
        sys.stderr.write(f"hame: {clean(notice)}\n")


@config.command()
@click.argument("key", shell_complete=completing(find_settings))
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def get(key: str, *, as_json: bool) -> None:
    """The value of KEY, and where it comes from."""
    value = _value_of(key)
    if as_json:
        sys.stdout.write(dump(_json_value(key, value)) + "\n")
    else:
        sys.stdout.write(f"{_show(key, value.value)}{_origin(value)}\n")


@config.command("set")
@click.argument("key", shell_complete=completing(find_settings))
@click.argument("value")
def set_key(key: str, value: str) -> None:
    """Set KEY to VALUE in your settings file; comments in it stay."""
    places = find_places(read_environment())
    written = set_value(places, key, value)
    sys.stdout.write(f"{key} = {_show(key, written)}  ({places.config_file})\n")
    _warn_if_hidden(places, key)


@config.command()
@click.argument("key", shell_complete=completing(find_settings))
def unset(key: str) -> None:
    """Take KEY, or a whole providers.NAME, out of your settings file."""
    places = find_places(read_environment())
    _unset(places, key)
    sys.stdout.write(f"{key} is no longer set in {places.config_file}\n")


@config.command()
def path() -> None:
    """Where the settings are read from, and where hame keeps its files."""
    places = find_places(read_environment())
    rows = {
        "settings": places.config_file,
        "project": project_file(_project()),
        "sessions": places.sessions,
        "log": places.log,
        "cache": places.cache,
    }
    for name, place in rows.items():
        missing = "" if os.path.exists(place) else "  (not there)"  # noqa: PTH110 - strings all through
        sys.stdout.write(f"{name:<9} {clean(place)}{missing}\n")


def _load() -> Loaded:
    environment = read_environment()
    return load_settings(environment, find_places(environment), _project())


def _value_of(key: str) -> Value:
    """The value of a key.

    Raises:
        ConfigError: if there is no such key.
    """
    value = settled_value(_load(), key)
    if value is None:
        message, hint = unknown_key(key)
        raise ConfigError(message, hint=hint)
    return value


def _unset(places: Places, key: str) -> None:
    """Take a key out of the file.

    Raises:
        ConfigError: if it is not set there.
    """
    if not unset_value(places, key):
        hint = "hame config list shows what is set, and where."
        raise ConfigError(f"{key} is not set in {places.config_file}", hint=hint)


def _project() -> str:
    return os.path.realpath(os.getcwd())  # noqa: PTH109 - the same string as at the start


def _explain(key: Key) -> None:
    default = _show(key.name, key.default) if key.default or key.default is False else ""
    head = f"{key.name}  {key.expects}" + (f"; {default} unless set" if default else "")
    sys.stdout.write(f"{head}\n")
    sys.stdout.write(f"    {_SCOPES[key.mark.scope]}{_marks(key)}\n")
    for line in wrap(key.meaning, min(terminal_size()[0], 100) - 4):
        sys.stdout.write(f"    {line}\n")


def _show(name: str, value: object) -> str:
    if value is None:
        return "(not set)"
    if name.endswith(".api_key"):
        return "(set)"
    if isinstance(value, tuple):
        return os.pathsep.join(cast("tuple[str, ...]", value)) or "(none)"
    if isinstance(value, bool):
        return "true" if value else "false"
    return clean(f"{value:g}" if isinstance(value, float) else str(value))


def _origin(value: Value) -> str:
    return f"  ({value.where})" if value.where else "  (default)"


def _json_value(name: str, value: Value) -> object:
    shown = "(set)" if name.endswith(".api_key") and value.value else value.value
    key = find_key(name)
    marks = {"executes": key.mark.executes, "connects": key.mark.connects} if key else {}
    held = {mark: holds for mark, holds in marks.items() if holds}
    return {"value": shown, "from": value.layer, "where": value.where, **held}


def _marks(key: Key) -> str:
    """What a key can do beyond being a value."""
    said = [
        *["runs a program"] * key.mark.executes,
        *["decides what is sent where"] * key.mark.connects,
    ]
    return f"  [{', '.join(said)}]" if said else ""


def _warn_if_hidden(places: Places, key: str) -> None:
    """A value that is set in the file but overridden elsewhere would surprise."""
    if find_key(key) is None:
        return
    value = settled_value(load_settings(read_environment(), places, _project()), key)
    if value is not None and value.layer in {Layer.ENVIRONMENT, Layer.PROJECT}:
        sys.stderr.write(f"hame: {value.where} overrides it here: {_show(key, value.value)}\n")
