"""run_command: a shell command with a time limit; its output, how it ended.

The rule for state: each call is a new shell in the project's root (or `cwd`); nothing is kept, and
what still runs when the shell has ended is killed.
"""

import signal
from functools import cache

import msgspec

from hame.base.errors import ArgumentError, PathError
from hame.base.json import JsonObject, get_number, get_string
from hame.base.outcome import CommandView, Done, Failed, text_content
from hame.base.path import FileKind
from hame.base.ports import Action, ToolContext
from hame.base.process import Exit, Launch
from hame.base.tool import Argument, ArgumentKind, Effect, MaskForm, ToolSpec
from hame.base.zone import Operation
from hame.tools.action import Places, Plan, hold, locate_all, require_same
from hame.tools.arguments import folder_argument, folder_path, need_string
from hame.tools.description import describe
from hame.tools.nearness import missing
from hame.tools.phrase import flatten

_LONGEST_S = 600.0
_STATEFUL = frozenset({"cd", "pushd", "export", "source", "."})


class RunCommand:
    """Runs a shell command."""

    @property
    def spec(self) -> ToolSpec:
        """What it declares."""
        return _spec()

    def summarize(self, arguments: JsonObject) -> str:
        """The command, and where when that is not the root."""
        cwd = get_string(arguments, "cwd")
        where = f" (in {flatten(cwd)})" if cwd and cwd != "." else ""
        return flatten(get_string(arguments, "command") or "?") + where

    async def prepare(self, arguments: JsonObject, context: ToolContext) -> Action:
        """Resolve the folder; the command is the gate's to judge.

        Raises:
            ArgumentError: when there is no command.
            PathError: when there is no such folder.
        """
        command = need_string(arguments, "command")
        if not command.strip():
            raise ArgumentError("command is empty")
        if "\0" in command:
            raise ArgumentError("command holds a NUL byte, which no command line can")
        asked = get_number(arguments, "timeout_s")
        if asked is not None and not asked > 0:
            raise ArgumentError("timeout_s must be more than 0")
        limit = min(asked or context.command_timeout_s, _LONGEST_S)
        places = locate_all(context.workspace, (folder_path(arguments, "cwd"), Operation.LIST))

        async def plan() -> Plan:
            found = places[0][0].resolution
            if found.kind is FileKind.MISSING:
                raise await missing(context.workspace, places[0][0], "directory")
            if found.kind is not FileKind.DIRECTORY:
                raise PathError(f"cwd {found.shown} is a {found.kind}, not a directory")
            run = _Run(command=command, limit=limit, asked=asked, places=places, context=context)
            return Plan(run.start, CommandView(command), (command, str(limit)))

        return await hold(places, plan)


@cache
def _spec() -> ToolSpec:
    """What it declares. The mask speaks only `test`; which command that is, the project says."""
    return ToolSpec(
        name="run_command",
        title="Run",
        description=describe(__file__),
        effect=Effect.RUN,
        arguments=(
            Argument(name="command", kind=ArgumentKind.COMMAND),
            Argument(
                name="timeout_s",
                kind=ArgumentKind.NUMBER,
                type="number",
                required=False,
                description="at most 600",
            ),
            folder_argument("cwd"),
        ),
        mask=MaskForm(verb="test"),
    )


class _Run(msgspec.Struct, frozen=True, kw_only=True):
    """One run of a command."""

    command: str
    limit: float
    """Seconds."""
    asked: float | None
    """The limit that the model asked for."""
    places: Places
    context: ToolContext

    async def start(self) -> Done | Failed:
        """Run it to its end, or to the limit."""
        import anyio
        from anyio.lowlevel import checkpoint

        from hame.tools.recorder import Recorder

        require_same(self.context.workspace, self.places)
        launch = self.context.sandbox.wrap(
            Launch(
                argv=(_shell(), "-c", self.command),
                cwd=self.places[0][0].resolution.real,
                label="run_command",
            )
        )
        recorder = Recorder(self.context.progress)
        ended: Exit | None = None
        began = anyio.current_time()
        async with self.context.processes.start(launch) as process:
            with anyio.move_on_after(self.limit):
                async for chunk in process.output():
                    recorder.take(chunk)
                    # A flood is always ready: without this the time limit would never be looked at.
                    await checkpoint()
                ended = await process.wait()
            left_behind = ended is not None and process.survivors()
            if ended is None:
                await process.kill()
        seconds = anyio.current_time() - began
        return self._outcome(ended, recorder.close(), seconds, left_behind=left_behind)

    def _outcome(
        self, ended: Exit | None, output: str, seconds: float, *, left_behind: bool
    ) -> Done | Failed:
        status = _status(ended, self.limit)
        body = output.strip("\n") or "(no output)"
        notes = "".join(f"\n[{note}]" for note in self._notes(left_behind=left_behind))
        text = f"{status}\n{body}{notes}"
        by_itself = ended is not None and ended.code is not None
        view = CommandView(
            self.command,
            output,
            ended.code if ended else None,
            "" if by_itself else status,
            round(seconds, 3),
        )
        return Done(text_content(text), view) if ended and ended.ok else Failed(text, view)

    def _notes(self, *, left_behind: bool) -> list[str]:
        from hame.tools.statement import leading_words

        notes: list[str] = []
        if left_behind:
            notes.append("processes left in the background were killed when the command ended")
        if self.asked is not None and self.asked > _LONGEST_S:
            notes.append(f"timeout_s was lowered to {_LONGEST_S:.0f}, the most there is")
        if not _STATEFUL.isdisjoint(leading_words(self.command)):
            notes.append("cd and exports end with this command; the next starts afresh")
        return notes


def _status(ended: Exit | None, limit: float) -> str:
    if ended is None:
        return f"timed out after {limit:g} s; the process group was killed"
    if ended.code is None:
        return f"killed by {_signal_name(ended.signal or 0)}"
    if ended.code > 128:
        # What a shell reports for a child that a signal ended.
        name = _signal_name(ended.code - 128)
        return f"exit code {ended.code}" + (f" ({name})" if name.startswith("SIG") else "")
    return f"exit code {ended.code}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


@cache
def _shell() -> str:
    import shutil

    return shutil.which("bash") or "/bin/sh"
