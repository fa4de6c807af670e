"""How a run ends, and the limits it keeps to."""

from typing import TypeAlias

import msgspec

from hame.base.errors import Failure


class _RunResult(msgspec.Struct, frozen=True, tag_field="type", omit_defaults=True):
    """Base of the run results."""


class RunDone(_RunResult, frozen=True, tag="done"):
    """The model finished its turn."""

    text: str
    """The last answer's text."""


class Truncated(_RunResult, frozen=True, tag="truncated"):
    """The answer hit the model's output limit; the partial text is kept."""

    text: str


class Refused(_RunResult, frozen=True, tag="refused"):
    """The model, or its provider's filter, would not answer."""

    text: str
    reason: str


class StepLimit(_RunResult, frozen=True, tag="step_limit"):
    """The limit of steps was reached; the run can be continued."""

    steps: int


class BudgetSpent(_RunResult, frozen=True, tag="budget_spent"):
    """A limit of tokens, time or money was reached; the run can be continued."""

    what: str
    """`time`, `tokens` or `cost`; with ` today` after it where it is the day's, and then also `steps`."""
    limit: float


class Stopped(_RunResult, frozen=True, tag="stopped"):
    """The user stopped it, or the progress guard did."""

    reason: str
    by_user: bool = True


class RunFailed(_RunResult, frozen=True, tag="failed"):
    """It could not go on."""

    failure: Failure


RunResult: TypeAlias = RunDone | Truncated | Refused | StepLimit | BudgetSpent | Stopped | RunFailed


class Allowance(msgspec.Struct, frozen=True, kw_only=True):
    """What all runs of a day may use together, and what the others have used by now."""

    steps: int | None = None
    tokens: int | None = None
    seconds: float | None = None
    cost_usd: float | None = None
    used_steps: int = 0
    used_tokens: int = 0
    used_seconds: float = 0.0
    used_usd: float = 0.0
    """Of what is known."""

    def spent(
        self, *, steps: int, tokens: int, seconds: float, cost_usd: float
    ) -> BudgetSpent | None:
        """The limit that is reached when a run has used this much; None while none is."""
        used = (
            ("steps", self.steps, self.used_steps + steps),
            ("tokens", self.tokens, self.used_tokens + tokens),
            ("time", self.seconds, self.used_seconds + seconds),
            ("cost", self.cost_usd, self.used_usd + cost_usd),
        )
        for what, limit, all_together in used:
            if limit is not None and all_together >= limit:
                return BudgetSpent(what=f"{what} today", limit=limit)
        return None


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What a run may use; None is no limit."""

    steps: int = 100
    output_tokens: int | None = None
    """Of one answer."""
    total_tokens: int | None = None
    """Input and output of the whole run."""
    seconds: float | None = None
    cost_usd: float | None = None
