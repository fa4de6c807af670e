"""`hame --print`: one prompt, its answer, an exit code.

What goes to standard output is the answer or JSON and nothing else when it is not a terminal; what
happens on the way goes to standard error, in full when somebody is watching there.
"""

import asyncio
import sys

import anyio

from hame.base.errors import HameError
from hame.base.event import CallSettled, CallStarted, Notice, RunEnded, RunEvent
from hame.base.outcome import Denied
from hame.base.settings import Mode, OutputFormat
from hame.cli.exits import KilledError, code_of, exit_code
from hame.cli.launch import Launch, paint_for
from hame.cli.plain import PlainView
from hame.cli.reveal import clean, one_line
from hame.cli.running import follow
from hame.cli.session import Build
from hame.cli.stream_json import JsonView
from hame.cli.terminal import terminal_view
from hame.cli.view import View
from hame.cli.words import came_to, ending, final_text


class QuietView:
    """Implements View for standard error when nobody watches: only what went wrong."""

    def __init__(self) -> None:
        """Start with no call."""
        self._calls: dict[str, str] = {}

    def show(self, event: RunEvent) -> None:
        """Write warnings and refused calls."""
        match event:
            case Notice(text=text, level=level) if level != "info":
                self._line(text)
            case CallStarted(call=call, summary=summary):
                self._calls[call] = one_line(summary, 80)
            case CallSettled(call=call, tool=tool, outcome=outcome):
                what = f"{one_line(tool, 40)} {self._calls.pop(call, '')}".rstrip()
                self._line(f"{what}: {came_to(outcome)}" if isinstance(outcome, Denied) else "")
            case RunEnded():
                self._line("\n".join(filter(None, ending(event.result, once=True))))
            case _:
                pass

    def tick(self) -> None:
        """Nothing here moves."""

    def close(self) -> None:
        """Everything has been written."""

    def _line(self, text: str) -> None:
        if text:
            _say(text)


def run_once(launch: Launch, text: str, output: OutputFormat, build: Build) -> int:
    """Run one prompt; the exit code.

    Raises:
        HameError: if it could not be run at all.
    """
    if output is not OutputFormat.TEXT:
        return _run_json(launch, text, output, build)
    view = _text_view(launch)
    _warn(launch)
    try:
        ended = asyncio.run(_run(launch, text, view, build))
    except KilledError as killed:
        return killed.code
    if not sys.stdout.isatty() and (answer := final_text(ended.result)):
        sys.stdout.write(answer if answer.endswith("\n") else f"{answer}\n")
        sys.stdout.flush()
    if ended.refused:
        _say(f"nobody was there to answer; {_more_freedom(launch)}")
    return exit_code(ended)


def _more_freedom(launch: Launch) -> str:
    """What lets a one-shot run do more."""
    if launch.settings.mode is Mode.ASK:
        return "--mode auto runs more without asking"
    return "a rule lets a command run: hame permissions add allow -- COMMAND"


def _run_json(launch: Launch, text: str, output: OutputFormat, build: Build) -> int:
    view = JsonView(sys.stdout, events=output is OutputFormat.STREAM_JSON)
    _warn(launch)
    try:
        ended = asyncio.run(_run(launch, text, view, build))
    except KilledError as killed:
        if killed.ended is None:
            view.fail(HameError("hame was told to end"), killed.code)
        else:
            view.finish(killed.ended, killed.code)
        return killed.code
    except HameError as error:
        code = code_of(error)
        _say(f"{error.message}\n{error.hint}".rstrip())
        view.fail(error, code)
        return code
    code = exit_code(ended)
    view.finish(ended, code)
    return code


async def _run(launch: Launch, text: str, view: View, build: Build) -> RunEnded:
    session = await build(launch)
    try:
        return await follow(session, text, view)
    finally:
        with anyio.CancelScope(shield=True):
            await session.close()


def _text_view(launch: Launch) -> View:
    if sys.stdout.isatty():
        paint = paint_for(launch, terminal=True)
        if paint.enabled:
            return terminal_view(launch)
        return PlainView(sys.stdout, thinking=launch.settings.show_thinking)
    watched = sys.stderr.isatty() or launch.settings.verbose
    return PlainView(sys.stderr, answers=False) if watched else QuietView()


def _warn(launch: Launch) -> None:
    for notice in launch.notices:
        _say(notice)


def _say(text: str) -> None:
    sys.stderr.write("hame: " + clean(text).replace("\n", "\n      ") + "\n")
    sys.stderr.flush()
