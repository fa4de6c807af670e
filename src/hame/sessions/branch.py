"""Branch: the records of a session's active branch with their places, for copies and exports."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from hame.base.entry import Entry, Record
from hame.base.errors import SessionError
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


def read_branch(path: Path, end: str = "") -> Branch:
    """A branch of a session file: the active one, or the one that ends in a record or label.

    What its records say is read as they are asked for.

    Raises:
        SessionError: if it cannot be read, or there is no such record or label, naming those there are.
    """
    history = load_history(path)
    if not end:
        return Branch(path.stem, history.records, history.notices)
    labels, pages = history.pages.labels(), history.pages
    place = pages.tree.find(labels.get(end, end))
    if place < 0:
        known = ", ".join(sorted(labels))
        raise SessionError(
            f"session {path.stem} has no record {end}",
            hint=f"Labels: {known}." if known else "hame trace shows the records.",
        )
    return Branch(path.stem, StoredRecords(pages, pages.tree.branch(place)), history.notices)
