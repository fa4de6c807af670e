"""MemoryJournal: a session's history that is gone with the test."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence

from hame.base.entry import Entry, LabelSet, Record, Rewound
from hame.base.errors import SessionError
from hame.base.labels import name_record


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
        self._now = now
        self._entries = list(entries)
        self._ids = [str(number) for number in range(1, len(self._entries) + 1)]
        self._branches: dict[str, tuple[list[Entry], list[str]]] = {}
        for end, record in enumerate(self._ids, 1):
            self._branches[record] = (self._entries[:end], self._ids[:end])
        self.records: list[Record] = []
        """What was appended, in order."""
        self.notices: list[str] = []
        """What people have to know of it."""
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

    @property
    def ids(self) -> Sequence[str]:
        """The ids of the entries' records."""
        return self._ids

    @property
    def labels(self) -> Mapping[str, str]:
        """The records that have a name, by it."""
        found: dict[str, str] = {}
        for record in self.records:
            if isinstance(record.entry, LabelSet):
                name_record(found, record.entry)
        return found

    async def move(self, record: str) -> None:
        """Go to another branch.

        Raises:
            SessionError: if there is no such record.
        """
        if record not in self._branches:
            raise SessionError(f"there is no record {record}")
        left = self._ids[-1] if self._ids else ""
        entries, ids = self._branches[record]
        self._entries, self._ids = list(entries), list(ids)
        await self.append(Rewound(left=left))

    async def append(self, entry: Entry, *, durable: bool = False) -> Record:
        """Keep an entry."""
        record = Record(
            id=str(len(self._branches) + 1),
            parent=self._ids[-1] if self._ids else None,
            at=round(self._now(), 3),
            entry=entry,
        )
        self._entries.append(entry)
        self._ids.append(record.id)
        self._branches[record.id] = (list(self._entries), list(self._ids))
        self.records.append(record)
        if durable:
            self.durable.append(record)
        return record

    def sync_soon(self) -> None:
        """Everything so far survives."""
        self.durable = list(self.records)
