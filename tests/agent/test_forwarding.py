"""A call that stands for another: gate, journal, surfaces and batches see the real tool."""

import pytest

from agent.conftest import Stage
from hame.base import event
from hame.base.entry import CallSettled
from hame.base.message import ToolResults
from hame.base.outcome import Corrected, Denied, Done, Failed
from hame.base.ports import Action, ToolContext
from hame.base.tool import Effect, ToolSpec
from hame.testing import ScriptedModel, answer, call


class Stand:
    """Names another tool."""

    spec = ToolSpec(name="use_tool", description="", effect=Effect.INTERACT, forwards=True,
                    raw_schema={"type": "object", "required": ["name"],
                                "properties": {"name": {"type": "string"}}})  # fmt: skip

    def summarize(self, arguments: object) -> str:
        return "?"

    async def prepare(self, arguments: object, context: ToolContext) -> Action:
        raise AssertionError("never reached")


@pytest.fixture
def stand(stage: Stage) -> Stage:
    stage.tools["use_tool"] = Stand()
    return stage


def use(name: str, args: object) -> object:
    return call("use_tool", name=name, args=args)


async def settled(stage: Stage) -> list[CallSettled]:
    return [entry for entry in stage.journal.entries if isinstance(entry, CallSettled)]


@pytest.mark.parametrize("args", ['{"path": "a"}', {"path": "a"}])
async def test_the_real_tool_runs_is_gated_and_recorded(stand: Stage, args: object) -> None:
    tool = stand.add("edit_file", effect=Effect.WRITE)
    stand.gate.refusals["use_tool"] = Denied(reason="must not be asked")
    await stand.play(answer(use("edit_file", args)), answer("ok"))
    assert tool.closed == 1
    (entry,) = await settled(stand)
    assert (entry.name, type(entry.outcome)) == ("edit_file", Done)
    (started,) = stand.seen(event.CallStarted)
    assert (started.tool, started.arguments) == ("edit_file", {"path": "a"})


async def test_a_refusal_is_one_of_the_real_tool(stand: Stage) -> None:
    stand.add("run_command", effect=Effect.RUN)
    stand.gate.refusals["run_command"] = Corrected(words="no")
    await stand.play(answer(use("run_command", {"path": "a"})), answer("ok"))
    (entry,) = await settled(stand)
    assert (entry.name, entry.outcome) == ("run_command", Corrected(words="no"))


async def test_what_the_model_sees_answers_its_own_call(stand: Stage) -> None:
    stand.add("edit_file", effect=Effect.WRITE)
    model = ScriptedModel(answer(use("edit_file", {"path": "a"})), answer("ok"))
    from hame.base.message import Text, User

    await stand.make(model).run(User((Text("go"),)))
    results = model.requests[1].messages[-1]
    assert isinstance(results, ToolResults)
    asked = model.requests[1].messages[-2]
    assert results.results[0].call_id == asked.calls[0].id
    assert results.results[0].name == "use_tool"


async def test_wrong_uses_run_nothing_and_are_told(stand: Stage) -> None:
    tool = stand.add("edit_file", effect=Effect.WRITE)
    await stand.play(
        answer(
            use("edit_fil", {"path": "a"}),
            use("edit_file", '{"path": '),
            use("edit_file", "{}"),
            call("use_tool"),
        ),
        answer("ok"),
    )
    words = [entry.outcome for entry in await settled(stand)]
    assert all(isinstance(outcome, Failed) for outcome in words)
    messages = [outcome.message for outcome in words if isinstance(outcome, Failed)]
    assert "There is no tool called 'edit_fil'. The nearest are: edit_file" in messages[0]
    assert "not complete JSON" in messages[1]
    assert "path" in messages[2]
    assert "name" in messages[3]
    assert tool.prepared == 0


async def test_reads_that_are_stood_for_run_together(stand: Stage) -> None:
    await stand.play(
        answer(use("read_file", {"path": "a"}), call("read_file", path="b")), answer("ok")
    )
    kinds = [type(item) for item in stand.events]
    first = kinds.index(event.CallStarted)
    assert kinds[first + 1] is event.CallStarted


async def test_only_advertised_tools_are_sent(stand: Stage) -> None:
    hidden = stand.add("hidden")
    hidden.spec = ToolSpec(name="hidden", description="", effect=Effect.READ, advertised=False)
    model = ScriptedModel(answer("ok"))
    from hame.base.message import Text, User

    await stand.make(model).run(User((Text("go"),)))
    assert [spec.name for spec in model.requests[0].tools] == ["read_file", "use_tool"]
