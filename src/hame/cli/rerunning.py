"""A session's prompts given to another model, as the command line shows it."""

import signal
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager

import anyio
import msgspec

from hame.app.comparing import FileDifference, Side, result_name
from hame.app.rerun import Compared, Rerun, Wish, rerun
from hame.app.runtime import Runtime
from hame.base.event import RunEnded
from hame.base.json import dump
from hame.base.run import RunFailed, Stopped
from hame.cli.exits import ExitCode, KilledError
from hame.cli.launch import Launch
from hame.cli.oneshot import QuietView
from hame.cli.plain import PlainView
from hame.cli.reveal import clean, one_line
from hame.cli.running import follow
from hame.cli.session import launchpad
from hame.cli.words import counted, duration, money, tokens
from hame.sessions.branch import Branch

_WIDE = 240
"""Characters of a divergence that are shown; --json has all of it."""


def run_again(launch: Launch, branch: Branch, model: str, *, keep: bool, as_json: bool) -> int:
    """Do it, and show what came of it; the exit code.

    Raises:
        ConfigError: if the model cannot be asked, or commands cannot be confined.
        SessionError: if the session has no prompts.
        ToolError: if the project cannot be copied.
    """
    watched = sys.stderr.isatty() or launch.settings.verbose

    async def ask(runtime: Runtime, words: str) -> RunEnded:
        view = PlainView(sys.stderr, answers=False) if watched else QuietView()
        return await follow(runtime, words, view)

    wish = Wish(model=model, keep=keep, ask=ask, say=_say)
    try:
        with _ending_cleanly():
            done = anyio.run(rerun, branch, launchpad(launch), wish)
    except KilledError as killed:
        return killed.code
    lines = [dump(msgspec.to_builtins(done))] if as_json else map(clean, rerun_lines(done))
    for line in lines:
        sys.stdout.write(f"{line}\n")
    return code_of_rerun(done)


@contextmanager
def _ending_cleanly() -> Generator[None]:
    """Being told to end unwinds as Ctrl-C does, so that the copy goes; a run has its own way.

    Raises:
        KilledError: in place of the KeyboardInterrupt, with the signal's exit code.
    """
    told: list[int] = []

    def end(number: int, _frame: object) -> None:
        told.append(number)
        raise KeyboardInterrupt

    numbers = (signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(number, end) for number in numbers]
    try:
        yield
    except KeyboardInterrupt as interrupt:
        raise KilledError(128 + (told[0] if told else signal.SIGINT)) from interrupt
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def rerun_lines(done: Rerun) -> Iterator[str]:
    """What came of it, in lines."""
    yield f"{done.model} was given the prompts of {done.session}; it began with {done.start}"
    yield from (f"  {notice}" for notice in done.notices)
    for each in done.prompts:
        yield from _prompt_lines(each)
    if done.left:
        yield f"{counted(done.left, 'prompt')} not given: {one_line(done.stopped, _WIDE)}"
    yield from _file_lines(done.files)
    yield f"what it did is session {done.run_as}: hame trace {done.run_as}"
    if done.kept:
        yield f"the copy is {done.project}"


def _prompt_lines(each: Compared) -> Iterator[str]:
    yield f"prompt {each.number}  {one_line(each.words, 100)}"
    yield f"  recorded  {_side(each.recorded)}"
    yield f"  now       {_side(each.now)}"
    if each.divergence:
        yield f"  parts at {one_line(each.divergence, _WIDE)}"
    else:
        yield "  the same calls, and the same end"


def _side(side: Side) -> str:
    used = f"{tokens(side.usage.input_total)} in, {tokens(side.usage.output)} out"
    return " · ".join((
        counted(len(side.calls), "call"),
        result_name(side),
        used,
        money(side.cost_usd),
        duration(side.seconds),
    ))


def _file_lines(files: tuple[FileDifference, ...]) -> Iterator[str]:
    if not files:
        yield "both left the same files"
        return
    yield f"{counted(len(files), 'file')} not as the session left them:"
    for each in files:
        how = "differs" if each.added is None else f"+{each.added} -{each.removed}"
        where = (
            "" if each.recorded and each.now else "  only now" if each.now else "  only recorded"
        )
        yield f"  {one_line(each.path, 160)}  {how}{where}"


def code_of_rerun(done: Rerun) -> ExitCode:
    """How the process ends: by how the last prompt did, and by what held back the others."""
    last = done.prompts[-1].now.result if done.prompts else None
    match last:
        case RunFailed():
            return ExitCode.FAILED
        case Stopped(by_user=True) if done.stopped.startswith("the limit"):
            return ExitCode.LIMIT
        case Stopped(by_user=True):
            return ExitCode.STOPPED
        case _:
            return ExitCode.LIMIT if done.stopped else ExitCode.DONE


def _say(text: str) -> None:
    sys.stderr.write(f"hame: {clean(text)}\n")
    sys.stderr.flush()
