"""What a run has used so far, and whether it may ask once more."""

from collections.abc import Callable

from hame.base.model import ModelFacts, Usage


class Spending:
    """Counts the answers of one run. Each is priced by itself: a long prompt may cost other rates."""

    def __init__(self, facts: Callable[[], ModelFacts]) -> None:
        """Nothing was used yet; `facts` are those of the model that answered last."""
        self._facts = facts
        self._held = 0
        self.usage = Usage()
        self.cost_usd = facts().cost(Usage())
        """None: unknown, because a price is."""

    def add(self, usage: Usage, held: int | None) -> float | None:
        """Count one answer; what it cost.

        `held` is how many tokens the conversation now has; None for an answer beside it.
        """
        self.usage += usage
        self._held = self._held if held is None else held
        cost = self._facts().cost(usage)
        if self.cost_usd is not None:
            self.cost_usd = None if cost is None else self.cost_usd + cost
        return cost

    def reaches(self, limit_usd: float) -> bool:
        """Whether one more request would cost more than is left.

        The next request holds at least what the last one held, read from the cache at best.
        """
        if self.cost_usd is None:
            return False
        least = self._facts().cost(Usage(cache_read=self._held)) or 0.0
        return self.cost_usd >= limit_usd or self.cost_usd + least > limit_usd
