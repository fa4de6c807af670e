"""A model that knows nothing of tools, spoken to in words: what it prints as a call is a call.

For models of other people's making; those on hame's own wires do the same inside `HttpModel`.
"""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

from msgspec.structs import replace

from hame.base.model import ModelFacts, ToolSupport
from hame.base.ports import Model, ModelRequest
from hame.base.stream import StreamEvent
from hame.llm.sifted import Sifted
from hame.llm.textcalls.grounded import Existing
from hame.llm.textcalls.protocol import InWords


class WordedModel:
    """Implements the Model port around one that takes no tools."""

    def __init__(self, inner: Model, existing: Existing, support: ToolSupport) -> None:
        """Take the model, what paths there are, and whether its answers can be held to a schema."""
        self._inner = inner
        self._in_words = InWords(existing)
        self._support = support
        self.taught = replace(inner.facts, tools=support)
        """What is known of it; nothing more is learnt."""

    @property
    def facts(self) -> ModelFacts:
        """What is known of it, and how it is spoken to."""
        return replace(self._inner.facts, tools=self._support)

    @asynccontextmanager
    async def stream(self, request: ModelRequest) -> AsyncGenerator[AsyncIterator[StreamEvent]]:
        """Ask; see the port."""
        told = self._in_words(request, self._support)
        async with self._inner.stream(told) as events:
            yield Sifted(events, request, self)
