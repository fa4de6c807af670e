"""MemoryJournal: a session's history that is gone with the test."""

import time
from collections.abc import Callable, Iterable, Sequence

from hame.base.entry import Entry, Record


class MemoryJournal:
    """Implements `hame.base.ports.Journal` in memory."""

    def __init__(
        self,
        session: str = "20261130-120000-000000",
        entries: Iterable[Entry] = (),
        *,
        now: Callable[[], float] = time.time,
    ) -> None:
        """Begin with these entries."""
        self._session = session
        self._entries = list(entries)
        self._now = now
        self.records: list[Record] = []
        """What was appended, in order."""
        self.durable: list[Record] = []
        """Those of them that were to survive a loss of power, in order."""

    @property
    def session(self) -> str:
        """The session's id."""
        return self._session

    @property
    def entries(self) -> Sequence[Entry]:
        """All entries; grows only at its end."""
        return self._entries

    async def append(self, entry: Entry, *, durable: bool = False) -> Record:
        """Keep an entry."""
        number = len(self._entries) + 1
        record = Record(
            id=str(number),
            parent=str(number - 1) if number > 1 else None,
            at=round(self._now(), 3),
            entry=entry,
        )
        self._entries.append(entry)
        self.records.append(record)
        if durable:
            self.durable.append(record)
        return record

    def sync_soon(self) -> None:
        """Everything so far survives."""
        self.durable = list(self.records)
