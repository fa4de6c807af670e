"""Models as they are asked: each spoken to in the way that its backend declares."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import anyio

from hame.app.grounding import Grounding
from hame.base.capability import CachesContext, Cancellable, ConstrainsOutput, NativeTools
from hame.base.model import Constraint, ModelFacts, ToolSupport
from hame.base.ports import Backend, Index, Model, ModelRequest
from hame.base.stream import Completed, Failed, StreamEvent

STOPPING_S = 2.0
"""How long a backend may take to stop."""


def fit(backend: Backend, model: Model, index: Index, tell: Callable[[str], None]) -> Model:
    """The model, so that nothing of what hame asks it is lost.

    Tools that it does not take are told in words, held to a schema or to single lines where its backend
    can do that; a backend that goes on when nobody listens is told to stop.
    """
    facts = model.facts
    held = backend.constraints(facts.model) if isinstance(backend, ConstrainsOutput) else ()
    native = isinstance(backend, NativeTools) and backend.takes_tools(facts.model)
    if facts.tools is ToolSupport.MASKED and held:
        from hame.local.masked import MaskedModel  # Few models are spoken to in lines.

        model = MaskedModel(model, index, held[0])
    elif not native:
        from hame.llm.worded import WordedModel  # Those of hame's own backends take tools.

        model = WordedModel(model, Grounding(index), _support(facts, held))
    return StoppedModel(model, backend, tell) if isinstance(backend, Cancellable) else model


async def let_go(backend: Backend, tell: Callable[[str], None]) -> None:
    """Have a backend let go of what it stores for hire; it must not hold up the end."""
    if not isinstance(backend, CachesContext):
        return
    with anyio.move_on_after(STOPPING_S, shield=True):
        try:
            await backend.release()
        except Exception as error:  # noqa: BLE001 - a guest's failure must not keep hame from ending
            tell(f"{backend.display_name} could not let go of what it stores: {error}")


def _support(facts: ModelFacts, held: Sequence[Constraint]) -> ToolSupport:
    if facts.tools is ToolSupport.NONE:
        return facts.tools
    return ToolSupport.SCHEMA if Constraint.SCHEMA in held else ToolSupport.TEXT


class StoppedModel:
    """Implements the Model port around one whose backend has to be told when nobody listens any more."""

    def __init__(self, inner: Model, backend: Cancellable, tell: Callable[[str], None]) -> None:
        """`tell` says to the user that it would not stop."""
        self._inner = inner
        self._backend = backend
        self._tell = tell

    @property
    def facts(self) -> ModelFacts:
        """What is known of it."""
        return self._inner.facts

    @asynccontextmanager
    async def stream(self, request: ModelRequest) -> AsyncGenerator[AsyncIterator[StreamEvent]]:
        """Ask; an answer that is left before its end is stopped."""
        over = False

        async def watched(events: AsyncIterator[StreamEvent]) -> AsyncIterator[StreamEvent]:
            nonlocal over
            async for event in events:
                over = over or isinstance(event, Completed | Failed)
                yield event

        try:
            async with self._inner.stream(request) as events:
                yield watched(events)
        finally:
            if not over:
                await self._stop()

    async def _stop(self) -> None:
        name = self.facts.name
        with anyio.move_on_after(STOPPING_S, shield=True) as scope:
            try:
                await self._backend.stop()
            except Exception as error:  # noqa: BLE001 - a guest's failure must not break the run
                self._tell(f"{name} could not be stopped: {error}")
        if scope.cancelled_caught:
            self._tell(f"{name} did not stop within {STOPPING_S:.0f} s")
