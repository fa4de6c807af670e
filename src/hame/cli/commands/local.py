"""`hame local`: the built-in model, which runs on this machine and needs no key."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import click

from hame.cli.exits import ExitCode
from hame.cli.launch import Launch, prepare
from hame.local.machine import engine_installed, missing_flags, require_engine
from hame.local.weights import (
    LICENCE,
    MODEL,
    SIZE,
    find_weights,
    is_intact,
    remove_weights,
    set_up_weights,
)
from hame.workspace.ownprograms import OwnPrograms
from hame.workspace.process import LocalProcesses


@click.group()
@click.pass_context
def local(ctx: click.Context) -> None:
    """Set up the built-in model."""
    options: Mapping[str, Any] = ctx.obj
    ctx.obj = prepare(options, interactive=False)


@local.command()
@click.pass_obj
def setup(launch: Launch) -> None:
    """Get the weights, and see that this machine can run them."""
    require_engine()
    anyio.run(_set_up, launch)
    sys.stdout.write(f"Ready: hame --model local/{MODEL}; hame demo shows what it can do.\n")


@local.command()
@click.pass_obj
def status(launch: Launch) -> int:
    """Say what is in place; exit code 1 when something is missing."""
    weights = find_weights(Path(launch.places.cache))
    missing = missing_flags()
    rows = {
        "model": f"local/{MODEL} ({LICENCE})",
        "engine": "installed" if engine_installed() else "not installed: pip install 'hame[local]'",
        "processor": f"lacks {', '.join(missing)}" if missing else "able",
        "weights": "not here: hame local setup",
    }
    intact = weights is not None and is_intact(weights)
    if weights is not None:
        state = "" if intact else " DAMAGED: hame local setup gets them again"
        rows["weights"] = f"{weights.path} ({SIZE / 1e6:.0f} MB){state}"
    for name, said in rows.items():
        sys.stdout.write(f"{name:<10} {said}\n")
    return ExitCode.DONE if intact and engine_installed() and not missing else ExitCode.FAILED


@local.command()
@click.pass_obj
def remove(launch: Launch) -> None:
    """Delete the weights that hame got."""
    removed = remove_weights(Path(launch.places.cache))
    sys.stdout.write(
        "The weights are deleted.\n" if removed else "There were none of hame's own.\n"
    )


async def _set_up(launch: Launch) -> None:
    def report(line: str) -> None:
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()

    uv = OwnPrograms(launch.environment, without=(launch.project,)).find("uv")
    folder = Path(launch.places.cache)
    processes = LocalProcesses(launch.environment, without=(launch.project,))
    await set_up_weights(folder, processes, report, uv=uv)
