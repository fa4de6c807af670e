"""The gate of a session, put together with the first call that needs it."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from typing_extensions import override

from hame.base.confinement import Confinement
from hame.base.outcome import Corrected, Denied
from hame.base.ports import Asker, Gate, Proposal, Shortfall, ToolContext
from hame.base.settings import Mode, SandboxChoice, Settings
from hame.config.places import Places

if TYPE_CHECKING:
    from hame.permissions.gate import RuleGate
    from hame.permissions.rulebook import Rulebook


class NewGate(Protocol):
    """Makes the gate of a session."""

    @property
    def warnings(self) -> Sequence[str]:
        """What is odd about the rules it will go by, one line each."""
        ...

    def __call__(self, mode: Callable[[], Mode], asker: Asker) -> "RuleGate":
        """The gate for a mode that may change, and somebody who asks."""
        ...


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
    async def widen(self, proposal: Proposal, short: Shortfall) -> Confinement | Corrected | None:
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
    maker = _GateMaker(settings, search_path_of(environment), places, context)
    if _has_rules(places, context.workspace.paths.root):
        maker.read_rules()
    return maker


class _GateMaker:
    """Implements NewGate; the first gate takes the rules that were read at the start."""

    def __init__(
        self,
        settings: Settings,
        search_path: tuple[str, ...],
        places: Places,
        context: ToolContext,
    ) -> None:
        self._settings = settings
        self._search_path = search_path
        self._places = places
        self._context = context
        self._read: Rulebook | None = None
        self.warnings: Sequence[str] = ()

    def read_rules(self) -> None:
        from hame.permissions.futility import futile_rules

        self._read = book = self._open()
        if book.rules:
            futile = futile_rules(book.rules, self._context.workspace.paths, self._pinned)
            self.warnings = [each.said for each in futile]

    def __call__(self, mode: Callable[[], Mode], asker: Asker) -> "RuleGate":
        from hame.permissions.gate import Grounds, RuleGate

        book, self._read = self._read or self._open(), None
        grounds = Grounds(
            paths=self._context.workspace.paths,
            level=self._context.sandbox.level,
            prepare=self._context.sandbox.prepare,
            unconfined=self._settings.sandbox is SandboxChoice.NONE,
            search_path=self._search_path,
            find_program=self._pinned,
            processes=self._context.processes,
            timeout_s=self._settings.ask_timeout_s,
        )
        return RuleGate(mode=mode, asker=asker, grounds=grounds, book=book)

    def _open(self) -> "Rulebook":
        from hame.permissions.rulebook import open_rulebook

        return open_rulebook(self._places.config, self._context.workspace.paths)

    def _pinned(self, name: str) -> str | None:
        return find_program(name, self._search_path)


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
