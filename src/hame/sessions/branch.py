"""Branch: the records of a session's active branch with their places, for copies and exports."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from hame.base.entry import Entry, LabelSet, Record
from hame.base.errors import SessionError
from hame.sessions.journal import load_history

_RECORDS = msgspec.json.Decoder(Record)


class Branch(msgspec.Struct, frozen=True):
    """A session from its root to one of its records."""

    session: str
    records: Sequence[Record]
    notices: tuple[str, ...] = ()
    """What of the file could not be read."""

    @property
    def entries(self) -> Sequence[Entry]:
        """What the records hold."""
        return [record.entry for record in self.records]

    def upto(self, place: str) -> "Branch":
        """The branch up to a record, by its id or its label.

        Raises:
            SessionError: if there is none, naming the labels there are.
        """
        labels = labels_of(self.entries)
        wanted = labels.get(place, place)
        for number, record in enumerate(self.records, 1):
            if record.id == wanted:
                return Branch(self.session, self.records[:number], self.notices)
        known = ", ".join(sorted(labels))
        raise SessionError(
            f"session {self.session} has no record {place}",
            hint=f"Labels: {known}." if known else "hame trace shows the records.",
        )


def labels_of(entries: Sequence[Entry]) -> dict[str, str]:
    """Records by their labels, as far as they were not taken away again."""
    by_record: dict[str, str] = {}
    for entry in entries:
        if isinstance(entry, LabelSet):
            by_record[entry.record] = entry.label
    return {label: record for record, label in by_record.items() if label}


def read_branch(path: Path) -> Branch:
    """The active branch of a session file.

    Raises:
        SessionError: if it cannot be read.
    """
    history = load_history(path)
    wanted = set(history.ids)
    records: list[Record] = []
    for record in _records(path):
        if record.id in wanted:
            wanted.discard(record.id)
            records.append(record)
    return Branch(path.stem, records, history.notices)


def _records(path: Path) -> Iterator[Record]:
    try:
        with path.open("rb") as file:
            for line in file:
                try:
                    yield _RECORDS.decode(line.strip(b"\0 \t\r\n"))
                except (msgspec.MsgspecError, UnicodeError, RecursionError):
                    continue
    except OSError as error:
        raise SessionError(f"cannot read session {path.stem}: {error.strerror}") from error
