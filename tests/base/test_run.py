"""A day's allowance is spent by all its runs together."""

import pytest

from hame.base.run import Allowance, BudgetSpent


@pytest.mark.parametrize(
    ("allowance", "reached"),
    [
        (Allowance(steps=10, used_steps=8), BudgetSpent(what="steps today", limit=10)),
        (Allowance(tokens=1_000, used_tokens=500), BudgetSpent(what="tokens today", limit=1_000)),
        (Allowance(seconds=60, used_seconds=58), BudgetSpent(what="time today", limit=60)),
        (Allowance(cost_usd=1.0, used_usd=0.6), BudgetSpent(what="cost today", limit=1.0)),
        (Allowance(steps=11, used_steps=8), None),
        (Allowance(), None),
    ],
)
def test_the_first_limit_that_is_reached_is_named(
    allowance: Allowance, reached: BudgetSpent | None
) -> None:
    assert allowance.spent(steps=2, tokens=500, seconds=2.0, cost_usd=0.4) == reached
