"""Level B: Landlock, filters of system calls, and no capabilities, taken on by the thread that starts.

What it takes to make it hold, and what it cannot do, is in docs/decisions/0011: rules can only add, so that
protected files in the project are put back rather than out of reach, and secrets in it can be read by what may
write there; there is no network at all, and no `/tmp` of a command's own but by TMPDIR.
"""

import os
import threading
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial

import anyio
import anyio.to_thread
import msgspec

from hame.base.confinement import Confinement, Level, Reach, Standing
from hame.base.errors import ToolError
from hame.base.ports import Cell
from hame.base.process import Launch
from hame.sandbox import ruleset
from hame.sandbox.attributes import Strictness, attribute_filter
from hame.sandbox.caches import cache_environment
from hame.sandbox.capabilities import (
    FOR_FILES_OF_OTHERS,
    forgo_new_privileges,
    give_up_capabilities,
)
from hame.sandbox.environment import reading_environment, writing_environment
from hame.sandbox.landrules import USE_DEVICE, Rule, opened, rules_of
from hame.sandbox.layout import Kind
from hame.sandbox.namesakes import Namesakes
from hame.sandbox.orphanage import Orphanage
from hame.sandbox.private import make_private_folder
from hame.sandbox.ruleset import TRUNCATE, WRITE_FILE, Ruleset
from hame.sandbox.seccomp import Sockets, install, program
from hame.sandbox.site import Site
from hame.sandbox.view import Surveyor
from hame.sandbox.warden import Warden

_MOST = 8
"""Rulesets that are kept ready."""
_MARK = "HAME_PROCESS"
"""What `hame.workspace.descendants` finds processes by."""
_FILTERS = 2
"""How many filters of system calls a program gets."""
_WEAKER = (
    "protected files are put back rather than out of reach, secrets in the project can be read by "
    "what may write it, and there is no network"
)
_REMEDY = (
    "Landlock needs Linux 6.2 or newer with landlock among its security modules (lsm=), and in a "
    "container a seccomp profile that allows its system calls."
)


class Landlock:
    """Confines programs by Landlock and seccomp."""

    def __init__(self, site: Site, *, version: int | None = None) -> None:
        """Look at nothing yet. `version` is the ABI to use; None: this kernel's."""
        self._site = site
        self._version = ruleset.abi() if version is None else version
        self._surveyor = Surveyor(site)
        self._ready: dict[tuple[Rule, ...], Ruleset] = {}
        self._turn = threading.Lock()

    async def close(self) -> None:
        """It leaves nothing on disk."""

    async def prepare(self) -> Standing:
        """What it is; level none where this kernel has it not, or too old."""
        if self._version < ruleset.LEAST_ABI:
            has = f"only ABI {self._version} of" if self._version else "no"
            reason = f"this kernel has {has} Landlock"
            return Standing(level=Level.NONE, reason=reason, remedy=_REMEDY)
        try:
            program()
        except OSError as error:
            return Standing(level=Level.NONE, reason=str(error.strerror))
        mechanism = f"Landlock ABI {self._version} + seccomp"
        weaker = _WEAKER
        if self._version < ruleset.SCOPED_ABI:
            weaker += ", and signals to your other programs are not held back"
        return Standing(level=Level.B, mechanism=mechanism, reason=weaker)

    @asynccontextmanager
    async def confine(self, launch: Launch) -> AsyncGenerator[Cell]:
        """The same program, to be started by a thread that takes on the rules.

        Raises:
            ToolError: if it cannot be confined as it has to be, or for what this level cannot do: let
                single machines through, or leave alone what may write the project.
        """
        confinement = launch.confinement or Confinement()
        _refuse(confinement, launch)
        scoped = self._version >= ruleset.SCOPED_ABI
        inmates = Warden(_FILTERS) if scoped else Orphanage(_MARK)
        namesakes, told = Namesakes(), list[str]()
        try:
            planning = partial(self._plan, confinement, launch, namesakes)
            plan = await anyio.to_thread.run_sync(planning)

            def restrict(terminal: str | None) -> None:
                self._restrict(plan, terminal, inmates)

            yield Cell(
                launch=plan.launch, restrict=restrict, inmates=inmates, aftermath=lambda: told
            )
        finally:
            inmates.close()
            with anyio.CancelScope(shield=True):
                told += await anyio.to_thread.run_sync(namesakes.close)

    def _plan(self, confinement: Confinement, launch: Launch, namesakes: Namesakes) -> "_Plan":
        try:
            return self._make_plan(confinement, launch, namesakes)
        except OSError as error:
            where = f" {error.filename}" if error.filename else ""
            raise ToolError(f"cannot make the sandbox:{where} {error.strerror}") from error

    def _make_plan(self, confinement: Confinement, launch: Launch, namesakes: Namesakes) -> "_Plan":
        writes = confinement.reach is Reach.WRITE
        environment = self._environment(confinement, dict(launch.env or ()))
        if self._site.paths.temporary:
            make_private_folder(self._site.paths.temporary)
        with self._turn:
            layout = self._surveyor.look(confinement, environment).layout
            rules = rules_of(layout, self._site, writes=writes, version=self._version)
            if launch.output is None:
                self._make_ready(rules)
        namesakes.hold(mount.path for mount in layout.mounts() if mount.kind is Kind.GUARD)
        return _Plan(
            launch=msgspec.structs.replace(launch, env=tuple(environment.items())),
            rules=rules,
            strictness=Strictness.WRITE if writes else Strictness.READ,
            keep=_needed_capabilities(self._surveyor.roots(confinement)),
        )

    def _environment(self, confinement: Confinement, given: Mapping[str, str]) -> dict[str, str]:
        site, paths = self._site, self._site.paths
        if confinement.reach is Reach.READ:
            places = (paths.root, *paths.added, paths.temporary, site.caches, *confinement.writable)
            return reading_environment(given, paths.temporary, tuple(filter(None, places)))
        caches = cache_environment(site.caches, given, paths.home) if site.caches else {}
        return writing_environment(given, paths.temporary) | caches

    def _make_ready(self, rules: tuple[Rule, ...]) -> Ruleset:
        made = self._ready.pop(rules, None) or self._make(rules)
        self._ready[rules] = made
        while len(self._ready) > _MOST:
            self._ready.pop(next(iter(self._ready))).close()
        return made

    def _make(self, rules: Iterable[Rule]) -> Ruleset:
        made = Ruleset(self._version)
        for rights, places in rules:
            made.allow(rights, (path for path, _ in places))
        return made

    def _restrict(self, plan: "_Plan", terminal: str | None, inmates: Warden | Orphanage) -> None:
        """Confine the calling thread.

        Raises:
            ToolError: if it cannot be.
        """
        try:
            forgo_new_privileges()
            give_up_capabilities(plan.keep)
            self._enter(plan, terminal)
            if isinstance(inmates, Warden):
                inmates.post()
            install(attribute_filter(plan.strictness, os.geteuid(), os.getegid()))
            install(program(Sockets.NONE))
        except OSError as error:
            raise ToolError(f"the sandbox cannot be entered: {error.strerror}") from error

    def _enter(self, plan: "_Plan", terminal: str | None) -> None:
        extra: list[Rule] = []
        if plan.launch.output is not None:  # What prints to /dev/stderr opens it anew.
            extra.append((WRITE_FILE | TRUNCATE, opened([plan.launch.output])))
        if terminal is not None:
            extra.append((USE_DEVICE, opened([terminal])))
        if not extra:
            with self._turn:
                self._make_ready(plan.rules).restrict()
            return
        made = self._make((*plan.rules, *extra))
        try:
            made.restrict()
        finally:
            made.close()


class _Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What one program is confined by."""

    launch: Launch
    rules: tuple[Rule, ...]
    strictness: Strictness
    keep: int
    """Capabilities."""


def _needed_capabilities(roots: Sequence[str]) -> int:
    """Root that works in somebody else's project acts on files that are not its own."""
    if os.geteuid() != 0:
        return 0
    owners = {os.lstat(root).st_uid for root in roots if os.path.lexists(root)}
    return FOR_FILES_OF_OTHERS if owners - {0} else 0


def _refuse(confinement: Confinement, launch: Launch) -> None:
    """Say what this level cannot do.

    Raises:
        ToolError: for these.
    """
    if confinement.hosts:
        named = ", ".join(confinement.hosts)
        raise ToolError(
            f"the sandbox of this machine (Landlock) has no network and cannot let {named} through; "
            "only outside of it would this command reach them"
        )
    if launch.keep and confinement.reach is Reach.WRITE:
        raise ToolError(
            "the sandbox of this machine (Landlock) puts protected files back when a command has "
            "ended, so one that may write the project cannot outlive hame; start it without keep"
        )
