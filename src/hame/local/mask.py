"""The grounded mask: which lines make sense as the next step, and no others.

An argument can only be something that exists or something the user said, a call that is sure to
fail is not offered, a question changes nothing, a turn changes one thing, and an answer comes out
of the last result. Pure: it looks at the project through an `Index` and at nothing else.
"""

from collections.abc import Iterator, Sequence

from hame.base.json import JsonObject
from hame.base.ports import Index
from hame.base.tool import Argument, ArgumentKind, Effect, MaskForm, ToolSpec
from hame.local.answers import possible_answers
from hame.local.candidates import MOST_CHOICES, Candidates
from hame.local.english import changes_nothing, speaks_of_tests, wants_change
from hame.local.move import Move
from hame.local.turn import Turn

MOST_CALLS = 5
"""Calls in one turn; after that only an answer is possible."""


def possible_moves(turn: Turn, tools: Sequence[ToolSpec], index: Index) -> tuple[Move, ...]:
    """Everything that makes sense now; empty where nothing does."""
    if _changed(turn, tools):
        return ()
    budget = tools if len(turn.steps) < MOST_CALLS else ()
    changes = _all_calls([t for t in budget if t.effect is Effect.WRITE], turn, index)
    if changes and wants_change(turn.words):
        return changes
    looks = _all_calls([t for t in budget if t.effect is not Effect.WRITE], turn, index)
    return (*looks, *changes, *possible_answers(turn, tools, index))


def _all_calls(tools: Sequence[ToolSpec], turn: Turn, index: Index) -> tuple[Move, ...]:
    return tuple(move for tool in tools for move in _calls(tool, turn, index))


def arguments_of(spec: ToolSpec, spoken: Sequence[str], index: Index) -> JsonObject:
    """The call's arguments: the spoken ones and those that follow from them."""
    form = spec.mask or MaskForm(verb="")
    arguments: JsonObject = dict(zip(form.arguments, spoken, strict=True)) | form.fixed
    path = old = None
    for argument in spec.arguments:
        value = arguments.get(argument.name)
        if argument.kind is ArgumentKind.EXISTING_FILE and isinstance(value, str):
            path = value
        elif argument.kind is ArgumentKind.OLD_TEXT and isinstance(value, str):
            old = value
        elif argument.kind is ArgumentKind.NUMBER and isinstance(value, str):
            arguments[argument.name] = int(value)
        elif argument.kind is ArgumentKind.COMMAND and argument.required and value is None:
            arguments[argument.name] = index.test_command() or ""
    everywhere = _everywhere(spec)
    if everywhere and path and old and (index.text(path) or "").count(old) > 1:
        arguments[everywhere.name] = True
    return arguments


def _everywhere(spec: ToolSpec) -> Argument | None:
    """The flag that says: replace every occurrence."""
    return next((a for a in spec.arguments if a.kind is ArgumentKind.FLAG), None)


def _changed(turn: Turn, tools: Sequence[ToolSpec]) -> bool:
    writing = {tool.name for tool in tools if tool.effect is Effect.WRITE}
    return any(step.tool in writing for step in turn.steps)


def _calls(spec: ToolSpec, turn: Turn, index: Index) -> Iterator[Move]:
    form = spec.mask
    if form is None or not _makes_sense(spec, turn, index):
        return
    candidates = Candidates(turn, index, spec)
    kinds = [argument.kind for name in form.arguments if (argument := spec.argument(name))]
    if len(kinds) != len(form.arguments):
        return
    if not kinds:
        if not turn.did(spec.name, arguments_of(spec, (), index)):
            yield Move(form.verb, spec.name)
        return
    heads: list[tuple[str, ...]] = [()]
    for kind in kinds[:-1]:
        heads = [(*head, value) for head in heads for value in candidates.choices(kind, head)]
        heads = heads[:MOST_CHOICES]
    for head in heads:
        left = tuple(
            value
            for value in candidates.choices(kinds[-1], head)
            if not turn.did(spec.name, arguments_of(spec, (*head, value), index))
        )
        if left:
            yield Move(form.verb, spec.name, head, form.separators, left)


def _makes_sense(spec: ToolSpec, turn: Turn, index: Index) -> bool:
    match spec.effect:
        case Effect.READ:
            return True
        case Effect.WRITE:
            return not changes_nothing(turn.words)
        case Effect.RUN:
            return index.test_command() is not None and speaks_of_tests(turn.words)
        case Effect.NETWORK | Effect.ISOLATED | Effect.INTERACT:
            return False
