"""`hame sessions`: what was said before, and how to go on with it."""

import sys
from pathlib import Path

import click
import msgspec

from hame.base.entry import AnswerInterrupted, CallSettled, ModelAnswered, UserSaid
from hame.base.json import dump
from hame.cli.launch import Launch, prepare
from hame.cli.listing import session_lines, summaries
from hame.cli.reveal import clean
from hame.cli.words import came_to
from hame.sessions.store import SessionStore


@click.group(invoke_without_command=True)
@click.option("--all", "everywhere", is_flag=True, help="Of all folders.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_context
def sessions(ctx: click.Context, *, everywhere: bool, as_json: bool) -> None:
    """List the sessions of this folder."""
    launch = prepare(ctx.obj, interactive=False)
    ctx.obj = launch
    if ctx.invoked_subcommand is None:
        _show(launch, everywhere=everywhere, as_json=as_json)


@sessions.command("list")
@click.option("--all", "everywhere", is_flag=True, help="Of all folders.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_obj
def list_sessions(launch: Launch, *, everywhere: bool, as_json: bool) -> None:
    """List the sessions of this folder."""
    _show(launch, everywhere=everywhere, as_json=as_json)


@sessions.command()
@click.argument("session")
@click.pass_obj
def show(launch: Launch, session: str) -> None:
    """Print what was said in SESSION (its id, or the beginning of it)."""
    history = SessionStore(Path(launch.places.sessions)).read(session)
    for entry in history.entries:
        match entry:
            case UserSaid(message=message):
                said = "\n".join(f"> {line}" for line in message.words.split("\n"))
            case ModelAnswered(message=message) | AnswerInterrupted(message=message):
                said = message.text.strip()
            case CallSettled(name=name, outcome=outcome):
                said = f"[{name}] {came_to(outcome)}".rstrip()
            case _:
                continue
        if said:
            sys.stdout.write(f"{clean(said)}\n\n")


def _show(launch: Launch, *, everywhere: bool, as_json: bool) -> None:
    found = summaries(launch.places, None if everywhere else launch.project)
    if as_json:
        sys.stdout.write(dump([msgspec.to_builtins(summary) for summary in found]) + "\n")
        return
    for line in session_lines(found, with_folder=everywhere):
        sys.stdout.write(f"{line}\n")
    if found:
        sys.stdout.write("\nhame --resume ID goes on with one, hame --continue with the first.\n")
    else:
        where = "" if everywhere else f" of {launch.project}"
        sys.stderr.write(f"hame: there are no sessions{where} yet\n")
