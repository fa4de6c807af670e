"""A mechanism, and the audits of all folders that the commands it confines may write."""

import hashlib
import os
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Protocol

import anyio
import anyio.to_thread
import msgspec

from hame.base.confinement import Confinement, Level, Reach, Standing
from hame.base.errors import ToolError
from hame.base.ports import Cell
from hame.base.process import Launch
from hame.base.zone import is_below, split
from hame.sandbox.audit import Audit, Before
from hame.sandbox.shared import Shared
from hame.sandbox.site import Site


class Mechanism(Protocol):
    """One way to confine programs."""

    async def prepare(self) -> Standing:
        """What it is; level none, with the reason, where it cannot be used."""
        ...

    def confine(self, launch: Launch) -> AbstractAsyncContextManager[Cell]:
        """The same program in its cell.

        Raises:
            ToolError: if it cannot be confined as it has to be.
        """
        ...

    async def close(self) -> None:
        """The session ends: leave nothing on disk."""
        ...


class Audited:
    """Confines by a mechanism, and looks after every program that could write what matters."""

    def __init__(self, mechanism: Mechanism, site: Site, level: Level) -> None:
        """At level B the mechanism cannot keep what is protected out of reach, so it is put back."""
        self._mechanism = mechanism
        self._audits = _Audits(site, restores=level is Level.B)

    async def prepare(self) -> Standing:
        """What the mechanism is."""
        return await self._mechanism.prepare()

    @asynccontextmanager
    async def confine(self, launch: Launch) -> AsyncGenerator[Cell]:
        """The same program in its cell; afterwards protected files are as they were.

        Raises:
            ToolError: if it cannot be confined as it has to be, or what is there cannot be kept.
        """
        confinement = launch.confinement or Confinement()
        if confinement.reach is Reach.READ and not confinement.writable:
            async with self._mechanism.confine(launch) as cell:
                yield cell
            return
        # What the mechanism refuses is not looked at; and all has ended when the audit does.
        audit = self._audits.around(confinement)
        async with self._mechanism.confine(launch) as cell, audit as told:
            own = cell.aftermath
            yield msgspec.structs.replace(cell, aftermath=lambda: (*own(), *told))

    async def close(self) -> None:
        """The session ends."""
        await self._mechanism.close()

    async def renew(self) -> None:
        """Something outside has ended: what it left is what the user wanted."""
        await self._audits.renew()


class _Audits:
    """One for each folder."""

    def __init__(self, site: Site, *, restores: bool) -> None:
        """`restores`: the sandbox could not keep what is protected out of reach, so it is put back."""
        self._site = site
        self._restores = restores
        self._turn = anyio.Lock()
        self._audits: dict[str, Audit] = {}

    @asynccontextmanager
    async def around(self, confinement: Confinement) -> AsyncGenerator[list[str]]:
        """The time in which a command runs; afterwards the list holds what was done.

        Raises:
            ToolError: if what is there before cannot be kept; then nothing may be started.
        """
        told: list[str] = []
        begun: list[tuple[Audit, Before]] = []
        try:
            # One that was begun and not ended would be before for ever.
            with anyio.CancelScope(shield=True):
                async with self._turn:
                    for root in self._roots(confinement):
                        audit = self._audit_of(root)
                        begun.append((audit, await anyio.to_thread.run_sync(audit.begin)))
        except OSError as error:
            await self._end(begun, told)
            raise ToolError(f"cannot keep what is protected: {error}") from error
        try:
            yield told
        finally:
            await self._end(begun, told)

    async def renew(self) -> None:
        """Something outside has ended: what it left is what the user wanted."""
        with anyio.CancelScope(shield=True):
            async with self._turn:
                for audit in self._audits.values():
                    with suppress(OSError):  # Then what was before still is.
                        await anyio.to_thread.run_sync(audit.renew)

    async def _end(self, begun: list[tuple[Audit, Before]], told: list[str]) -> None:
        with anyio.CancelScope(shield=True):
            async with self._turn:
                for audit, before in begun:
                    try:
                        told += await anyio.to_thread.run_sync(audit.end, before)
                    except OSError as error:
                        told.append(f"NOT looked at after this command: {error}")

    def _roots(self, confinement: Confinement) -> list[str]:
        paths = self._site.paths
        writes = confinement.reach is Reach.WRITE
        given = (*((paths.root, *paths.added) if writes else ()), *confinement.writable)
        roots = dict.fromkeys(os.path.realpath(path) for path in given)
        return [
            root
            for root in roots
            if not any(other != root and is_below(split(root), other) for other in roots)
        ]

    def _audit_of(self, root: str) -> Audit:
        if root not in self._audits:
            site = self._site
            name = hashlib.sha256(os.fsencode(root)).hexdigest()[:16]
            further = (site.paths.root, *site.paths.added, site.paths.temporary, site.caches)
            self._audits[root] = Audit(
                (root,),
                further=tuple(path for path in further if path),
                shared=Shared(f"{site.scratch}/before/{name}") if self._restores else None,
                aside=f"{site.scratch}/aside",
            )
        return self._audits[root]
