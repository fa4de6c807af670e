"""No sandbox: the user said so, or this machine has none."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext

from hame.base.confinement import Confinement, Level, SandboxDenied, Standing
from hame.base.ports import Cell
from hame.base.process import Launch


class Unconfined:
    """Implements the Sandbox port by confining nothing, and saying so."""

    def __init__(self, reason: str = "", remedy: str = "") -> None:
        """Say why, and what the user can do about it, where it is not the user's own wish."""
        self._standing = Standing(level=Level.NONE, reason=reason, remedy=remedy)

    @property
    def level(self) -> Level:
        """Shown on every surface."""
        return Level.NONE

    async def prepare(self) -> Standing:
        """There is nothing to try."""
        return self._standing

    def confine(self, launch: Launch) -> AbstractAsyncContextManager[Cell]:
        """The same program, as it is."""
        return nullcontext(Cell(launch=launch))

    def explain(
        self, confinement: Confinement, output: str, refused: Sequence[str], cwd: str
    ) -> tuple[SandboxDenied, ...]:
        """Nothing was kept from it."""
        del confinement, output, refused, cwd
        return ()
