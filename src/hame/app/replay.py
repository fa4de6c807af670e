"""Replay: a session run again through the loop, against its recorded answers.

The real loop, the real projection and the real wire build every request anew; the answers, outcomes and
times are the journal's. No model is asked, no tool is run, no file is touched, and the session stays as
it is. Two replays by one hame with the same settings give the same bytes.
"""

import sys
import tempfile
from contextlib import AbstractAsyncContextManager
from hashlib import sha256

import msgspec
from msgspec.structs import replace

from hame.agent.cache import CacheLedger
from hame.agent.loop import Plan, Ports, Run
from hame.app.models import own_rows
from hame.app.recorded import (
    RecordedClock,
    RecordedContext,
    RecordedGate,
    RecordedModel,
    recorded_tools,
)
from hame.app.scratch import Divergence, Scratch
from hame.base.entry import HistoryCompacted, Rewound, RunFinished, UserSaid
from hame.base.errors import ErrorKind, Failure, ModelError
from hame.base.json import dump_bytes
from hame.base.message import Note, Origin, User
from hame.base.model import CacheLifetime, Endpoint, ModelFacts, Timeouts, ToolSupport
from hame.base.ports import (
    Clock,
    Emit,
    HttpRequest,
    HttpResponse,
    ModelRequest,
    ToolContext,
)
from hame.base.run import StepLimit
from hame.base.settings import ProviderSettings, Settings
from hame.config.places import Places
from hame.llm.asking import Line
from hame.llm.catalog import ShippedCatalogue
from hame.llm.client import HttpModel, connect
from hame.llm.codecs import WIRES
from hame.prompts.opening import system_prompt
from hame.sandbox.unconfined import Unconfined
from hame.sessions.branch import Branch
from hame.tools import builtin_tools
from hame.workspace.local import open_workspace
from hame.workspace.process import LocalProcesses

_NOWHERE = Endpoint(base_url="https://replay.invalid")
"""A name that no server has (RFC 6761); nothing is sent to it."""


class ReplayedStep(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One request that was built again."""

    number: int
    """From 1, through the whole session."""
    run: int
    """Number of the run, from 1; 0: a summary that was asked for before the first."""
    model: str
    wire: str
    """Empty where the model is not asked over HTTP: then the bytes are hame's own form."""
    messages: int
    size: int
    """Bytes of the body."""
    sha256: str
    """Of the body."""
    summary: bool = False
    """It asks for a summary."""
    refused: bool = False
    """It was refused as too large; the recording only shows that the view was shortened after it."""
    same: bool | None = None
    """System prompt, tools and messages are those that were sent; None where that is not recorded."""


class Replay(msgspec.Struct, frozen=True, kw_only=True):
    """What a replay came to."""

    session: str
    runs: int
    steps: tuple[ReplayedStep, ...]
    entries: int
    """Recorded entries that were played."""
    divergences: tuple[Divergence, ...]


async def replay(
    branch: Branch, settings: Settings, places: Places, emit: Emit = lambda _: None
) -> Replay:
    """Run a session again; `emit` gets the events of its runs.

    Raises:
        ConfigError: if the user's own rows of models cannot be read.
    """
    player = _Player(branch, settings, ShippedCatalogue(lambda: own_rows(places)), emit)
    with tempfile.TemporaryDirectory(prefix="hame-replay-") as folder:
        return await player.play(folder)


class _Player:
    """Plays one session."""

    def __init__(
        self, branch: Branch, settings: Settings, catalogue: ShippedCatalogue, emit: Emit
    ) -> None:
        self._settings, self._emit = settings, emit
        self._scratch = Scratch(branch.session, branch.records)
        self._session = branch.session
        self._clock = RecordedClock(self._scratch)
        self._model = RecordedModel(
            self._scratch, lambda origin: _facts(catalogue, settings, origin), self._asked
        )
        self._writer = _Writer(self._clock)
        self._scratch.same_request = self._same_request
        self._steps: list[ReplayedStep] = []
        self._runs = 0
        self._begin_memory()

    async def play(self, folder: str) -> Replay:
        """Play it all; `folder` stands in for the project, and nothing is put there."""
        self._tool_context = ToolContext(
            workspace=open_workspace(folder, home=folder),
            processes=LocalProcesses({}),
            sandbox=Unconfined(),
            progress=lambda _: None,
        )
        scratch = self._scratch
        while (due := scratch.due) is not None:
            match due:
                case UserSaid(message=message, steering=False):
                    await self._run(message)
                case _ if any(isinstance(e, HistoryCompacted) for e in scratch.shortening()):
                    await self._compact()
                case Rewound():
                    scratch.advance()
                    self._begin_memory()
                case _:
                    scratch.advance()
        return Replay(
            session=self._session,
            runs=self._runs,
            steps=tuple(self._steps),
            entries=len(scratch.entries),
            divergences=tuple(scratch.divergences),
        )

    def _begin_memory(self) -> None:
        self._context = RecordedContext(self._scratch, self._model)
        self._ledger = CacheLedger(self._scratch.entries)

    async def _run(self, message: User) -> None:
        scratch, place = self._scratch, len(self._scratch.entries)
        self._runs += 1
        run = self._new_run()
        scratch.stop = run.cancel
        await run.run(message)
        finished = len(scratch.entries) > place and scratch.ended
        if not finished:
            scratch.skip_run()

    async def _compact(self) -> None:
        due = next(e for e in self._scratch.shortening() if isinstance(e, HistoryCompacted))
        place = len(self._scratch.entries)
        run = self._new_run()
        self._scratch.stop = run.cancel
        await run.compact(due.focus)
        self._scratch.go_on()
        if len(self._scratch.entries) == place:
            self._scratch.advance()

    def _new_run(self) -> Run:
        settings, end = self._settings, self._scratch.end()
        limit = end.result if isinstance(end, RunFinished) else None
        steps = limit.steps if isinstance(limit, StepLimit) else sys.maxsize
        ports = Ports(
            model=self._model,
            tools=recorded_tools(builtin_tools(self._model.facts.editing)),
            context=self._context,
            tool_context=self._tool_context,
            gate=RecordedGate(self._scratch),
            journal=self._scratch,
            clock=self._clock,
            emit=self._emit,
            ledger=self._ledger,
        )
        limits = replace(
            settings.limits(), steps=steps, total_tokens=None, seconds=None, cost_usd=None
        )
        plan = Plan(
            system=system_prompt(),
            limits=limits,
            effort=settings.effort,
            cache=settings.cache_lifetime or CacheLifetime.PREFIX,
            web_search=settings.web_search,
        )
        return Run(ports, plan, self._scratch.inbox)

    def _asked(self, request: ModelRequest, facts: ModelFacts, refused: bool) -> None:  # noqa: FBT001 - it is called by the model
        body = self._writer.body(request, facts)
        self._steps.append(
            ReplayedStep(
                number=len(self._steps) + 1,
                run=self._runs,
                model=facts.name,
                wire=facts.wire if facts.wire in WIRES else "",
                messages=len(request.messages),
                size=len(body),
                sha256=sha256(body).hexdigest(),
                summary=_asks_for_summary(request),
                refused=refused,
            )
        )

    def _same_request(self, same: bool) -> None:  # noqa: FBT001 - it is called by the journal
        self._steps[-1] = replace(self._steps[-1], same=same)


class _Writer:
    """Writes requests as they would be sent."""

    def __init__(self, clock: Clock) -> None:
        self._line = Line(http=_NoNetwork(), clock=clock)
        self._models: dict[str, HttpModel] = {}

    def body(self, request: ModelRequest, facts: ModelFacts) -> bytes:
        if facts.wire not in WIRES:
            return dump_bytes(request)
        key = f"{facts.wire} {facts.name}"
        if key not in self._models:
            self._models[key] = connect(facts, _NOWHERE, self._line)
        return self._models[key].encode(request).body


class _NoNetwork:
    """Implements `hame.base.ports.Http`: sends nothing."""

    def send(
        self, request: HttpRequest, timeouts: Timeouts
    ) -> AbstractAsyncContextManager[HttpResponse]:
        """Refuse.

        Raises:
            ModelError: always.
        """
        del request, timeouts
        raise ModelError(Failure(kind=ErrorKind.NETWORK, message="a replay sends nothing"))


def _facts(catalogue: ShippedCatalogue, settings: Settings, origin: Origin | None) -> ModelFacts:
    """What catalogue and settings know of a model; no key is needed and no server is asked."""
    if origin is None:
        return ModelFacts(backend="recorded", model="model", wire="")
    known = ModelFacts(backend=origin.backend, model=origin.model, wire=origin.wire)
    vendor = catalogue.vendor(origin.backend)
    if vendor is not None:
        known = replace(catalogue.facts(vendor, origin.model), wire=origin.wire)
    own = settings.providers.get(origin.backend, ProviderSettings())
    known = replace(known, context_window=own.context_window or known.context_window)
    if settings.tools is None:
        return known
    return replace(known, tools=ToolSupport.NATIVE if settings.tools else ToolSupport.TEXT)


def _asks_for_summary(request: ModelRequest) -> bool:
    last = request.messages[-1] if request.messages else None
    return isinstance(last, User) and any(
        isinstance(block, Note) and block.source == "summary" for block in last.content
    )
