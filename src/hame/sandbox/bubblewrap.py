"""Level A: bubblewrap's namespaces and a filter of system calls.

The machine's files are there to be read, secrets and hame's own folders are not; what may be written is
the private folder for temporary files and, where the call reaches so far, the project. What other programs
would run or obey stays as it is. There is no network but, where hosts were granted, hame's own gateway.
Why it is built like this: docs/decisions/0010.
"""

from collections.abc import AsyncGenerator
from contextlib import ExitStack, asynccontextmanager

import anyio
import anyio.to_thread

from hame.base.confinement import Level, Reach, Standing
from hame.base.errors import ToolError
from hame.base.ports import Cell, Processes
from hame.base.process import Launch
from hame.sandbox.construction import Builder
from hame.sandbox.namespaces import Bwrap, Unusable, find_bwrap
from hame.sandbox.site import Site


class Bubblewrap:
    """Confines programs by bubblewrap and seccomp."""

    def __init__(self, site: Site, processes: Processes) -> None:
        """`processes` start bubblewrap itself when it is tried."""
        self._site = site
        self._processes = processes
        self._builder = Builder(site)
        self._trying = anyio.Lock()
        self._found: Bwrap | Unusable | None = None

    async def prepare(self) -> Standing:
        """Try bubblewrap, once; take away what sandboxes of a killed hame have left."""
        found = await self._find()
        if isinstance(found, Unusable):
            return Standing(level=Level.NONE, reason=found.reason, remedy=found.remedy)
        return Standing(level=Level.A, mechanism=f"bubblewrap {found.version} + seccomp")

    @asynccontextmanager
    async def confine(self, launch: Launch) -> AsyncGenerator[Cell]:
        """The same program in its sandbox.

        Raises:
            ToolError: if it cannot be confined as it has to be.
        """
        confinement = launch.confinement
        if confinement is None or confinement.reach is Reach.OUTSIDE:
            yield Cell(launch=launch)
            return
        bwrap = await self._find()
        if isinstance(bwrap, Unusable):
            raise ToolError(f"there is no sandbox: {bwrap.reason}", hint=bwrap.remedy)
        stack = ExitStack()
        try:
            build = anyio.to_thread.run_sync(self._builder.build, launch, bwrap, stack)
            started, trampoline = await build
            yield Cell(launch=started, enclosure=trampoline)
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(stack.close)

    async def _find(self) -> Bwrap | Unusable:
        async with self._trying:
            if self._found is None:
                paths = self._site.paths
                unsafe = (paths.root, *paths.added, paths.temporary, self._site.caches)
                self._found = await find_bwrap(
                    self._site.search_path, self._processes, [*filter(None, unsafe)]
                )
                try:
                    await anyio.to_thread.run_sync(self._builder.clear)
                except OSError as error:
                    reason = f"cannot use {self._site.scratch}: {error.strerror}"
                    self._found = Unusable(reason=reason)
            return self._found
