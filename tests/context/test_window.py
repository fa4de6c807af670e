"""Making room: when, by what, and what is done when the model cannot help."""

from collections.abc import Callable

import pytest

from context.simulation import Session
from hame.base.entry import (
    CallSettled,
    ConstraintAdded,
    ConstraintRemoved,
    Entry,
    HistoryCompacted,
    ModelAnswered,
    ResultsElided,
    UserSaid,
)
from hame.base.errors import ErrorKind, Failure
from hame.base.event import Compacted
from hame.base.memory import Constraint
from hame.base.message import (
    Assistant,
    Image,
    Message,
    Note,
    StopReason,
    Text,
    ToolCall,
    ToolResults,
    User,
)
from hame.base.model import ModelFacts, ToolSupport, Usage
from hame.base.outcome import Done, text_content
from hame.base.ports import ModelRequest
from hame.context import Window, projection
from hame.context.report import frame_tokens
from hame.testing import MemoryJournal, answer, call
from hame.tools import builtin_tools

FACTS = ModelFacts(backend="b", model="m", wire="openai_chat", context_window=10_000)
SUMMARY = "## Goal\nGo on with the work on the teas.\n## Next\nRead teas.py again.\n"


def prompt(words: str, *notes: Note) -> UserSaid:
    return UserSaid(message=User((Text(words), *notes)))


def step(number: int, size: int = 2_000, **arguments: object) -> list[Entry]:
    call_id = f"call_{number}"
    asked = ToolCall(call_id, "read_file", {"path": f"f{number}.py", **arguments})
    return [
        ModelAnswered(message=Assistant((Text(f"Step {number}."), asked))),
        CallSettled(call_id=call_id, name="read_file", outcome=Done(text_content("x" * size))),
    ]


class Model:
    """Answers what it is told to when it is asked for a summary."""

    def __init__(self, said: Assistant | None = None, failure: Failure | None = None) -> None:
        self.said, self.failure = said or answer(SUMMARY), failure
        self.asked: list[str] = []

    async def __call__(self, words: str, tokens: int) -> tuple[Assistant, Failure | None]:
        self.asked.append(words)
        return self.said, self.failure


class Stage:
    def __init__(self, *entries: Entry, facts: ModelFacts = FACTS) -> None:
        self.journal = MemoryJournal(entries=entries)
        self.window, self.model, self.facts = Window(), Model(), facts

    async def shorten(self, focus: str | None = None) -> bool:
        entries = self.journal.entries
        done = await self.window.shorten(
            entries, self.facts, self.model, self.journal.append, focus=focus
        )
        return done is not None

    async def view(self) -> tuple[Message, ...]:
        return await self.window.fit(self.journal.entries, self.facts)

    def written(self, kind: type[Entry]) -> list[Entry]:
        return [record.entry for record in self.journal.records if isinstance(record.entry, kind)]

    @property
    def compacted(self) -> HistoryCompacted:
        found = self.written(HistoryCompacted)
        assert isinstance(found[-1], HistoryCompacted)
        return found[-1]


def said(message: Message) -> str:
    match message:
        case User(content=content) | Assistant(content=content):
            return "\n".join(b.text for b in content if isinstance(b, Text | Note))
        case ToolResults(results=results):
            return "\n".join(
                b.text for result in results for b in result.content if isinstance(b, Text)
            )


def long_history(steps: int, size: int = 2_000) -> list[Entry]:
    entries: list[Entry] = [prompt("Tidy the teas.", Note("Folder /p", "environment"))]
    for number in range(steps):
        entries += step(number, size)
    return entries


async def test_a_window_that_is_not_nearly_full_is_left_alone() -> None:
    stage = Stage(*long_history(5))
    assert not stage.window.is_full(stage.journal.entries, FACTS)
    assert not await stage.shorten()
    assert stage.journal.records == []


async def test_old_results_go_first_many_at_once_and_without_a_model() -> None:
    stage = Stage(*long_history(14))
    assert stage.window.is_full(stage.journal.entries, FACTS)
    assert await stage.shorten()
    assert stage.model.asked == []
    elided = stage.written(ResultsElided)
    assert len(elided) == 1
    assert not stage.window.is_full(stage.journal.entries, FACTS)
    view = await stage.view()
    assert "Left out to save room" in said(view[2])
    assert "f0.py" in said(view[2])
    assert said(view[-1]) == "x" * 2_000


async def test_the_last_step_is_never_left_out_however_large() -> None:
    stage = Stage(*long_history(1, size=40_000))
    await stage.shorten()
    assert said((await stage.view())[-1]) == "x" * 40_000


async def test_long_arguments_of_old_calls_are_shown_cut_and_kept_in_the_journal() -> None:
    entries: list[Entry] = [prompt("Write the files.")]
    for number in range(14):
        entries += step(number, 20, content="y" * 2_500)
    stage = Stage(*entries)
    assert await stage.shorten()
    first = (await stage.view())[1]
    assert isinstance(first, Assistant)
    content = str((first.calls[0].arguments or {})["content"])
    assert len(content) < 300
    assert first.calls[0].arguments is not None
    assert first.calls[0].arguments["path"] == "f0.py"
    whole = stage.journal.entries[1]
    assert isinstance(whole, ModelAnswered)
    assert (whole.message.calls[0].arguments or {})["content"] == "y" * 2_500


async def test_a_call_that_was_signed_is_shown_as_it_was() -> None:
    signed = ToolCall("s", "write_file", {"path": "a", "content": "y" * 1_500}, signature="sig")
    entries: list[Entry] = [
        prompt("go"),
        ModelAnswered(message=Assistant((signed,))),
        CallSettled(call_id="s", name="write_file", outcome=Done(text_content("ok"))),
        *long_history(14)[1:],
    ]
    stage = Stage(*entries)
    assert await stage.shorten()
    assert (await stage.view())[1] is entries[1].message


def words_history(prompts: int, size: int) -> list[Entry]:
    entries: list[Entry] = []
    for number in range(prompts):
        entries.append(prompt(f"Request number {number}.", Note("Folder /p", "environment")))
        entries.append(ModelAnswered(message=Assistant((Text(f"Answer {number}. " + "w" * size),))))
    return entries


async def test_a_history_of_words_is_summarised_and_the_user_s_are_kept() -> None:
    stage = Stage(*words_history(12, 2_500))
    assert await stage.shorten()
    assert len(stage.model.asked) == 1
    first = said((await stage.view())[0])
    assert first.startswith("Folder /p")
    assert "Go on with the work on the teas." in first
    for number in range(11):
        assert f"Request number {number}." in first
    assert stage.compacted.by_model
    assert stage.compacted.tokens_after < stage.compacted.tokens_before


async def test_calls_stay_with_their_results_wherever_the_cut_falls() -> None:
    for size in (100, 900, 2_000, 5_000, 9_000):
        stage = Stage(*long_history(12, size))
        await stage.shorten(focus="")
        view = await stage.view()
        calls = [c.id for m in view if isinstance(m, Assistant) for c in m.calls]
        results = [r.call_id for m in view if isinstance(m, ToolResults) for r in m.results]
        assert calls == results
        assert isinstance(view[0], User)


async def test_what_the_model_has_not_answered_yet_is_never_summarised_away() -> None:
    stage = Stage(*words_history(12, 2_500), prompt("And now the last thing."))
    assert await stage.shorten()
    assert said((await stage.view())[-1]) == "And now the last thing."


async def test_a_second_summary_brings_the_first_up_to_date() -> None:
    stage = Stage(*words_history(12, 2_500))
    await stage.shorten()
    for entry in words_history(12, 2_500):
        await stage.journal.append(entry)
    await stage.shorten()
    assert "Bring it up to date" in stage.model.asked[1]
    assert "Bring it up to date" not in stage.model.asked[0]
    assert said((await stage.view())[0]).count("Summary of it") == 1


async def test_what_the_user_wants_it_to_look_to_is_in_the_request_for_the_summary() -> None:
    stage = Stage(*long_history(3))
    assert await stage.shorten(focus="the parser")
    assert "the parser" in stage.model.asked[0]
    assert stage.compacted.focus == "the parser"


async def test_nothing_was_said_yet_so_there_is_nothing_to_summarise() -> None:
    assert not await Stage().shorten(focus="")
    assert not await Stage(prompt("go")).shorten(focus="")


async def test_a_summary_that_is_longer_than_what_it_stands_for_is_not_taken() -> None:
    stage = Stage(prompt("Hello there."), ModelAnswered(message=answer("Hello. " * 200)))
    stage.model.said = answer("A long story. " * 400)
    before = await stage.view()
    assert not await stage.shorten(focus="")
    assert stage.model.asked
    assert stage.written(HistoryCompacted) == []
    assert await stage.view() == before


async def test_no_summary_is_paid_for_where_none_could_be_shorter() -> None:
    stage = Stage(prompt("Hello there."), ModelAnswered(message=answer("Hello.")))
    assert not await stage.shorten(focus="")
    assert stage.model.asked == []


@pytest.mark.parametrize(
    ("model", "why"),
    [
        (Model(answer("")), "nothing"),
        (Model(answer("ok")), "could not be used"),
        (Model(answer(SUMMARY, call("read_file", path="a"))), "called a tool"),
        (Model(answer("word " * 20_000)), "could not be used"),
        (Model(answer(SUMMARY, stop=StopReason.REFUSAL)), "could not be used"),
        (
            Model(
                Assistant((), stop_reason=StopReason.ERROR),
                Failure(kind=ErrorKind.OVERLOADED, message="it is overloaded"),
            ),
            "it is overloaded",
        ),
    ],
    ids=["nothing", "a word", "a call", "too much", "refused", "failed"],
)
async def test_without_a_usable_summary_the_journal_makes_one(model: Model, why: str) -> None:
    stage = Stage(*words_history(12, 2_500))
    stage.model = model
    done = await stage.window.shorten(
        stage.journal.entries, FACTS, stage.model, stage.journal.append
    )
    assert done is not None
    assert why in done.trouble
    assert not stage.compacted.by_model
    assert "Answer 11." in stage.compacted.summary
    assert done.tokens_after < done.tokens_before


async def test_a_model_that_speaks_in_masked_lines_is_not_asked() -> None:
    facts = ModelFacts(
        backend="local", model="m", wire="w", context_window=10_000, tools=ToolSupport.MASKED
    )
    stage = Stage(*words_history(12, 2_500), facts=facts)
    assert await stage.shorten()
    assert stage.model.asked == []
    assert not stage.compacted.by_model


async def test_a_model_that_fails_twice_is_not_asked_again() -> None:
    stage = Stage(*words_history(12, 2_500))
    stage.model = Model(answer(""))
    for _ in range(4):
        await stage.shorten(focus="")
        for entry in words_history(3, 2_500):
            await stage.journal.append(entry)
    assert len(stage.model.asked) == 2


async def test_what_cannot_be_made_smaller_is_not_tried_at_every_step() -> None:
    stage = Stage(*words_history(3, 100), prompt("z" * 30_000))
    stage.model = Model(answer(""))
    assert await stage.shorten()
    assert not stage.window.is_full(stage.journal.entries, FACTS)


async def test_an_overflow_teaches_the_window_and_frees_room() -> None:
    facts = ModelFacts(backend="b", model="m", wire="openai_chat", context_window=100_000)
    stage = Stage(*long_history(20), facts=facts)
    assert not stage.window.is_full(stage.journal.entries, facts)
    stage.window.overflowed(facts, ErrorKind.CONTEXT_OVERFLOW)
    assert await stage.shorten()
    assert stage.model.asked == []
    assert stage.written(ResultsElided)
    report = stage.window.report(stage.journal.entries, facts)
    assert report.window < 20_000


async def test_too_many_bytes_are_pictures_and_they_go_first() -> None:
    picture = Image("image/png", b"p" * 400_000)
    entries: list[Entry] = [
        UserSaid(message=User((Text("Look."), picture))),
        ModelAnswered(message=Assistant((Text("I see."),))),
        UserSaid(message=User((Text("And this?"), picture))),
    ]
    stage = Stage(*entries)
    await stage.view()
    stage.window.overflowed(FACTS, ErrorKind.REQUEST_TOO_LARGE)
    assert await stage.shorten()
    view = await stage.view()
    assert "picture" in said(view[0])
    assert isinstance(view[2], User)
    assert picture in view[2].content


async def test_the_provider_s_own_count_is_what_counts() -> None:
    entries = long_history(3, 300)
    last = entries[-2]
    assert isinstance(last, ModelAnswered)
    counted = Assistant(last.message.content, usage=Usage(input_uncached=7_400, output=100))
    stage = Stage(*entries[:-2], ModelAnswered(message=counted), entries[-1])
    assert stage.window.is_full(stage.journal.entries, FACTS)
    assert stage.window.report(stage.journal.entries, FACTS).measured


async def test_a_report_names_the_parts_and_says_what_to_do() -> None:
    stage = Stage(*long_history(12))
    report = stage.window.report(stage.journal.entries, FACTS)
    names = [part.name for part in report.parts]
    assert names[0] == "results of read_file"
    assert {"system prompt", "your messages", "answers and calls"} <= set(names)
    assert sum(part.tokens for part in report.parts) == pytest.approx(report.total, rel=0.02)
    assert any("/compact" in advice for advice in report.advice)


async def test_what_was_left_out_stays_so_in_a_session_read_from_its_last_summary() -> None:
    stage = Stage(*long_history(14))
    await stage.shorten()
    for number in range(20, 34):
        for entry in step(number, 60):
            await stage.journal.append(entry)
    await stage.shorten(focus="")
    view = await stage.view()
    entries = list(stage.journal.entries)
    at = next(n for n, entry in enumerate(entries) if isinstance(entry, HistoryCompacted))
    assert await Window().fit(entries[at - stage.compacted.kept :], FACTS) == view


# ------------------------------------------------------------ demands


def held(text: str, name: str = "c1") -> ConstraintAdded:
    return ConstraintAdded(constraint=Constraint(id=name, text=text, said="1"))


async def test_demands_are_pinned_outside_the_summary_and_survive_every_summary() -> None:
    stage = Stage(prompt("Never touch vendor/."), held("Never touch vendor/."))
    for _ in range(3):
        for entry in words_history(12, 2_500):
            await stage.journal.append(entry)
        await stage.shorten(focus="")
        view = await stage.view()
        assert "- Never touch vendor/." in said(view[0])
        assert stage.window.missing_demands(view) == []


async def test_a_demand_that_was_taken_back_is_found_again_only_where_it_is_made_again() -> None:
    words = "Never touch vendor/."
    stage = Stage(prompt(words), held(words), ConstraintRemoved(id="c1"), *words_history(12, 2_500))
    stage.model.said = answer(f"{SUMMARY}## Demands\n- {words}\n")
    await stage.shorten(focus="")
    assert stage.compacted.constraints == ()
    assert stage.window.demands_in(words, "1", 0.0) == []
    assert [each.text for each in stage.window.demands_in(words, "9", 0.0)] == [words]


async def test_a_demand_that_was_taken_back_is_not_left_standing_among_the_words() -> None:
    words = "Never touch vendor/."
    stage = Stage(prompt(words), held(words), ConstraintRemoved(id="c1"))
    for _ in range(2):
        for entry in long_history(3):
            await stage.journal.append(entry)
        await stage.shorten(focus="")
        view = said((await stage.view())[0])
        assert f"These hold no more:\n- {words}" in view
    # A session that is read from its last summary still knows.
    entries = list(stage.journal.entries)
    window = Window()
    await window.fit(entries[-1 - stage.compacted.kept :], FACTS)
    assert window.projection.remembered.taken_back == {words: None}


async def test_a_demand_that_only_the_model_noticed_must_have_been_said() -> None:
    stage = Stage(
        prompt("I would rather see every amount as an integer of cents."),
        *words_history(12, 2_500),
    )
    stage.model = Model(
        answer(
            SUMMARY,
            "## Demands\n- every amount as an integer of cents\n- rewrite it all in Rust\n- none\n",
        )
    )
    await stage.shorten(focus="")
    assert [each.text for each in stage.compacted.constraints] == [
        "every amount as an integer of cents"
    ]
    assert stage.compacted.constraints[0].found_by == "model"
    assert "Rust" not in stage.compacted.summary


async def test_rules_of_the_project_are_not_repeated_in_the_ledger() -> None:
    rules = Note("Rules of this project:\nNever push to main.", "AGENTS.md")
    stage = Stage(prompt("Never push to main. Never touch vendor/.", rules))
    await stage.view()
    found = stage.window.demands_in("Never push to main. Never touch vendor/.", "1", 5.0)
    assert [(each.id, each.text, each.said, each.since) for each in found] == [
        ("c1", "Never touch vendor/.", "1", 5.0)
    ]
    assert found[0].scope == "vendor/"


# ------------------------------------------------------------ whole runs whose summaries go wrong


def overflow(_: ModelRequest) -> Failure:
    return Failure(kind=ErrorKind.CONTEXT_OVERFLOW, message="prompt is too long")


BROKEN: dict[str, Callable[[ModelRequest], Assistant | Failure]] = {
    "fails": lambda _: Failure(kind=ErrorKind.SERVER_ERROR, message="down"),
    "says nothing": lambda _: answer(""),
    "says more than it got": lambda _: answer("and so on " * 20_000),
    "overflows": overflow,
    "calls a tool": lambda _: answer("Next.", call("fetch", page=1, size=10)),
}


@pytest.mark.parametrize("how", BROKEN)
async def test_a_run_goes_on_whatever_the_summary_does(how: str) -> None:
    session = Session(
        "openai_chat", Window(), MemoryJournal(), steps=160, largest=6_000, keep_bodies=False
    )
    session.model.broken_summary = BROKEN[how]
    await session.play()
    assert session.model.overflows == 0
    assert any(isinstance(each, Compacted) for each in session.events)


async def test_reading_a_journal_step_by_step_shows_what_reading_it_at_once_does() -> None:
    stage = Stage(*long_history(14))
    await stage.shorten()
    for entry in long_history(14)[1:]:
        await stage.journal.append(entry)
    await stage.shorten(focus="")
    for entry in step(99):
        await stage.journal.append(entry)
    assert await Window().fit(list(stage.journal.entries), FACTS) == await stage.view()


# ------------------------------------------------------------ views larger than any window


async def test_a_summary_of_what_does_not_fit_is_asked_for_of_what_does() -> None:
    """A model with a smaller window goes on with the session: the request for a summary must fit."""
    entries = [prompt("Sort the teas. Never touch vendor/."), *chain_steps(60, 4_000)]
    stage = Stage(*entries, prompt("go on"))
    sizes: list[int] = []

    async def ask(words: str, tokens: int) -> tuple[Assistant, Failure | None]:
        await stage.view()
        sizes.append(stage.window.projection.tokens)
        return answer(SUMMARY), None

    stage.model = ask
    assert await stage.shorten()
    assert sizes
    assert max(sizes) < 10_000 * 0.97
    compacted = stage.journal.entries[-1]
    assert isinstance(compacted, HistoryCompacted)
    assert compacted.by_model
    assert [each.text for each in compacted.words] == ["Sort the teas. Never touch vendor/."]
    again = await Window().fit(list(stage.journal.entries), FACTS)
    assert again == await stage.view()


async def test_many_short_messages_stay_within_their_share() -> None:
    stage = Stage(*(prompt(f"ok {number}") for number in range(4_000)))
    assert await stage.shorten()
    assert stage.window.projection.tokens < 10_000 * 0.75


async def test_a_view_beyond_every_window_keeps_demands_and_the_latest_words() -> None:
    held = ConstraintAdded(constraint=Constraint(id="c1", text="never touch vendor/"))
    entries: list[Entry] = [prompt("go", Note("The folder is /p.", "environment")), held]
    entries.extend(prompt(f"message {number}") for number in range(projection.MOST_MESSAGES))
    window = Window()
    messages = await window.fit(entries, FACTS)
    assert projection.MOST_MESSAGES // 2 < len(messages) <= projection.MOST_MESSAGES
    assert "The folder is /p." in repr(messages[0])
    assert "never touch vendor/" in repr(messages[0])
    assert messages[-1] == entries[-1].message
    assert window.missing_demands(messages) == []
    later = await window.fit(entries, FACTS)
    assert later == messages


async def test_pictures_beyond_every_window_are_left_out_before_words_are() -> None:
    size = projection.MOST_BYTES // 8
    shots = [
        UserSaid(message=User((Text(f"look {n}"), Image("image/png", bytes(size)))))
        for n in range(12)
    ]
    messages = await Window().fit(list(shots), FACTS)
    assert [message.words.startswith(f"look {n}") for n, message in enumerate(messages)] == [
        True
    ] * 12
    pictures = [any(isinstance(b, Image) for b in message.content) for message in messages]
    assert pictures[-1]
    assert 2 <= sum(pictures) < 9


def chain_steps(count: int, size: int) -> list[Entry]:
    return [entry for number in range(count) for entry in step(number, size)]


async def test_a_session_that_is_taken_up_is_measured_as_it_was_when_it_was_left() -> None:
    """What goes with every request counts from the first answer on, also of one that was read again."""
    tools = builtin_tools("edit_file")
    specs = [tool.spec for tool in tools]
    frame = frame_tokens("x" * 4_000, specs)
    said = Assistant((Text("Sorted."),), usage=Usage(input_uncached=frame // 2, output=5))
    entries: list[Entry] = [prompt("sort the teas"), ModelAnswered(message=said), prompt("go on")]
    live = Window()
    live.frame("x" * 4_000, specs)
    for end in range(1, len(entries) + 1):
        await live.fit(entries[:end], FACTS)
    again = Window()
    again.frame("x" * 4_000, specs)
    report = again.report(entries, FACTS)
    assert report == live.report(entries, FACTS)
    assert frame // 2 <= report.total < frame // 2 + 50
    assert again.projection.scale == pytest.approx(0.5, abs=0.05)
    stage = Stage(*entries, ModelAnswered(message=answer("Sorted again. " * 200)))
    stage.window.frame("x" * 4_000, specs)
    done = await stage.window.shorten(
        stage.journal.entries, FACTS, stage.model, stage.journal.append, focus=""
    )
    assert done is not None
    assert done.tokens_after < done.tokens_before + 200


# ---------------------------------------------------------------- counted by the provider


def counting(steps: int, counted: int | None = None) -> Stage:
    """A window with so many steps of which no provider has counted anything; then it counts."""
    stage = Stage(*long_history(steps))
    if counted is not None:
        stage.window.counted(stage.journal.entries, counted)
    return stage


@pytest.mark.parametrize(("steps", "doubtful"), [(2, False), (11, True), (14, True), (30, False)])
def test_only_an_estimate_near_the_edge_is_doubtful(steps: int, doubtful: bool) -> None:
    stage = counting(steps)
    assert stage.window.is_doubtful(stage.journal.entries, FACTS) is doubtful


@pytest.mark.parametrize(("counted", "full"), [(5_000, False), (9_000, True)])
def test_what_the_provider_counts_decides(counted: int, full: bool) -> None:
    stage = counting(12, counted)
    entries = stage.journal.entries
    assert not stage.window.is_doubtful(entries, FACTS)
    assert stage.window.is_full(entries, FACTS) is full
    report = stage.window.report(entries, FACTS)
    assert report.total == counted
    assert report.measured


async def test_what_comes_after_the_count_is_estimated_to_its_scale() -> None:
    stage = counting(8, 12_000)
    for entry in step(90):
        await stage.journal.append(entry)
    total = stage.window.report(stage.journal.entries, FACTS).total
    assert total > 12_000 + 2_000 / 3.6 * 1.5
