"""FakeClock: time that a test owns."""

import heapq
from itertools import count

import anyio
import anyio.lowlevel


class FakeClock:
    """Implements `hame.base.ports.Clock` without waiting.

    With `auto`, whoever sleeps moves the clock on by that much at once; without, sleepers wait until
    `advance` has moved it far enough, and wake in the order of their times.
    """

    def __init__(self, now: float = 1_800_000_000.0, *, auto: bool = True) -> None:
        """Begin at this Unix time, in seconds."""
        self._start = now
        self._passed = 0.0
        self._auto = auto
        self._order = count()
        self._sleepers: list[tuple[float, int, anyio.Event]] = []
        self.slept: list[float] = []
        """How long was slept, each time, in seconds."""

    def now(self) -> float:
        """Unix time in seconds."""
        return self._start + self._passed

    def monotonic(self) -> float:
        """Seconds since it was made."""
        return self._passed

    async def sleep(self, seconds: float) -> None:
        """Let that much time pass.

        Raises:
            ValueError: for less than no time.
        """
        if seconds < 0:
            raise ValueError(f"{seconds} is a negative time")
        self.slept.append(seconds)
        until = self._passed + seconds
        if self._auto or until <= self._passed:
            await anyio.lowlevel.checkpoint()
            self._passed = max(self._passed, until)
            return
        woken = anyio.Event()
        heapq.heappush(self._sleepers, (until, next(self._order), woken))
        await woken.wait()

    async def advance(self, seconds: float) -> None:
        """Move on by that much: wake who is due, one after the other, and let each go on."""
        until = self._passed + seconds
        while self._sleepers and self._sleepers[0][0] <= until:
            due, _, woken = heapq.heappop(self._sleepers)
            self._passed = max(self._passed, due)
            woken.set()
            await anyio.wait_all_tasks_blocked()
        self._passed = until

    @property
    def sleepers(self) -> int:
        """How many wait for the clock to be moved on."""
        return len(self._sleepers)
