"""An answer's events with the calls taken out that its model printed as text."""

from collections import deque
from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING, Protocol, Self

from hame.base.model import ModelFacts, Quirk, ToolSupport
from hame.base.ports import ModelRequest
from hame.base.stream import RetryScheduled, StreamEvent

if TYPE_CHECKING:
    from hame.llm.textcalls.sieve import Sieve

_IN_WORDS = frozenset({ToolSupport.TEXT, ToolSupport.SCHEMA})


class Taught(Protocol):
    """What is known of the model by the time it answers."""

    taught: ModelFacts


class Sifted:
    """Async iterator over the events of one answer."""

    def __init__(
        self, events: AsyncIterator[StreamEvent], request: ModelRequest, model: Taught
    ) -> None:
        """Whether anything is to be taken out is decided when the answer begins."""
        self._events = events
        self._request = request
        self._model = model
        self._sieve: Sieve | None = None
        self._begun = False
        self._ready: deque[StreamEvent] = deque()

    def __aiter__(self) -> Self:
        """The events."""
        return self

    async def __anext__(self) -> StreamEvent:
        """The next event.

        Raises:
            StopAsyncIteration: after the last.
        """
        while not self._ready:
            event = await anext(self._events)
            self._ready.extend(self._take(event))
        return self._ready.popleft()

    def _take(self, event: StreamEvent) -> Sequence[StreamEvent]:
        if isinstance(event, RetryScheduled):
            return (event,)
        if not self._begun:
            self._begun = True
            self._sieve = self._make()
        return (event,) if self._sieve is None else self._sieve.feed(event)

    def _make(self) -> "Sieve | None":
        facts, request = self._model.taught, self._request
        prints = Quirk.PRINTS_CALLS in facts.quirks or facts.tools in _IN_WORDS
        if not prints or not request.tools:
            return None
        from hame.llm.textcalls.sieve import Sieve  # Most vendors' models have calls of their own.

        seed = f"{request.session}/{len(request.messages)}/"
        return Sieve(request.tools, seed, opaque=facts.tools is ToolSupport.SCHEMA)
