"""What has left a cell made by an older Landlock, whose domain does not say who belongs to it.

While such a cell is open hame is the parent of orphans (PR_SET_CHILD_SUBREAPER, prctl(2)). One that is
confined, that hame has not started itself, and that bears no mark by which its cell would find it, is taken
for one of the cell that ends: also where another one, running beside it, has lost it.
"""

import contextlib
import ctypes
import os

from typing_extensions import override

from hame.base.ports import Inmates
from hame.sandbox.processes import (
    filters_of,
    has_variable,
    is_alive,
    list_processes,
    parent_of,
    send,
    started_at,
)

_SET_CHILD_SUBREAPER = 36


_LEADERS: dict["Orphanage", int] = {}
"""The cells that this process has open, and the process of each; orphans are the whole process's."""


class Orphanage(Inmates):
    """Orphans that a cell has left behind."""

    def __init__(self, mark: str) -> None:
        """Adopt from now on; what has `mark` in its environment is found without this."""
        self._mark = mark
        self._leader = 0
        _LEADERS[self] = 0
        _adopt(1)

    @override
    def began(self, leader: int) -> None:
        """Remember a process that hame has started itself."""
        self._leader = leader
        _LEADERS[self] = leader

    @override
    def send(self, number: int) -> bool:
        """Send a signal (0: none) to its orphans; whether any lived."""
        since = started_at(self._leader)
        me, leaders = os.getpid(), set(_LEADERS.values())
        own = filters_of(me)
        alive = False
        for process in list_processes():
            if process in leaders or parent_of(process) != me:
                continue
            if filters_of(process) <= own or started_at(process) < since:
                continue
            if not is_alive(process):
                _bury(process)
            elif not has_variable(process, self._mark):
                alive = send(process, number) or alive
        return alive

    def close(self) -> None:
        """Adopt no more, unless another cell is open."""
        _LEADERS.pop(self, None)
        if not _LEADERS:
            _adopt(0)


def _bury(process: int) -> None:
    """Collect the exit status that nobody else will ask for."""
    with contextlib.suppress(ChildProcessError):
        os.waitpid(process, os.WNOHANG)


def _adopt(flag: int) -> None:
    words = [ctypes.c_ulong(each) for each in (flag, 0, 0, 0)]
    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, *words)
