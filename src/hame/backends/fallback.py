"""The models a user listed to be asked, in order, when the chosen one's server will not answer.

Only those, and only before anything was said. A refusal of the key, of the request or of the words is
the chosen model's own and moves nothing. What has moved stays there: going to and fro would lose the
cache of both.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from hame.base.capability import written
from hame.base.errors import ErrorKind, HameError
from hame.base.model import ModelFacts
from hame.base.ports import HttpRequest, Model, ModelRequest
from hame.base.stream import Failed, RetryScheduled, StreamEvent, UsageReported

PASSED_ON = frozenset({
    ErrorKind.RATE_LIMIT,
    ErrorKind.QUOTA_EXHAUSTED,
    ErrorKind.OVERLOADED,
    ErrorKind.SERVER_ERROR,
    ErrorKind.NETWORK,
    ErrorKind.TIMEOUT,
})
"""Failures of a server after which another is asked; the usual retries have been made by then."""

Open = Callable[[str], Awaitable[Model]]
"""Opens a model by `backend/model`."""


class FallbackModel:
    """Implements Model: the chosen one, until it fails and the next in the list answers."""

    def __init__(
        self, chosen: Model, names: Sequence[str], open_model: Open, tell: Callable[[str], None]
    ) -> None:
        """`tell` says to the user that another model is asked from now on."""
        self._current = chosen
        self._names = list(names)
        self._open = open_model
        self._tell = tell

    @property
    def facts(self) -> ModelFacts:
        """What is known of the one that is asked now."""
        return self._current.facts

    def encode(self, request: ModelRequest) -> HttpRequest:
        """Exactly what would be sent for a request to the one that is asked now.

        Raises:
            ConfigError: if it is not asked over HTTP.
        """
        return written(self._current, request)

    @asynccontextmanager
    async def stream(self, request: ModelRequest) -> AsyncGenerator[AsyncIterator[StreamEvent]]:
        """Ask; see the port."""
        async with AsyncExitStack() as stack:
            yield self._events(request, stack)

    async def _events(
        self, request: ModelRequest, stack: AsyncExitStack
    ) -> AsyncGenerator[StreamEvent]:
        while True:
            moved = said = False
            async for event in await stack.enter_async_context(self._current.stream(request)):
                if isinstance(event, Failed) and not said:
                    moved = await self._move(event)
                    if moved:
                        break
                said = said or not isinstance(event, RetryScheduled | UsageReported)
                yield event
            if not moved:
                return

    async def _move(self, failed: Failed) -> bool:
        """Take the next model that can be opened; False when there is none, or it is not called for."""
        if failed.failure.kind not in PASSED_ON:
            return False
        while self._names:
            name = self._names.pop(0)
            try:
                self._current = await self._open(name)
            except HameError as error:
                self._tell(f"{name} cannot be asked either: {error.message}")
                continue
            self._tell(f"{failed.failure.message} Asking {self.facts.name} from now on.")
            return True
        return False
