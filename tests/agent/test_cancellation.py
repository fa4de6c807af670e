"""Cancelling at any await leaves a legal history."""

from typing import TYPE_CHECKING

import anyio
import pytest

from hame.agent.loop import open_calls
from hame.base import entry
from hame.base.json import JsonObject
from hame.base.message import Assistant, Text, ToolResults, User
from hame.base.model import ModelFacts
from hame.base.outcome import Done, text_content
from hame.base.ports import ToolContext
from hame.base.tool import Effect
from hame.context import Window
from hame.testing import ScriptedModel, answer, call

if TYPE_CHECKING:
    from agent.conftest import Stage

FACTS = ModelFacts(backend="b", model="m", wire="w")
SCRIPT = (
    answer("first ", call("read_file", path="a"), call("read_file", path="b")),
    answer(call("edit_file", path="a"), call("read_file", path="c"), call("edit_file", path="b")),
    answer("all done"),
)


async def body(arguments: JsonObject, context: ToolContext) -> Done:
    for _ in range(2):
        context.progress(".")
        await anyio.lowlevel.checkpoint()
    return Done(content=text_content("ok"), changed=(str(arguments["path"]),))


def assert_legal(messages: tuple[object, ...]) -> None:
    """Every call has exactly one result, in the message right after its answer, and in its order."""
    for place, message in enumerate(messages):
        if isinstance(message, Assistant):
            assert message.content
            wanted = [one.id for one in message.calls]
            if wanted:
                results = messages[place + 1]
                assert isinstance(results, ToolResults)
                assert [result.call_id for result in results.results] == wanted
        elif isinstance(message, ToolResults):
            before = messages[place - 1]
            assert isinstance(before, Assistant)
            assert before.calls


@pytest.mark.parametrize("ticks", range(120))
async def test_a_run_cancelled_after_any_number_of_awaits_has_a_legal_history(
    ticks: int, stage: "Stage"
) -> None:
    stage.add("read_file", body)
    stage.add("edit_file", body, Effect.WRITE)
    run = stage.make(ScriptedModel(*SCRIPT))

    async def stop() -> None:
        for _ in range(ticks):
            await anyio.lowlevel.checkpoint()
        run.cancel()

    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            group.start_soon(stop)
            await run.run(User((Text("go"),)))
    assert open_calls(stage.journal.entries) == ()
    settled = [e.call_id for e in stage.journal.entries if isinstance(e, entry.CallSettled)]
    assert len(settled) == len(set(settled))
    assert_legal(await Window().fit(stage.journal.entries, FACTS))
    assert isinstance(stage.journal.entries[-1], entry.RunFinished)


async def test_a_cancellation_from_outside_goes_on_after_the_history_is_legal(
    stage: "Stage",
) -> None:
    async def forever(_: JsonObject, __: ToolContext) -> Done:
        await anyio.sleep_forever()
        raise AssertionError

    stage.add("read_file", forever)
    run = stage.make(ScriptedModel(answer(call("read_file", path="a"))))
    with anyio.move_on_after(0.05) as scope:
        await run.run(User((Text("go"),)))
    assert scope.cancelled_caught
    assert open_calls(stage.journal.entries) == ()
