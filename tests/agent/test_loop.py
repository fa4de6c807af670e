"""The loop, against a scripted model and tools that do what the test says."""

from typing import TYPE_CHECKING, Any

import anyio
import pytest
from typing_extensions import override

from hame.agent.loop import Run
from hame.base import entry, event
from hame.base.errors import ErrorKind, Failure, SessionError
from hame.base.json import JsonObject
from hame.base.message import Note, Opaque, StopReason, Text, Thinking, ToolCall, ToolResults, User
from hame.base.model import ModelFacts, Price, Usage
from hame.base.outcome import Cancelled, Corrected, Denied, Done, Failed, text_content
from hame.base.ports import ToolContext
from hame.base.run import (
    BudgetSpent,
    Limits,
    Refused,
    RunDone,
    RunFailed,
    StepLimit,
    Stopped,
    Truncated,
)
from hame.base.stream import Completed, RetryScheduled, TextDelta, ThinkingDelta, ToolCallCompleted
from hame.base.stream import Failed as StreamFailed
from hame.base.tool import Effect
from hame.testing import HANG, MemoryJournal, ScriptedModel, answer, call

if TYPE_CHECKING:
    from agent.conftest import Stage

CUT = Failure(kind=ErrorKind.NETWORK, message="cut", retryable=True, mid_stream=True)
READ = call("read_file", path="a")


def outcomes(stage: "Stage") -> list[Any]:
    return [item.outcome for item in stage.journal.entries if isinstance(item, entry.CallSettled)]


async def run_until_blocked(run: Run) -> event.RunEnded:
    """Start a run, and stop it once it waits for something that will not come."""

    async def stop() -> None:
        await anyio.wait_all_tasks_blocked()
        run.cancel()

    async with anyio.create_task_group() as group:
        group.start_soon(stop)
        return await run.run(User((Text("go"),)))
    raise AssertionError("unreachable: the group cancels nothing")


async def test_an_answer_without_calls_ends_the_run(stage: "Stage") -> None:
    ended = await stage.play(answer("hello"))
    assert ended.result == RunDone(text="hello")
    assert ended.steps == 1
    assert [type(item) for item in stage.journal.entries] == [
        entry.UserSaid,
        entry.ModelAnswered,
        entry.RunFinished,
    ]


async def test_results_go_back_to_the_model_until_it_asks_for_nothing(stage: "Stage") -> None:
    model = ScriptedModel(answer("looking", READ), answer("done"))
    ended = await stage.make(model).run(User((Text("go"),)))
    assert ended.result == RunDone(text="done")
    results = model.requests[1].messages[-1]
    assert isinstance(results, ToolResults)
    assert results.results[0].content == (Text("text of a"),)


async def test_what_was_sent_stays_the_beginning_of_what_is_sent_next(stage: "Stage") -> None:
    model = ScriptedModel(*[answer(call("read_file", path=str(n))) for n in range(5)], answer("ok"))
    await stage.make(model).run(User((Text("go"),)))
    for before, after in zip(model.requests, model.requests[1:], strict=False):
        assert after.messages[: len(before.messages)] == before.messages
        assert (after.system, after.tools) == (before.system, before.tools)


async def test_consecutive_reads_run_together_and_settle_in_the_order_asked(stage: "Stage") -> None:
    order: list[str] = []
    second_began = anyio.Event()

    async def body(arguments: JsonObject, _: ToolContext) -> Done:
        name = str(arguments["path"])
        if name == "first":
            await second_began.wait()
        else:
            second_began.set()
        order.append(name)
        return Done(content=text_content(name))

    stage.add("read_file", body)
    both = answer(call("read_file", path="first"), call("read_file", path="second"))
    await stage.play(both, answer("ok"))
    assert order == ["second", "first"]
    settled = [outcome.content[0].text for outcome in outcomes(stage)]
    assert settled == ["first", "second"]


async def test_a_read_after_a_write_sees_the_write(stage: "Stage") -> None:
    text = "old"

    async def read(_: JsonObject, __: ToolContext) -> Done:
        return Done(content=text_content(text))

    async def write(_: JsonObject, __: ToolContext) -> Done:
        nonlocal text
        await anyio.lowlevel.checkpoint()
        text = "new"
        return Done(content=text_content("wrote"), changed=("a",))

    stage.add("read_file", read)
    stage.add("edit_file", write, Effect.WRITE)
    edit = call("edit_file", path="a")
    await stage.play(answer(READ, edit, call("read_file", path="a", n=1)), answer("ok"))
    said = [o.content[0].text for o in outcomes(stage)]
    assert said == ["old", "wrote", "new"]
    assert stage.seen(event.FilesChanged)[0].paths == ("a",)


async def test_an_outcome_that_changed_files_is_made_durable(stage: "Stage") -> None:
    async def write(_: JsonObject, __: ToolContext) -> Done:
        return Done(content=text_content("wrote"), changed=("a",))

    stage.add("edit_file", write, Effect.WRITE)
    await stage.play(answer(call("edit_file", path="a")), answer("ok"))
    kinds = [type(record.entry) for record in stage.journal.durable]
    assert kinds == [entry.UserSaid, entry.CallSettled, entry.RunFinished]


# ---------------------------------------------------------------- calls that cannot run


async def test_malformed_arguments_never_run_and_the_model_gets_the_schema(stage: "Stage") -> None:
    tool = stage.add("read_file")
    cut = ToolCall(id="c", name="read_file", arguments=None, malformed='{"path": "a')
    await stage.play(answer(cut), answer("ok"))
    assert tool.prepared == 0
    (failed,) = outcomes(stage)
    assert isinstance(failed, Failed)
    assert "not complete JSON" in failed.message
    assert '"properties"' in failed.message


async def test_an_unknown_tool_is_answered_with_the_nearest_three(stage: "Stage") -> None:
    for name in ("read_fil", "write_file", "run_command", "list_dir"):
        stage.add(name)
    await stage.play(answer(call("reed_file", path="a")), answer("ok"))
    (failed,) = outcomes(stage)
    assert "read_file" in failed.message
    assert failed.message.count(",") == 2


async def test_arguments_are_checked_before_anything_is_prepared(stage: "Stage") -> None:
    tool = stage.add("read_file")
    await stage.play(answer(call("read_file", file="a")), answer("ok"))
    assert tool.prepared == 0
    assert "missing argument path" in outcomes(stage)[0].message


async def test_a_number_written_as_text_is_taken_as_the_number(stage: "Stage") -> None:
    got: list[object] = []

    async def body(arguments: JsonObject, _: ToolContext) -> Done:
        got.append(arguments["n"])
        return Done(content=text_content("ok"))

    stage.add("read_file", body)
    await stage.play(answer(call("read_file", path="a", n="3")), answer("ok"))
    assert got == [3]


async def test_a_tool_with_a_bug_is_one_failed_call(stage: "Stage") -> None:
    async def body(_: JsonObject, __: ToolContext) -> Done:
        raise ZeroDivisionError("oops")

    tool = stage.add("read_file", body)
    ended = await stage.play(answer(READ), answer("ok"))
    assert ended.result == RunDone(text="ok")
    assert "ZeroDivisionError" in outcomes(stage)[0].message
    assert tool.closed == 1


async def test_a_tool_that_hangs_is_cut_off_at_its_limit(stage: "Stage") -> None:
    async def body(_: JsonObject, __: ToolContext) -> Done:
        await anyio.sleep_forever()
        raise AssertionError

    stage.add("read_file", body, timeout_s=0.01)
    await stage.play(answer(READ), answer("ok"))
    assert "did not answer within 0.01 s" in outcomes(stage)[0].message


async def test_calls_that_share_an_id_are_told_apart(stage: "Stage") -> None:
    twins = answer(
        ToolCall(id="x", name="read_file", arguments={"path": "a"}),
        ToolCall(id="x", name="read_file", arguments={"path": "b"}),
    )
    await stage.play(twins, answer("ok"))
    ids = [item.call_id for item in stage.journal.entries if isinstance(item, entry.CallSettled)]
    assert ids == ["x", "x_2"]


async def test_a_server_that_counts_its_calls_anew_in_every_answer_is_kept_apart(
    stage: "Stage",
) -> None:
    again = ToolCall("call_0", "read_file", {"path": "a"})
    await stage.play(answer(again), answer(again), answer("done"))
    settled = [e.call_id for e in stage.journal.entries if isinstance(e, entry.CallSettled)]
    assert settled == ["call_0", "call_0_2"]
    await stage.play(answer(again), answer("done"))
    settled = [e.call_id for e in stage.journal.entries if isinstance(e, entry.CallSettled)]
    assert settled == ["call_0", "call_0_2", "call_0_3"]


@pytest.mark.parametrize(
    "refusal", [Denied(reason="no"), Corrected(words="use b"), Denied(reason="x", unanswered=True)]
)
async def test_a_refused_call_does_not_run_and_is_an_error_for_the_model(
    stage: "Stage", refusal: Denied | Corrected
) -> None:
    async def body(_: JsonObject, __: ToolContext) -> Done:
        raise AssertionError("it ran")

    tool = stage.add("edit_file", body, Effect.WRITE)
    stage.gate.refusals["edit_file"] = refusal
    ended = await stage.play(answer(call("edit_file", path="a")), answer("ok"))
    assert outcomes(stage) == [refusal]
    assert tool.closed == 1
    assert ended.refused == (1 if getattr(refusal, "unanswered", False) else 0)


# ---------------------------------------------------------------- stop reasons


@pytest.mark.parametrize(
    ("stop", "expected"),
    [
        (StopReason.STOP_SEQUENCE, RunDone),
        (StopReason.MAX_TOKENS, Truncated),
        (StopReason.REFUSAL, Refused),
        (StopReason.CONTENT_FILTER, Refused),
        (StopReason.CONTEXT_FULL, RunFailed),
        (StopReason.UNKNOWN, RunFailed),
        (StopReason.ERROR, RunFailed),
    ],
)
async def test_every_stop_reason_has_its_result(
    stage: "Stage", stop: StopReason, expected: type[object]
) -> None:
    ended = await stage.play(answer("partial", stop=stop))
    assert isinstance(ended.result, expected)


@pytest.mark.parametrize("stop", [StopReason.REFUSAL, StopReason.CONTENT_FILTER])
async def test_the_calls_of_an_answer_that_was_refused_do_not_run(
    stage: "Stage", stop: StopReason
) -> None:
    tool = stage.add("edit_file", effect=Effect.WRITE)
    calls = [call("edit_file", path=name) for name in "ab"]
    ended = await stage.play(answer("I will", *calls, stop=stop))
    assert isinstance(ended.result, Refused)
    assert tool.prepared == 0
    assert [type(each) for each in outcomes(stage)] == [Cancelled, Cancelled]


async def test_a_pause_is_asked_again_at_most_five_times(stage: "Stage") -> None:
    pause = answer("searching", stop=StopReason.PAUSE_TURN)
    assert (await stage.play(pause, pause, answer("found"))).result == RunDone(text="found")
    assert (await stage.play(*[pause] * 6)).result == RunDone(text="searching")


async def test_a_malformed_call_is_told_to_the_model_and_given_up_in_the_end(
    stage: "Stage",
) -> None:
    bad = answer("", stop=StopReason.MALFORMED_TOOL_CALL)
    assert (await stage.play(bad, answer("ok"))).result == RunDone(text="ok")
    told = [e for e in stage.journal.entries if isinstance(e, entry.NoteAdded)]
    assert "valid JSON" in told[0].text
    ended = await stage.play(bad, bad, bad, bad)
    assert isinstance(ended.result, RunFailed)
    assert ended.result.failure.kind is ErrorKind.TOOL_USE_FAILED


async def test_whole_calls_of_an_answer_that_was_cut_by_its_limit_still_run(
    stage: "Stage",
) -> None:
    cut = ToolCall(id="c2", name="read_file", arguments=None, malformed='{"pa')
    ended = await stage.play(answer(READ, cut, stop=StopReason.MAX_TOKENS), answer("ok"))
    assert ended.result == RunDone(text="ok")
    assert [type(outcome) for outcome in outcomes(stage)] == [Done, Failed]


# ---------------------------------------------------------------- answers that are none


@pytest.mark.parametrize("nothing", [answer(), answer("\n\n"), answer(Thinking("hm"))])
async def test_an_empty_answer_is_asked_again_once_and_then_fails(
    stage: "Stage", nothing: object
) -> None:
    assert (await stage.play(nothing, answer("ok"))).result == RunDone(text="ok")
    ended = await stage.play(nothing, nothing)
    assert isinstance(ended.result, RunFailed)
    assert "nothing" in ended.result.failure.message
    assert not any(
        isinstance(item, entry.ModelAnswered) and not item.message.text.strip()
        for item in stage.journal.entries
    )


async def test_a_stream_that_broke_is_kept_aside_and_the_step_asked_again(stage: "Stage") -> None:
    half = [TextDelta("I will "), ToolCallCompleted(0, READ), StreamFailed(CUT)]
    model = ScriptedModel(half, answer("ok"))
    ended = await stage.make(model).run(User((Text("go"),)))
    assert ended.result == RunDone(text="ok")
    assert ended.steps == 1
    assert outcomes(stage) == []
    assert model.requests[1].messages == model.requests[0].messages
    aside = [e for e in stage.journal.entries if isinstance(e, entry.AnswerAbandoned)]
    assert aside[0].message.text == "I will "
    assert stage.seen(event.AnswerAbandoned)[0].again


async def test_a_stream_that_keeps_breaking_fails_in_the_end(stage: "Stage") -> None:
    half = [TextDelta("I "), StreamFailed(CUT)]
    ended = await stage.play(half, half, half, half)
    assert ended.result == RunFailed(failure=CUT)
    assert stage.clock.slept == [1.0, 2.0, 4.0]


async def test_after_a_silence_it_is_asked_again_soon(stage: "Stage") -> None:
    silent = Failure(kind=ErrorKind.TIMEOUT, message="silent", retryable=True, mid_stream=True)
    ended = await stage.play([TextDelta("I "), StreamFailed(silent)], answer("ok"))
    assert ended.result == RunDone(text="ok")
    assert stage.clock.slept == [0.3]


async def test_a_failure_before_the_first_word_ends_the_run(stage: "Stage") -> None:
    failure = Failure(kind=ErrorKind.AUTH, message="key rejected", hint="check it")
    ended = await stage.play(failure)
    assert ended.result == RunFailed(failure=failure)


async def test_a_retry_of_the_client_is_shown_as_a_wait(stage: "Stage") -> None:
    retry = RetryScheduled(failure=CUT, delay_s=2.0, attempt=1)
    await stage.play([retry, TextDelta("ok"), Completed(StopReason.END_TURN)])
    (wait,) = stage.seen(event.WaitStarted)
    assert (wait.seconds, wait.attempt) == (2.0, 1)


async def test_thinking_calls_and_provider_blocks_are_shown_as_they_come(stage: "Stage") -> None:
    searched = Opaque(wire="w", kind="web_search", payload={}, summary="searched the web")
    await stage.play(answer(Thinking("let me see"), searched, READ), answer("ok"))
    assert "".join(e.text for e in stage.seen(event.ThinkingDelta)) == "let me see"
    assert stage.seen(event.Notice)[0].text == "searched the web"
    assert stage.seen(event.CallProposed)[0].tool == "read_file"


# ---------------------------------------------------------------- limits


async def test_the_limit_of_steps_keeps_everything_and_says_so(stage: "Stage") -> None:
    stage.limits = Limits(steps=2)
    ended = await stage.play(answer(READ), answer(call("read_file", path="b")))
    assert ended.result == StepLimit(steps=2)
    stage.limits = Limits(steps=2)
    assert (await stage.play(answer("on"))).result == RunDone(text="on")


async def test_limits_of_tokens_time_and_money_stop_before_the_next_request(
    stage: "Stage",
) -> None:
    used = answer(READ, usage=Usage(input_uncached=900, output=100))
    stage.limits = Limits(total_tokens=1000)
    assert (await stage.play(used)).result == BudgetSpent(what="tokens", limit=1000)

    async def slow(_: JsonObject, __: ToolContext) -> Done:
        await stage.clock.sleep(61)
        return Done(content=text_content("ok"))

    stage.add("read_file", slow)
    stage.limits = Limits(seconds=60)
    assert (await stage.play(used)).result == BudgetSpent(what="time", limit=60)
    stage.limits = Limits(cost_usd=0.001)
    facts = ModelFacts(backend="b", model="m", wire="w", price=Price(input=1.0, output=10.0))
    model = ScriptedModel(used, facts=facts)
    ended = await stage.make(model).run(User((Text("go"),)))
    assert ended.result == BudgetSpent(what="cost", limit=0.001)
    assert ended.cost_usd == pytest.approx(0.0019)


async def test_an_unknown_price_is_unknown_and_not_nothing(stage: "Stage") -> None:
    ended = await stage.play(answer("ok", usage=Usage(input_uncached=5, output=1)))
    assert ended.cost_usd is None
    assert stage.seen(event.UsageUpdated)[0].cost_usd is None


async def test_usage_is_summed_over_the_run(stage: "Stage") -> None:
    one = Usage(input_uncached=10, cache_read=90, output=7, reasoning=2)
    ended = await stage.play(answer(READ, usage=one), answer("ok", usage=one))
    assert ended.usage == one + one


# ---------------------------------------------------------------- steering, progress, stopping


async def test_a_message_sent_during_a_run_is_delivered_at_the_next_step(stage: "Stage") -> None:
    async def body(_: JsonObject, __: ToolContext) -> Done:
        stage.inbox.post("use tabs")
        return Done(content=text_content("ok"))

    stage.add("read_file", body)
    model = ScriptedModel(answer(READ), answer("ok"))
    await stage.make(model).run(User((Text("go"),)))
    assert model.requests[1].messages[-1] == User((Text("use tabs"),))
    assert stage.seen(event.SteeringTaken)[0].text == "use tabs"


async def test_a_message_sent_with_the_last_answer_is_followed_up(stage: "Stage") -> None:
    def late(_: object) -> object:
        stage.inbox.post("and b")
        return answer("did a")

    ended = await stage.play(late, answer("did b"))
    assert ended.result == RunDone(text="did b")


async def test_a_run_in_circles_is_nudged_and_then_stopped(stage: "Stage") -> None:
    gone = call("read_file", path="gone")

    async def body(_: JsonObject, __: ToolContext) -> Failed:
        return Failed(message="no such file")

    stage.add("read_file", body)
    ended = await stage.play(*[answer(gone)] * 5)
    assert ended.result == Stopped(reason="the same calls brought nothing new", by_user=False)
    notes = [e for e in stage.journal.entries if isinstance(e, entry.NoteAdded)]
    assert notes[0].source == "progress"


async def test_stopping_while_the_model_speaks_keeps_the_words_and_marks_them(
    stage: "Stage",
) -> None:
    model = ScriptedModel([ThinkingDelta("hm"), TextDelta("I was about to"), HANG])
    run = stage.make(model)

    ended = await run_until_blocked(run)
    assert ended.result == Stopped(reason="stopped by the user")
    kept = [e for e in stage.journal.entries if isinstance(e, entry.AnswerInterrupted)]
    assert kept[0].message.content == (Text("I was about to"),)
    assert model.abandoned == 1
    assert isinstance(stage.events[-1], event.RunEnded)


async def test_stopping_while_tools_run_settles_every_call_with_what_it_had_said(
    stage: "Stage",
) -> None:
    async def body(arguments: JsonObject, context: ToolContext) -> Done:
        if arguments["path"] != "a":
            context.progress("half of ")
            context.progress("the output")
            await anyio.sleep_forever()
        return Done(content=text_content("quick"))

    stage.add("read_file", body)
    calls = [call("read_file", path=name) for name in "abc"]
    run = stage.make(ScriptedModel(answer(*calls)))
    await run_until_blocked(run)
    quick, second, third = outcomes(stage)
    assert isinstance(quick, Done)
    assert second == third == Cancelled(partial="half of the output")
    assert stage.journal.entries[-2] == entry.NoteAdded(
        text="The run was stopped by the user.", source="interrupted"
    )


async def test_a_journal_that_cannot_be_written_is_the_runs_result(stage: "Stage") -> None:
    class FullDisk(MemoryJournal):
        @override
        async def append(self, entry: entry.Entry, *, durable: bool = False) -> entry.Record:
            raise SessionError("the disk is full", hint="Free some space.")

    stage.journal = FullDisk()
    ended = await stage.play()
    assert isinstance(ended.result, RunFailed)
    assert ended.result.failure.message == "the disk is full"
    assert isinstance(stage.events[-1], event.RunEnded)


async def test_notes_stay_apart_from_the_users_words(stage: "Stage") -> None:
    model = ScriptedModel(answer("ok"))
    message = User((Note("Project folder: /p", "environment"), Text("go")))
    await stage.make(model).run(message)
    assert model.requests[0].messages == (message,)
    assert message.words == "go"


async def test_what_is_worth_doing_ahead_goes_on_while_the_model_answers_and_ends_with_the_run(
    stage: "Stage",
) -> None:
    told: list[str] = []

    async def ahead() -> None:
        told.append("began")
        try:
            await anyio.sleep_forever()
        finally:
            told.append("stopped")

    stage.ahead = ahead
    ended = await stage.play(answer(call("read_file", path="a")), answer("ok"))
    assert ended.result == RunDone(text="ok")
    assert told == ["began", "stopped"]
