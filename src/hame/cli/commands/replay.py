"""`hame replay`: a session run again against its recorded answers, or with another model."""

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import anyio
import click
import msgspec

from hame.base.errors import ConfigError, SessionError
from hame.base.json import dump
from hame.cli.completing import completing, find_sessions
from hame.cli.exits import ExitCode
from hame.cli.launch import Launch, prepare
from hame.cli.listing import session_store
from hame.cli.options import SANDBOXES
from hame.cli.reveal import clean
from hame.cli.words import counted

if TYPE_CHECKING:
    from hame.app.replay import Replay, ReplayedStep
    from hame.sessions.branch import Branch

_HASH = 16
"""Characters of a hash for eyes; --json has all of it."""
_SENT = {True: "  as sent", False: "  NOT AS SENT", None: ""}


@click.command()
@click.argument("session", required=False, shell_complete=completing(find_sessions))
@click.option("--model", "-m", metavar="BACKEND/MODEL", help="Give its prompts to this model.")
@click.option("--max-steps", metavar="N", help="With --model: requests for each prompt.")
@click.option("--max-tokens", metavar="N", help="With --model: tokens of all prompts together.")
@click.option(
    "--max-cost", "max_cost_usd", metavar="USD", help="With --model: money of all prompts."
)
@click.option(
    "--max-time", "max_time_s", metavar="SECONDS", help="With --model: time of all prompts."
)
@click.option(
    "--sandbox", type=click.Choice(SANDBOXES), help="With --model: what confines commands."
)
@click.option("--keep", is_flag=True, help="With --model: leave the copy of the project.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_obj
def replay(
    options: Mapping[str, Any], session: str | None, *, keep: bool, as_json: bool, **more: object
) -> int:
    """Run SESSION again against its recorded answers, or give its prompts to another model.

    Without SESSION, the last one of this folder.

    Without --model nothing is asked, run or changed: answers, results and summaries are the recorded
    ones, and only the requests are made anew, with the tools and settings of today. For each there are
    size and hash of its body, and whether system prompt, tools and messages are those that were sent,
    where that was recorded. Leaves with 1 where the replay is not what was recorded.

    With --model its prompts are given to that model, which works in a copy of the project: as the
    session found it where the snapshots have that, else as it is now. Calls really happen, in mode auto
    and with nobody to ask; the project itself is only read. For each prompt both sides are shown, with
    the first place where they part, and at the end the files that differ.
    """
    launch = prepare({**options, **_given(options, more)}, interactive=False)
    model = more["model"] or options["model"]
    if model is not None:
        from hame.cli.rerunning import run_again

        return run_again(launch, _read(launch, session), str(model), keep=keep, as_json=as_json)
    _refuse_keeping(keep)
    from hame.app.replay import replay as play

    branch = _read(launch, session)
    done = anyio.run(play, branch, launch.settings, launch.places)
    lines = [dump(msgspec.to_builtins(done))] if as_json else map(clean, _lines(done))
    for line in lines:
        sys.stdout.write(f"{line}\n")
    return ExitCode.FAILED if done.divergences else ExitCode.DONE


def _refuse_keeping(keep: bool) -> None:  # noqa: FBT001 - it is what the option is called
    """Say that there is nothing to keep.

    Raises:
        ConfigError: if that was asked for.
    """
    if keep:
        raise ConfigError("--keep needs --model: without it nothing is copied")


def _given(options: Mapping[str, Any], more: Mapping[str, object]) -> dict[str, object]:
    """The options after the command; those before it where there is none."""
    return {name: value if value is not None else options[name] for name, value in more.items()}


def _read(launch: Launch, session: str | None) -> "Branch":
    """The session that is meant; what of it cannot be read is said.

    Raises:
        SessionError: if there is none, or it cannot be read.
    """
    from hame.sessions.branch import read_branch

    store = session_store(launch.places)
    name = store.find(session) if session else store.latest(launch.project)
    if name is None:
        raise SessionError(f"there is no session of {launch.project} yet")
    branch = read_branch(store.path(name))
    for notice in branch.notices:
        sys.stderr.write(f"hame: {clean(notice)}\n")
    return branch


def _lines(done: "Replay") -> list[str]:
    found = [
        f"DIVERGES at {f'record {each.record}' if each.record else 'the end'}: {each.words}"
        for each in done.divergences
    ]
    total = (
        f"{counted(done.runs, 'run')}, {counted(len(done.steps), 'request')},"
        f" {counted(done.entries, 'record')}, {counted(len(done.divergences), 'divergence')}"
    )
    return [*map(_line, done.steps), *found, total]


def _line(step: "ReplayedStep") -> str:
    what = "  summary" if step.summary else "  refused as too large" if step.refused else ""
    return (
        f"r{step.run:<3} {step.number:>4} {step.sha256[:_HASH]} {step.size:>9,} bytes"
        f" {step.messages:>4} {'messages' if step.messages != 1 else 'message '}"
        f"  {step.model}{what}{_SENT[step.same]}"
    )
