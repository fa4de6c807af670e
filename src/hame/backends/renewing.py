"""A model whose key is a token that expires: it is fetched anew once, and the question asked again."""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager

from hame.base.capability import written
from hame.base.errors import ConfigError, ErrorKind
from hame.base.model import ModelFacts
from hame.base.ports import HttpRequest, Model, ModelRequest
from hame.base.stream import Failed, RetryScheduled, StreamEvent

Renew = Callable[[], Awaitable[Model | None]]
"""The same model with a new token; None where there is no new one."""


class RenewingModel:
    """Implements Model around one that is replaced when its token is refused."""

    def __init__(self, inner: Model, renew: Renew) -> None:
        """Begin with this one."""
        self._inner = inner
        self._renew = renew

    @property
    def facts(self) -> ModelFacts:
        """What is known of it."""
        return self._inner.facts

    def encode(self, request: ModelRequest) -> HttpRequest:
        """Exactly what would be sent for a request.

        Raises:
            ConfigError: if the model is not asked over HTTP.
        """
        return written(self._inner, request)

    @asynccontextmanager
    async def stream(self, request: ModelRequest) -> AsyncGenerator[AsyncIterator[StreamEvent]]:
        """Ask; see the port."""
        async with AsyncExitStack() as stack:
            yield self._events(request, stack)

    async def _events(
        self, request: ModelRequest, stack: AsyncExitStack
    ) -> AsyncGenerator[StreamEvent]:
        said = False
        async for event in await stack.enter_async_context(self._inner.stream(request)):
            refused = isinstance(event, Failed) and event.failure.kind is ErrorKind.AUTH
            if refused and not said and await self._renewed():
                break
            said = said or not isinstance(event, RetryScheduled)
            yield event
        else:
            return
        async for event in await stack.enter_async_context(self._inner.stream(request)):
            yield event

    async def _renewed(self) -> bool:
        try:
            again = await self._renew()
        except ConfigError:
            return False  # The refusal itself says what is wrong.
        if again is not None:
            self._inner = again
        return again is not None
