"""What every Journal does, the one on disk and the one in memory."""

from collections.abc import Callable

import anyio
import pytest

from hame.base.entry import (
    CallSettled,
    Entry,
    LabelSet,
    ModelAnswered,
    NoteAdded,
    Rewound,
    SessionStarted,
    UserSaid,
)
from hame.base.errors import SessionError
from hame.base.message import Assistant, Text, ToolCall, User
from hame.base.outcome import Done, text_content
from hame.base.ports import Journal

JournalMaker = Callable[[], Journal]


def said(words: str) -> UserSaid:
    return UserSaid(message=User((Text(words),)))


class JournalContract:
    """Subclasses give a fixture `journal`: a new session whose first entry is written or not."""

    async def test_its_session_has_an_id(self, journal: Journal) -> None:
        assert journal.session

    async def test_entries_come_back_in_the_order_of_their_appending(
        self, journal: Journal
    ) -> None:
        before = len(journal.entries)
        entries: list[Entry] = [said(f"{number}") for number in range(20)]
        for entry in entries:
            await journal.append(entry)
        assert list(journal.entries[before:]) == entries

    async def test_a_record_holds_its_entry_its_time_and_an_id_of_its_own(
        self, journal: Journal
    ) -> None:
        records = [await journal.append(said("a")), await journal.append(said("a"))]
        assert [record.entry for record in records] == [said("a"), said("a")]
        assert records[0].id != records[1].id
        assert 1_700_000_000 < records[0].at <= records[1].at < 5_000_000_000

    async def test_a_record_s_parent_is_the_record_before_it(self, journal: Journal) -> None:
        first = await journal.append(said("a"))
        second = await journal.append(NoteAdded(text="n", source="mode"))
        third = await journal.append(said("c"), durable=True)
        assert (second.parent, third.parent) == (first.id, second.id)

    async def test_entries_is_one_sequence_that_grows_at_its_end(self, journal: Journal) -> None:
        entries = journal.entries
        start = len(entries)
        await journal.append(said("a"))
        assert journal.entries is entries
        assert len(entries) == start + 1

    @pytest.mark.parametrize("durable", [False, True])
    async def test_a_durable_entry_is_an_entry_like_any_other(
        self, journal: Journal, durable: bool
    ) -> None:
        record = await journal.append(said("a"), durable=durable)
        assert journal.entries[-1] is record.entry

    async def test_entries_appended_by_many_tasks_are_all_there_once(
        self, journal: Journal
    ) -> None:
        await journal.append(said("go"))
        call = ToolCall("c", "read", {})
        await journal.append(ModelAnswered(message=Assistant((call,))))
        before = len(journal.entries)

        async def settle(number: int) -> None:
            for turn in range(5):
                outcome = Done(text_content("x" * 500))
                await journal.append(
                    CallSettled(call_id=f"{number}-{turn}", name="read", outcome=outcome),
                    durable=turn == 2,
                )

        async with anyio.create_task_group() as group:
            for number in range(8):
                group.start_soon(settle, number)
        settled = [entry for entry in journal.entries[before:] if isinstance(entry, CallSettled)]
        assert len(settled) == len(journal.entries) - before == 40
        assert {entry.call_id for entry in settled} == {
            f"{number}-{turn}" for number in range(8) for turn in range(5)
        }

    async def test_a_stop_while_an_entry_is_made_durable_loses_nothing(
        self, journal: Journal
    ) -> None:
        before = len(journal.entries)
        with anyio.CancelScope() as scope:
            scope.cancel()
            await journal.append(said("last words"), durable=True)
        assert list(journal.entries[before:]) == [said("last words")]

    async def test_the_first_entry_may_be_any(self, journal: Journal) -> None:
        entry = SessionStarted(session=journal.session, cwd="/p", hame="1")
        assert (await journal.append(entry)).entry == entry

    async def test_the_disk_may_be_told_to_hurry_at_any_time(self, journal: Journal) -> None:
        journal.sync_soon()
        before = len(journal.entries)
        for number in range(5):
            await journal.append(said(f"{number}"), durable=number == 3)
            journal.sync_soon()
            journal.sync_soon()
        assert list(journal.entries[before:]) == [said(f"{number}") for number in range(5)]

    async def test_ids_are_those_of_the_records(self, journal: Journal) -> None:
        records = [await journal.append(said(words)) for words in ("a", "b")]
        assert list(journal.ids[-2:]) == [record.id for record in records]
        assert len(journal.ids) == len(journal.entries)

    async def test_moving_back_leaves_a_branch_and_goes_on_from_there(
        self, journal: Journal
    ) -> None:
        first = await journal.append(said("a"))
        left = await journal.append(said("b"))
        old = journal.entries
        await journal.move(first.id)
        assert journal.entries is not old
        assert list(journal.entries[-2:]) == [said("a"), Rewound(left=left.id)]
        third = await journal.append(said("c"))
        assert third.id not in {first.id, left.id}
        assert list(journal.entries[-3:]) == [said("a"), Rewound(left=left.id), said("c")]

    async def test_a_branch_that_was_left_can_be_moved_to_again(self, journal: Journal) -> None:
        first = await journal.append(said("a"))
        left = await journal.append(said("b"))
        await journal.move(first.id)
        away = await journal.append(said("c"))
        await journal.move(left.id)
        tail = list(journal.entries[-3:])
        assert tail == [said("a"), said("b"), Rewound(left=away.id)]
        assert len(journal.ids) == len(journal.entries)
        assert journal.ids[-2] == left.id

    async def test_moving_to_no_record_is_an_error_and_changes_nothing(
        self, journal: Journal
    ) -> None:
        await journal.append(said("a"))
        before = list(journal.entries)
        with pytest.raises(SessionError):
            await journal.move("nowhere")
        assert list(journal.entries) == before

    async def test_names_of_places_are_known_also_in_parts_that_were_left(
        self, journal: Journal
    ) -> None:
        first = await journal.append(said("a"))
        left = await journal.append(said("b"))
        assert journal.labels == {}
        await journal.append(LabelSet(record=left.id, label="good"))
        await journal.move(first.id)
        assert journal.labels == {"good": left.id}
        await journal.append(LabelSet(record=first.id, label="good"))
        await journal.append(LabelSet(record=left.id, label="better"))
        assert journal.labels == {"good": first.id, "better": left.id}
        await journal.append(LabelSet(record=first.id, label="best"))
        await journal.append(LabelSet(record=left.id, label=""))
        assert journal.labels == {"best": first.id}
