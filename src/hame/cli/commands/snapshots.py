"""`hame snapshots`: what undo keeps on disk."""

import sys
from collections.abc import Mapping
from functools import partial
from typing import Any

import anyio
import click

from hame.app.taking_back import collect_all
from hame.cli.launch import prepare
from hame.cli.reveal import clean
from hame.cli.session import launchpad
from hame.cli.words import counted

_MEBIBYTE = 1024 * 1024


@click.group()
def snapshots() -> None:
    """What undo keeps on disk, outside of your projects."""


@snapshots.command()
@click.option("--all", "everywhere", is_flag=True, help="Of all projects.")
@click.option(
    "--older-than", "days", type=float, default=30.0, metavar="DAYS", show_default=True,
    help="Forget sessions that were not active for so long.",
)  # fmt: skip
@click.pass_context
def gc(ctx: click.Context, *, everywhere: bool, days: float) -> None:
    """Forget old sessions' snapshots and give the space back. It also happens by itself."""
    options: Mapping[str, Any] = ctx.find_root().obj
    pad = launchpad(prepare(options, interactive=False))
    done = anyio.run(partial(collect_all, pad, everywhere=everywhere, keep_days=days))
    for each in done:
        sizes = f"{each.before / _MEBIBYTE:.1f} -> {each.after / _MEBIBYTE:.1f} MB"
        gone = counted(each.sessions, "session")
        sys.stdout.write(f"{clean(each.project)}  {sizes}  {gone} forgotten\n")
    if not done:
        sys.stdout.write("there are no snapshots here\n")
