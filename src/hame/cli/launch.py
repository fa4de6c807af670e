"""From options to what a runtime is started with."""

import os
from collections.abc import Mapping
from typing import Any

import msgspec

from hame.base.errors import ConfigError, SessionError
from hame.base.settings import Settings
from hame.cli.options import SETTINGS
from hame.cli.paint import Paint
from hame.config import load_settings
from hame.config.accents import accent_code
from hame.config.environment import read_environment
from hame.config.places import Places, find_places


class Launch(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a runtime is made from."""

    settings: Settings
    notices: tuple[str, ...]
    environment: Mapping[str, str]
    places: Places
    project: str
    """Real path of the folder to work in; also the process's."""
    resume: str | None = None
    interactive: bool = False
    """Whether somebody is there to answer questions."""
    trusted: bool = False
    """The user trusts the folder for this run, whatever they said before."""


def prepare(options: Mapping[str, Any], *, interactive: bool) -> Launch:
    """Read the settings for these options, and go to the folder they name.

    Raises:
        ConfigError: for a folder or a setting that cannot be used.
        SessionError: if there is no session to go on with.
    """
    environment = read_environment()
    places = find_places(environment)
    project = _enter(options["cwd"])
    flags = {names[-1]: options[names[-1].replace(".", "__")] or None for names, _ in SETTINGS}
    flags |= {switch: options[switch] for switch in ("color", "tools")}
    trusted = bool(options["trust"])
    loaded = load_settings(environment, places, project, flags, trusted=trusted)
    return Launch(
        settings=loaded.settings,
        notices=loaded.notices,
        environment=environment,
        places=places,
        project=project,
        resume=_find_session(options, places, project),
        interactive=interactive,
        trusted=trusted,
    )


def paint_for(launch: Launch, *, terminal: bool) -> Paint:
    """Colours as the settings and the conventions have it, for a stream that is a terminal or not.

    https://no-color.org: NO_COLOR with any value; FORCE_COLOR and CLICOLOR_FORCE ask for them where
    no terminal is.
    """
    environment, wanted = launch.environment, launch.settings.color
    if wanted is None:
        forced = any(
            environment.get(name, "0") not in {"", "0"}
            for name in ("FORCE_COLOR", "CLICOLOR_FORCE")
        )
        able = terminal and environment.get("TERM") != "dumb"
        wanted = not environment.get("NO_COLOR") and (forced or able)
    return Paint(enabled=wanted, accent=accent_code(launch.settings.accent) or "36")


def _enter(folder: str | None) -> str:
    try:
        if folder is not None:
            os.chdir(folder)
        return os.path.realpath(os.getcwd())  # noqa: PTH109 - pathlib is 8 ms of start
    except OSError as error:
        where = folder or "the current folder"
        raise ConfigError(
            f"cannot work in {where}: {error.strerror}", hint="Name a folder with --cwd."
        ) from error


def _find_session(options: Mapping[str, Any], places: Places, project: str) -> str | None:
    if options["resume"] is not None or not options["continue"]:
        return options["resume"]
    from pathlib import Path

    from hame.sessions.store import SessionStore

    latest = SessionStore(Path(places.sessions)).latest(project)
    if latest is None:
        raise SessionError(
            f"there is no session of {project} yet",
            hint="Start one without --continue; hame sessions --all lists those of other folders.",
        )
    return latest
