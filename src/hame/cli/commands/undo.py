"""`hame undo`: take back what a session did to files, to its conversation, or both."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import click
import msgspec

from hame.app.taking_back import open_rewinder, read_rewinder
from hame.app.undo import Rewinder
from hame.base.errors import SessionError
from hame.base.json import dump
from hame.cli.exits import ExitCode
from hame.cli.launch import Launch, prepare
from hame.cli.reveal import clean, clean_json
from hame.cli.rewinding import Wish, changes_anything, done_lines, history_lines, plan_lines
from hame.cli.session import launchpad
from hame.sessions.store import SessionStore


@click.command()
@click.option("--list", "listing", is_flag=True, help="List prompts and steps; change nothing.")
@click.option("--to", "step", type=int, metavar="STEP", help="To before this step.")
@click.option("--prompt", "turn", type=int, metavar="N", help="To before this prompt.")
@click.option(
    "--label", metavar="NAME", default="", help="To the place of this name, or #N: to a record."
)
@click.option("--files", is_flag=True, help="Only files; the conversation stays.")
@click.option("--conversation", is_flag=True, help="Only the conversation; files stay.")
@click.option("--over", is_flag=True, help="Give up what was changed since, too.")
@click.option("--session", metavar="ID", help="Another session than the last of this folder.")
@click.option("--yes", "-y", is_flag=True, help="Do it without asking.")
@click.option("--json", "as_json", is_flag=True, help="With --list: as JSON.")
@click.pass_obj
def undo(options: Mapping[str, Any], *, listing: bool, session: str | None, **given: object) -> int:
    """Take back the last changes of the last session of this folder.

    Shows what would be done and asks. What was changed by hand since is kept; where that is not
    possible, the file is left alone and said. An undo is a step itself: `hame undo --to` its number
    takes it back.
    """
    launch = prepare(options, interactive=False)
    name = session or _latest(launch)
    if listing:
        return anyio.run(
            _list, read_rewinder(launchpad(launch), name), launch, bool(given["as_json"])
        )
    files, conversation = given["files"], given["conversation"]
    step, turn = given["step"], given["turn"]
    both = not (files or conversation)
    wish = Wish(
        step=step if isinstance(step, int) else None,
        turn=turn if isinstance(turn, int) else None,
        label=str(given["label"]),
        files=both or bool(files),
        conversation=both or bool(conversation),
        over=bool(given["over"]),
    )
    with open_rewinder(launchpad(launch), name) as rewinder:
        return anyio.run(_undo, rewinder, launch, wish, bool(given["yes"]))


def _latest(launch: Launch) -> str:
    """The session that is meant when none is named.

    Raises:
        SessionError: if there is none.
    """
    latest = SessionStore(Path(launch.places.sessions)).latest(launch.project)
    if latest is None:
        raise SessionError(f"there is no session of {launch.project} yet")
    return latest


async def _list(rewinder: Rewinder, launch: Launch, as_json: bool) -> int:  # noqa: FBT001 - anyio.run passes positions
    history = await rewinder.history()
    if as_json:
        whole = msgspec.structs.replace(history, turns=tuple(history.turns))
        sys.stdout.write(f"{clean_json(dump(msgspec.to_builtins(whole)))}\n")
    else:
        _say(history_lines(history, launch.project))
    return ExitCode.DONE


async def _undo(rewinder: Rewinder, launch: Launch, wish: Wish, sure: bool) -> int:  # noqa: FBT001 - anyio.run passes positions
    plan = await rewinder.plan(**msgspec.structs.asdict(wish))
    _say(plan_lines(plan, launch.project))
    if not changes_anything(plan):
        return ExitCode.DONE
    if not sure and not sys.stdin.isatty():
        sys.stderr.write("hame: nothing was changed; --yes does it without asking\n")
        return ExitCode.UNANSWERED
    if not sure and not click.confirm("Take that back?"):
        _say(["nothing was changed"])
        return ExitCode.DONE
    step = await rewinder.do(plan)
    _say(done_lines(step, plan))
    return ExitCode.FAILED if step is not None and step.failed else ExitCode.DONE


def _say(lines: list[str]) -> None:
    for line in lines:
        sys.stdout.write(f"{clean(line)}\n")
