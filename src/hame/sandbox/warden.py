"""Everything that lives in a cell made by Landlock, whoever its parent is by now.

A program can leave its group and its session and clear its environment. What it cannot leave is its
Landlock domain; and where signals do not leave a domain either (ABI 6), a thread of hame's that is in the
same domain reaches exactly what lives in it, and nothing else.

Should a kernel not keep to that, the thread would reach all that the user has. So what it reaches is only
sent a signal if it also has the filters of a cell, and is no older than this one.
"""

import os
import queue
import threading

from typing_extensions import override

from hame.base.ports import Inmates
from hame.sandbox.processes import filters_of, is_alive, list_processes, send, started_at

_PATIENCE_S = 5.0
"""How long the thread may take; it does nothing but to send signals."""


class Warden(Inmates):
    """A thread inside the domain, which sends signals to all else that is in it."""

    def __init__(self, filters: int) -> None:
        """Nobody is at the post yet. A cell has so many filters of system calls more than hame."""
        self._filters = filters_of(os.getpid()) + filters
        self._since = 0
        self._orders: queue.SimpleQueue[tuple[int, list[int]] | None] = queue.SimpleQueue()
        self._reports: queue.SimpleQueue[list[int]] = queue.SimpleQueue()
        self._posted = False

    def post(self) -> None:
        """Start the thread. The one that calls is in the domain, so what it starts is as well."""
        threading.Thread(target=self._serve, name="hame warden", daemon=True).start()
        self._posted = True

    @override
    def began(self, leader: int) -> None:
        """Nothing in the cell is older than this."""
        self._since = started_at(leader)

    @override
    def send(self, number: int) -> bool:
        """Send a signal (0: none) to all that live in it; whether any did."""
        if not self._posted:
            return False
        me = os.getpid()
        reached = self._order(0, [process for process in list_processes() if process != me])
        inmates = [process for process in reached if self._belongs(process)]
        if number:
            self._order(number, inmates)
        return any(is_alive(process) for process in inmates)

    def _order(self, number: int, processes: list[int]) -> list[int]:
        """Which of these could be sent a signal from inside."""
        self._orders.put((number, processes))
        try:
            return self._reports.get(timeout=_PATIENCE_S)
        except queue.Empty:
            return []

    def _belongs(self, process: int) -> bool:
        return filters_of(process) >= self._filters and started_at(process) >= self._since

    def close(self) -> None:
        """End the thread; may be called twice."""
        if self._posted:
            self._posted = False
            self._orders.put(None)

    def _serve(self) -> None:
        while (order := self._orders.get()) is not None:
            number, processes = order
            self._reports.put([process for process in processes if send(process, number)])
