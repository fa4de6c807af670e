"""Sessions of the store, as the runtime wants them."""

from pathlib import Path
from typing import cast

from hame.base.ports import Journal
from hame.sessions.journal import FileJournal
from hame.sessions.store import SessionStore
from hame.version import __version__


class StoredSessions:
    """Journals in hame's own folder."""

    def __init__(self, folder: str) -> None:
        """Use this folder."""
        self._store = SessionStore(Path(folder))

    def create(self, cwd: str) -> Journal:
        """A new session's journal; its file comes with the first words."""
        return self._store.create(cwd, __version__)

    def resume(self, session: str) -> Journal:
        """An old session's, by its id or the beginning of it.

        Raises:
            SessionError: if there is none, or it cannot be opened.
        """
        return self._store.resume(session)

    def close(self, journal: Journal) -> None:
        """Let go of a journal that came from here."""
        cast("FileJournal", journal).close()
