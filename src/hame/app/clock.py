"""The machine's own time."""

import time

import anyio


class SystemClock:
    """Implements the Clock port."""

    def now(self) -> float:
        """Unix time in seconds."""
        return time.time()

    def monotonic(self) -> float:
        """Seconds that only grow."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Let that much time pass."""
        await anyio.sleep(seconds)
