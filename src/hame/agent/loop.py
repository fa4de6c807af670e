"""The whole loop: journal the prompt, ask, run the tools, ask again, until nothing is asked.

Cancelling at any await leaves a legal history: what had arrived is kept and marked, and every open
call is settled as Cancelled before the cancellation goes on.
"""

from contextlib import suppress

import anyio
import msgspec
from anyio.abc import TaskGroup

from hame.agent.account import Account
from hame.agent.calls import made_calls, open_calls
from hame.agent.inbox import Inbox
from hame.agent.mishaps import Mishaps, is_empty_by_mistake
from hame.agent.ports import Plan, Ports
from hame.agent.progress import NUDGE_TEXT, ProgressGuard, Verdict
from hame.agent.room import OVERFLOWS, Room
from hame.agent.toolrun import ToolRunner
from hame.agent.truncation import was_cut
from hame.agent.turn import origin_of, with_unique_calls
from hame.base import event
from hame.base.entry import (
    AnswerInterrupted,
    ModelAnswered,
    NoteAdded,
    RunFinished,
    UserSaid,
)
from hame.base.errors import ErrorKind, Failure, SessionError
from hame.base.fold import Fold
from hame.base.memory import Shortened
from hame.base.message import Assistant, Message, StopReason, Text, User
from hame.base.outcome import Denied
from hame.base.ports import ModelRequest
from hame.base.run import (
    Refused,
    RunDone,
    RunFailed,
    RunResult,
    Stopped,
    Truncated,
)
from hame.base.tool import ToolSpec

MAX_PAUSES = 5
MAX_MALFORMED = 3
_WITHDRAWN = frozenset({StopReason.REFUSAL, StopReason.CONTENT_FILTER})
CAPTURE_LIMIT_S = 2.0
"""How long a run that is being stopped waits for the capture of what its last calls changed."""


class Run:
    """One prompt, from the user's message to its result."""

    def __init__(self, ports: Ports, plan: Plan, inbox: Inbox | None = None) -> None:
        """Prepare a run; nothing happens before `run`."""
        self._ports = ports
        self._plan = plan
        self._inbox = inbox if inbox is not None else Inbox()
        self._tools = ToolRunner(ports)
        self._specs: tuple[ToolSpec, ...] = tuple(
            tool.spec for tool in ports.tools.values() if tool.spec.advertised
        )
        self._account = Account(ports, plan.limits)
        self._room = Room(ports, self.request, self._account.count_aside)
        self._call_ids: set[str] | None = None
        """Ids of the calls that the model sees or has made; None before the first request."""
        self._guard = ProgressGuard()
        self._mishaps = Mishaps(ports)
        self._refused = 0
        self._pauses = self._malformed = 0
        self._fold: Fold | None = None
        self._scope = anyio.CancelScope()
        self._beside: TaskGroup | None = None
        """What goes on while the model answers; it ends with the run."""
        self._ahead = anyio.CancelScope()
        self._stop_reason = "stopped by the user"

    def cancel(self, reason: str = "stopped by the user") -> None:
        """Stop as soon as possible; `run` then returns with the result Stopped."""
        self._stop_reason = reason
        self._scope.cancel()

    def request(self, messages: tuple[Message, ...]) -> ModelRequest:
        """What this run asks the model about these messages."""
        return ModelRequest(
            system=self._plan.system,
            messages=messages,
            tools=self._specs,
            max_output_tokens=self._plan.limits.output_tokens,
            effort=self._plan.effort,
            session=self._ports.journal.session,
            cache=self._plan.cache,
            web_search=self._plan.web_search,
        )

    async def run(self, message: User) -> event.RunEnded:
        """Do it. Failures of the model and of the journal become results."""
        result: RunResult = Stopped(reason=self._stop_reason)
        with self._scope:
            try:
                async with anyio.create_task_group() as self._beside:
                    self._beside.start_soon(self._look_ahead)
                    result = await self._answer(message)
                    self._ahead.cancel()
            except ExceptionGroup as group:
                raise group.exceptions[0] from group
        if self._scope.cancelled_caught:
            result = Stopped(reason=self._stop_reason)
        return await self._end(result)

    async def _look_ahead(self) -> None:
        with self._ahead:
            if self._ports.ahead is not None:
                await self._ports.ahead()

    async def compact(self, focus: str) -> Shortened | None:
        """Replace what came so far by a summary; None when there is too little, or it was stopped.

        Raises:
            SessionError: if it could not be written.
        """
        with self._scope:
            self._ports.context.frame(self._plan.system, self._specs)
            return await self._room.make(focus)
        return None

    async def _answer(self, message: User) -> RunResult:
        try:
            ports = self._ports
            ports.context.frame(self._plan.system, self._specs)
            message = ports.context.admit_message(message, ports.model.facts)
            self._room.hear_missed()
            said = await ports.journal.append(UserSaid(message=message))
            self._room.hear(message.words, said.id, said.at)
            # It reaches the disk while the model is already being asked.
            self._ports.journal.sync_soon()
            return await self._loop()
        except SessionError as error:
            failure = Failure(kind=ErrorKind.UNKNOWN, message=error.message, hint=error.hint)
            return RunFailed(failure=failure)
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                await self._leave_legal()
            raise

    async def _loop(self) -> RunResult:
        while True:
            spent = self._account.spent()
            if spent is not None:
                return spent
            await self._deliver()
            self._account.steps += 1
            self._ports.emit(event.StepStarted(self._account.steps))
            result = await self._step()
            if result is None:
                continue
            if self._inbox.waiting and isinstance(result, RunDone):
                continue
            return result

    # ------------------------------------------------------------ one step

    async def _step(self) -> RunResult | None:
        ports = self._ports
        request = self.request(await self._room.messages())
        if self._call_ids is None:
            self._call_ids = {call.id for call in made_calls(request.messages)}
        fold = self._fold = Fold()
        await self._room.turn(request, fold, ports.emit)
        answer = fold.message(origin_of(ports.model.facts))
        self._account.count(answer)
        if cut := was_cut(request, answer.usage, ports.model.facts):
            ports.emit(event.Notice(cut, "warning"))
        if fold.failure is not None:
            self._fold = None
            return await self._broke(answer, fold.failure.failure)
        answer = with_unique_calls(answer, self._call_ids)
        if is_empty_by_mistake(answer):
            self._fold = None
            return await self._mishaps.said_nothing(answer)
        # From here on the answer is on record; a cancellation must not record it twice.
        with anyio.CancelScope(shield=True):
            await ports.journal.append(ModelAnswered(message=answer))
            self._fold = None
        ports.emit(event.AnswerCompleted(answer))
        self._mishaps.over()
        if answer.stop_reason is not StopReason.CONTEXT_FULL:
            self._room.answered()
        await self._room.account(answer)
        await self._room.note_demands()
        if answer.calls and answer.stop_reason not in _WITHDRAWN:
            return await self._run_calls(answer)
        # An answer that was refused in its midst is not to be acted on.
        await self._tools.settle_cancelled(answer.calls, "the answer with this call was refused")
        return await self._conclude(answer)

    async def _run_calls(self, answer: Assistant) -> RunResult | None:
        self._pauses = self._malformed = 0
        settled = await self._tools.run(answer.calls)
        if self._beside is not None and self._tools.changed_something:
            self._beside.start_soon(self._tools.capture)
        self._refused += sum(
            isinstance(outcome, Denied) and outcome.unanswered for _, outcome in settled
        )
        match self._guard.judge(settled):
            case Verdict.GO_ON:
                return None
            case Verdict.NUDGE:
                await self._note(NUDGE_TEXT, "progress")
                return None
            case Verdict.STOP:
                return Stopped(reason="the same calls brought nothing new", by_user=False)

    async def _conclude(self, answer: Assistant) -> RunResult | None:
        """An answer without calls ends the run, by its stop reason."""
        match answer.stop_reason:
            case StopReason.END_TURN | StopReason.STOP_SEQUENCE | StopReason.TOOL_USE:
                return RunDone(text=answer.text)
            case StopReason.MAX_TOKENS:
                return Truncated(text=answer.text)
            case StopReason.REFUSAL:
                return Refused(text=answer.text, reason="the model refused")
            case StopReason.CONTENT_FILTER:
                return Refused(text=answer.text, reason="the provider's filter stopped the answer")
            case StopReason.PAUSE_TURN:
                self._pauses += 1
                return None if self._pauses <= MAX_PAUSES else RunDone(text=answer.text)
            case StopReason.MALFORMED_TOOL_CALL:
                return await self._told_malformed()
            case StopReason.CONTEXT_FULL:
                if await self._room.after_overflow(ErrorKind.CONTEXT_OVERFLOW):
                    await self._note(
                        "The window was full; older parts are left out. Go on.", "retry"
                    )
                    return None
                return self._failed(
                    ErrorKind.CONTEXT_OVERFLOW,
                    "the model's context window is full, and nothing more can be left out",
                    "Start a new session with /clear, or choose a model with a larger window.",
                )
            case StopReason.ERROR | StopReason.UNKNOWN:
                said = answer.raw_stop_reason or "nothing"
                return self._failed(
                    ErrorKind.PROTOCOL,
                    f"the model stopped for a reason hame does not know ({said})",
                    "Try again, or choose another model.",
                )

    async def _told_malformed(self) -> RunResult | None:
        self._malformed += 1
        if self._malformed > MAX_MALFORMED:
            return self._failed(
                ErrorKind.TOOL_USE_FAILED,
                "the model keeps sending tool calls that cannot be read",
                "Choose a model that is made for tool use.",
            )
        await self._note(
            "Your tool call could not be read. Send it again as valid JSON, with no words behind it.",
            "retry",
        )
        return None

    async def _broke(self, answer: Assistant, failure: Failure) -> RunResult | None:
        """The stream failed. What was not executed may be asked again, and is the same step."""
        room = failure.kind in OVERFLOWS and await self._room.after_overflow(failure.kind)
        result = None if room else await self._mishaps.broke(answer, failure)
        if result is None:
            self._account.steps -= 1
        return result

    # ------------------------------------------------------------ steering and notes

    async def _deliver(self) -> None:
        for text in self._inbox.take():
            ports = self._ports
            message = ports.context.admit_message(User((Text(text),)), ports.model.facts)
            entry = UserSaid(message=message, steering=True)
            said = await ports.journal.append(entry, durable=True)
            self._room.hear(text, said.id, said.at)
            self._ports.emit(event.SteeringTaken(text))

    async def _note(self, text: str, source: str) -> None:
        await self._ports.journal.append(NoteAdded(text=text, source=source))
        self._ports.emit(event.Notice(text))

    def _failed(self, kind: ErrorKind, message: str, hint: str) -> RunFailed:
        vendor = self._ports.model.facts.vendor
        return RunFailed(failure=Failure(kind=kind, message=message, hint=hint, provider=vendor))

    # ------------------------------------------------------------ ends

    async def _leave_legal(self) -> None:
        """Cancelled: keep the partial words, settle every open call, say that it was stopped."""
        journal = self._ports.journal
        # A journal that cannot be written any more is repaired when it is opened again.
        with suppress(SessionError):
            if self._fold is not None:
                answer = self._fold.message(origin_of(self._ports.model.facts))
                self._account.count(answer)
                words = tuple(block for block in answer.content if isinstance(block, Text))
                if words:
                    partial = msgspec.structs.replace(answer, content=words)
                    await journal.append(AnswerInterrupted(message=partial))
            await self._tools.settle_cancelled(open_calls(journal.entries), self._stop_reason)
            await journal.append(
                NoteAdded(text=f"The run was {self._stop_reason}.", source="interrupted")
            )
        with anyio.move_on_after(CAPTURE_LIMIT_S):
            await self._tools.capture()

    async def _end(self, result: RunResult) -> event.RunEnded:
        account = self._account
        ended = event.RunEnded(
            result=result,
            usage=account.usage,
            steps=account.steps,
            seconds=account.seconds,
            cost_usd=account.cost_usd,
            refused=self._refused,
        )
        # A journal that cannot be written has been reported as the run's result already.
        with anyio.CancelScope(shield=True), suppress(SessionError):
            await self._ports.journal.append(
                RunFinished(
                    result=result,
                    usage=account.usage,
                    steps=account.steps,
                    cost_usd=account.cost_usd,
                ),
                durable=True,
            )
        self._ports.emit(ended)
        return ended
