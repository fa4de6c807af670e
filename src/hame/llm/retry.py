"""When a failed request is sent again, and after how long."""

from collections.abc import Callable
from os import urandom

import msgspec

from hame.base.errors import ErrorKind, Failure


class RetryPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """Exponential waits with full jitter, or the wait the server asks for; all in seconds."""

    attempts: int = 6
    """How often a request is sent at most."""
    silent_attempts: int = 3
    """How often at most when a server keeps silent until a timeout."""
    first_s: float = 0.5
    """Upper end of the first wait; it doubles with each further one."""
    longest_s: float = 8.0
    """Upper end of any wait of our own."""
    max_server_wait_s: float = 60.0
    """Longest wait a server may ask for, and the sum of all waits."""


def chance() -> float:
    """A number from 0 to 1, different in every process of a crowd."""
    return int.from_bytes(urandom(4)) / 2**32


class Retries:
    """The attempts of one request."""

    __slots__ = ("_draw", "_policy", "_silences", "_waited", "attempt")

    def __init__(self, policy: RetryPolicy, draw: Callable[[], float] = chance) -> None:
        """`draw` gives numbers from 0 to 1."""
        self._policy = policy
        self._draw = draw
        self._waited = 0.0
        self._silences = 0
        self.attempt = 1
        """Number of the attempt that is going on, from 1."""

    def wait_after(self, failure: Failure) -> float | None:
        """How long to wait before the next attempt; None when there is none.

        A server's own wait is the least; it is never cut short, so one beyond the limit ends it.
        """
        policy = self._policy
        if failure.kind is ErrorKind.TIMEOUT:
            self._silences += 1
        if (
            not failure.retryable
            or self.attempt >= policy.attempts
            or self._silences >= policy.silent_attempts
        ):
            return None
        ceiling = min(policy.longest_s, policy.first_s * 2 ** (self.attempt - 1))
        delay = ceiling * self._draw()
        if failure.retry_after_s:
            delay = failure.retry_after_s + min(delay, 1.0)
            if failure.retry_after_s > policy.max_server_wait_s:
                return None
        if self._waited + delay > policy.max_server_wait_s + 1.0:
            return None
        self._waited += delay
        self.attempt += 1
        return delay
