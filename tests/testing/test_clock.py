"""The fake clock, against what every clock does and what it adds."""

import anyio
import pytest

from contracts.clock import ClockContract
from hame.app.clock import SystemClock
from hame.base.ports import Clock
from hame.testing import FakeClock


class TestFakeClockIsAClock(ClockContract):
    @pytest.fixture
    def clock(self) -> Clock:
        return FakeClock()


class TestSystemClockIsAClock(ClockContract):
    @pytest.fixture
    def clock(self) -> Clock:
        return SystemClock()


async def test_sleeping_an_hour_takes_no_time() -> None:
    clock = FakeClock(1000.0)
    with anyio.fail_after(5):
        await clock.sleep(3600)
    assert (clock.now(), clock.monotonic(), clock.slept) == (4600.0, 3600.0, [3600])


async def test_without_auto_a_sleeper_waits_until_the_clock_is_moved_on() -> None:
    clock = FakeClock(auto=False)
    woken: list[tuple[str, float]] = []

    async def sleeper(name: str, seconds: float) -> None:
        await clock.sleep(seconds)
        woken.append((name, clock.monotonic()))

    async with anyio.create_task_group() as group:
        group.start_soon(sleeper, "late", 30.0)
        group.start_soon(sleeper, "early", 10.0)
        await anyio.wait_all_tasks_blocked()
        assert (clock.sleepers, woken) == (2, [])
        await clock.advance(9.0)
        assert woken == []
        await clock.advance(100.0)
    assert woken == [("early", 10.0), ("late", 30.0)]
    assert clock.monotonic() == 109.0


async def test_a_sleeper_that_sleeps_again_is_woken_within_the_same_advance() -> None:
    clock = FakeClock(auto=False)
    ticks: list[float] = []

    async def ticker() -> None:
        for _ in range(3):
            await clock.sleep(5)
            ticks.append(clock.monotonic())

    async with anyio.create_task_group() as group:
        group.start_soon(ticker)
        await anyio.wait_all_tasks_blocked()
        await clock.advance(20)
    assert ticks == [5.0, 10.0, 15.0]
