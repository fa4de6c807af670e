"""Level A: bubblewrap's namespaces and a filter of system calls.

The machine's files are there to be read, secrets and hame's own folders are not; what may be written is
the private folder for temporary files and, where the call reaches so far, the project. What other programs
would run or obey stays as it is. There is no network but, where hosts were granted, hame's own gateway.
Why it is built like this: docs/decisions/0010.
"""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from secrets import token_hex

import anyio
import anyio.to_thread

from hame.base.confinement import Confinement, Level, Reach, Standing
from hame.base.errors import ToolError
from hame.base.ports import Cell, Gateway, Processes
from hame.base.process import Launch
from hame.sandbox.construction import Builder
from hame.sandbox.loopback import Loopback, make_loopback
from hame.sandbox.namespaces import Bwrap, Unusable, find_bwrap
from hame.sandbox.site import Site


class Bubblewrap:
    """Confines programs by bubblewrap and seccomp."""

    def __init__(
        self,
        site: Site,
        processes: Processes,
        gateway: Gateway | None = None,
        *,
        linger_s: float = 0.0,
    ) -> None:
        """`processes` start bubblewrap itself when it is tried; `gateway` leads to granted hosts.

        What stands in the place of missing names goes `linger_s` after the last command.
        """
        self._site = site
        self._processes = processes
        self._gateway = gateway
        self._builder = Builder(site, linger_s)
        self._trying = anyio.Lock()
        self._found: Bwrap | Unusable | None = None
        self._joining = anyio.Lock()
        self._loopback: Loopback | None = None
        self._joined = False

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
        loopback = await self._network_of(confinement, bwrap)
        async with self._way_out(confinement) as (socket, refused):
            stack = ExitStack()
            build = partial(self._builder.build, gateway=socket, loopback=loopback)
            try:
                started, trampoline = await anyio.to_thread.run_sync(build, launch, bwrap, stack)
                yield Cell(launch=started, enclosure=trampoline, refused=refused)
            finally:
                with anyio.CancelScope(shield=True):
                    await anyio.to_thread.run_sync(stack.close)

    async def close(self) -> None:
        """Leave nothing on disk."""
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(self._builder.close)
        if self._loopback is not None:
            self._loopback.close()

    @asynccontextmanager
    async def _way_out(
        self, confinement: Confinement
    ) -> AsyncGenerator[tuple[str, Callable[[], Sequence[str]]]]:
        """The socket of the way to granted hosts, and what tells which others were wanted.

        Raises:
            ToolError: if there is none.
        """
        if not confinement.hosts:
            yield "", tuple
            return
        if self._gateway is None:
            raise ToolError("there is no way to the network here, for no command")
        folder = Path(self._site.scratch, token_hex(4))
        try:
            await anyio.to_thread.run_sync(partial(folder.mkdir, 0o700, parents=True))
        except OSError as error:
            raise ToolError(f"cannot make {folder}: {error.strerror}") from error
        try:
            async with self._gateway.open(f"{folder}/p", confinement.hosts) as refused:
                yield f"{folder}/p", refused
        finally:
            with anyio.CancelScope(shield=True), suppress(OSError):
                await anyio.to_thread.run_sync(folder.rmdir)

    async def _network_of(self, confinement: Confinement, bwrap: Bwrap) -> Loopback | None:
        """What it is started in: commands that may write, and reach no host, meet on one loopback.

        One that has a way out has a loopback of its own, on which nobody else can take that way.
        """
        if confinement.reach is not Reach.WRITE or confinement.hosts:
            return None
        async with self._joining:
            if not self._joined:
                self._loopback = await make_loopback(
                    bwrap, self._site.search_path, self._processes, self._unsafe()
                )
                self._joined = True
            return self._loopback

    def _unsafe(self) -> Sequence[str]:
        """Folders in which commands may put programs."""
        paths = self._site.paths
        places = (paths.root, *paths.added, paths.temporary, self._site.caches)
        return [place for place in places if place]

    async def _find(self) -> Bwrap | Unusable:
        async with self._trying:
            if self._found is None:
                self._found = await find_bwrap(
                    self._site.search_path, self._processes, self._unsafe()
                )
                try:
                    await anyio.to_thread.run_sync(self._builder.clear)
                except OSError as error:
                    reason = f"cannot use {self._site.scratch}: {error.strerror}"
                    self._found = Unusable(reason=reason)
            return self._found
