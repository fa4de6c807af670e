"""The model's view is a projection of the journal that only grows."""

from hame.base.entry import (
    AnswerAbandoned,
    AnswerInterrupted,
    CallSettled,
    Entry,
    ModeChosen,
    ModelAnswered,
    NoteAdded,
    OutcomesLost,
    SessionStarted,
    UserSaid,
)
from hame.base.errors import ErrorKind, Failure
from hame.base.message import Assistant, Note, Text, ToolCall, ToolResults, User
from hame.base.model import ModelFacts
from hame.base.outcome import Cancelled, Denied, Done, text_content
from hame.context import Window

FACTS = ModelFacts(backend="b", model="m", wire="openai_chat")
PROMPT = UserSaid(message=User((Text("go"),)))


def answer(*ids: str) -> ModelAnswered:
    calls = tuple(ToolCall(id=name, name="read_file", arguments={"path": name}) for name in ids)
    return ModelAnswered(message=Assistant(content=calls))


def settled(name: str, text: str = "ok") -> CallSettled:
    return CallSettled(call_id=name, name="read_file", outcome=Done(content=text_content(text)))


async def test_results_follow_their_answer_in_the_order_asked() -> None:
    entries: list[Entry] = [PROMPT, answer("a", "b"), settled("b"), settled("a")]
    messages = await Window().fit(entries, FACTS)
    results = messages[-1]
    assert isinstance(results, ToolResults)
    assert [result.call_id for result in results.results] == ["a", "b"]


async def test_what_was_sent_once_stays_the_same_object() -> None:
    entries: list[Entry] = [PROMPT, answer("a"), settled("a")]
    projection = Window()
    first = await projection.fit(entries, FACTS)
    entries += [answer("b"), settled("b")]
    second = await projection.fit(entries, FACTS)
    assert all(old is new for old, new in zip(first, second, strict=False))
    assert len(second) == len(first) + 2


async def test_abandoned_answers_and_bookkeeping_are_not_shown() -> None:
    broken = AnswerAbandoned(
        message=Assistant(content=(Text("half"),)),
        failure=Failure(kind=ErrorKind.NETWORK, message="cut"),
    )
    start = SessionStarted(session="s", cwd="/p", hame="0")
    messages = await Window().fit([start, PROMPT, broken, ModeChosen(mode="auto")], FACTS)
    assert messages == (PROMPT.message,)


async def test_interrupted_words_and_notes_are_shown() -> None:
    partial = Assistant(content=(Text("I was"),))
    note = NoteAdded(text="stopped", source="interrupted")
    messages = await Window().fit([PROMPT, AnswerInterrupted(message=partial), note], FACTS)
    assert messages[1:] == (partial, User((Note("stopped", "interrupted"),)))


async def test_refusals_and_lost_calls_are_errors_for_the_model() -> None:
    refused = CallSettled(call_id="a", name="x", outcome=Denied(reason="no"))
    lost = OutcomesLost(calls=(ToolCall(id="b", name="x", arguments={}),))
    messages = await Window().fit([PROMPT, answer("a", "b"), refused, lost], FACTS)
    results = messages[-1]
    assert isinstance(results, ToolResults)
    assert all(result.is_error for result in results.results)


async def test_another_journal_starts_over() -> None:
    projection = Window()
    await projection.fit([PROMPT, answer("a"), settled("a")], FACTS)
    assert await projection.fit([PROMPT], FACTS) == (PROMPT.message,)


async def test_a_cancelled_call_says_so() -> None:
    cancelled = CallSettled(call_id="a", name="x", outcome=Cancelled(partial="line 1"))
    messages = await Window().fit([PROMPT, answer("a"), cancelled], FACTS)
    results = messages[-1]
    assert isinstance(results, ToolResults)
    text = results.results[0].content[0]
    assert isinstance(text, Text)
    assert "stopped by the user" in text.text
    assert "line 1" in text.text
