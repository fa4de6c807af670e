"""Names that a user has given to places of a conversation."""

from hame.base.entry import LabelSet


def name_record(names: dict[str, str], entry: LabelSet) -> None:
    """Bring the records, by their names, up to date: a record has one name, and a name one record."""
    for name in [name for name, record in names.items() if record == entry.record]:
        del names[name]
    if entry.label:
        names[entry.label] = entry.record
