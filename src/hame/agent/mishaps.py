"""Answers that are none: streams that break, and answers that say nothing. How often one is asked again."""

from hame.agent.ports import Ports
from hame.base import event
from hame.base.entry import AnswerAbandoned
from hame.base.errors import ErrorKind, Failure
from hame.base.message import Assistant, StopReason
from hame.base.run import RunFailed

MAX_BROKEN = 3
"""Times in a row a step is asked again after its answer broke off midway."""
BROKEN_WAIT_S = 1.0
SILENT_WAIT_S = 0.3
"""Long enough for a server to notice that the connection before is gone."""


class Mishaps:
    """Keeps aside what came of such an answer, and says whether the step is asked again."""

    def __init__(self, ports: Ports) -> None:
        """Nothing has gone wrong yet."""
        self._ports = ports
        self._broken = self._empty = 0

    def over(self) -> None:
        """An answer has come that is one."""
        self._broken = self._empty = 0

    async def broke(self, answer: Assistant, failure: Failure) -> RunFailed | None:
        """The stream failed; None: ask again, after the wait that this was."""
        self._broken += 1
        again = failure.mid_stream and failure.retryable and self._broken <= MAX_BROKEN
        if answer.content:
            await self._abandon(answer, failure)
        if answer.content or again:
            self._ports.emit(event.AnswerAbandoned(failure=failure, again=again))
        if not again:
            return RunFailed(failure=failure)
        # A silence that was waited for has been most of a wait already.
        pause = SILENT_WAIT_S if failure.kind is ErrorKind.TIMEOUT else BROKEN_WAIT_S
        wait = failure.retry_after_s or pause * 2 ** (self._broken - 1)
        self._ports.emit(event.WaitStarted(seconds=wait, failure=failure, attempt=self._broken))
        await self._ports.clock.sleep(wait)
        return None

    async def said_nothing(self, answer: Assistant) -> RunFailed | None:
        """The answer is empty by mistake; None: ask again, once."""
        self._empty += 1
        failure = Failure(
            kind=ErrorKind.PROTOCOL,
            message="the model answered nothing",
            hint="Try again, or choose another model.",
            provider=self._ports.model.facts.vendor,
            retryable=True,
        )
        again = self._empty <= 1
        await self._abandon(answer, failure)
        self._ports.emit(event.AnswerAbandoned(failure=failure, again=again))
        return None if again else RunFailed(failure=failure)

    async def _abandon(self, answer: Assistant, failure: Failure) -> None:
        await self._ports.journal.append(AnswerAbandoned(message=answer, failure=failure))


def is_empty_by_mistake(answer: Assistant) -> bool:
    """Whether an answer says nothing, and its stop reason does not explain that."""
    if answer.calls or answer.text.strip():
        return False
    return answer.stop_reason in {
        StopReason.END_TURN,
        StopReason.STOP_SEQUENCE,
        StopReason.TOOL_USE,
        StopReason.UNKNOWN,
    }
