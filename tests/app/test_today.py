"""The day's limits count what all sessions have used since midnight."""

import time
from pathlib import Path

import pytest

from hame.app.build import open_allowance
from hame.app.today import Today
from hame.base.entry import HistoryCompacted, ModelAnswered, RunFinished, UserSaid
from hame.base.message import Assistant, Origin, Text, User
from hame.base.model import Usage
from hame.base.run import RunDone
from hame.base.settings import Settings
from hame.config.places import Places, find_places
from hame.sessions.journal import FileJournal
from hame.sessions.store import SessionStore
from hame.testing import FakeClock

USED = Usage(input_uncached=1_000, output=100)
NOON = time.mktime((2026, 11, 30, 12, 0, 0, 0, 0, -1))


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return find_places({"HOME": str(tmp_path)})


async def a_run(places: Places, at: float) -> str:
    moment = at
    with SessionStore(Path(places.sessions), now=lambda: moment).create("/p", "1") as journal:
        await journal.append(UserSaid(message=User((Text("go"),))))
        origin = Origin("anthropic_messages", "anthropic", "claude-sonnet-4-5")
        answer = Assistant((Text("ok"),), origin=origin, usage=USED)
        await journal.append(ModelAnswered(message=answer))
        await journal.append(HistoryCompacted(summary="s", kept=0, usage=USED))
        moment += 30.0
        await journal.append(RunFinished(result=RunDone("ok"), usage=USED, steps=1))
        return journal.session


async def test_runs_of_today_count_and_those_of_yesterday_do_not(places: Places) -> None:
    await a_run(places, NOON)
    await a_run(places, NOON + 60)
    await a_run(places, NOON - 86_400)
    await a_run(places, NOON + 400 * 86_400)
    settings = Settings(
        max_steps_per_day=10,
        max_tokens_per_day=5_000,
        max_time_per_day_s=99,
        max_cost_per_day_usd=5,
    )
    left = Today(settings, places, lambda: NOON + 600).left()
    assert (left.used_steps, left.used_tokens, left.used_seconds) == (4, 4_400, 60.0)
    assert left.used_usd > 0
    assert (left.steps, left.tokens, left.seconds, left.cost_usd) == (10, 5_000, 99, 5)


def test_without_limits_nothing_is_read(places: Places) -> None:
    assert open_allowance(Settings(), places, FakeClock(), "s") is None


def test_a_day_without_sessions_has_used_nothing(places: Places) -> None:
    left = Today(Settings(max_time_per_day_s=60), places, lambda: NOON).left()
    assert (left.used_steps, left.used_seconds) == (0, 0.0)


async def test_what_others_use_while_a_run_goes_on_counts_and_what_it_uses_itself_does_not(
    places: Places,
) -> None:
    now = NOON
    session = await a_run(places, NOON - 60)
    today = Today(Settings(max_steps_per_day=9), places, lambda: now, session)
    assert today.left().used_steps == 2  # An earlier run of the same session is not this one.
    now += 10
    with FileJournal.reopen(
        SessionStore(Path(places.sessions)).path(session), now=lambda: now
    ) as journal:
        await journal.append(ModelAnswered(message=Assistant((Text("ok"),), usage=USED)))
    await a_run(places, now)
    now += 10
    assert today.left().used_steps == 4
    assert today.left().used_steps == 4


async def test_after_midnight_the_day_s_limits_begin_anew(places: Places) -> None:
    now = NOON
    await a_run(places, NOON - 60)
    today = Today(Settings(max_steps_per_day=9), places, lambda: now)
    assert today.left().used_steps == 2
    now += 86_400
    assert today.left().used_steps == 0
