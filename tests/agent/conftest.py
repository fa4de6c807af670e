"""A stage for the loop: a scripted model, tools that do what the test says, everything recorded."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar, cast

import anyio
import pytest

from hame.agent.inbox import Inbox
from hame.agent.loop import Plan, Ports, Run
from hame.base.confinement import Confinement
from hame.base.event import RunEnded, RunEvent
from hame.base.json import JsonObject
from hame.base.message import Text, User
from hame.base.outcome import Corrected, Denied, Done, Failed, View, text_content
from hame.base.ports import (
    Action,
    CountTokens,
    Processes,
    Proposal,
    Sandbox,
    Shortfall,
    Snapshots,
    Target,
    Tool,
    ToolContext,
    Workspace,
)
from hame.base.run import Allowance, Limits
from hame.base.tool import Argument, ArgumentKind, Effect, ToolSpec
from hame.context import Window
from hame.testing import FakeClock, MemoryJournal, ScriptedModel

Seen = TypeVar("Seen")
Body = Callable[[JsonObject, ToolContext], Awaitable[Done | Failed]]


class PlayAction:
    """An action whose body is a function."""

    targets: Sequence[Target] = ()
    view: View | None = None
    digest = "d"

    def __init__(self, tool: "PlayTool", arguments: JsonObject, context: ToolContext) -> None:
        self._tool, self._arguments, self._context = tool, arguments, context

    def bind(self, still: Callable[[], bool]) -> None: ...

    async def run(self, confinement: Confinement) -> Done | Failed:
        return await self._tool.body(self._arguments, self._context)

    def close(self) -> None:
        self._tool.closed += 1


class PlayTool:
    """A tool whose body is a function."""

    def __init__(self, name: str, body: Body, effect: Effect, timeout_s: float | None) -> None:
        self.spec = ToolSpec(
            name=name,
            description="",
            effect=effect,
            timeout_s=timeout_s,
            arguments=(
                Argument(name="path", kind=ArgumentKind.EXISTING_FILE),
                Argument(name="n", kind=ArgumentKind.NUMBER, type="integer", required=False),
            ),
        )
        self.body = body
        self.prepared = 0
        self.closed = 0

    def summarize(self, arguments: JsonObject) -> str:
        return str(arguments.get("path", ""))

    async def prepare(self, arguments: JsonObject, context: ToolContext) -> Action:
        self.prepared += 1
        return PlayAction(self, arguments, context)


async def echo(arguments: JsonObject, context: ToolContext) -> Done | Failed:
    await anyio.lowlevel.checkpoint()
    return Done(content=text_content(f"text of {arguments['path']}"))


class OpenGate:
    """Lets everything run, but what the test names."""

    def __init__(self) -> None:
        self.refusals: dict[str, Denied | Corrected] = {}

    async def decide(self, proposal: Proposal) -> Denied | Corrected | Confinement:
        await anyio.lowlevel.checkpoint()
        return self.refusals.get(proposal.spec.name, Confinement())

    async def widen(self, proposal: Proposal, short: Shortfall) -> Confinement | Corrected | None:
        await anyio.lowlevel.checkpoint()
        return None


class Stage:
    """Everything a run works with, and what came of it."""

    def __init__(self) -> None:
        self.journal = MemoryJournal()
        self.clock = FakeClock()
        self.gate = OpenGate()
        self.inbox = Inbox()
        self.events: list[RunEvent] = []
        self.tools: dict[str, Tool] = {}
        self.limits = Limits(steps=50)
        self.snapshots: Snapshots | None = None
        self.ahead: Callable[[], Awaitable[None]] | None = None
        self.count: CountTokens | None = None
        self.today: Callable[[], Allowance] | None = None
        self.add("read_file")

    def add(
        self,
        name: str,
        body: Body = echo,
        effect: Effect = Effect.READ,
        timeout_s: float | None = None,
    ) -> PlayTool:
        tool = PlayTool(name, body, effect, timeout_s)
        self.tools[name] = tool
        return tool

    def make(self, model: ScriptedModel) -> Run:
        nothing = object()
        context = ToolContext(
            workspace=cast("Workspace", nothing),
            processes=cast("Processes", nothing),
            sandbox=cast("Sandbox", nothing),
            progress=lambda _: None,
        )
        ports = Ports(
            model=model,
            tools=self.tools,
            context=Window(),
            tool_context=context,
            gate=self.gate,
            journal=self.journal,
            clock=self.clock,
            emit=self.events.append,
            snapshots=self.snapshots,
            ahead=self.ahead,
            count=self.count,
            today=self.today,
        )
        return Run(ports, Plan(system="be good", limits=self.limits), self.inbox)

    async def play(self, *steps: object, words: str = "go") -> RunEnded:
        model = ScriptedModel(*steps)
        with anyio.fail_after(10):
            ended = await self.make(model).run(User((Text(words),)))
        model.finish()
        return ended

    def seen(self, kind: type[Seen]) -> list[Seen]:
        return [item for item in self.events if isinstance(item, kind)]


@pytest.fixture
def stage() -> Stage:
    return Stage()
