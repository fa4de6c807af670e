"""What the terminal says about a session's memory."""

import pytest

from hame.app.memory import Memory
from hame.base.entry import CacheRead, ConstraintRemoved, NoteAdded, TitleSet, UserSaid
from hame.base.errors import HameError
from hame.base.event import ConstraintChanged, RunEvent
from hame.base.memory import CacheReading, Shortened, WindowPart, WindowReport
from hame.base.message import Text, User
from hame.base.model import ModelFacts
from hame.cli.remembering import cache_lines, remember, window_lines
from hame.cli.slash import Slash
from hame.context import Window
from hame.testing import FakeClock, MemoryJournal

FACTS = ModelFacts(backend="b", model="m", wire="openai_chat", context_window=10_000)


class Stage:
    def __init__(self, shortened: Shortened | None = None) -> None:
        self.journal = MemoryJournal(entries=[UserSaid(message=User((Text("go"),)))])
        self.events: list[RunEvent] = []
        self.shortened = shortened
        self.focus = "?"
        self.memory = Memory(
            journal=self.journal,
            context=Window(),
            clock=FakeClock(),
            emit=self.events.append,
            facts=self.facts,
            compact=self.compact,
        )

    async def facts(self) -> ModelFacts:
        return FACTS

    async def compact(self, focus: str) -> Shortened | None:
        self.focus = focus
        return self.shortened

    async def do(self, name: str, argument: str = "") -> list[str]:
        return await remember(self.memory, Slash(name, argument))


async def test_demands_are_added_listed_changed_and_taken_back() -> None:
    stage = Stage()
    assert (await stage.do("constraints"))[0] == "no demands hold yet"
    assert await stage.do("constraints", "add never touch vendor/") == [
        "c1 holds from now on: never touch vendor/"
    ]
    assert "never touch vendor/" in (await stage.do("constraints"))[0]
    assert await stage.do("constraints", "change c1 never touch lib/") == [
        "c2 holds from now on: never touch lib/"
    ]
    assert await stage.do("constraints", "remove c2") == ["c2 holds no more: never touch lib/"]
    assert (await stage.do("constraints"))[0] == "no demands hold yet"
    told = [entry.text for entry in stage.journal.entries if isinstance(entry, NoteAdded)]
    assert len(told) == 3
    assert "holds no more: never touch lib/" in told[-1]
    assert [e.added for e in stage.events if isinstance(e, ConstraintChanged)] == [
        True, False, True, False,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("argument", "why"),
    [
        ("add", "needs words"),
        ("add " + "x" * 400, "at most 300"),
        ("remove c9", "no constraint c9"),
        ("change c9 x", "no constraint c9"),
        ("frobnicate", "does not know frobnicate"),
    ],
)
async def test_what_cannot_be_done_is_said_with_the_remedy(argument: str, why: str) -> None:
    stage = Stage()
    before = len(stage.journal.entries)
    with pytest.raises(HameError, match=why) as caught:
        await stage.do("constraints", argument)
    assert caught.value.hint
    assert len(stage.journal.entries) == before


async def test_a_change_to_nothing_leaves_the_demand_as_it_was() -> None:
    stage = Stage()
    await stage.do("constraints", "add use tabs")
    with pytest.raises(HameError, match="needs words"):
        await stage.do("constraints", "change c1 ")
    assert not any(isinstance(e, ConstraintRemoved) for e in stage.journal.entries)


async def test_a_summary_is_shown_with_what_it_freed() -> None:
    stage = Stage(Shortened(tokens_before=9_000, tokens_after=2_000, summary="## Goal\nTea."))
    lines = await stage.do("compact", "the tea")
    assert stage.focus == "the tea"
    assert lines == ["9.0k tokens → 2.0k", "this is what the model keeps:", "## Goal", "Tea."]
    stage.shortened = None
    assert await stage.do("compact") == ["there is too little to summarise yet"]


async def test_the_window_is_shown_by_part() -> None:
    lines = await Stage().do("context")
    assert "of 10.0k tokens" in lines[0]
    assert any("your messages" in line for line in lines)
    assert any(line.endswith("free") for line in lines)


def test_a_window_that_is_assumed_says_so_and_advice_comes_last() -> None:
    report = WindowReport(
        window=1_000, assumed=True, total=900, parts=(WindowPart("tools", 900, 3),), advice=("Do.",)
    )
    lines = window_lines(report)
    assert "(assumed)" in lines[0]
    assert "tools  3" in lines[1]
    assert lines[-1] == "Do."


async def test_names_are_given() -> None:
    stage = Stage()
    assert "the teas" in (await stage.do("rename", "the  teas"))[0]
    assert TitleSet(title="the teas") in stage.journal.entries
    assert await stage.do("label", "before the rewrite") == [
        "this place is labelled before the rewrite"
    ]
    with pytest.raises(HameError, match="needs a name"):
        await stage.do("rename")
    with pytest.raises(HameError, match="no record"):
        await stage.memory.label("x", "999")


async def test_the_cache_is_explained_request_by_request() -> None:
    stage = Stage()
    assert await stage.do("cache") == ["no request of this session was counted yet"]
    reading = CacheReading(
        model="b/m", at=0.0, messages=1, digest="d", size=1, total=10_000, got=2_000,
        expected=9_000, why="the tools changed: edit_file", lost_usd=0.02,
    )  # fmt: skip
    await stage.journal.append(CacheRead(reading=reading))
    lines = await stage.do("cache")
    assert "2.0k of 10.0k tokens from the cache (20%)" in lines[0]
    assert "the tools changed: edit_file" in lines[1]
    assert len(cache_lines([reading] * 50)) == 13
