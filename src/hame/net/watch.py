"""How long one exchange with a server has been silent, and how long it may be."""

from collections.abc import Generator
from contextlib import contextmanager
from math import inf

import anyio

from hame.base.errors import Failure, ModelError
from hame.base.model import Timeouts
from hame.net.faults import timeout_failure


class Watch:
    """Times one exchange; every wait happens inside one of its two scopes."""

    __slots__ = ("_deadline", "_end", "_phase", "_scope", "_timeouts", "_url")

    def __init__(self, timeouts: Timeouts, url: str) -> None:
        """Start the clock of the whole."""
        self._timeouts = timeouts
        self._url = url
        self._end = anyio.current_time() + timeouts.total_s
        self._phase = "connect"
        self._deadline = anyio.current_time() + timeouts.connect_s
        self._scope: anyio.CancelScope | None = None

    async def note(self, event: str, _info: object) -> None:
        """Follow the exchange: a trace callback of httpcore2.

        While the request is being sent, only its writes are timed; once it is out, the server owes
        the first byte of an answer.
        """
        if event.endswith("send_request_headers.started"):
            self._move("connect", inf)
        elif event.endswith("send_request_body.complete"):
            self._move("first_byte", self._timeouts.first_byte_s)

    @contextmanager
    def opening(self) -> Generator[None]:
        """From connecting to the head of the response.

        Raises:
            ModelError: of kind timeout.
        """
        with self._limited():
            yield

    @contextmanager
    def reading(self, *, first: bool) -> Generator[None]:
        """One piece of the body; the first counts from when the request was out.

        Raises:
            ModelError: of kind timeout.
        """
        if not first:
            self._move("idle", self._timeouts.idle_s)
        with self._limited():
            yield

    def _move(self, phase: str, seconds: float) -> None:
        self._phase = phase
        self._deadline = anyio.current_time() + seconds
        if self._scope is not None:
            self._scope.deadline = min(self._deadline, self._end)

    @contextmanager
    def _limited(self) -> Generator[None]:
        with anyio.CancelScope(deadline=min(self._deadline, self._end)) as scope:
            self._scope = scope
            yield
        self._scope = None
        if scope.cancelled_caught:
            raise ModelError(self._fault())

    def _fault(self) -> Failure:
        if self._end <= self._deadline:
            return timeout_failure("total", self._timeouts.total_s, self._url)
        limits = {
            "connect": self._timeouts.connect_s,
            "first_byte": self._timeouts.first_byte_s,
            "idle": self._timeouts.idle_s,
        }
        return timeout_failure(self._phase, limits[self._phase], self._url)
