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
    """`time`, `tokens` or `cost`."""
    limit: float


class Stopped(_RunResult, frozen=True, tag="stopped"):
    """The user stopped it, or the progress guard did."""

    reason: str
    by_user: bool = True


class RunFailed(_RunResult, frozen=True, tag="failed"):
    """It could not go on."""

    failure: Failure


RunResult: TypeAlias = RunDone | Truncated | Refused | StepLimit | BudgetSpent | Stopped | RunFailed


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What a run may use; None is no limit."""

    steps: int = 100
    output_tokens: int | None = None
    """Of one answer."""
    total_tokens: int | None = None
    """Input and output of the whole run."""
    seconds: float | None = None
    cost_usd: float | None = None
