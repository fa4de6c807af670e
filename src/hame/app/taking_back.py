"""Taking a session back without a runtime: what `hame undo` and `hame snapshots` work with."""

import os
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from typing_extensions import override

from hame.app.build import Launchpad
from hame.app.sessions import StoredSessions
from hame.app.undo import Rewinder
from hame.base.entry import Entry, Record, SessionStarted
from hame.base.errors import SessionError
from hame.base.ports import Journal
from hame.base.zone import ProjectPaths
from hame.sandbox.unconfined import Unconfined
from hame.sessions.history import History
from hame.sessions.store import SessionStore
from hame.workspace.process import LocalProcesses
from hame.workspace.snapshots.collect import Collected, collect
from hame.workspace.snapshots.keeper import LocalSnapshots
from hame.workspace.snapshots.store import store_of, stores


@contextmanager
def open_rewinder(pad: Launchpad, session: str) -> Generator[Rewinder]:
    """What takes a session back.

    Raises:
        SessionError: if there is none, or it is open elsewhere.
    """
    sessions = StoredSessions(pad.places.sessions)
    journal = sessions.resume(session)
    try:
        yield Rewinder(journal, _snapshots(pad, journal, still=False))
    finally:
        sessions.close(journal)


def read_rewinder(pad: Launchpad, session: str) -> Rewinder:
    """What only lists the steps of a session, also of one that is open elsewhere.

    Raises:
        SessionError: if there is none, or it cannot be read.
    """
    store = SessionStore(Path(pad.places.sessions))
    name = store.find(session)
    history = store.read(name)
    journal = _ReadJournal(name, history)
    return Rewinder(journal, _snapshots(pad, journal, still=True))


def _snapshots(pad: Launchpad, journal: Journal, *, still: bool) -> LocalSnapshots:
    """What a session's files were. Its project's folder itself may be gone."""
    places = pad.places
    began = (each.cwd for each in journal.entries if isinstance(each, SessionStarted))
    paths = ProjectPaths(root=next(began, pad.project), added=_added(pad), home=places.home)
    store = store_of(Path(places.snapshots), paths.root, places.home)
    processes = LocalProcesses(pad.environment, Unconfined(), without=paths.roots)
    return LocalSnapshots(store, journal.session, paths, processes, still=still)


async def collect_all(pad: Launchpad, *, everywhere: bool, keep_days: float) -> list[Collected]:
    """Collect the snapshots of this project, or of all.

    Raises:
        ToolError: when another process is at it, or git failed.
    """
    base = Path(pad.places.snapshots)
    processes = LocalProcesses(pad.environment, without=(pad.project, *_added(pad)))
    return [
        await collect(store, processes, keep_days=keep_days)
        for store in stores(base, pad.places.home)
        if everywhere or store.project == pad.project
    ]


def _added(pad: Launchpad) -> tuple[str, ...]:
    """The further folders in which commands may write, by their real paths."""
    return tuple(map(os.path.realpath, pad.settings.add_dirs))


class _ReadJournal(Journal):
    """A session as it was read; nothing can be written."""

    def __init__(self, session: str, history: History) -> None:
        self._session = session
        self._entries, self._ids = history.entries, history.ids
        self._labels = history.pages.labels()
        self._notices = history.notices

    @property
    @override
    def session(self) -> str:
        return self._session

    @property
    @override
    def entries(self) -> Sequence[Entry]:
        return self._entries

    @property
    @override
    def ids(self) -> Sequence[str]:
        return self._ids

    @property
    @override
    def labels(self) -> Mapping[str, str]:
        return self._labels

    @property
    @override
    def notices(self) -> Sequence[str]:
        return self._notices

    @override
    async def append(self, entry: Entry, *, durable: bool = False) -> Record:
        raise SessionError(f"session {self._session} was only read")

    @override
    def sync_soon(self) -> None:
        """There is nothing to sync."""

    @override
    async def move(self, record: str) -> None:
        raise SessionError(f"session {self._session} was only read")
