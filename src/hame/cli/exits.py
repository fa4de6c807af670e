"""Exit codes of a run."""

from typing import assert_never

from hame.base.event import RunEnded
from hame.base.run import (
    BudgetSpent,
    Refused,
    RunDone,
    RunFailed,
    StepLimit,
    Stopped,
    Truncated,
)

DONE = 0
FAILED = 1
USAGE = 2
UNANSWERED = 3
LIMIT = 4
REFUSED = 5
STOPPED = 130
BROKEN_PIPE = 141


def exit_code(ended: RunEnded) -> int:
    """The process's exit code for a run; a call refused for want of an answer shows even when done."""
    match ended.result:
        case RunDone():
            return UNANSWERED if ended.refused else DONE
        case Truncated() | StepLimit() | BudgetSpent():
            return LIMIT
        case Refused():
            return REFUSED
        case Stopped(by_user=by_user):
            return STOPPED if by_user else FAILED
        case RunFailed():
            return FAILED
        case _:
            assert_never(ended.result)
