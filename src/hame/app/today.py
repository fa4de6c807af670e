"""What all runs of a day may use together, and what they have used: read from the journals."""

import time

from hame.base.run import Allowance
from hame.base.settings import Settings
from hame.config.places import Places


def allowance(settings: Settings, places: Places, now: float) -> Allowance | None:
    """What is left of the day's limits before a run begins; None where there are none."""
    if not settings.limits_days:
        return None
    from hame.app.spending import prices
    from hame.sessions.spent import read_seconds, read_spent

    since = _midnight(now)
    spent = list(read_spent(places.sessions, since=since))
    priced = prices(places)
    timed = settings.max_time_per_day_s is not None
    return Allowance(
        steps=settings.max_steps_per_day,
        tokens=settings.max_tokens_per_day,
        seconds=settings.max_time_per_day_s,
        cost_usd=settings.max_cost_per_day_usd,
        used_steps=len(spent),
        used_tokens=sum(each.usage.input_total + each.usage.output for each in spent),
        used_seconds=read_seconds(places.sessions, since) if timed else 0.0,
        used_usd=sum(priced.cost(each) or 0.0 for each in spent),
    )


def _midnight(now: float) -> float:
    """When the day began, by the clock on the wall."""
    day = time.localtime(now)
    return time.mktime((day.tm_year, day.tm_mon, day.tm_mday, 0, 0, 0, 0, 0, -1))
