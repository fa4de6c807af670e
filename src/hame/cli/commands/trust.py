"""`hame trust`: see what a folder brings, and say whether it is trusted."""

import os
import sys
from collections.abc import Mapping
from typing import Any

import click
import msgspec

from hame.app.belongings import gather
from hame.base.errors import ConfigError
from hame.base.json import dump
from hame.cli.cells import wrap
from hame.cli.exits import ExitCode
from hame.cli.reveal import clean, reveal
from hame.cli.terminal_size import terminal_size
from hame.cli.trusting import belongings_lines, meaning_lines, revoke_line, trust_lines
from hame.config.environment import read_environment
from hame.config.places import Places, find_places
from hame.config.trust import TrustStore


@click.command()
@click.argument("path", required=False)
@click.option("--below", is_flag=True, help="Also everything below the folder.")
@click.option("--revoke", is_flag=True, help="Trust it no more.")
@click.option("--list", "listing", is_flag=True, help="List the folders that are trusted.")
@click.option("--json", "as_json", is_flag=True, help="As JSON; nothing is asked.")
@click.pass_obj
def trust(
    options: Mapping[str, Any],
    path: str | None,
    *,
    below: bool,
    revoke: bool,
    listing: bool,
    as_json: bool,
) -> int:
    """Show what the folder (or PATH) brings with it, and ask whether you trust it.

    A trusted folder's instructions (AGENTS.md) are taken as yours, and more of its .hame/config.toml
    counts. Nothing is started by it, then or later, and what runs a program or opens a connection
    stays yours to set. The answer is no unless you say yes.

    Raises:
        ConfigError: for options that contradict each other.
    """
    if revoke + listing > 1 or (below and (revoke or listing)):
        raise ConfigError("choose one of --revoke, --list and --below", hint="See hame trust -h.")
    places = find_places(read_environment())
    store = TrustStore(places.trust_file)
    if listing:
        return _list(store, as_json=as_json)
    folder = os.path.realpath(path or options["cwd"] or ".")
    if revoke:
        return _revoke(store, folder, as_json=as_json)
    found = gather(folder, places)
    if as_json:
        sys.stdout.write(dump(msgspec.to_builtins(found)) + "\n")
        return ExitCode.DONE
    _say(belongings_lines(found))
    if found.trust is not None and (found.trust.below or not below):
        return ExitCode.DONE
    return _ask(store, folder, places, below=below)


def _ask(store: TrustStore, folder: str, places: Places, *, below: bool) -> int:
    """Ask, and keep a yes; whatever else is said, or nothing, is a no."""
    _say(["", *meaning_lines(below=below, path=folder, home=os.path.realpath(places.home))])
    what = f"Trust {reveal(folder)}{' and everything below' if below else ''}? [y/N] "
    _forget_typed()
    sys.stdout.write(what)
    sys.stdout.flush()
    answer = sys.stdin.readline()
    if not sys.stdin.isatty():
        sys.stdout.write("\n")
    if answer.strip().lower() not in {"y", "yes"}:
        _say(["it is not trusted"])
        return ExitCode.DONE if answer else ExitCode.UNANSWERED
    store.grant(folder, below=below)
    _say(["it is trusted from now on; hame trust --revoke takes that back"])
    return ExitCode.DONE


def _forget_typed() -> None:
    """What was typed before the question was there does not answer it."""
    if sys.stdin.isatty():
        import termios

        termios.tcflush(sys.stdin, termios.TCIFLUSH)


def _revoke(store: TrustStore, folder: str, *, as_json: bool) -> int:
    line = revoke_line(store, folder)
    left = store.why(folder)
    if as_json:
        said = {"folder": folder, "trust": msgspec.to_builtins(left)}
        sys.stdout.write(dump(said) + "\n")
    else:
        _say([line])
    return ExitCode.DONE if left is None else ExitCode.FAILED


def _list(store: TrustStore, *, as_json: bool) -> int:
    folders = store.folders()
    if as_json:
        rows = [{**msgspec.to_builtins(each), "stands": each.stands} for each in folders]
        sys.stdout.write(dump(rows) + "\n")
    else:
        _say(trust_lines(folders))
    return ExitCode.DONE


def _say(lines: list[str]) -> None:
    """Lines for a terminal are wrapped, and go on further in."""
    width = min(terminal_size()[0], 110) - 1 if sys.stdout.isatty() else None
    for line in lines:
        first, *rest = wrap(clean(line), width - 4) if line and width else [clean(line)]
        sys.stdout.write("\n".join([first, *(f"    {part}" for part in rest)]) + "\n")
