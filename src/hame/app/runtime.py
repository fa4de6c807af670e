"""A session that can be prompted: what every surface, and the public API, talks to.

Surfaces subscribe to RunEvents and call these verbs; none of them reaches into the loop.
"""

import traceback
from collections.abc import Awaitable, Callable, Mapping, Sequence
from secrets import token_hex
from typing import Protocol

import anyio
import msgspec
from msgspec.structs import replace

from hame.agent.cache import CacheLedger
from hame.agent.inbox import Inbox
from hame.agent.loop import Plan, Ports, Run
from hame.app.door import Door, NewGate
from hame.app.log import Log
from hame.app.memory import Memory
from hame.app.opening import opening_notes
from hame.app.questions import Questions
from hame.app.redacting import RedactingTool, Redaction
from hame.app.undo import Rewind, Rewinder
from hame.base import event
from hame.base.capability import written
from hame.base.entry import (
    ModeChosen,
    ModelAnswered,
    ModelChosen,
    NoteAdded,
    SessionStarted,
    UserSaid,
)
from hame.base.errors import ConfigError, ErrorKind, Failure, HameError
from hame.base.kinds import last_place, newest, places
from hame.base.memory import Shortened
from hame.base.message import User
from hame.base.model import CacheLifetime, Editing, ModelFacts, Usage
from hame.base.ports import (
    Clock,
    Context,
    Emit,
    Jobs,
    Journal,
    Model,
    ModelRequest,
    Snapshots,
    Tool,
    ToolContext,
)
from hame.base.question import Answer
from hame.base.run import Allowance, RunFailed, Stopped
from hame.base.settings import Mode, Settings
from hame.base.snapshot import Step
from hame.prompts.attachments import Composed, compose
from hame.prompts.opening import mode_text, system_prompt

AHEAD_AFTER_S = 0.25
"""Until what can be done ahead begins: the first request has left then, and nothing has come yet."""
WORTH_A_WARNING = 20_000
"""Tokens that must be read anew before it is said."""


class Sessions(Protocol):
    """Where sessions come from and go to."""

    def create(self, cwd: str) -> Journal:
        """A new session's journal."""
        ...

    def resume(self, session: str) -> Journal:
        """An old one's."""
        ...

    def close(self, journal: Journal) -> None:
        """Let go of a session."""
        ...


async def nobody_counts(_facts: ModelFacts, _request: ModelRequest) -> int | None:
    """Nobody does."""
    return None


class Parts(msgspec.Struct, frozen=True, kw_only=True):
    """What a runtime is made of; put together by `hame.app.build`."""

    settings: Settings
    clock: Clock
    new_tools: Callable[[Editing], tuple[Tool, ...]]
    """Tools share what their session's model has seen, so each session has its own."""
    tool_context: ToolContext
    new_gate: NewGate
    sessions: Sessions
    new_snapshots: Callable[[str], Snapshots]
    """By the session's id."""
    new_jobs: Callable[[], Jobs]
    """Commands in the background end with their session."""
    open_model: Callable[[str | None], Awaitable[Model]]
    """By name; None: the user's choice, or what there is. Raises ConfigError."""
    new_context: Callable[[], Context]
    count_tokens: Callable[[ModelFacts, ModelRequest], Awaitable[int | None]] = nobody_counts
    """Has a request counted by who serves the model; None where nobody counts."""
    remember: Callable[[str], None] = lambda _: None
    """Keeps the model that the user chose for later sessions."""
    speak_through: Callable[[Callable[[str], None]], None] = lambda _: None
    """Is handed what says something to the user while a model is opened."""
    redaction: Redaction
    log: Log
    interactive: bool
    close: Callable[[], Awaitable[None]]
    trusted: Callable[[], bool] = lambda: False
    """Whether the user trusts the project's folder, now."""
    new_allowance: Callable[[str], Callable[[], Allowance] | None] = lambda _: None
    """Tells what is left of the day's limits while a session's run goes on; None: there are none."""
    end_orphans: Callable[[], Awaitable[Sequence[str]]] | None = None
    """Ends background jobs that a killed hame has left; their commands."""


class Runtime:
    """One session after another, one run at a time."""

    def __init__(self, parts: Parts, journal: Journal) -> None:
        """Take over a journal; the model is opened with the first prompt or by `set_model`."""
        self._parts = parts
        self._sinks: list[Emit] = []
        self._seq = 0
        self._run: Run | None = None
        self._starting: anyio.CancelScope | None = None
        self._run_id = ""
        self._broken_sink: BaseException | None = None
        self._inbox = Inbox()
        self._model: Model | None = None
        self._mode = parts.settings.mode
        self._questions = Questions(interactive=parts.interactive, emit=self._emit)
        self._end_jobs = parts.end_orphans
        self._not_searching: set[str] = set()
        self._warned_of: tuple[str, float] = "", 0.0
        """The model, and the time of the last request, of which it was said that its cache is over."""
        self._rules_are_odd = bool(parts.new_gate.warnings)
        self._gate = Door(lambda: parts.new_gate(lambda: self._mode, self._questions))
        self._take_up(journal)
        self.subscribe(parts.log.note)
        parts.speak_through(lambda text: self._emit(event.Notice(text)))

    # ------------------------------------------------------------ what it is

    @property
    def session(self) -> str:
        """Id of the session."""
        return self._journal.session

    @property
    def journal(self) -> Journal:
        """The session's journal, to be read."""
        return self._journal

    @property
    def model(self) -> str:
        """`backend/model`; empty until one has been opened."""
        return self._model.facts.name if self._model else ""

    @property
    def mode(self) -> Mode:
        """What runs without a question."""
        return self._mode

    @property
    def sandbox(self) -> str:
        """How commands are confined."""
        return self._parts.tool_context.sandbox.level

    def subscribe(self, sink: Emit) -> Callable[[], None]:
        """Send all events to `sink` from now on, until the returned function is called."""
        self._sinks.append(sink)

        def unsubscribe() -> None:
            if sink in self._sinks:
                self._sinks.remove(sink)

        return unsubscribe

    # ------------------------------------------------------------ verbs

    async def prompt(self, text: str) -> event.RunEnded:
        """One run, to its end. Events go to the subscribers; failures become the run's result.

        Raises:
            HameError: if a run is going already.
            ConfigError: if no model can be asked.
        """
        self._refuse_busy()
        self._run_id, self._broken_sink = f"r{token_hex(4)}", None
        ready = await self._get_ready(text)
        if ready is None:
            return self._stopped()
        model, message = ready
        self._emit(
            event.RunStarted(
                session=self.session,
                model=self.model,
                mode=self._mode,
                prompt=message.words,
                sandbox=self.sandbox,
            )
        )
        self._warn_of_rules()
        self._warn_of_cache(model.facts)
        run = Run(self._ports(model), self._plan(), self._inbox)
        self._warn_of_search(model, run.request((message,)))
        self._run = run
        try:
            ended = await run.run(message)
        except Exception as error:  # A bug of hame's: surfaces and log hear of it first.
            trace = "".join(traceback.format_exception(error))
            self._parts.log.write("crash", run=self._run_id, trace=trace)
            self._emit(_crashed(error, self._parts.redaction.text))
            raise
        finally:
            self._run = None
        if self._broken_sink is not None:
            raise self._broken_sink
        return ended

    async def preview(self, text: str) -> tuple[Model, ModelRequest]:
        """Whom a prompt would ask, and what, first; it is not asked, and nothing is journalled.

        Raises:
            ConfigError: if no model can be asked.
        """
        model = await self._open()
        composed = await self._composed(text)
        shown = await self._parts.new_context().fit(self._journal.entries, model.facts)
        messages = (*shown, composed.message)
        return model, Run(self._ports(model), self._plan()).request(messages)

    def steer(self, text: str) -> None:
        """Say something while a run is going; it is delivered at the next step."""
        self._inbox.post(self._parts.redaction.text(text))

    def cancel(self, reason: str = "stopped by the user") -> None:
        """Stop the run that is going, if any."""
        if self._run is not None:
            self._run.cancel(reason)
        elif self._starting is not None:
            self._starting.cancel()

    def answer(self, question_id: str, answer: Answer) -> bool:
        """Answer a question; False when it is not waiting any more."""
        return self._questions.answer(question_id, answer)

    async def set_model(self, name: str | None) -> None:
        """Ask this model from now on; the history stays.

        Raises:
            ConfigError: if there is no such model or it cannot be asked.
        """
        self._model = await self._parts.open_model(name)
        if self._parts.interactive:
            self._parts.remember(self.model)
        if self._has_begun():
            await self._journal.append(ModelChosen(model=self.model))
            self._warn_of_cache(self._model.facts)

    async def set_mode(self, mode: Mode) -> None:
        """Change what runs without a question; the model is told."""
        if mode is self._mode:
            return
        self._mode = mode
        if self._has_begun():
            await self._journal.append(ModeChosen(mode=mode))
            await self._journal.append(NoteAdded(text=mode_text(mode), source="mode"))
        self._emit(event.ModeChanged(mode))

    async def clear(self) -> None:
        """Begin a new session; grants of the old one are forgotten."""
        root = self._parts.tool_context.workspace.paths.root
        await self._switch(lambda: self._parts.sessions.create(root))

    async def resume(self, session: str) -> None:
        """Go on with another session.

        Raises:
            SessionError: if there is no such session or it is open elsewhere.
        """
        await self._switch(lambda: self._parts.sessions.resume(session))

    def rewinder(self) -> Rewinder:
        """What takes the session back.

        Raises:
            HameError: while a run is going.
        """
        self._refuse_busy()
        return Rewinder(self._journal, self._snapshots)

    async def rewind(self, plan: Rewind) -> Step | None:
        """Do what `rewinder().plan()` has planned; the step it is.

        Raises:
            HameError: while a run is going, or if files were changed since the plan was made.
        """
        step = await self.rewinder().do(plan)
        self._context = self._parts.new_context()
        self._ledger = CacheLedger(self._journal.entries)
        if step is not None and step.changes:
            self._emit(event.FilesChanged(tuple(change.path for change in step.changes)))
        return step

    def memory(self) -> Memory:
        """What the session remembers, and what fills its model's window."""
        return Memory(
            journal=self._journal,
            context=self._context,
            clock=self._parts.clock,
            emit=self._emit,
            facts=self._counted_facts,
            compact=self._compact,
        )

    async def close(self) -> None:
        """Let go of everything; the session stays on disk."""
        await self._jobs.close()
        self._parts.sessions.close(self._journal)
        await self._parts.close()
        self._parts.log.close()

    # ------------------------------------------------------------ inside

    async def _get_ready(self, text: str) -> tuple[Model, User] | None:
        """The model and the message; None when it was stopped meanwhile."""
        try:
            with anyio.CancelScope() as self._starting:
                return await self._open(), await self._compose(text)
        finally:
            self._starting = None
        return None

    def _stopped(self) -> event.RunEnded:
        """It was stopped before the model was asked."""
        result = Stopped(reason="stopped by the user")
        ended = event.RunEnded(result=result, usage=Usage(), steps=0, seconds=0.0)
        self._emit(ended)
        return ended

    def _refuse_busy(self) -> None:
        """Make sure that no run is going.

        Raises:
            HameError: if one is.
        """
        if self._run is not None or self._starting is not None:
            raise HameError("a run is going already", hint="Wait for it, or stop it first.")

    async def _switch(self, open_journal: Callable[[], Journal]) -> None:
        self._refuse_busy()
        old, jobs = self._journal, self._jobs
        self._take_up(open_journal())
        await jobs.close()
        self._gate.forget_grants()
        self._parts.sessions.close(old)

    def _take_up(self, journal: Journal) -> None:
        self._journal, self._told = journal, 0
        self._questions.journal = journal
        self._snapshots, self._prepared = self._parts.new_snapshots(journal.session), False
        self._jobs = self._parts.new_jobs()
        self._context = self._parts.new_context()
        self._ledger = CacheLedger(journal.entries)
        self._make_tools("edit_file")

    def _make_tools(self, editing: Editing) -> None:
        """The session's tools; they forget what was read, as a model that comes later has not read it."""
        self._editing = editing
        self._tools: Mapping[str, Tool] = {
            tool.spec.name: RedactingTool(tool, self._parts.redaction)
            for tool in self._parts.new_tools(editing)
        }

    async def _open(self) -> Model:
        if self._model is None:
            self._model = await self._open_chosen()
        self._require_price(self._model.facts)
        if self._model.facts.editing != self._editing:
            self._make_tools(self._model.facts.editing)
        return self._model

    async def _open_chosen(self) -> Model:
        """The model the user chose, else the one this session was with.

        Raises:
            ConfigError: if it cannot be asked.
        """
        chosen = self._parts.settings.model
        if chosen:
            return await self._parts.open_model(chosen)
        last = _last_model(self._journal)
        try:
            return await self._parts.open_model(last)
        except ConfigError as error:
            if last is None:
                raise
            raise ConfigError(
                f"this session was with {last}, which cannot be asked: {error.message}",
                hint=f"Go on with another: --model NAME, or /model NAME. Or: {error.hint}",
            ) from error

    def _require_price(self, facts: ModelFacts) -> None:
        """See that a limit of money can be held.

        Raises:
            ConfigError: if the model's price is unknown.
        """
        if self._parts.settings.max_cost_usd is not None and facts.cost(Usage()) is None:
            raise ConfigError(
                f"the price of {facts.name} is unknown, so a limit of money cannot be held",
                hint=f'Leave --max-cost out, or give the price in models.toml: [models."{facts.name}"]'
                " price = {input = 1.0, output = 2.0}",
            )

    def _ports(self, model: Model) -> Ports:
        return Ports(
            model=model,
            tools=self._tools,
            context=self._context,
            tool_context=replace(self._parts.tool_context, asker=self._questions, jobs=self._jobs),
            gate=self._gate,
            journal=self._journal,
            clock=self._parts.clock,
            emit=self._emit,
            count=lambda request: self._parts.count_tokens(model.facts, request),
            snapshots=self._snapshots,
            ledger=self._ledger,
            ahead=self._ahead,
            today=self._parts.new_allowance(self.session),
        )

    async def _ahead(self) -> None:
        """What somebody would wait for later, done while the model is being asked."""
        await self._end_orphans()
        runs_freely = self._parts.interactive or self._mode is Mode.AUTO
        if runs_freely and self._mode is not Mode.PLAN and not self._prepared:
            await self._parts.clock.sleep(AHEAD_AFTER_S)
            await self._snapshots.prepare()
            self._prepared = True

    async def _end_orphans(self) -> None:
        """Look once for jobs that a hame left which was killed."""
        end, self._end_jobs = self._end_jobs, None
        if end is None:
            return
        with anyio.CancelScope(shield=True):
            for command in await end():
                self._emit(event.Notice(f"Ended a job that a killed hame had left: {command}"))

    async def _compact(self, focus: str) -> Shortened | None:
        self._refuse_busy()
        self._run = Run(self._ports(await self._open()), self._plan())
        try:
            return await self._run.compact(self._parts.redaction.text(focus))
        finally:
            self._run = None

    async def _counted_facts(self) -> ModelFacts:
        """What is known of the model, when the context knows the next request as well as anybody does."""
        model = await self._open()
        facts, entries = model.facts, self._journal.entries
        specs = [tool.spec for tool in self._tools.values() if tool.spec.advertised]
        self._context.frame(system_prompt(), specs)
        messages = await self._context.fit(entries, facts)
        if messages:
            asked = Run(self._ports(model), self._plan()).request(messages)
            tokens = await self._parts.count_tokens(facts, asked)
            if tokens is not None:
                self._context.counted(entries, tokens)
        return facts

    def _warn_of_rules(self) -> None:
        """Say once which of the user's rules can never match."""
        if self._rules_are_odd:
            first, *more = self._parts.new_gate.warnings
            others = f" (and {len(more)} more: hame permissions test)" if more else ""
            self._emit(event.Notice(f"{first}{others}", "warning"))
            self._rules_are_odd = False

    def _warn_of_search(self, model: Model, request: ModelRequest) -> None:
        """Say once for a model that its provider will not search the web, though it is asked to."""
        name = model.facts.name
        if request.web_search and name not in self._not_searching and not _searches(model, request):
            self._not_searching.add(name)
            words = f"web_search is on, but {name} offers no search of its own beside hame's tools."
            self._emit(event.Notice(words, "warning"))

    def _warn_of_cache(self, facts: ModelFacts) -> None:
        """Say what it costs that the next request finds nothing in the provider's cache."""
        tokens, dollars = self._ledger.lapsed(facts, self._parts.clock.now())
        last = self._ledger.last
        lapse = (facts.name, last.at if last is not None else 0.0)
        if tokens >= WORTH_A_WARNING and lapse != self._warned_of:
            self._warned_of = lapse
            price = "" if dollars is None else f", about ${dollars:.2f} more"
            self._emit(
                event.Notice(
                    f"The next request reads {tokens:,} tokens anew: nothing of them is in a cache"
                    f" of {facts.name} any more{price}.",
                    "warning",
                )
            )

    def _has_begun(self) -> bool:
        return next(places(self._journal.entries, (UserSaid,)), -1) >= 0

    def _plan(self) -> Plan:
        settings = self._parts.settings
        usual = CacheLifetime.PREFIX if self._parts.interactive else CacheLifetime.SHORT
        return Plan(
            system=system_prompt(),
            limits=settings.limits(),
            effort=settings.effort,
            cache=settings.cache_lifetime or usual,
            web_search=settings.web_search,
        )

    async def _compose(self, text: str) -> User:
        composed = await self._composed(text)
        if not self._has_begun():
            await self._journal.append(ModelChosen(model=self.model))
            await self._journal.append(ModeChosen(mode=self._mode))
        for notice in composed.notices:
            self._emit(event.Notice(notice, "warning"))
        return composed.message

    async def _composed(self, text: str) -> Composed:
        """The user's message with what it names attached; the first one brings the surroundings."""
        workspace = self._parts.tool_context.workspace
        now, own = self._parts.clock.now(), self._parts.tool_context.user_notes
        begun = self._has_begun()
        trusted = begun or self._parts.trusted()
        notes = (
            () if begun else opening_notes(workspace.paths, self._mode, now, own, trusted=trusted)
        )
        composed = await compose(self._parts.redaction.text(text), workspace, notes)
        # What was attached may hold secrets as well as what was typed.
        return replace(composed, message=self._parts.redaction.message(composed.message))

    def _emit(self, item: event.RunEvent) -> None:
        """Send an event, and before it what there is to say of the journal by now."""
        told, self._told = self._told, len(self._journal.notices)
        for words in self._journal.notices[told:]:
            self._send(event.Notice(words, "warning"))
        self._send(item)

    def _send(self, item: event.RunEvent) -> None:
        self._seq += 1
        stamped = replace(item, run=self._run_id, seq=self._seq)
        for sink in tuple(self._sinks):
            try:
                sink(stamped)
            except Exception as error:  # noqa: BLE001 - a surface that breaks must not break the run
                self._sinks.remove(sink)
                self._broken_sink = error
                self.cancel("stopped because its surface went away")


def _searches(model: Model, request: ModelRequest) -> bool:
    """Whether asking for the provider's search changes anything of what is sent."""
    without = replace(request, web_search=False)
    try:
        return written(model, request).body != written(model, without).body
    except ConfigError:
        return False


def _last_model(journal: Journal) -> str | None:
    """The model that answered last, or was chosen since; none of what another's file says."""
    entries = journal.entries
    match entries[0] if entries else None:
        case SessionStarted(imported=True):
            return None
        case _:
            pass
    place = last_place(entries, (ModelChosen, ModelAnswered))
    match entries[place] if place >= 0 else None:
        case ModelAnswered(message=message) if message.origin is not None:
            return f"{message.origin.backend}/{message.origin.model}"
        case _:
            chosen = newest(entries, ModelChosen)
            return chosen.model if chosen is not None else None


def _crashed(error: Exception, redact: Callable[[str], str]) -> event.RunEnded:
    """What surfaces are told when hame itself fails; `redact` takes secrets out of a text."""
    hint = (
        error.hint
        if isinstance(error, HameError)
        else "This is a bug in hame; the log has the details."
    )
    kind = ErrorKind.UNKNOWN
    message = redact(f"hame failed: {type(error).__name__}: {error}")
    failure = Failure(kind=kind, message=message, hint=redact(hint))
    return event.RunEnded(result=RunFailed(failure=failure), usage=Usage(), steps=0, seconds=0.0)
