"""A served model in the one-line protocol: its server holds each answer to the lines that make sense.

For models that can neither call tools nor keep to a schema, behind a server that can hold an answer to
something: the same mask, examples and strictness as for the built-in model, in messages in place of a
prompt. What the server sends is believed only if it is one of the lines; a server may take a grammar and
pay no attention to it.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from hame.base.capability import written
from hame.base.errors import ConfigError, ErrorKind, Failure
from hame.base.fold import Fold
from hame.base.lines import lines_schema, read_step
from hame.base.message import Assistant, Message, StopReason, Text, Thinking, User
from hame.base.model import Constraint, Effort, ModelFacts, Usage
from hame.base.ports import HttpRequest, Index, Model, ModelRequest
from hame.base.stream import Failed, RetryScheduled, StreamEvent
from hame.local.move import Line, Move, read_line
from hame.local.protocol import Said, closing_words, opening, present
from hame.local.situation import Situation, look, said, see

_MOST_TOKENS = 400
"""Of one line; the server ends it long before."""
_TRIES = 2
_WHOLE = frozenset({StopReason.END_TURN, StopReason.STOP_SEQUENCE, StopReason.UNKNOWN})


class MaskedModel:
    """Implements the Model port around one whose facts say how it is held to lines."""

    def __init__(self, inner: Model, index: Index, constraint: Constraint | None = None) -> None:
        """Take the model, the view of the project, and how its answers are held, unless its facts say so."""
        self._inner = inner
        self._index = index
        self._constraint = inner.facts.constraint or constraint

    @property
    def facts(self) -> ModelFacts:
        """What is known of it."""
        return self._inner.facts

    @asynccontextmanager
    async def stream(self, request: ModelRequest) -> AsyncGenerator[AsyncIterator[StreamEvent]]:
        """Ask; leaving early closes the connection."""
        async with AsyncExitStack() as stack:
            yield self._answer(request, stack)

    def encode(self, request: ModelRequest) -> HttpRequest:
        """Exactly what would be sent for a request.

        Raises:
            ConfigError: if the model is not asked over HTTP, or there is nothing to ask it.
        """
        here = see(request, self._index)
        if not here.moves:
            raise ConfigError(closing_words(here.turn, here.tools, self.facts.name))
        return written(self._inner, self._question(request, here))

    async def _answer(
        self, request: ModelRequest, stack: AsyncExitStack
    ) -> AsyncGenerator[StreamEvent]:
        here = await look(request, self._index)
        if not here.moves:
            for event in said(closing_words(here.turn, here.tools, self.facts.name), Usage()):
                yield event
            return
        usage = Usage()
        for _ in range(_TRIES):
            fold, asked = Fold(), self._inner.stream(self._question(request, here))
            async for event in await stack.enter_async_context(asked):
                fold.add(event)
                if isinstance(event, RetryScheduled):
                    yield event
            usage += fold.usage or Usage()
            if fold.failure is not None:
                yield fold.failure
                return
            line = self._read(fold.message(), here.moves)
            if line is not None:
                for event in here.spoken(line, usage):
                    yield event
                return
        yield Failed(self._not_held())

    def _question(self, request: ModelRequest, here: Situation) -> ModelRequest:
        """What is asked of the server."""
        system, *examples = opening(here.tools)
        lines = tuple(move.lines for move in here.moves)
        as_schema = self._constraint is Constraint.SCHEMA
        return ModelRequest(
            system=system.text,
            messages=tuple(map(_message, (*examples, *present(here.turn, here.tools)))),
            max_output_tokens=_MOST_TOKENS,
            effort=Effort.NONE,
            session=request.session,
            cache=request.cache,
            lines=() if as_schema else lines,
            shape=lines_schema(lines) if as_schema else None,
            temperature=0.0,
        )

    def _read(self, answer: Assistant, moves: Sequence[Move]) -> Line | None:
        """The line it says; a server that takes every answer for thinking first sends it as that."""
        if answer.stop_reason not in _WHOLE:
            return None
        thought = "".join(block.text for block in answer.content if isinstance(block, Thinking))
        text: str | None = answer.text.strip() or thought.strip()
        if self._constraint is Constraint.SCHEMA:
            text = read_step(text)
        return read_line(text, moves) if text is not None else None

    def _not_held(self) -> Failure:
        vendor = self.facts.vendor or "its server"
        return Failure(
            kind=ErrorKind.PROTOCOL,
            message=f"{vendor} did not hold {self.facts.name} to the lines it was given",
            hint="--no-tools asks it in words; `hame models` shows other models.",
            provider=self.facts.vendor,
        )


def _message(part: Said) -> Message:
    words = (Text(part.text),)
    return Assistant(words) if part.role == "assistant" else User(words)
