"""Branch: the records of a session's active branch with their places, for copies and exports."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from hame.base.entry import Entry, LabelSet, Record
from hame.base.errors import SessionError
from hame.base.kinds import places
from hame.sessions.journal import load_history
from hame.sessions.pages import StoredRecords


class Branch(msgspec.Struct, frozen=True):
    """A session from its root to one of its records."""

    session: str
    records: Sequence[Record]
    notices: tuple[str, ...] = ()
    """What of the file could not be read."""

    @property
    def entries(self) -> Sequence[Entry]:
        """What the records hold."""
        if isinstance(self.records, StoredRecords):
            return self.records.entries
        return [record.entry for record in self.records]

    @property
    def ids(self) -> Sequence[str]:
        """The ids of the records."""
        if isinstance(self.records, StoredRecords):
            return self.records.ids
        return [record.id for record in self.records]

    def upto(self, place: str) -> "Branch":
        """The branch up to a record, by its id or its label.

        Raises:
            SessionError: if there is none, naming the labels there are.
        """
        labels = labels_of(self.entries)
        wanted, ids = labels.get(place, place), self.ids
        if wanted in ids:
            end = ids.index(wanted) + 1
            records = self.records
            shorter = records.upto(end) if isinstance(records, StoredRecords) else records[:end]
            return Branch(self.session, shorter, self.notices)
        known = ", ".join(sorted(labels))
        raise SessionError(
            f"session {self.session} has no record {place}",
            hint=f"Labels: {known}." if known else "hame trace shows the records.",
        )


def labels_of(entries: Sequence[Entry]) -> dict[str, str]:
    """Records by their labels, as far as they were not taken away again."""
    by_record: dict[str, str] = {}
    for place in places(entries, (LabelSet,)):
        entry = entries[place]
        if isinstance(entry, LabelSet):
            by_record[entry.record] = entry.label
    return {label: record for record, label in by_record.items() if label}


def read_branch(path: Path) -> Branch:
    """The active branch of a session file; what its records say is read as they are asked for.

    Raises:
        SessionError: if it cannot be read.
    """
    history = load_history(path)
    return Branch(path.stem, history.records, history.notices)
