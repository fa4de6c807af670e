"""Trying how a model calls tools, by a canary of two steps: a call it is asked for, and the use of its result.

What a model's name or its server says is not enough: the template decides, many models print what they
should call, and some call once and cannot go on after a result. The first way that works is kept:

1. the server's own calls;
2. an answer held to a JSON schema;
3. single lines, where the server holds an answer to a few of them: for a model that failed although it was
   held to a schema, or that fails in words too;
4. calls printed as text.

Each step is one small question; an answer that runs on without a call is not waited for.
"""

from collections.abc import Callable, Sequence
from enum import Enum

import msgspec
from msgspec.structs import replace

from hame.base.errors import ErrorKind
from hame.base.fold import Fold
from hame.base.lines import Lines, lines_schema, read_step
from hame.base.message import (
    Assistant,
    Message,
    Origin,
    Text,
    ToolResult,
    ToolResults,
    User,
)
from hame.base.model import Constraint, Effort, ToolSupport
from hame.base.ports import ModelRequest
from hame.base.stream import TextDelta, ToolCallStarted
from hame.base.tool import Argument, ArgumentKind, Effect, ToolSpec
from hame.llm.client import HttpModel

_NAME, _CONTENT = "pear", "marzipan"
_MOST_TOKENS = 400
"""A model that thinks needs some before it calls."""
_MOST_WORDS = 400
"""Characters of an answer after which no call is expected any more."""
_TOOL = ToolSpec(
    name="read_note",
    description="Read the note of that name.",
    effect=Effect.INTERACT,
    arguments=(
        Argument(name="name", kind=ArgumentKind.WORDS, description="Name of the note, one word."),
    ),
)
_QUESTION = ModelRequest(
    system="You act by calling tools.",
    messages=(
        User((
            Text(
                f"Call the tool read_note with the name {_NAME}."
                " Then tell me the one word that the note holds."
            ),
        )),
    ),
    tools=(_TOOL,),
    max_output_tokens=_MOST_TOKENS,
    effort=Effort.NONE,
    temperature=0.0,
)
_CANARY = (Lines("canary"),)
_LINE_QUESTION = ModelRequest(
    system="", messages=(User((Text("Say a word."),)),), max_output_tokens=60, effort=Effort.NONE,
    temperature=0.0,
)  # fmt: skip
_SAYS_NOTHING = frozenset({
    ErrorKind.AUTH, ErrorKind.PERMISSION, ErrorKind.NOT_FOUND, ErrorKind.RATE_LIMIT,
    ErrorKind.QUOTA_EXHAUSTED, ErrorKind.OVERLOADED, ErrorKind.NETWORK, ErrorKind.TIMEOUT,
})  # fmt: skip
"""Failures that tell nothing about the model."""


class Way(msgspec.Struct, frozen=True):
    """How a model is spoken to about tools."""

    tools: ToolSupport
    constraint: Constraint | None = None
    """With `MASKED`: how its server holds an answer to a few lines."""


Open = Callable[[Way], HttpModel]
"""The model, spoken to in that way."""


class _Verdict(Enum):
    WORKS = "works"
    FAILS = "fails"
    REFUSED = "refused"
    """The server does not take it."""


class _Unasked(Exception):  # noqa: N818 - it ends the trial and is no error
    """The server could not be asked."""


async def find_way(
    open_as: Open, *, native: bool = True, constraints: Sequence[Constraint] = ()
) -> Way | None:
    """The first way in which the model takes both steps.

    None when the server could not be asked: that says nothing about the model. A model that takes them
    in no way is spoken to in text.

    Args:
        open_as: opens the model.
        native: whether its server may have calls of its own for it.
        constraints: the ways in which its server may hold an answer to a few lines, the best first.
    """
    trial = _Trial(open_as)
    try:
        return await trial.find(native=native, constraints=constraints)
    except _Unasked:
        return None


class _Trial:
    """The trial of one model."""

    def __init__(self, open_as: Open) -> None:
        self._open = open_as
        self._answered = False
        """Whether there was any answer at all."""

    async def find(self, *, native: bool, constraints: Sequence[Constraint]) -> Way:
        """As `find_way`.

        Raises:
            _Unasked: if the server could not be asked.
        """
        for tools in (ToolSupport.NATIVE, ToolSupport.SCHEMA) if native else (ToolSupport.SCHEMA,):
            if await self._steps(tools) is _Verdict.WORKS:
                return Way(tools)
        schema = Constraint.SCHEMA in constraints and await self._is_held(Constraint.SCHEMA)
        held = await self._first_held([c for c in constraints if c is not Constraint.SCHEMA])
        held = held or (Constraint.SCHEMA if schema else None)
        text = Way(ToolSupport.TEXT)
        if held is None:
            return self._surely(text)
        if not schema and await self._steps(ToolSupport.TEXT) is _Verdict.WORKS:
            return text  # It can say more than lines can.
        return Way(ToolSupport.MASKED, held)

    def _surely(self, way: Way) -> Way:
        """The way, unless the server answered to nothing.

        Raises:
            _Unasked: if so.
        """
        if not self._answered:
            raise _Unasked
        return way

    async def _steps(self, tools: ToolSupport) -> _Verdict:
        """Whether it makes the call, and then says what came of it.

        Raises:
            _Unasked: if the server could not be asked.
        """
        model = self._open(Way(tools))
        called = await self._ask(model, _QUESTION)
        if called is None or model.taught.tools is not tools:
            return _Verdict.REFUSED
        if not _is_the_call(called):
            return _Verdict.FAILS
        said = await self._ask(
            model, replace(_QUESTION, messages=(*_QUESTION.messages, *_answered(called)))
        )
        if said is None or model.taught.tools is not tools:
            return _Verdict.REFUSED
        told = not said.calls and _CONTENT in said.text.lower()
        return _Verdict.WORKS if told else _Verdict.FAILS

    async def _first_held(self, constraints: Sequence[Constraint]) -> Constraint | None:
        for constraint in constraints:
            if await self._is_held(constraint):
                return constraint
        return None

    async def _is_held(self, constraint: Constraint) -> bool:
        """Whether the server holds the model to the one line it is given; many ignore what they do not know.

        Raises:
            _Unasked: if the server could not be asked.
        """
        as_schema = constraint is Constraint.SCHEMA
        asked = replace(
            _LINE_QUESTION,
            lines=() if as_schema else _CANARY,
            shape=lines_schema(_CANARY) if as_schema else None,
        )
        said = await self._ask(self._open(Way(ToolSupport.MASKED, constraint)), asked)
        if said is None:
            return False
        line = read_step(said.text) if as_schema else said.text.strip()
        return line == _CANARY[0].start

    async def _ask(self, model: HttpModel, request: ModelRequest) -> Assistant | None:
        """The answer as far as it is of interest; None for a refusal.

        Raises:
            _Unasked: if the server could not be asked.
        """
        fold, words, calls = Fold(), 0, 0
        async with model.stream(request) as events:
            async for event in events:
                fold.add(event)
                words += len(event.text) if isinstance(event, TextDelta) else 0
                calls += isinstance(event, ToolCallStarted)
                if words > _MOST_WORDS and not calls:
                    break
        if fold.failure is None:
            self._answered = True
            facts = model.facts
            return fold.message(Origin(facts.wire, facts.backend, facts.model))
        if fold.failure.failure.kind in _SAYS_NOTHING:
            raise _Unasked
        return None


def _is_the_call(answer: Assistant) -> bool:
    return any(
        call.name == _TOOL.name and _NAME in str((call.arguments or {}).get("name", "")).lower()
        for call in answer.calls
    )


def _answered(called: Assistant) -> tuple[Message, ...]:
    """The answer, and what its calls came to."""
    results = [ToolResult(call.id, call.name, (Text(_CONTENT),)) for call in called.calls]
    return called, ToolResults(tuple(results))
