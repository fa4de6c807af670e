"""Calls in, outcomes out: validate, gate, run, settle every one, in the order asked.

Consecutive calls that only read run together, and so do consecutive isolated ones; anything else
runs alone, so that a read after a write sees the write.
"""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby

import anyio
import msgspec

from hame.agent.ports import Ports
from hame.base import event
from hame.base.confinement import Confinement
from hame.base.entry import CallSettled
from hame.base.errors import ArgumentError, ToolError
from hame.base.json import JsonObject, as_object, dump, get_string, parse_object
from hame.base.message import ToolCall
from hame.base.outcome import Cancelled, Corrected, Done, Failed, Outcome
from hame.base.ports import Proposal, Shortfall, Tool
from hame.base.schema import check_arguments
from hame.base.snapshot import Attempt
from hame.base.tool import ArgumentKind, Effect, ToolSpec
from hame.base.zone import Operation

MAX_PARALLEL = 8
PARTIAL_CHARS = 4_000
"""How much of a cancelled call's output is kept for the model."""


class ToolRunner:
    """Runs the calls of one answer against one fixed set of tools."""

    def __init__(self, ports: Ports) -> None:
        """Take the ports a call needs."""
        self._ports = ports
        self._tools = ports.tools
        self._context = msgspec.structs.replace(ports.tool_context, tools=ports.tools)
        self._snapshots = ports.snapshots
        self._gate = ports.gate
        self._journal = ports.journal
        self._clock = ports.clock
        self._emit = ports.emit
        self._output: dict[str, str] = {}
        self._uncaptured = False
        self._among = 1

    async def run(self, calls: Sequence[ToolCall]) -> list[tuple[ToolCall, Outcome]]:
        """Run all calls and settle each; the result has them in the order asked.

        When cancelled, what had been settled stays so; `settle_cancelled` settles the rest.
        """
        settled: list[tuple[ToolCall, Outcome]] = []
        self._among = len(calls)
        for batch in self._batches([self._real(call) for call in calls]):
            outcomes: list[tuple[Outcome, float] | None] = [None] * len(batch)
            try:
                await self._run_batch(batch, outcomes)
            finally:
                # What has ended is on record even when the run is being stopped.
                with anyio.CancelScope(shield=True):
                    settled += await self._settle_batch(batch, outcomes)
        return settled

    @property
    def changed_something(self) -> bool:
        """Whether calls have run whose changes are not captured yet."""
        return self._uncaptured

    async def capture(self) -> None:
        """Capture what calls have changed; runs while the model answers."""
        self._uncaptured = False
        changed = await self._snapshots.settle() if self._snapshots is not None else ()
        if changed:
            self._emit(event.FilesChanged(tuple(changed)))

    async def settle_cancelled(self, calls: Sequence[ToolCall], reason: str) -> None:
        """Give these calls the outcome Cancelled, with what they had printed."""
        for call in map(self._real, calls):
            printed = self._output.get(call.id, "")
            await self._settle(call, Cancelled(reason=reason, partial=printed), 0.0)

    def _real(self, call: ToolCall) -> ToolCall:
        """The call itself, or the one it stands for: everything else sees only that."""
        tool = self._tools.get(call.name)
        name = get_string(call.arguments, "name")
        if tool is None or not tool.spec.forwards or not name:
            return call
        given = (call.arguments or {}).get("args")
        arguments = parse_object(given) if isinstance(given, str) else as_object(given)
        if arguments is None and given:
            return ToolCall(call.id, name, None, malformed=str(given))
        return ToolCall(call.id, name, arguments or {})

    def _batches(self, calls: Sequence[ToolCall]) -> Iterator[list[ToolCall]]:
        for effect, group in groupby(calls, key=self._together):
            members = list(group)
            if effect is None:
                yield from ([member] for member in members)
            else:
                for start in range(0, len(members), MAX_PARALLEL):
                    yield members[start : start + MAX_PARALLEL]

    def _together(self, call: ToolCall) -> Effect | None:
        """The effect under which neighbours may share a batch; None: alone."""
        tool = self._tools.get(call.name)
        if tool is None:
            return None
        effect = tool.spec.effect
        return effect if effect in {Effect.READ, Effect.ISOLATED} else None

    async def _run_batch(
        self, batch: Sequence[ToolCall], outcomes: list[tuple[Outcome, float] | None]
    ) -> None:
        async def run_one(place: int, call: ToolCall) -> None:
            started = self._clock.monotonic()
            outcome = await self._outcome(call)
            outcomes[place] = (outcome, self._clock.monotonic() - started)

        if len(batch) == 1:
            await run_one(0, batch[0])
            return
        async with anyio.create_task_group() as group:
            for place, call in enumerate(batch):
                group.start_soon(run_one, place, call)

    async def _outcome(self, call: ToolCall) -> Outcome:
        tool = self._tools.get(call.name)
        limit = tool.spec.timeout_s if tool else None
        try:
            return await self._attempt(call, tool)
        except ToolError as error:
            hint = f" {error.hint}" if error.hint else ""
            return Failed(message=f"{error.message}{hint}")
        except TimeoutError:
            within = "in time" if limit is None else f"within {limit:g} s"
            return Failed(message=f"{call.name} did not answer {within}.")
        except Exception as error:  # noqa: BLE001 - a bug in a tool is one failed call, not a dead run
            kind = type(error).__name__
            return Failed(message=f"{call.name} failed unexpectedly ({kind}: {error}).")

    async def _attempt(self, call: ToolCall, tool: Tool | None) -> Outcome:
        summary = tool.summarize(call.arguments or {}) if tool else ""
        self._emit(
            event.CallStarted(
                call=call.id,
                tool=call.name,
                title=(tool.spec.title or tool.spec.name) if tool else call.name,
                summary=summary,
                arguments=call.arguments or {},
            )
        )
        if tool is None:
            return Failed(message=_unknown_tool(call.name, self._tools))
        if call.arguments is None:
            return Failed(message=_malformed(call, tool))
        try:
            arguments = check_arguments(call.arguments, tool.spec.schema())
        except ArgumentError as error:
            return Failed(message=f"{error.message}. Nothing was run. {_usage(tool)}")
        return await self._run_tool(call, tool, arguments, summary)

    async def _run_tool(
        self, call: ToolCall, tool: Tool, arguments: JsonObject, summary: str
    ) -> Outcome:
        context = msgspec.structs.replace(self._context, progress=partial(self._progress, call))
        action = await tool.prepare(arguments, context)
        try:
            proposal = Proposal(call=call, spec=tool.spec, action=action, summary=summary)
            allowed = await self._gate.decide(proposal)
            if not isinstance(allowed, Confinement):
                return allowed
            await self._hold(proposal)
            return await self._carry_out(proposal, allowed)
        finally:
            if self._snapshots is not None and _may_change_files(tool.spec):
                self._snapshots.end(call.id)
                self._uncaptured = True
            action.close()

    async def _carry_out(self, proposal: Proposal, allowed: Confinement) -> Done | Failed:
        """Run it; again with more room, as often as its sandbox was too narrow and the user widens it."""
        widened: list[Confinement] = []
        while True:
            with anyio.fail_after(proposal.spec.timeout_s):
                outcome = await proposal.action.run(allowed)
            if not isinstance(outcome, Failed) or not outcome.denied:
                return outcome
            short = Shortfall(given=allowed, denied=outcome.denied)
            more = await self._gate.widen(proposal, short)
            if isinstance(more, Corrected):
                said = f"{outcome.message}\nThe user said: {more.words}"
                return msgspec.structs.replace(outcome, message=said)
            if more is None or more in widened:
                return outcome
            widened.append(more)
            allowed = more

    async def _hold(self, proposal: Proposal) -> None:
        """Before a call that may change files: keep what they are, so that it can be undone."""
        call, spec = proposal.call, proposal.spec
        if self._snapshots is None or not _may_change_files(spec):
            return
        changes = [target for target in proposal.action.targets if target.operation not in _LOOKING]
        words = await self._snapshots.begin(
            Attempt(
                call=call.id,
                tool=spec.name,
                title=f"{spec.title or spec.name} {proposal.summary}".strip(),
                record=self._journal.ids[-1] if self._journal.ids else "",
                paths=tuple(target.resolution.real for target in changes),
                deletes=any(target.operation is Operation.DELETE for target in changes),
                command=_command(call, spec),
            )
        )
        if words:
            self._emit(event.Notice(words))

    def _progress(self, call: ToolCall, text: str) -> None:
        self._output[call.id] = (self._output.get(call.id, "") + text)[-PARTIAL_CHARS:]
        self._emit(event.CallProgress(call=call.id, text=text))

    async def _settle_batch(
        self, batch: Sequence[ToolCall], outcomes: Sequence[tuple[Outcome, float] | None]
    ) -> list[tuple[ToolCall, Outcome]]:
        """Settle those that have ended; the others are still open."""
        ports = self._ports
        settled: list[tuple[ToolCall, Outcome]] = []
        for call, ended in zip(batch, outcomes, strict=True):
            if ended is not None:
                outcome = ports.context.admit(ended[0], ports.model.facts, self._among)
                await self._settle(call, outcome, ended[1])
                settled.append((call, outcome))
        return settled

    async def _settle(self, call: ToolCall, outcome: Outcome, seconds: float) -> None:
        self._output.pop(call.id, None)
        changed = outcome.changed if isinstance(outcome, Done | Failed) else ()
        entry = CallSettled(call_id=call.id, name=call.name, outcome=outcome, seconds=seconds)
        await self._journal.append(entry, durable=bool(changed))
        self._emit(
            event.CallSettled(call=call.id, tool=call.name, outcome=outcome, seconds=seconds)
        )
        if changed:
            self._emit(event.FilesChanged(changed))


_LOOKING = frozenset({Operation.READ, Operation.LIST})


def _may_change_files(spec: ToolSpec) -> bool:
    """Whatever writes or runs, and a tool from elsewhere that does not only look."""
    if spec.effect in {Effect.WRITE, Effect.RUN}:
        return True
    return bool(spec.source) and spec.effect is Effect.NETWORK


def _command(call: ToolCall, spec: ToolSpec) -> str:
    """The command line among a call's arguments; for another program that is run, its name."""
    for argument in spec.arguments:
        if argument.kind is ArgumentKind.COMMAND:
            return get_string(call.arguments, argument.name) or ""
    return spec.name if spec.effect is Effect.RUN else ""


def _unknown_tool(name: str, tools: Mapping[str, Tool]) -> str:
    near = difflib.get_close_matches(name, tools, n=3, cutoff=0.0)
    return f"There is no tool called {name!r}. The nearest are: {', '.join(near)}."


def _malformed(call: ToolCall, tool: Tool) -> str:
    return (
        f"The arguments of this call are not complete JSON, so nothing was run. {_usage(tool)} "
        f"They began: {(call.malformed or '')[:200]}"
    )


def _usage(tool: Tool) -> str:
    return f"The schema of {tool.spec.name} is {dump(tool.spec.schema())}"
