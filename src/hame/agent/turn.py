"""One answer of the model: ask, show what arrives, fold it to a message."""

from typing import assert_never

import msgspec

from hame.base import event, stream
from hame.base.fold import Fold
from hame.base.message import AnswerBlock, Assistant, Origin, ToolCall
from hame.base.model import ModelFacts
from hame.base.ports import Emit, Model, ModelRequest


def origin_of(facts: ModelFacts) -> Origin:
    """Who is speaking when this model answers."""
    return Origin(wire=facts.wire, backend=facts.backend, model=facts.model)


def with_unique_calls(answer: Assistant, taken: set[str]) -> Assistant:
    """The same answer, whose calls have ids that no other call of the session has.

    Some servers repeat one within an answer, others begin anew with every answer. `taken` are the
    ids there are; those of the answer are added to it.
    """
    blocks: list[AnswerBlock] = []
    for block in answer.content:
        if isinstance(block, ToolCall):
            name = _free_id(block.id, taken)
            blocks.append(block if name == block.id else msgspec.structs.replace(block, id=name))
        else:
            blocks.append(block)
    return msgspec.structs.replace(answer, content=tuple(blocks))


def _free_id(wanted: str, taken: set[str]) -> str:
    """`wanted`, or the first of `wanted_2`, `wanted_3`, ... that is not taken; it is taken now."""
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted}_{number}"
    taken.add(name)
    return name


async def take_turn(model: Model, request: ModelRequest, fold: Fold, emit: Emit) -> None:
    """Stream one answer into `fold`, showing it as it comes.

    The fold is the caller's, so that what had arrived is not lost when the turn is cancelled.
    """
    async with model.stream(request) as events:
        async for item in events:
            fold.add(item)
            _show(item, emit)
            if isinstance(item, stream.Completed | stream.Failed):
                return


def _show(item: stream.StreamEvent, emit: Emit) -> None:
    match item:
        case stream.TextDelta(text=text):
            if text:
                emit(event.TextDelta(text))
        case stream.ThinkingDelta(text=text):
            emit(event.ThinkingDelta(text))
        case stream.ToolCallStarted(id=call_id, name=name):
            emit(event.CallProposed(call=call_id, tool=name))
        case stream.RetryScheduled(failure=failure, delay_s=delay, attempt=attempt):
            emit(event.WaitStarted(seconds=delay, failure=failure, attempt=attempt))
        case stream.OpaqueCompleted(block=block):
            if block.summary:
                emit(event.Notice(block.summary))
        case (
            stream.ThinkingCompleted()
            | stream.ImageCompleted()
            | stream.ToolCallArgsDelta()
            | stream.ToolCallCompleted()
            | stream.UsageReported()
            | stream.Completed()
            | stream.Failed()
        ):
            pass
        case _:
            assert_never(item)
