"""Time, and whom events are told."""

from collections.abc import Callable
from typing import Protocol, TypeAlias

from hame.base.event import RunEvent

Emit: TypeAlias = Callable[[RunEvent], None]
"""Takes an event; must not block for long and must not raise."""


class Clock(Protocol):
    """Time, so that tests can own it."""

    def now(self) -> float:
        """Unix time in seconds."""
        ...

    def monotonic(self) -> float:
        """Seconds that only grow."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Let that much time pass; can be cancelled."""
        ...
