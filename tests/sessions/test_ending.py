"""A large session is gone on with from its last summary, read from the end of its file."""

import io
import resource
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hame.base.entry import (
    Entry,
    HistoryCompacted,
    ModelAnswered,
    OutcomesLost,
    Rewound,
    SessionStarted,
    UserSaid,
)
from hame.sessions import ending
from hame.sessions.ending import last_records, lines_backwards, read_ending
from hame.sessions.journal import FileJournal, load_history
from hame.sessions.store import SessionStore
from sessions.conftest import asked, said, written


def summary(kept: int) -> HistoryCompacted:
    return HistoryCompacted(summary="## Goal\nTea.", kept=kept)


@pytest.fixture(autouse=True)
def every_file_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hame.sessions.journal.LARGE", 0)


def ending_of(path: Path) -> ending.Ending | None:
    with path.open("rb") as file:
        return read_ending(file, path.stat().st_size)


async def test_it_holds_the_first_entry_what_the_summary_left_and_what_follows(
    store: SessionStore,
) -> None:
    path = await written(store, *(said(f"{n}") for n in range(20)), summary(3), said("last"))
    found = ending_of(path)
    assert found is not None
    assert isinstance(found.entries[0], SessionStarted)
    assert found.entries[1:] == [said("17"), said("18"), said("19"), summary(3), said("last")]
    assert found.last_number == 23


async def test_only_the_last_summary_counts(store: SessionStore) -> None:
    path = await written(store, said("a"), summary(0), said("b"), summary(1), said("c"))
    found = ending_of(path)
    assert found is not None
    assert found.entries[1:] == [said("b"), summary(1), said("c")]


async def test_a_branch_that_was_left_is_not_part_of_it(store: SessionStore) -> None:
    path = await written(store, said("a"), summary(0), said("b"))
    with FileJournal.reopen(path) as journal:
        await journal.append(said("left"))
        await journal.move(journal.ids[-2])
        await journal.append(said("c"))
    found = ending_of(path)
    assert found is not None
    assert found.entries[1:] == [summary(0), said("b"), Rewound(left="5"), said("c")]


@pytest.mark.parametrize(
    "damage",
    [b"", b'{"id":"9', b"\0" * 50 + b"\n", b"{}\n", b'{"id":"x","parent":null}\n'],
    ids=["no summary", "torn", "zeros", "not a record", "foreign"],
)
async def test_whatever_is_out_of_order_is_left_to_the_reader_of_whole_files(
    store: SessionStore, damage: bytes
) -> None:
    entries: list[Entry] = [said("a"), said("b")] if not damage else [said("a"), summary(1)]
    path = await written(store, *entries)
    path.write_bytes(path.read_bytes() + damage)
    assert ending_of(path) is None
    with FileJournal.reopen(path) as journal:
        assert list(journal.entries)[1:] == entries


async def test_a_journal_goes_on_from_there_as_from_the_whole(store: SessionStore) -> None:
    path = await written(store, *(said(f"{n}") for n in range(9)), summary(2), asked("c1"))
    with FileJournal.reopen(path) as journal:
        assert len(journal.entries) == 6
        assert isinstance(journal.entries[-1], OutcomesLost)
        assert len(journal.ids) == len(journal.entries)
        record = await journal.append(said("on"))
        await journal.move("3")
        assert journal.entries[2] == said("1")
        assert isinstance(journal.entries[-1], Rewound)
    whole = load_history(path)
    assert whole.notices == ()
    assert record.id == "14"
    assert record.parent == "13"


async def test_a_hundred_megabytes_are_opened_at_once_and_shown_from_their_end(
    tmp_path: Path,
) -> None:
    store = SessionStore(tmp_path / "sessions")
    path = await written(store, said("go"))
    line = b'{"id":"%d","parent":"%d","at":1.0,"entry":{"type":"note_added","text":"%s","source":"t"}}\n'
    text = b"word " * 20_000
    with path.open("ab") as file:
        for number in range(3, 1_050):
            file.write(line % (number, number - 1, text))
    with FileJournal.reopen(path) as journal:
        await journal.append(summary(5))
        await journal.append(said("the end"))
    assert path.stat().st_size > 100_000_000
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    with FileJournal.reopen(path) as journal:
        assert journal.entries[-1] == said("the end")
    with path.open("rb") as file:
        shown = last_records(file, path.stat().st_size, 3)
    assert [type(each.entry) for each in shown][-2:] == [HistoryCompacted, UserSaid]
    assert time.perf_counter() - start < 1.0
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000


async def test_the_last_records_are_those_of_the_active_branch(store: SessionStore) -> None:
    path = await written(store, said("a"), said("b"))
    with FileJournal.reopen(path) as journal:
        await journal.append(said("left"))
        await journal.move("2")
        await journal.append(ModelAnswered(message=asked("x").message))
    with path.open("rb") as file:
        found = last_records(file, path.stat().st_size, 10)
    assert [record.id for record in found] == ["1", "2", "5", "6"]


@given(
    st.lists(st.binary(max_size=40).map(lambda line: line.replace(b"\n", b"")), max_size=30),
    st.integers(1, 64),
    st.booleans(),
)
def test_lines_backwards_are_the_lines(lines: list[bytes], block: int, ended: bool) -> None:
    data = b"\n".join(lines) + (b"\n" if ended and lines else b"")
    original, ending._BLOCK = ending._BLOCK, block
    try:
        found = list(lines_backwards(io.BytesIO(data), len(data)))
    finally:
        ending._BLOCK = original
    expected = [line for line in io.BytesIO(data) if line.strip()]
    assert found == expected[::-1]
