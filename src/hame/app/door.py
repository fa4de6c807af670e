"""The gate of a session, put together with the first call that needs it."""

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from typing_extensions import override

from hame.base.confinement import Confinement
from hame.base.outcome import Corrected, Denied
from hame.base.ports import Asker, Gate, Proposal, Shortfall, ToolContext
from hame.base.settings import Mode, Settings
from hame.config.places import Places

if TYPE_CHECKING:
    from hame.permissions.gate import RuleGate
    from hame.permissions.rulebook import Rulebook

NewGate: TypeAlias = "Callable[[Callable[[], Mode], Asker], RuleGate]"
"""Makes the gate for a mode that may change, and somebody who asks."""


class Door(Gate):
    """Implements the Gate port by the gate that `make` makes, once a call comes."""

    def __init__(self, make: "Callable[[], RuleGate]") -> None:
        """Make nothing yet: reading commands takes tables that the first request can do without."""
        self._make = make
        self._made: RuleGate | None = None

    @override
    async def decide(self, proposal: Proposal) -> Denied | Corrected | Confinement:
        """As the real one does."""
        return await self._real().decide(proposal)

    @override
    async def widen(self, proposal: Proposal, short: Shortfall) -> Confinement | None:
        """As the real one does."""
        return await self._real().widen(proposal, short)

    def forget_grants(self) -> None:
        """As the real one does."""
        if self._made is not None:
            self._made.forget_grants()

    def _real(self) -> "RuleGate":
        if self._made is None:
            self._made = self._make()
        return self._made


def gate_maker(
    settings: Settings, environment: Mapping[str, str], places: Places, context: ToolContext
) -> NewGate:
    """What makes the gate of a session; rules there are, are read and checked now.

    Raises:
        ConfigError: for a rule that cannot be used.
    """
    paths = context.workspace.paths
    read: list[Rulebook] = []

    def book() -> "Rulebook":
        from hame.permissions.rulebook import open_rulebook

        return read.pop() if read else open_rulebook(places.config, paths)

    def make(mode: Callable[[], Mode], asker: Asker) -> "RuleGate":
        from hame.permissions.gate import Grounds, RuleGate

        search_path = search_path_of(environment)
        grounds = Grounds(
            paths=paths,
            level=context.sandbox.level,
            search_path=search_path,
            find_program=lambda name: find_program(name, search_path),
            processes=context.processes,
            timeout_s=settings.ask_timeout_s,
        )
        return RuleGate(mode=mode, asker=asker, grounds=grounds, book=book())

    if _has_rules(places, paths.root):
        read.append(book())
    return make


def search_path_of(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The folders in which programs are looked for."""
    return tuple(folder for folder in environment.get("PATH", "").split(os.pathsep) if folder)


def find_program(name: str, search_path: tuple[str, ...]) -> str | None:
    """Where a program is found now, with every link resolved."""
    import shutil

    found = shutil.which(name, path=os.pathsep.join(search_path))
    return os.path.realpath(found) if found else None


def _has_rules(places: Places, root: str) -> bool:
    """Whether there may be any rule: a look that costs nothing, before anything is imported."""
    candidates = (
        f"{places.config}/permissions.toml",
        f"{places.config}/permissions",
        f"{root}/.hame/permissions.toml",
    )
    return any(os.path.lexists(path) for path in candidates)
