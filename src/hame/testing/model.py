"""ScriptedModel: a Model that says what it was given."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from enum import Enum
from typing import Final, Literal, TypeAlias

import anyio
import anyio.lowlevel

from hame.base.errors import Failure
from hame.base.message import Assistant
from hame.base.model import ModelFacts
from hame.base.ports import ModelRequest
from hame.base.stream import Failed, StreamEvent
from hame.testing.script import events, numbered


class _Hang(Enum):
    HANG = "hang"


HANG: Final = _Hang.HANG
"""In place of an event: nothing more is said until the request is cancelled."""

Piece: TypeAlias = StreamEvent | Literal[_Hang.HANG]
Said: TypeAlias = Assistant | Failure | Iterable[Piece]
"""A whole answer, a failure before anything was said, or event by event."""
Step: TypeAlias = Said | Callable[[ModelRequest], Said]
"""What is said to one request, or a function that makes it from the request."""


class ScriptedModel:
    """Implements `hame.base.ports.Model`: plays one step for each request, in order."""

    def __init__(self, *steps: Step, facts: ModelFacts | None = None) -> None:
        """Say these; `facts` are what is known of the model."""
        self._steps = steps
        self._facts = facts or ModelFacts(
            backend="scripted",
            model="model",
            wire="scripted",
            context_window=200_000,
            max_output=32_000,
        )
        self.requests: list[ModelRequest] = []
        """Everything that was asked, in order."""
        self.abandoned = 0
        """Requests that were left before their end."""

    @property
    def facts(self) -> ModelFacts:
        """What is known of it."""
        return self._facts

    def stream(
        self, request: ModelRequest
    ) -> AbstractAsyncContextManager[AsyncIterator[StreamEvent]]:
        """Play the next step.

        Raises:
            AssertionError: when the script is over.
        """
        self.requests.append(request)
        number = len(self.requests)
        if number > len(self._steps):
            raise AssertionError(
                f"request {number} of a script of {len(self._steps)} steps; it ends with"
                f" {request.messages[-1:]!r}"
            )
        step = self._steps[number - 1]
        said = step(request) if callable(step) else step
        return self._play(_pieces(said, number))

    def finish(self) -> None:
        """Check that the whole script was played.

        Raises:
            AssertionError: when steps are left.
        """
        left = len(self._steps) - len(self.requests)
        if left > 0:
            raise AssertionError(f"{left} of {len(self._steps)} steps were not asked for")

    @asynccontextmanager
    async def _play(self, pieces: Iterable[Piece]) -> AsyncGenerator[AsyncIterator[StreamEvent]]:
        over = False

        async def said() -> AsyncGenerator[StreamEvent]:
            nonlocal over
            for piece in pieces:
                await anyio.lowlevel.checkpoint()
                if piece is HANG:
                    await anyio.sleep_forever()
                else:
                    yield piece
            over = True

        try:
            async with aclosing(said()) as stream:
                yield stream
        finally:
            self.abandoned += not over


def _pieces(said: Said, step: int) -> Iterable[Piece]:
    if isinstance(said, Assistant):
        return events(numbered(said, step))
    return (Failed(said),) if isinstance(said, Failure) else said
