"""A session of a thousand steps in a small window: nothing too large, nothing illegal, nothing lost.

The provider is simulated (see `simulation`): real wires, its own count of tokens, a priced cache.
"""

import os
from pathlib import Path

import pytest

from context.control import PlainSummary
from context.simulation import CONSTRAINTS, Session, started
from hame.base.entry import CacheRead
from hame.base.event import Compacted, ConstraintChanged
from hame.context import Window
from hame.sessions.journal import FileJournal, load_history
from hame.testing import MemoryJournal
from legal.wires import check_request

STEPS = int(os.environ.get("HAME_LONG_STEPS", "400"))
"""Of the session on each wire; 1,000 is what is promised."""
WIRES = ["anthropic_messages", "openai_chat", "openai_responses", "gemini", "ollama"]


def watch(session: Session) -> list[str]:
    """What is missing from any request: demands told before, and the user's last words."""
    missing: list[str] = []

    def check(text: str) -> None:
        missing.extend(demand for demand in session.told if demand not in text)
        if session.prompt not in text:
            missing.append(session.prompt)

    session.checks.append(check)
    return missing


def most_breaks(shortenings: list[Compacted]) -> int:
    """A summary breaks the prefix at most twice: after the request for it, which it ends."""
    return len(shortenings) + sum(bool(each.summary) for each in shortenings)


@pytest.mark.parametrize("wire", WIRES)
async def test_a_long_session_stays_within_the_window_and_legal_and_loses_no_demand(
    wire: str, tmp_path: Path
) -> None:
    path = tmp_path / "s.jsonl"
    with FileJournal.begin(path, started(path)) as journal:
        session = Session(wire, Window(), journal, steps=STEPS)
        missing = watch(session)
        await session.play()
    model = session.model
    assert model.overflows == 0
    assert max(spoken.tokens for spoken in model.spoken) < 32_000
    assert missing == []
    assert session.told == list(CONSTRAINTS)
    for spoken in model.spoken:
        check_request(spoken.body, model.facts)
    shortenings = [each for each in session.events if isinstance(each, Compacted)]
    assert sum(spoken.kept < 1 for spoken in model.spoken) <= most_breaks(shortenings)
    assert any(each.summary for each in shortenings)
    assert any(not each.summary for each in shortenings)


async def test_a_thousand_steps_break_the_prefix_only_where_the_view_was_shortened(
    tmp_path: Path,
) -> None:
    path = tmp_path / "s.jsonl"
    with FileJournal.begin(path, started(path)) as journal:
        session = Session("anthropic_messages", Window(), journal, steps=1_000, keep_bodies=False)
        missing = watch(session)
        await session.play()
    model = session.model
    assert (model.overflows, missing) == (0, [])
    breaks = sum(spoken.kept < 1 for spoken in model.spoken)
    shortenings = [each for each in session.events if isinstance(each, Compacted)]
    assert breaks <= most_breaks(shortenings)
    readings = [e.reading for e in journal.entries if isinstance(e, CacheRead)]
    assert len(readings) == len(model.spoken)
    broken = [reading for reading in readings if reading.broke]
    assert len(broken) == breaks
    assert all(reading.why for reading in readings if reading.got < reading.expected * 0.9)
    assert not any("did not serve" in reading.why for reading in readings)
    noted = [each.text for each in session.events if isinstance(each, ConstraintChanged)]
    assert sorted(noted) == sorted(CONSTRAINTS)


async def test_what_a_session_shows_is_the_same_when_it_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    with FileJournal.begin(path, started(path)) as journal:
        session = Session("openai_chat", Window(), journal, steps=200)
        await session.play()
        shown = await session.context.fit(journal.entries, session.model.facts)
    again = await Window().fit(load_history(path).entries, session.model.facts)
    assert again == shown


async def test_it_costs_less_and_knows_more_than_a_plain_summary_does() -> None:
    ours = Session("anthropic_messages", Window(), MemoryJournal(), steps=400, keep_bodies=False)
    plain = Session(
        "anthropic_messages", PlainSummary(), MemoryJournal(), steps=400, keep_bodies=False
    )
    await ours.play()
    await plain.play()
    assert ours.model.cost < plain.model.cost
    assert ours.known > plain.known
