"""What all runs of a day may use together, and what they have used: read from the journals."""

import time
from collections.abc import Callable

from msgspec.structs import replace

from hame.app.spending import Prices, prices
from hame.base.run import Allowance
from hame.base.settings import Settings
from hame.config.places import Places
from hame.sessions.spent import Ledger, Spent

_LONGEST_DAY_S = 25 * 3_600.0
"""A day on which the clocks are set back."""
AGAIN_AFTER_S = 1.0
"""The journals are not looked at more often."""


class Today:
    """What is left of the day's limits, while other runs use them too."""

    def __init__(
        self, settings: Settings, places: Places, now: Callable[[], float], session: str = ""
    ) -> None:
        """What `session` uses from now on is not counted as used: its run counts that itself."""
        self._settings, self._places, self._now = settings, places, now
        self._session, self._began = session, now()
        self._prices: Prices | None = None
        self._looked = self._midnight = 0.0
        self._ledger = Ledger(places.sessions)
        self._left = Allowance()

    def left(self) -> Allowance:
        """What was used by now; after midnight another day begins."""
        now = self._now()
        if self._looked <= now < self._looked + AGAIN_AFTER_S:
            return self._left
        self._looked = now
        if (midnight := _midnight(now)) != self._midnight:
            self._midnight = midnight
            self._ledger = Ledger(self._places.sessions, midnight)
            self._left = _limits(self._settings)
        self._prices = self._prices or prices(self._places)
        for found in self._ledger.read_on():
            own = found.session == self._session and found.at >= self._began
            if own or found.at >= self._midnight + _LONGEST_DAY_S:
                continue  # Also what was written while the clock stood in the future.
            if isinstance(found, Spent):
                self._left = _plus(self._left, found, self._prices.cost(found))
            else:
                seconds = self._left.used_seconds + found.seconds
                self._left = replace(self._left, used_seconds=seconds)
        return self._left


def _limits(settings: Settings) -> Allowance:
    return Allowance(
        steps=settings.max_steps_per_day,
        tokens=settings.max_tokens_per_day,
        seconds=settings.max_time_per_day_s,
        cost_usd=settings.max_cost_per_day_usd,
    )


def _plus(left: Allowance, spent: Spent, cost: float | None) -> Allowance:
    usage = spent.usage
    return replace(
        left,
        used_steps=left.used_steps + 1,
        used_tokens=left.used_tokens + usage.input_total + usage.output,
        used_usd=left.used_usd + (cost or 0.0),
    )


def _midnight(now: float) -> float:
    """When the day began, by the clock on the wall."""
    day = time.localtime(now)
    return time.mktime((day.tm_year, day.tm_mon, day.tm_mday, 0, 0, 0, 0, 0, -1))
