"""What every Clock does."""

import anyio
import pytest

from hame.base.ports import Clock


class ClockContract:
    """Subclasses give a fixture `clock`."""

    async def test_now_is_a_unix_time(self, clock: Clock) -> None:
        assert 1_700_000_000 < clock.now() < 5_000_000_000

    async def test_monotonic_never_goes_back(self, clock: Clock) -> None:
        times = [clock.monotonic() for _ in range(100)]
        assert times == sorted(times)

    @pytest.mark.parametrize("seconds", [0.02, 0.001])
    async def test_sleeping_lets_that_much_time_pass(self, clock: Clock, seconds: float) -> None:
        wall, start = clock.now(), clock.monotonic()
        await clock.sleep(seconds)
        assert clock.monotonic() - start >= seconds * 0.99
        assert clock.now() > wall

    async def test_sleeping_no_time_lets_others_run_and_returns(self, clock: Clock) -> None:
        ran: list[str] = []

        async def other() -> None:
            ran.append("other")

        async with anyio.create_task_group() as group:
            group.start_soon(other)
            await clock.sleep(0.0)
            ran.append("me")
        assert ran == ["other", "me"]

    async def test_less_than_no_time_cannot_be_slept(self, clock: Clock) -> None:
        with pytest.raises(ValueError, match="negative"):
            await clock.sleep(-1.0)

    async def test_a_sleep_can_be_cancelled(self, clock: Clock) -> None:
        with anyio.CancelScope() as scope:
            scope.cancel()
            await clock.sleep(3600.0)
        assert scope.cancelled_caught
