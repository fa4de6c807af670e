"""The built-in model as a Model: one line of its protocol becomes the events of an answer."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager

from hame.base.errors import ErrorKind, Failure, LocalModelError, ModelError
from hame.base.lines import gbnf
from hame.base.model import ModelFacts, Price, Profile, Timeouts, ToolSupport, Usage
from hame.base.ports import Index, ModelRequest
from hame.base.stream import Failed, StreamEvent
from hame.base.tool import ToolSpec
from hame.local.engine import CONTEXT_TOKENS, NAME, Completion, Engine
from hame.local.grammar import lark
from hame.local.move import Line, Move, read_line
from hame.local.protocol import (
    NEUTRAL_WORDS,
    best_verb,
    closing_words,
    preamble,
    question,
    verb_scores,
)
from hame.local.situation import look, said
from hame.local.turn import Turn
from hame.local.weights import MODEL

_MOST_TOKENS = 200
"""Of one line; the grammar ends it long before."""
_LIKELIEST = 400
"""Tokens looked through for the first token of each verb."""


def local_facts() -> ModelFacts:
    """What is known of the built-in model."""
    return ModelFacts(
        backend="local",
        model=MODEL,
        wire="local",
        display_name="SmolLM2 135M (built in)",
        vendor=NAME,
        context_window=CONTEXT_TOKENS,
        max_output=_MOST_TOKENS,
        images=False,
        tools=ToolSupport.MASKED,
        tools_told=True,
        profile=Profile.LEAN,
        price=Price(input=0.0, output=0.0, cache_read=0.0, cache_write=0.0, cache_write_long=0.0),
        timeouts=Timeouts(first_byte_s=300.0, idle_s=300.0),
        local=True,
    )


class LocalModel:
    """Implements the Model port: takes one grounded step at a time."""

    def __init__(self, facts: ModelFacts, engine: Engine, index: Index) -> None:
        """Take what it is made of."""
        self._facts = facts
        self._engine = engine
        self._index = index
        self._neutral: dict[str, tuple[tuple[str, float], ...]] = {}

    @property
    def facts(self) -> ModelFacts:
        """What is known of it."""
        return self._facts

    @asynccontextmanager
    async def stream(self, request: ModelRequest) -> AsyncGenerator[AsyncIterator[StreamEvent]]:
        """Ask; leaving early closes the connection and frees the engine."""
        events = self._answer(request)
        try:
            yield events
        finally:
            await events.aclose()

    async def _answer(self, request: ModelRequest) -> AsyncGenerator[StreamEvent]:
        try:
            answer = await self._step(request)
        except LocalModelError as error:
            answer = [Failed(_failure(ErrorKind.SERVER_ERROR, error.message, error.hint))]
        except ModelError as error:
            answer = [Failed(error.failure)]
        for item in answer:
            yield item

    async def _step(self, request: ModelRequest) -> Sequence[StreamEvent]:
        here = await look(request, self._index)
        if not here.moves:
            return said(closing_words(here.turn, here.tools), Usage())
        asking = _Asking(self._engine, here.turn, here.tools, self._neutral)
        line = await asking.choose(here.moves)
        if line is None:
            words = "the built-in model's engine did not keep to the grammar it was given"
            hint = "`hame doctor` checks the engine; pip install --force-reinstall 'hame[local]'"
            return [Failed(_failure(ErrorKind.PROTOCOL, words, hint))]
        return here.spoken(line, asking.usage)


class _Asking:
    """One step's questions to the engine, and what they cost."""

    def __init__(
        self,
        engine: Engine,
        turn: Turn,
        tools: Sequence[ToolSpec],
        neutral: dict[str, tuple[tuple[str, float], ...]],
    ) -> None:
        self._engine = engine
        self._first = not turn.steps
        self._preamble = preamble(tools)
        self._prompt = self._preamble + question(turn, tools)
        self._neutral_prompt = self._preamble + question(Turn(NEUTRAL_WORDS), tools)
        self._neutral = neutral
        self.usage = Usage()

    async def choose(self, moves: Sequence[Move]) -> Line | None:
        """The line the model takes; None when the engine did not keep to the grammar."""
        verbs = tuple(dict.fromkeys(move.verb for move in moves))
        if self._first and len(verbs) > 1:
            verb = await self._first_verb(verbs)
            moves = [move for move in moves if move.verb == verb]
        for grammar in (lark(moves), gbnf([move.lines for move in moves])):
            completion = await self._complete(self._prompt, grammar=grammar)
            line = read_line(completion.text, moves) if completion.whole else None
            if line is not None:
                return line
        return None

    async def _first_verb(self, verbs: Sequence[str]) -> str:
        told = await self._complete(self._prompt, likeliest=_LIKELIEST)
        neutral = self._neutral.get(self._preamble)
        if neutral is None:
            completion = await self._complete(self._neutral_prompt, likeliest=_LIKELIEST)
            neutral = self._neutral[self._preamble] = completion.likeliest
        return best_verb(verb_scores(told.likeliest, verbs), verb_scores(neutral, verbs))

    async def _complete(self, prompt: str, *, grammar: str = "", likeliest: int = 0) -> Completion:
        completion = await self._engine.complete(
            prompt,
            grammar=grammar,
            most_tokens=1 if likeliest else _MOST_TOKENS,
            likeliest=likeliest,
        )
        self.usage += Usage(
            input_uncached=completion.prompt_tokens,
            cache_read=completion.cached_tokens,
            output=completion.output_tokens,
        )
        return completion


def _failure(kind: ErrorKind, message: str, hint: str) -> Failure:
    return Failure(kind=kind, message=message, hint=hint, provider=NAME)
