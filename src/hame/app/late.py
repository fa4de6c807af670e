"""Snapshots that are put together with the first call that may change a file."""

from collections.abc import Callable, Sequence

from typing_extensions import override

from hame.base.ports import Snapshots
from hame.base.snapshot import Attempt, Step, UndoPlan


class LateSnapshots(Snapshots):
    """Implements the Snapshots port by what `make` makes, once it is needed."""

    def __init__(self, make: Callable[[], Snapshots]) -> None:
        """Make nothing yet."""
        self._make = make
        self._made: Snapshots | None = None

    @property
    def _inner(self) -> Snapshots:
        if self._made is None:
            self._made = self._make()
        return self._made

    @override
    async def begin(self, attempt: Attempt) -> str | None:
        """As the real ones do."""
        return await self._inner.begin(attempt)

    @override
    def end(self, call: str) -> None:
        """As the real ones do; a call that was not begun has no end."""
        if self._made is not None:
            self._made.end(call)

    @override
    async def settle(self) -> Sequence[str]:
        """As the real ones do."""
        return await self._made.settle() if self._made is not None else ()

    @override
    async def steps(self) -> Sequence[Step]:
        """As the real ones do."""
        return await self._inner.steps()

    @override
    async def plan(self, numbers: Sequence[int], *, over: bool = False) -> UndoPlan:
        """As the real ones do.

        Raises:
            ToolError: as they do.
        """
        return await self._inner.plan(numbers, over=over)

    @override
    async def undo(self, plan: UndoPlan, title: str, record: str, head: str = "") -> Step | None:
        """As the real ones do.

        Raises:
            ToolError: as they do.
        """
        return await self._inner.undo(plan, title, record, head)
