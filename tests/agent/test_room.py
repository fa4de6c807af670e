"""A request that is too large is made smaller once and asked again; demands are heard and shown."""

from agent.conftest import Stage
from hame.base.entry import (
    AnswerAbandoned,
    ConstraintAdded,
    HistoryCompacted,
    ModelAnswered,
    NoteAdded,
    ResultsElided,
    UserSaid,
)
from hame.base.errors import ErrorKind, Failure
from hame.base.event import Compacted, ConstraintChanged, Notice, UsageUpdated
from hame.base.json import JsonObject
from hame.base.message import Assistant, StopReason, Text, User
from hame.base.model import ModelFacts, Usage
from hame.base.outcome import Done, Failed, text_content
from hame.base.ports import ModelRequest, ToolContext
from hame.base.run import RunDone, RunFailed
from hame.testing import ScriptedModel, answer, call

TOO_LONG = Failure(kind=ErrorKind.CONTEXT_OVERFLOW, message="the prompt is too long")
SUMMARY = answer("## Goal\nRead the large files.\n## Next\nFinish what was begun.")
SMALL = ModelFacts(backend="b", model="m", wire="openai_chat", context_window=8_000)


async def large(arguments: JsonObject, context: ToolContext) -> Done | Failed:
    return Done(text_content(f"{arguments['path']} " * 1_500))


def reads(count: int) -> list[Assistant]:
    return [answer(f"Step {n}.", call("read_file", path=f"f{n}")) for n in range(count)]


def entries(stage: Stage, kind: type) -> list[object]:
    return [entry for entry in stage.journal.entries if isinstance(entry, kind)]


async def test_an_overflow_is_answered_by_making_room_once_and_asking_again(stage: Stage) -> None:
    stage.add("read_file", large)
    ended = await stage.play(*reads(6), TOO_LONG, answer("Done."))
    assert ended.result == RunDone(text="Done.")
    assert ended.steps == 7
    assert len(entries(stage, ResultsElided)) == 1
    assert [each.summary for each in stage.seen(Compacted)] == [""]
    assert entries(stage, AnswerAbandoned) == []


async def test_a_second_overflow_ends_the_run_with_the_server_s_own_failure(stage: Stage) -> None:
    stage.add("read_file", large)
    ended = await stage.play(*reads(6), TOO_LONG, TOO_LONG)
    assert ended.result == RunFailed(failure=TOO_LONG)


async def test_after_an_answer_the_next_overflow_may_be_answered_too(stage: Stage) -> None:
    stage.add("read_file", large)
    ended = await stage.play(*reads(6), TOO_LONG, *reads(1), TOO_LONG, answer("Done."))
    assert isinstance(ended.result, RunDone)


async def test_an_overflow_of_a_history_without_results_asks_for_a_summary(stage: Stage) -> None:
    words = "w " * 3_000
    ended = await stage.play(TOO_LONG, SUMMARY, answer("Done."), words=words)
    assert isinstance(ended.result, RunDone | RunFailed)
    assert len(entries(stage, HistoryCompacted)) == 1


async def test_a_window_that_is_full_midway_is_shortened_and_the_run_goes_on(stage: Stage) -> None:
    stage.add("read_file", large)
    full = answer("I was about to", stop=StopReason.CONTEXT_FULL)
    ended = await stage.play(*reads(6), full, answer("Done."))
    assert ended.result == RunDone(text="Done.")
    assert any(isinstance(e, NoteAdded) and "Go on" in e.text for e in stage.journal.entries)


async def test_a_window_that_stays_full_is_a_failure_that_names_the_remedy(stage: Stage) -> None:
    stage.add("read_file", large)
    full = answer("I was about to", stop=StopReason.CONTEXT_FULL)
    ended = await stage.play(*reads(6), full, full)
    assert isinstance(ended.result, RunFailed)
    assert ended.result.failure.kind is ErrorKind.CONTEXT_OVERFLOW
    assert "/clear" in ended.result.failure.hint


async def test_room_is_made_before_the_request_that_would_be_too_large(stage: Stage) -> None:
    words = [answer("w " * 2_500, call("read_file", path=f"f{n}")) for n in range(6)]
    model = ScriptedModel(*words[:5], SUMMARY, words[5], answer("Done."), facts=SMALL)
    ended = await stage.make(model).run(User((Text("go"),)))
    model.finish()
    assert isinstance(ended.result, RunDone)
    asked = model.requests[5]
    assert asked.messages[:-1] == (*model.requests[4].messages, *asked.messages[-3:-1])
    assert asked.tools == model.requests[4].tools
    assert asked.system == model.requests[4].system
    assert "Read the large files." in stage.seen(Compacted)[0].summary


async def test_what_a_summary_costs_counts_for_the_run(stage: Stage) -> None:
    used = Usage(input_uncached=100, output=10)
    words = [answer("w " * 2_500, call("read_file", path=f"f{n}")) for n in range(5)]
    model = ScriptedModel(
        *words, answer(SUMMARY.text, usage=used), answer("Done.", usage=used), facts=SMALL
    )
    ended = await stage.make(model).run(User((Text("go"),)))
    model.finish()
    assert ended.usage.input_total == 200
    assert [each.context_tokens for each in stage.seen(UsageUpdated)].count(None) == 1


async def test_a_summary_that_fails_is_said_and_the_run_goes_on(stage: Stage) -> None:
    words = [answer("w " * 2_500, call("read_file", path=f"f{n}")) for n in range(5)]
    broken = Failure(kind=ErrorKind.OVERLOADED, message="it is overloaded")
    model = ScriptedModel(*words, broken, answer("Done."), facts=SMALL)
    ended = await stage.make(model).run(User((Text("go"),)))
    assert isinstance(ended.result, RunDone)
    assert any("it is overloaded" in notice.text for notice in stage.seen(Notice))


async def test_a_large_result_is_journalled_in_the_form_the_model_gets(stage: Stage) -> None:
    stage.add("read_file", large)
    model = ScriptedModel(*reads(1), answer("Done."), facts=SMALL)
    await stage.make(model).run(User((Text("go"),)))
    shown = str(model.requests[1].messages[-1])
    assert "left out here" in shown
    assert len(shown) < 5_000


# ------------------------------------------------------------ demands


async def test_a_demand_is_put_on_record_and_shown_once(stage: Stage) -> None:
    await stage.play(answer("Yes."), words="Fix it. Never touch vendor/.")
    added = entries(stage, ConstraintAdded)
    assert len(added) == 1
    constraint = added[0]
    assert isinstance(constraint, ConstraintAdded)
    said = next(r for r in stage.journal.records if isinstance(r.entry, UserSaid))
    assert constraint.constraint.text == "Never touch vendor/."
    assert constraint.constraint.said == said.id
    assert [each.text for each in stage.seen(ConstraintChanged)] == ["Never touch vendor/."]
    await stage.play(answer("Yes."), words="Again: never touch vendor/.")
    assert len(entries(stage, ConstraintAdded)) <= 2


async def test_a_demand_that_is_sent_during_a_run_is_heard_too(stage: Stage) -> None:
    async def speak(arguments: JsonObject, context: ToolContext) -> Done | Failed:
        stage.inbox.post("From now on use tabs, not spaces.")
        return Done(text_content("ok"))

    stage.add("read_file", speak)
    await stage.play(*reads(1), answer("Done."))
    assert [each.text for each in stage.seen(ConstraintChanged)] == [
        "From now on use tabs, not spaces."
    ]


async def test_a_demand_of_a_run_that_came_to_no_answer_is_heard_by_the_next(stage: Stage) -> None:
    broken = Failure(kind=ErrorKind.AUTH, message="no")
    await stage.make(ScriptedModel(broken)).run(User((Text("Never touch vendor/."),)))
    assert entries(stage, ConstraintAdded) == []
    await stage.play(answer("Yes."), words="Go on.")
    await stage.play(answer("Yes."), words="Go on.")
    (added,) = entries(stage, ConstraintAdded)
    assert isinstance(added, ConstraintAdded)
    said = next(r for r in stage.journal.records if isinstance(r.entry, UserSaid))
    assert (added.constraint.text, added.constraint.said) == ("Never touch vendor/.", said.id)


async def test_a_demand_of_a_run_that_was_killed_after_its_answer_is_heard_by_the_next(
    stage: Stage,
) -> None:
    await stage.journal.append(UserSaid(message=User((Text("Never touch vendor/."),))))
    await stage.journal.append(ModelAnswered(message=answer("Yes.")))
    await stage.play(answer("Yes."), words="Go on.")
    assert len(entries(stage, ConstraintAdded)) == 1


def long_answers(count: int) -> list[Assistant]:
    """Each about 1,400 tokens of the window's 8,000, and none of them counted by the provider."""
    return [answer("w " * 2_500, call("read_file", path=f"f{n}")) for n in range(count)]


async def test_a_count_is_asked_for_only_where_the_estimate_does_not_tell(stage: Stage) -> None:
    """And it decides: by the estimate alone room would have been made."""
    counted: list[int] = []

    async def count(request: ModelRequest) -> int | None:
        counted.append(len(request.messages))
        return 2_000

    stage.count = count
    model = ScriptedModel(*long_answers(5), answer("Done."), facts=SMALL)
    ended = await stage.make(model).run(User((Text("go"),)))
    model.finish()
    assert isinstance(ended.result, RunDone)
    assert counted == [7], "not at the beginning, and not again once it is known"
    assert stage.seen(Compacted) == []


async def test_who_does_not_count_is_not_asked_again_in_the_run(stage: Stage) -> None:
    asked: list[ModelRequest] = []

    async def nobody(request: ModelRequest) -> None:
        asked.append(request)

    stage.count = nobody
    model = ScriptedModel(*long_answers(5), SUMMARY, answer("Done."), facts=SMALL)
    await stage.make(model).run(User((Text("go"),)))
    model.finish()
    assert len(asked) == 1
    assert len(stage.seen(Compacted)) == 1
