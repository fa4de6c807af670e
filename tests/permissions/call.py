"""Calls for the gate: actions that touch places or run a command, and somebody who answers."""

from collections.abc import Callable, Sequence
from typing import Any

import anyio

from hame.base.confinement import Confinement
from hame.base.message import ToolCall
from hame.base.outcome import CommandView, Corrected, Denied, Done, Failed, View
from hame.base.path import FileKind, Resolution
from hame.base.ports import Action, Gate, Proposal, Target
from hame.base.question import Answer, Question
from hame.base.tool import Argument, ArgumentKind, Effect, ToolSpec
from hame.base.zone import Operation, ProjectPaths, Zone, zone_of

EDIT = ToolSpec(name="edit_file", description="", effect=Effect.WRITE, title="Edit")
READ = ToolSpec(name="read_file", description="", effect=Effect.READ, title="Read")
RUN = ToolSpec(name="run_command", description="", effect=Effect.RUN, title="Run")
FETCH = ToolSpec(
    name="web_fetch",
    description="",
    effect=Effect.NETWORK,
    arguments=(Argument(name="url", kind=ArgumentKind.URL),),
)


def place(path: str, paths: ProjectPaths, operation: Operation, **more: Any) -> Target:
    real = path if path.startswith("/") else f"{paths.root}/{path}"
    zone = more.pop("zone", None) or zone_of(real, paths, operation)
    shown = real.removeprefix(f"{paths.root}/")
    fields: dict[str, Any] = {"kind": FileKind.FILE, **more}
    found = Resolution(asked=path, real=real, shown=shown, zone=Zone(str(zone)), **fields)
    return Target(found, operation)


class Prepared:
    """An action that is ready to run, and must not be run by the gate."""

    def __init__(self, *targets: Target, digest: str = "d", command: str | None = None) -> None:
        self.targets: Sequence[Target] = targets
        self.digest = digest
        self.view: View | None = CommandView(command) if command is not None else None

    def bind(self, still: Callable[[], bool]) -> None:
        self.still = still

    async def run(self, confinement: Confinement) -> Done | Failed:
        raise AssertionError("the gate must not run anything")

    def close(self) -> None: ...


def running(command: str, paths: ProjectPaths, cwd: str = "") -> Prepared:
    folder = place(cwd or paths.root, paths, Operation.LIST, kind=FileKind.DIRECTORY)
    return Prepared(folder, command=command, digest=command)


def call(spec: ToolSpec, **arguments: object) -> ToolCall:
    return ToolCall(id="c1", name=spec.name, arguments=arguments)


class Asker:
    """Answers from a list; None once it is used up. `meanwhile` happens before each answer."""

    def __init__(
        self, *answers: Answer | str | None, meanwhile: Callable[[], object] | None = None
    ) -> None:
        self.answers = [Answer(choice=each) if isinstance(each, str) else each for each in answers]
        self.asked: list[Question] = []
        self.meanwhile = meanwhile

    async def ask(self, question: Question) -> Answer | None:
        self.asked.append(question)
        await anyio.lowlevel.checkpoint()
        if self.meanwhile is not None:
            self.meanwhile()
        return self.answers.pop(0)


async def judged(
    gate: Gate, call: ToolCall, spec: ToolSpec, action: Action, summary: str
) -> Denied | Corrected | None:
    """What a gate says against a call; None when it may run."""
    said = await gate.decide(Proposal(call=call, spec=spec, action=action, summary=summary))
    return None if isinstance(said, Confinement) else said
