"""Rules and verdicts for people: what `hame permissions` shows, without a model and without a run."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from hame.app.door import find_program, search_path_of
from hame.base.confinement import Level
from hame.base.entry import CallSettled, Entry, ModelAnswered
from hame.base.json import get_string
from hame.base.outcome import Done, Failed
from hame.base.settings import Mode
from hame.base.tool import Effect, ToolSpec
from hame.base.zone import ProjectPaths
from hame.config.places import Places
from hame.permissions.commands.analysis import Analysis, analyse
from hame.permissions.commands.ground import Ground
from hame.permissions.decision import Decision, Judgement
from hame.permissions.extent import describe_extent, extent_of
from hame.permissions.judging import judge
from hame.permissions.policy import Matter
from hame.permissions.proposing import Proposal, Ran, propose, ran_in
from hame.permissions.rulebook import Rulebook
from hame.permissions.verdict import Pinned
from hame.sessions.store import SessionStore

_RUN = ToolSpec(name="run_command", description="", effect=Effect.RUN)


class Checked(msgspec.Struct, frozen=True):
    """A command and what the gate would say of it."""

    judgement: Judgement
    analysis: Analysis
    extent: str = ""
    """How far it would reach when it runs, in words."""


class Checker:
    """Judges commands as the gate of a project would."""

    def __init__(self, ground: Ground, book: Rulebook | None = None) -> None:
        """Without a book: as for a user who has no rules."""
        self.ground = ground
        self._book = book or Rulebook()

    @property
    def pinned(self) -> Pinned:
        """Where programs are found."""
        return lambda name: find_program(name, self.ground.search_path)

    def check(
        self,
        command: str,
        mode: Mode = Mode.ASK,
        *,
        cwd: str = "",
        links: Mapping[str, str] | None = None,
        unconfined: bool = False,
    ) -> Checked:
        """Judge one command line; `links` are taken as being on the disk."""
        ground = msgspec.structs.replace(self.ground, cwd=cwd, links=dict(links or {}))
        analysis = analyse(command, ground)
        matter = Matter(
            mode=mode,
            spec=_RUN,
            command=command,
            analysis=analysis,
            hosts=analysis.departure.hosts,
            level=Level(ground.level),
            unconfined=unconfined,
        )
        ruling = judge(matter, self._book, self.ground.paths, pinned=self.pinned)
        asked = ruling.judgement.decision is Decision.ASK
        extent = extent_of(matter, self._book.rules, agreed=asked or bool(ruling.allowed_by))
        return Checked(ruling.judgement, analysis, describe_extent(extent, matter))

    def propose(self, ran: Iterator[Ran]) -> list[Proposal]:
        """Rules that would have saved questions."""
        return propose(ran, self._book, self.ground, self.pinned)


def ground_of(paths: ProjectPaths, environment: Mapping[str, str], level: str = "A") -> Ground:
    """Where commands of a project would run."""
    return Ground(paths=paths, level=level, search_path=search_path_of(environment))


def project_paths(places: Places, project: str, added: tuple[str, ...] = ()) -> ProjectPaths:
    """The places of a project."""
    return ProjectPaths(
        root=project, added=added, home=places.home, results=places.results, config=places.config
    )


def past_commands(places: Places, paths: ProjectPaths) -> Iterator[Ran]:
    """The commands that sessions of this project ran, the latest session first.

    Raises:
        SessionError: if a session cannot be read.
    """
    store = SessionStore(Path(places.sessions))
    for summary in store.list(paths.root):
        yield from commands_of(store.read(summary.id).entries, paths)


def commands_of(entries: Sequence[Entry], paths: ProjectPaths) -> Iterator[Ran]:
    """The commands that were run, refused ones left out."""
    asked: dict[str, Ran] = {}
    for entry in entries:
        if isinstance(entry, ModelAnswered):
            for call in entry.message.calls:
                command = get_string(call.arguments, "command")
                if call.name == _RUN.name and command:
                    cwd = get_string(call.arguments, "cwd") or ""
                    asked[call.id] = ran_in(paths, command, cwd)
        elif isinstance(entry, CallSettled) and isinstance(entry.outcome, Done | Failed):
            ran = asked.pop(entry.call_id, None)
            if ran is not None:
                yield ran
