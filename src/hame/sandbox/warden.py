"""Everything that lives in a cell made by Landlock, whoever its parent is by now.

A program can leave its group and its session and clear its environment. What it cannot leave is its
Landlock domain; and where signals do not leave a domain either (ABI 6), a thread of hame's that is in the
same domain reaches exactly what lives in it, and nothing else.
"""

import os
import queue
import threading

from typing_extensions import override

from hame.base.ports import Inmates
from hame.sandbox.processes import is_alive, list_processes, send


class Warden(Inmates):
    """A thread inside the domain, which sends signals to all else that is in it."""

    def __init__(self) -> None:
        """Nobody is at the post yet."""
        self._orders: queue.SimpleQueue[tuple[int, list[int]] | None] = queue.SimpleQueue()
        self._reports: queue.SimpleQueue[list[int]] = queue.SimpleQueue()
        self._posted = False

    def post(self) -> None:
        """Start the thread. The one that calls is in the domain, so what it starts is as well."""
        threading.Thread(target=self._serve, name="hame warden", daemon=True).start()
        self._posted = True

    @override
    def began(self, leader: int) -> None:
        """Need not be told: the domain says who belongs to it."""

    @override
    def send(self, number: int) -> bool:
        """Send a signal (0: none) to all that live in it; whether any did."""
        if not self._posted:
            return False
        me = os.getpid()
        self._orders.put((number, [process for process in list_processes() if process != me]))
        return any(is_alive(process) for process in self._reports.get())

    def close(self) -> None:
        """End the thread; may be called twice."""
        if self._posted:
            self._posted = False
            self._orders.put(None)

    def _serve(self) -> None:
        while (order := self._orders.get()) is not None:
            number, processes = order
            self._reports.put([process for process in processes if send(process, number)])
