"""Exit codes. Nothing heavy is imported: every start needs them."""

from enum import IntEnum
from typing import TYPE_CHECKING, assert_never

if TYPE_CHECKING:
    from hame.base.errors import HameError
    from hame.base.event import RunEnded


class ExitCode(IntEnum):
    """What the process says by its end."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    """Wrong usage or configuration; nothing was run."""
    UNANSWERED = 3
    """A call was refused because nobody was there to answer."""
    LIMIT = 4
    """A limit of the run, or of the answer's length."""
    REFUSED = 5
    """The model would not answer."""
    STOPPED = 130
    """By Ctrl-C, as shells have it: 128 and the signal's number."""
    BROKEN_PIPE = 141
    """Nobody reads what is written."""


class KilledError(Exception):
    """The user would not wait for the run to settle, or the system ended the process."""

    def __init__(self, code: int, ended: "RunEnded | None" = None) -> None:
        """`code` is the exit code, `ended` the end of the run where it came to one."""
        super().__init__(code)
        self.code, self.ended = code, ended


def exit_code(ended: "RunEnded") -> ExitCode:
    """The process's exit code for a run; a call refused for want of an answer shows even when done."""
    from hame.base.run import (
        BudgetSpent,
        Refused,
        RunDone,
        RunFailed,
        StepLimit,
        Stopped,
        Truncated,
    )

    match ended.result:
        case RunDone():
            return ExitCode.UNANSWERED if ended.refused else ExitCode.DONE
        case Truncated() | StepLimit() | BudgetSpent():
            return ExitCode.LIMIT
        case Refused():
            return ExitCode.REFUSED
        case Stopped(by_user=by_user):
            return ExitCode.STOPPED if by_user else ExitCode.FAILED
        case RunFailed():
            return ExitCode.FAILED
        case _:
            assert_never(ended.result)


def code_of(error: "HameError") -> ExitCode:
    """The exit code for something that could not be run, or that broke."""
    from hame.base.errors import ConfigError, SessionError

    usage = isinstance(error, ConfigError | SessionError)
    return ExitCode.USAGE if usage else ExitCode.FAILED
