"""The sandbox that a session uses: the best mechanism that holds here, found by trying.

From A (bubblewrap, on macOS Seatbelt) it falls to B (Landlock) and from there to none, in which case no
command that has to be confined is started. What the user asked for by name never falls: where it does not
work, that is an error. Before anything was tried, `level` says what is expected; this module is imported at
every start and stays cheap, so what it needs to do its work is imported when that begins.
"""

import sys
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, TypeAlias

import msgspec
from typing_extensions import override

from hame.base.confinement import Confinement, Level, Probe, Reach, SandboxDenied, Standing
from hame.base.errors import ToolError
from hame.base.ports import Cell, Gateway, Processes, Sandbox
from hame.base.process import Launch
from hame.base.settings import SandboxChoice
from hame.sandbox.expected import expected_level, remember_level
from hame.sandbox.private import make_private_folder
from hame.sandbox.site import Site

if TYPE_CHECKING:
    import anyio

    from hame.sandbox.audited import Audited, Mechanism


StartIn: TypeAlias = Callable[[Sandbox | None], Processes]
"""What starts programs in a sandbox, or outside of any."""


class Ladder(Sandbox):
    """Implements the Sandbox port by the mechanism that was found."""

    def __init__(
        self,
        site: Site,
        choice: SandboxChoice,
        start_in: StartIn,
        gateway: Callable[[], Gateway] | None = None,
        *,
        linger_s: float = 0.3,
    ) -> None:
        """Try nothing yet. `start_in` is used for trying, and by what has to start helpers.

        `gateway` makes what leads to granted hosts; without it none can be reached. What level A puts in
        the place of missing names stays for `linger_s` after a command: the next wants it again.
        """
        self._gateway = gateway
        self._linger_s = linger_s
        self._site = site
        self._choice = choice
        self._start_in = start_in
        self._turn: anyio.Lock | None = None
        self._expected: Level | None = None
        self._standing: Standing | None = None
        self._mechanism: Audited | None = None

    @property
    @override
    def level(self) -> Level:
        """What was found, or is expected."""
        if self._standing is not None:
            return self._standing.level
        if self._expected is None:
            self._expected = expected_level(self._site, self._choice)
        return self._expected

    @override
    async def prepare(self) -> Standing:
        """Try, once, in the very sandbox that will be used, whether it holds; fall to what does.

        Raises:
            ToolError: if the mechanism that the user asked for by name does not work here.
        """
        import anyio
        import anyio.to_thread

        if self._turn is None:
            self._turn = anyio.Lock()
        async with self._turn:
            if self._standing is None:
                self._standing = await self._find()
                await anyio.to_thread.run_sync(
                    remember_level, self._site, self._choice, self._standing.level
                )
        standing = self._standing
        named = self._choice not in {SandboxChoice.AUTO, SandboxChoice.NONE}
        if standing.level is Level.NONE and named:
            raise ToolError(
                f"the sandbox that was asked for, {self._choice}, does not work here: {standing.reason}",
                hint=standing.remedy,
            )
        return standing

    @override
    def confine(self, launch: Launch) -> AbstractAsyncContextManager[Cell]:
        """The same program in its cell; afterwards protected files are as they were.

        Raises:
            ToolError: if it cannot be confined as it has to be.
        """
        return self._confine(launch)

    @override
    def explain(
        self, confinement: Confinement, output: str, refused: Sequence[str], cwd: str
    ) -> tuple[SandboxDenied, ...]:
        """What a program that failed was probably kept from."""
        if self._mechanism is None or confinement.reach is Reach.OUTSIDE:
            return ()
        from hame.sandbox.denial import explain
        from hame.sandbox.ground import ground_for

        ground = ground_for(self._site, self.level, confinement, cwd)
        return explain(confinement, output, refused, ground)

    @asynccontextmanager
    async def _confine(self, launch: Launch) -> AsyncGenerator[Cell]:
        await self.prepare()
        confinement = launch.confinement or Confinement(reach=Reach.OUTSIDE)
        if confinement.reach is Reach.OUTSIDE:
            try:
                yield Cell(launch=launch)
            finally:
                if self._mechanism is not None:
                    await self._mechanism.renew()
            return
        mechanism = self._mechanism
        if mechanism is None:
            yield self._unconfined(launch)
            return
        await self._make_temporary()
        async with mechanism.confine(launch) as cell:
            yield cell

    async def close(self) -> None:
        """The session ends: nothing of a sandbox is left on disk."""
        if self._mechanism is not None:
            await self._mechanism.close()

    def _unconfined(self, launch: Launch) -> Cell:
        """The program as it is, where that is the user's own wish.

        Raises:
            ToolError: where it is not.
        """
        if self._choice is SandboxChoice.NONE:
            return Cell(launch=launch)
        standing = self._standing
        raise ToolError(
            f"there is no sandbox here: {standing.reason if standing else ''}",
            hint=standing.remedy if standing else "",
        )

    async def _find(self) -> Standing:
        """Go down until something holds."""
        if self._choice is SandboxChoice.NONE:
            return Standing(level=Level.NONE, reason="you chose to have none")
        await self._make_temporary()
        from hame.sandbox.audited import Audited

        refused: list[Standing] = []
        for mechanism in self._rungs():
            standing = await mechanism.prepare()
            if standing.level is not Level.NONE:
                standing = await self._try(mechanism, standing)
            if standing.level is not Level.NONE:
                self._mechanism = Audited(mechanism, self._site, standing.level)
                return _after(refused, standing)
            refused.append(standing)
        return _after(refused, Standing(level=Level.NONE))

    async def _make_temporary(self) -> None:
        """The private folder for temporary files, which may have been taken away meanwhile.

        Raises:
            ToolError: if it cannot be made.
        """
        import anyio.to_thread

        folder = self._site.paths.temporary
        try:
            if folder:
                await anyio.to_thread.run_sync(make_private_folder, folder)
        except OSError as error:
            raise ToolError(f"cannot make {folder}: {error.strerror}") from error

    def _rungs(self) -> "Iterator[Mechanism]":
        if sys.platform == "darwin":
            from hame.sandbox.seatbelt import Seatbelt

            yield Seatbelt(self._site)
            return
        if self._choice is not SandboxChoice.LANDLOCK:
            from hame.sandbox.bubblewrap import Bubblewrap

            gateway = self._gateway() if self._gateway is not None else None
            yield Bubblewrap(self._site, self._start_in(None), gateway, linger_s=self._linger_s)
        if self._choice is not SandboxChoice.BUBBLEWRAP:
            from hame.sandbox.landlock import Landlock

            yield Landlock(self._site)

    async def _try(self, mechanism: "Mechanism", standing: Standing) -> Standing:
        """Its standing with what was tried; level none if anything does not hold."""
        import anyio

        from hame.sandbox.probe import try_reading, try_writing

        processes = self._start_in(_Only(mechanism, standing))
        found: dict[str, Sequence[Probe]] = {}

        async def trial(name: str) -> None:
            act = try_reading if name == "reading" else try_writing
            found[name] = await act(self._site, processes)

        async with anyio.create_task_group() as group:
            group.start_soon(trial, "reading")
            group.start_soon(trial, "writing")
        probes = _merged(*found["reading"], *found["writing"])
        broken = [probe for probe in probes if not probe.holds]
        if not broken:
            return msgspec.structs.replace(standing, probes=probes)
        names = "; ".join(f"{probe.name}: {probe.detail}" for probe in broken)
        reason = f"{standing.mechanism} does not hold ({names})"
        return msgspec.structs.replace(standing, level=Level.NONE, reason=reason, probes=probes)


class _Only(Sandbox):
    """One mechanism that is being tried."""

    def __init__(self, mechanism: "Mechanism", standing: Standing) -> None:
        self._mechanism, self._standing = mechanism, standing

    @property
    @override
    def level(self) -> Level:
        """What it claims to be."""
        return self._standing.level

    @override
    async def prepare(self) -> Standing:
        """It was looked at."""
        return self._standing

    @override
    def confine(self, launch: Launch) -> AbstractAsyncContextManager[Cell]:
        """As it does."""
        return self._mechanism.confine(launch)

    @override
    def explain(
        self, confinement: Confinement, output: str, refused: Sequence[str], cwd: str
    ) -> tuple[SandboxDenied, ...]:
        """Nothing."""
        return ()


def _merged(*probes: Probe) -> tuple[Probe, ...]:
    """One of each name: the one that does not hold, if any."""
    found: dict[str, Probe] = {}
    for probe in probes:
        if probe.name not in found or not probe.holds:
            found[probe.name] = probe
    return tuple(found.values())


def _after(refused: Sequence[Standing], found: Standing) -> Standing:
    """What was found, with why it is no better and what the user can do about that."""
    if not refused:
        return found
    reasons = [each.reason for each in refused] + ([found.reason] if found.reason else [])
    remedy = next((each.remedy for each in refused if each.remedy), found.remedy)
    probes = found.probes or refused[-1].probes
    return msgspec.structs.replace(found, reason="; ".join(reasons), remedy=remedy, probes=probes)
