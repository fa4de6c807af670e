"""The ports of a run, played from a journal: nothing is asked, nothing is executed, nothing is written.

The model says what was recorded next, tools come to their recorded outcomes, the window is shortened
where it was. How far the recording has been played is known to `hame.app.scratch`.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager

import anyio.lowlevel

from hame.app.scratch import Scratch, described
from hame.base.confinement import Confinement
from hame.base.entry import (
    AnswerAbandoned,
    AnswerInterrupted,
    Entry,
    HistoryCompacted,
    ModelAnswered,
    NoteAdded,
    OutcomesLost,
    ResultsElided,
    Rewound,
    RunFinished,
    UserSaid,
)
from hame.base.errors import ErrorKind, Failure
from hame.base.json import JsonObject
from hame.base.memory import Constraint, Shortened, WindowReport
from hame.base.message import Assistant, Message, Origin, StopReason, Text, User
from hame.base.model import ModelFacts
from hame.base.outcome import Cancelled, Corrected, Denied, Done, Failed, Outcome, View
from hame.base.ports import (
    Action,
    AskModel,
    ModelRequest,
    Proposal,
    Shortfall,
    Target,
    Tool,
    ToolContext,
    WriteEntry,
)
from hame.base.run import BudgetSpent, RunFailed, StepLimit, Stopped
from hame.base.stream import Failed as Broke
from hame.base.stream import StreamEvent
from hame.base.tool import ToolSpec
from hame.base.unfold import unfold, unfold_open
from hame.context import Window
from hame.context.summary import ask_for_summary
from hame.context.window import ASSUMED_WINDOW, SUMMARY_LEAST, SUMMARY_MOST, SUMMARY_SHARE

_TOO_LARGE = Failure(kind=ErrorKind.CONTEXT_OVERFLOW, message="the request was too large")
"""Not recorded in these words: an overflow is known by the shortening that followed it."""


class RecordedModel:
    """Implements `hame.base.ports.Model`: says what was recorded."""

    def __init__(
        self,
        scratch: Scratch,
        facts: Callable[[Origin | None], ModelFacts],
        asked: Callable[[ModelRequest, ModelFacts, bool], None],
    ) -> None:
        """`asked` is told every request before it is answered, and whether it was refused as too large."""
        self._scratch, self._facts, self._asked = scratch, facts, asked
        self.summary: Assistant | None = None
        """What is said next instead, when a summary is asked for."""

    @property
    def facts(self) -> ModelFacts:
        """What is known of the model that answered."""
        return self._facts(self._scratch.origin)

    @asynccontextmanager
    async def stream(self, request: ModelRequest) -> AsyncGenerator[AsyncIterator[StreamEvent]]:
        """Play the next recorded answer."""
        if self.summary is None:
            self._scratch.pass_accounts()
            if _is_limit(self._scratch.due):
                await self._scratch.give_up()
        refused = self.summary is None and bool(self._scratch.shortening())
        self._asked(request, self.facts, refused)
        async with aclosing(self._play()) as said:
            yield said

    async def _play(self) -> AsyncGenerator[StreamEvent]:
        due: Entry | None = self._scratch.due
        if self.summary is not None:
            due = ModelAnswered(message=self.summary)
        for item in _said(due):
            yield item
        match due:
            case ModelAnswered() | AnswerAbandoned():
                pass
            case AnswerInterrupted():
                await self._scratch.be_stopped()
            case NoteAdded(source="interrupted") | RunFinished(result=Stopped()):
                await self._scratch.be_stopped()
            case RunFinished(result=RunFailed(failure=failure)):
                yield Broke(failure)
            case _ if self._scratch.shortening():
                yield Broke(_TOO_LARGE)
            case Rewound():
                await self._scratch.give_up()  # The answer is on the branch that was left.
            case None | OutcomesLost() | UserSaid(steering=False):
                self._scratch.diverge("the recording of this run breaks off")
                await self._scratch.give_up()
            case _:
                self._scratch.diverge(f"recorded: {described(due)}; replayed: a request")
                await self._scratch.give_up()


class RecordedAction:
    """A call that comes to what it came to. Implements `hame.base.ports.Action`."""

    targets: Sequence[Target] = ()
    view: View | None = None
    digest = ""

    def __init__(self) -> None:
        """The gate says the outcome."""
        self.outcome: Done | Failed = Failed("The recording does not say what it came to.")

    def bind(self, still: Callable[[], bool]) -> None:
        """Nothing is started that could be another."""

    async def run(self, confinement: Confinement) -> Done | Failed:
        """The outcome; nothing is done."""
        del confinement
        return self.outcome

    def close(self) -> None:
        """Nothing is held."""


class RecordedTool:
    """Declares what a tool declares, and does nothing. Implements `hame.base.ports.Tool`."""

    def __init__(self, tool: Tool) -> None:
        """Stand for this tool."""
        self._tool = tool

    @property
    def spec(self) -> ToolSpec:
        """What it declares."""
        return self._tool.spec

    def summarize(self, arguments: JsonObject) -> str:
        """One line for eyes."""
        return self._tool.summarize(arguments)

    async def prepare(self, arguments: JsonObject, context: ToolContext) -> Action:
        """Look at nothing."""
        del arguments, context
        return RecordedAction()


class RecordedGate:
    """Implements `hame.base.ports.Gate`: refuses what was refused, and says what the rest came to."""

    def __init__(self, scratch: Scratch) -> None:
        """Decide by this recording."""
        self._scratch = scratch

    async def decide(self, proposal: Proposal) -> Denied | Corrected | Confinement:
        """As it was decided."""
        call, action = proposal.call, proposal.action
        match self._scratch.outcome(call):
            case Denied() | Corrected() as refused:
                return refused
            case Done() | Failed() as outcome:
                assert isinstance(action, RecordedAction)
                action.outcome = outcome
            case Cancelled():
                # Those that run beside it have ended by then, as they did.
                await anyio.lowlevel.checkpoint()
                await self._scratch.be_stopped()
            case None if isinstance(self._scratch.end(), Rewound):
                await self._scratch.give_up()  # The outcome is on the branch that was left.
            case None:
                self._scratch.diverge(f"call {call.id} of {call.name} has no recorded outcome")
                await self._scratch.give_up()
        return Confinement()

    async def widen(self, proposal: Proposal, short: Shortfall) -> Confinement | Corrected | None:
        """Never: what a recorded call came to, it came to after all that was granted."""
        del proposal, short
        return None


class RecordedContext:
    """A window that is shortened where it was. Implements `hame.base.ports.Context`."""

    def __init__(self, scratch: Scratch, model: RecordedModel) -> None:
        """Show what a window of the context room shows of this recording."""
        self._scratch, self._model = scratch, model
        self._window = Window()

    def frame(self, system: str, tools: Sequence[ToolSpec]) -> None:
        """What goes with every request."""
        self._window.frame(system, tools)

    async def fit(self, entries: Sequence[Entry], facts: ModelFacts) -> tuple[Message, ...]:
        """The messages to send."""
        return await self._window.fit(entries, facts)

    def admit(self, outcome: Outcome, facts: ModelFacts, among: int = 1) -> Outcome:
        """As it is: what was too large was kept aside when it was recorded."""
        del facts, among
        return outcome

    def admit_message(self, message: User, facts: ModelFacts) -> User:
        """As it is."""
        del facts
        return message

    def is_full(self, entries: Sequence[Entry], facts: ModelFacts) -> bool:
        """Whether it was: a shortening that a known window did not call for followed an overflow."""
        if not self._scratch.shortening():
            return False
        return facts.context_window is None or self._window.is_full(entries, facts)

    def is_doubtful(self, entries: Sequence[Entry], facts: ModelFacts) -> bool:
        """Nobody is there to count."""
        del entries, facts
        return False

    def counted(self, entries: Sequence[Entry], tokens: int) -> None:
        """The provider has counted the next request."""
        self._window.counted(entries, tokens)

    def overflowed(self, facts: ModelFacts, kind: ErrorKind) -> None:
        """The server said that the last request was too large."""
        self._window.overflowed(facts, kind)

    async def shorten(
        self,
        entries: Sequence[Entry],
        facts: ModelFacts,
        ask: AskModel,
        write: WriteEntry,
        *,
        focus: str | None = None,
    ) -> Shortened | None:
        """Shorten as it was shortened; a summary is asked for again, and the recorded one taken."""
        del focus
        ahead = self._scratch.shortening()
        done: Shortened | None = None
        for entry in ahead:
            if isinstance(entry, HistoryCompacted) and (entry.by_model or entry.usage is not None):
                await self._ask(entries, entry, facts, ask)
        for entry in ahead:
            await write(entry)
            if isinstance(entry, HistoryCompacted | ResultsElided):
                summary = entry.summary if isinstance(entry, HistoryCompacted) else ""
                done = Shortened(
                    tokens_before=done.tokens_before if done else entry.tokens_before,
                    tokens_after=entry.tokens_after,
                    summary=done.summary if done else summary,
                )
        return done

    async def _ask(
        self, entries: Sequence[Entry], entry: HistoryCompacted, facts: ModelFacts, ask: AskModel
    ) -> None:
        self._window.constraints(entries)
        window = facts.context_window or ASSUMED_WINDOW
        size = int(min(max(window * SUMMARY_SHARE, SUMMARY_LEAST), SUMMARY_MOST))
        remembered = self._window.projection.remembered
        self._window.narrow(self._window.limit(facts))
        self._model.summary = Assistant((Text(entry.summary),), usage=entry.usage)
        try:
            await ask(ask_for_summary(remembered, size, entry.focus), size * 2)
        finally:
            self._model.summary = None

    def demands_in(self, words: str, record: str, at: float) -> Sequence[Constraint]:
        """The demands in a message of the user's."""
        return self._window.demands_in(words, record, at)

    def constraints(self, entries: Sequence[Entry]) -> Sequence[Constraint]:
        """The demands that hold."""
        return self._window.constraints(entries)

    def next_constraint(self, entries: Sequence[Entry]) -> str:
        """Id for a demand."""
        return self._window.next_constraint(entries)

    def report(self, entries: Sequence[Entry], facts: ModelFacts) -> WindowReport:
        """What fills the window."""
        return self._window.report(entries, facts)

    def missing_demands(self, messages: Sequence[Message]) -> Sequence[Constraint]:
        """Those that hold and are not said."""
        return self._window.missing_demands(messages)


class RecordedClock:
    """The time of the recording. Implements `hame.base.ports.Clock`; waits take no time."""

    def __init__(self, scratch: Scratch) -> None:
        """Show the time of what was played last."""
        self._scratch = scratch

    def now(self) -> float:
        """Unix time in seconds."""
        return self._scratch.at

    def monotonic(self) -> float:
        """The same."""
        return self._scratch.at

    async def sleep(self, seconds: float) -> None:
        """Let the others run."""
        del seconds
        await anyio.lowlevel.checkpoint()


def recorded_tools(tools: Iterable[Tool]) -> Mapping[str, Tool]:
    """Tools that do nothing, by name."""
    return {tool.spec.name: RecordedTool(tool) for tool in tools}


def _said(entry: Entry | None) -> Iterable[StreamEvent]:
    """The events of a recorded answer."""
    match entry:
        case ModelAnswered(message=message):
            yield from unfold(message)
        case AnswerAbandoned(message=message, failure=failure):
            if message.stop_reason is StopReason.ERROR:
                yield from unfold_open(message)
                yield Broke(failure)
            else:  # It said nothing, and did reach its end.
                yield from unfold(message)
        case AnswerInterrupted(message=message):
            yield from unfold_open(message)
        case _:
            pass


def _is_limit(entry: Entry | None) -> bool:
    return isinstance(entry, RunFinished) and isinstance(entry.result, BudgetSpent | StepLimit)
