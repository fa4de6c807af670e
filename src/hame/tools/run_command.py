"""run_command: a shell command with a time limit; its output, how it ended.

The rule for state: each call is a new shell in the project's root (or `cwd`); nothing is kept, and
what still runs when the shell has ended is killed. A background job is a call of its own that goes on.
"""

from functools import cache

import msgspec

from hame.base.confinement import Confinement
from hame.base.errors import ArgumentError, PathError, ToolError
from hame.base.json import JsonObject, get_bool, get_number, get_string
from hame.base.outcome import CommandView, Done, Failed
from hame.base.path import FileKind
from hame.base.ports import Action, ToolContext
from hame.base.process import Launch
from hame.base.tool import Argument, ArgumentKind, Effect, MaskForm, ToolSpec
from hame.base.zone import Operation
from hame.tools.action import Confined, Places, Plan, Still, hold, locate_all, require_same
from hame.tools.arguments import folder_argument, folder_path, need_string
from hame.tools.description import describe
from hame.tools.heredoc import with_input
from hame.tools.nearness import missing
from hame.tools.phrase import flatten

_LONGEST_S = 600.0
_FIRST_LOOK_S = 1.0
"""How long a background job is watched before the call returns: many fail at once."""
_SETTLE_S = 0.4
"""How long one that has printed something is watched after that: it may be why it fails."""
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
        asking = _Asking(
            command=command,
            limit=min(asked or context.command_timeout_s, _LONGEST_S),
            asked=asked,
            stdin=get_string(arguments, "stdin"),
            background=get_bool(arguments, "background") or False,
            keep=get_bool(arguments, "keep") or False,
            pty=get_bool(arguments, "pty") or False,
        )
        asking.refuse_contradictions()
        places = locate_all(context.workspace, (folder_path(arguments, "cwd"), Operation.LIST))

        async def plan() -> Plan:
            found = places[0][0].resolution
            if found.kind is FileKind.MISSING:
                raise await missing(context.workspace, places[0][0], "directory")
            if found.kind is not FileKind.DIRECTORY:
                raise PathError(f"cwd {found.shown} is a {found.kind}, not a directory")
            run = _Run(asking=asking, places=places, context=context)
            return Plan(Confined(run.start), CommandView(asking.shown), (repr(asking),))

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
            Argument(name="stdin", kind=ArgumentKind.WORDS, required=False),
            Argument(name="background", kind=ArgumentKind.FLAG, type="boolean", required=False),
            Argument(
                name="keep",
                kind=ArgumentKind.FLAG,
                type="boolean",
                required=False,
                description="background job outlives the session",
            ),
            Argument(
                name="pty",
                kind=ArgumentKind.FLAG,
                type="boolean",
                required=False,
                description="in a terminal",
            ),
        ),
        mask=MaskForm(verb="test"),
    )


class _Asking(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be run, and how."""

    command: str
    limit: float
    """Seconds."""
    asked: float | None
    """The limit that the model asked for."""
    stdin: str | None
    background: bool
    keep: bool
    pty: bool

    @property
    def shown(self) -> str:
        """The whole of it as one shell command: what is shown, judged and granted is what runs."""
        if self.stdin:
            return with_input(self.command, self.stdin)
        if self.background:
            detached = "nohup " if self.keep else ""
            return (
                f"{detached}{self.command} &"
                if "\n" not in self.command
                else (f"{{\n{self.command}\n}} &")
            )
        return self.command

    def refuse_contradictions(self) -> None:
        """Arguments that do not go together.

        Raises:
            ArgumentError: for these.
        """
        if self.keep and not self.background:
            raise ArgumentError("keep goes with background: true only")
        if self.keep and self.pty:
            raise ArgumentError("what is kept has no terminal: its owner would be gone")
        if self.background and self.stdin:
            raise ArgumentError("a background job gets its input later, by send_job_input")


class _Run(msgspec.Struct, frozen=True, kw_only=True):
    """One run of a command."""

    asking: _Asking
    places: Places
    context: ToolContext

    async def start(self, confinement: Confinement, still: Still | None) -> Done | Failed:
        """Run it to its end, or to the limit; in the background, for a moment."""
        from hame.tools.foreground import run_to_end, shell

        require_same(self.context.workspace, self.places)
        asking = self.asking
        typed = asking.stdin.encode() if asking.stdin else None
        launch = Launch(
            argv=(shell(self.context.workspace.paths.root), "-c", asking.command),
            cwd=self.places[0][0].resolution.real,
            stdin=None if asking.pty else typed,
            open_stdin=asking.pty,
            pty=asking.pty,
            extra_env=(("TERM", "xterm"),) if asking.pty else (),
            confinement=confinement,
            keep=asking.keep,
            still=still,
            label="run_command",
        )
        if asking.background:
            return await self._start_job(launch)
        finished = await run_to_end(launch, self.context, asking.limit, typed)
        return finished.outcome(asking.command, self._notes())

    async def _start_job(self, launch: Launch) -> Done | Failed:
        from hame.tools.jobtext import job_outcome

        jobs = self.context.jobs
        if jobs is None:
            raise ToolError("there are no background jobs here; run it in the foreground")
        job = await jobs.start(launch, self.asking.command, keep=self.asking.keep)
        output = await jobs.read(job.id, _FIRST_LOOK_S, settle_s=_SETTLE_S)
        outcome = job_outcome(output, self._notes())
        if launch.confinement is None or isinstance(outcome, Done):
            return outcome
        printed, refused = output.data.decode(errors="replace"), output.job.refused
        denied = self.context.sandbox.explain(launch.confinement, printed, refused, launch.cwd)
        return msgspec.structs.replace(outcome, denied=denied)

    def _notes(self) -> list[str]:
        from hame.tools.statement import leading_words

        asking = self.asking
        notes: list[str] = []
        if asking.asked is not None and asking.asked > _LONGEST_S and not asking.background:
            notes.append(f"timeout_s was lowered to {_LONGEST_S:.0f}, the most there is")
        if not asking.background and not _STATEFUL.isdisjoint(leading_words(asking.command)):
            notes.append("cd and exports end with this command; the next starts afresh")
        return notes
