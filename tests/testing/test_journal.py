"""The journal in memory, against what every journal does."""

import pytest

from contracts.journal import JournalContract, said
from hame.base.entry import ModeChosen
from hame.base.ports import Journal
from hame.testing import MemoryJournal


class TestMemoryJournalIsAJournal(JournalContract):
    @pytest.fixture
    def journal(self) -> Journal:
        return MemoryJournal()


async def test_it_tells_what_was_to_be_durable() -> None:
    journal = MemoryJournal(entries=[said("before")])
    await journal.append(ModeChosen(mode="auto"))
    kept = await journal.append(said("now"), durable=True)
    assert journal.durable == [kept]
    assert [record.entry for record in journal.records] == [ModeChosen(mode="auto"), said("now")]
    assert (kept.id, kept.parent) == ("3", "2")
