"""`hame doctor`: whether everything hame needs is there, and what to do where it is not."""

import os
import platform
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import click
import msgspec

from hame.app.confinement import try_sandbox
from hame.app.models import Models
from hame.app.offers import open_models
from hame.base.confinement import Level, Probe
from hame.base.errors import ConfigError, HameError
from hame.base.json import dump
from hame.base.ports import ListsModels
from hame.base.zone import is_below, split
from hame.cli.exits import ExitCode
from hame.cli.launch import Launch, paint_for, prepare
from hame.cli.paint import Paint
from hame.cli.reveal import clean
from hame.cli.session import launchpad
from hame.cli.words import counted
from hame.local.machine import engine_installed, missing_flags
from hame.local.weights import find_weights, is_intact
from hame.version import __version__

_PATIENCE_S = 10.0
_TO_WORK = frozenset({"write inside", "write the project"})
"""What a command in a sandbox is to be able to do."""


class Finding(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that was looked at."""

    what: str
    state: str
    """`ok`, `note` or `broken`."""
    said: str
    hint: str = ""


@click.command()
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_obj
def doctor(options: Mapping[str, Any], *, as_json: bool) -> int:
    """Check the installation, the settings, the model and the sandbox.

    The sandbox is tried as commands use it. The provider whose model would be asked is sent one
    request for its list of models. The exit code is 1 where something is broken.
    """
    try:
        launch = prepare(options, interactive=False)
    except ConfigError as error:
        # All else depends on them.
        settings = Finding(what="settings", state="broken", said=error.message, hint=error.hint)
        findings, paint = [settings], Paint(enabled=False, accent="")
    else:
        findings = [*_machine(launch), *_settings(launch), *anyio.run(_models, launch)]
        findings += [*anyio.run(_sandbox, launch), *_tools(launch)]
        paint = paint_for(launch, terminal=sys.stdout.isatty())
    if as_json:
        said = [msgspec.structs.replace(each, what=each.what.strip()) for each in findings]
        sys.stdout.write(dump(msgspec.to_builtins(said)) + "\n")
    else:
        _show(findings, paint)
    broken = any(finding.state == "broken" for finding in findings)
    return ExitCode.FAILED if broken else ExitCode.DONE


def _show(findings: list[Finding], paint: Paint) -> None:
    marks = {"ok": paint.good("✓"), "note": paint.warn("!"), "broken": paint.bad("✗")}
    widest = max(len(finding.what) for finding in findings)
    for finding in findings:
        row = f"{marks[finding.state]} {finding.what:<{widest}}  {clean(finding.said)}"
        sys.stdout.write(f"{row}\n")
        for line in clean(finding.hint).splitlines():
            sys.stdout.write(paint.dim(f"  {'':<{widest}}  {line}") + "\n")


def _machine(launch: Launch) -> list[Finding]:
    system = f"{platform.system()} {platform.machine()}"
    python = f"hame {__version__}, Python {platform.python_version()}, {system}"
    if is_below(split(__file__), launch.project) or is_below(split(sys.prefix), launch.project):
        said = f"{python}, from inside this project: what changes the project can change hame"
        hint = "Install hame outside of it: pipx install hame, or uv tool install hame."
        return [Finding(what="hame", state="note", said=said, hint=hint)]
    if sys.platform == "linux":
        return [Finding(what="hame", state="ok", said=python)]
    hint = "hame is tested on Linux; on Windows use it in WSL."
    return [Finding(what="hame", state="note", said=python, hint=hint)]


def _settings(launch: Launch) -> list[Finding]:
    """`prepare` has read them: what cannot be used is an error before this."""
    found = [
        Finding(what="settings", state="note", said=notice, hint="hame config list shows all.")
        for notice in launch.notices
    ] or [Finding(what="settings", state="ok", said=_file(launch.places.config_file))]
    for folder in (launch.places.sessions, launch.places.state, launch.places.cache):
        there = next(path for path in (Path(folder), *Path(folder).parents) if path.exists())
        if not os.access(there, os.W_OK | os.X_OK):
            hint = f"Make {there} writable for you, or point the XDG variables elsewhere."
            said = f"{folder} cannot be written"
            found.append(Finding(what="files", state="broken", said=said, hint=hint))
    return found


def _file(path: str) -> str:
    return path if Path(path).exists() else f"none of your own; {path} would hold them"


async def _models(launch: Launch) -> list[Finding]:
    found: list[Finding] = []
    async with open_models(launchpad(launch)) as models:
        name = ""
        try:
            name = (await models.open(launch.settings.model)).facts.name
            backend = models.registry.find(name.partition("/")[0])
            listing = ""
            if isinstance(backend, ListsModels):
                with anyio.fail_after(_PATIENCE_S):
                    number = counted(len(await backend.list_models()), "model")
                    listing = f", which answers and lists {number}"
            said = f"{name} of {backend.display_name}{listing}"
            found.append(Finding(what="model", state="ok", said=said))
        except HameError as error:
            said = f"{name}: {error.message}" if name else error.message
            found.append(Finding(what="model", state="broken", said=said, hint=error.hint))
        except TimeoutError:
            said = f"{name}: no answer within {_PATIENCE_S:.0f} s"
            hint = "Check the network, the proxy and the address of the server."
            found.append(Finding(what="model", state="broken", said=said, hint=hint))
        servers = await models.look_around()
        for server in servers:
            said = f"{server.kind} at {server.root}, {counted(len(server.models), 'model')}"
            found.append(Finding(what="local server", state="ok", said=said))
        if not servers:
            said = "none runs on this machine"
            found.append(Finding(what="local server", state="ok", said=said))
        found.append(await _built_in(launch, models))
    return found


async def _built_in(launch: Launch, models: Models) -> Finding:
    """Its processor, engine, weights, and whether the engine really keeps to a grammar."""
    what = "built-in model"
    if lacking := missing_flags():
        said = f"this processor lacks {', '.join(lacking)}"
        return Finding(what=what, state="note", said=said, hint="Use a provider or a local server.")
    if not engine_installed():
        said, hint = "its engine is not installed", "pip install 'hame[local]'"
        return Finding(what=what, state="note", said=said, hint=hint)
    weights = find_weights(Path(launch.places.cache))
    if weights is None:
        return Finding(what=what, state="note", said="not set up", hint="hame local setup")
    if not await anyio.to_thread.run_sync(is_intact, weights):
        said, hint = (
            "its weights are not what they should be",
            "hame local remove && hame local setup",
        )
        return Finding(what=what, state="broken", said=said, hint=hint)
    try:
        await models.try_built_in()
    except HameError as error:
        return Finding(what=what, state="broken", said=error.message, hint=error.hint)
    said = "weights intact, and the engine keeps to a grammar"
    return Finding(what=what, state="ok", said=said)


async def _sandbox(launch: Launch) -> list[Finding]:
    """What confines commands here, why it is no better, and what was tried in it."""
    what = "sandbox"
    settings, environment = launch.settings, launch.environment
    try:
        standing = await try_sandbox(settings, environment, launch.places, launch.project)
    except HameError as error:
        return [Finding(what=what, state="broken", said=error.message, hint=error.hint)]
    said = f"level {standing.level}: {standing.mechanism or 'nothing confines commands'}"
    hint = "\n".join(filter(None, (standing.reason, standing.remedy)))
    state = "ok" if standing.level is Level.A else "note"
    return [
        Finding(what=what, state=state, said=said, hint=hint),
        *(_tried(probe) for probe in standing.probes),
    ]


def _tried(probe: Probe) -> Finding:
    if not probe.holds:
        return Finding(what=f"  {probe.name}", state="broken", said=probe.detail)
    held = "works" if probe.name in _TO_WORK else "kept from it"
    said = f"{held} ({probe.detail})" if probe.detail else held
    return Finding(what=f"  {probe.name}", state="ok", said=said)


def _tools(launch: Launch) -> list[Finding]:
    path = launch.environment.get("PATH")
    found: list[Finding] = []
    for program, use in (("bash", "commands run in it"), ("git", "projects are often kept in it")):
        where = shutil.which(program, path=path)
        state = "ok" if where else "note"
        found.append(Finding(what=program, state=state, said=where or f"not found; {use}"))
    return found
