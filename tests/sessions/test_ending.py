"""The end of a session is read backwards, and no more of the file than it takes."""

import io
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import override

from hame.base.entry import CallSettled, ModelAnswered, Record, SessionStarted, UserSaid
from hame.sessions import ending
from hame.sessions.ending import last_records, spans_backwards
from hame.sessions.journal import FileJournal
from hame.sessions.store import SessionStore
from sessions.conftest import asked, said, written
from sessions.large import SHAPES, write_large


class CountingFile(io.FileIO):
    """Counts the bytes that are read."""

    count = 0

    @override
    def read(self, size: int | None = -1, /) -> bytes | None:
        data = super().read(size)
        self.count += len(data or b"")
        return data


def last(path: Path, count: int) -> list[Record]:
    with path.open("rb") as file:
        return last_records(file, path.stat().st_size, count)


async def test_the_last_records_are_those_of_the_active_branch(store: SessionStore) -> None:
    path = await written(store, said("a"), said("b"))
    with FileJournal.reopen(path) as journal:
        await journal.append(said("left"))
        await journal.move("2")
        await journal.append(ModelAnswered(message=asked("x").message))
    assert [record.id for record in last(path, 10)] == ["1", "2", "5", "6"]
    assert [record.id for record in last(path, 2)] == ["5", "6"]


@pytest.mark.parametrize(
    "tail",
    [b'{"id":"9', b"\0" * 50 + b"\n", b"{}\n", b"\n\n", b'{"id":"x","parent":null}\n'],
    ids=["torn", "zeros", "not a record", "empty", "foreign"],
)
async def test_what_cannot_be_read_at_the_end_is_left_out(store: SessionStore, tail: bytes) -> None:
    path = await written(store, said("a"), said("b"))
    path.write_bytes(path.read_bytes() + tail)
    assert [record.entry for record in last(path, 2)] == [said("a"), said("b")]


@pytest.mark.parametrize("shape", SHAPES)
def test_of_a_large_session_only_the_end_is_read(tmp_path: Path, shape: str) -> None:
    path = tmp_path / "s.jsonl"
    count = write_large(path, shape, 12_000_000)
    with CountingFile(path) as file:
        found = last_records(file, path.stat().st_size, 20)
        # Once to find the lines, once to read them.
        assert file.count < 2 * ending.MOST_BYTES + 3_000_000
        if shape != "large_results":
            assert file.count < 3_000_000
    assert found[-1].id == str(count)
    assert all(one.id == other.parent for one, other in pairwise(found))
    assert 1 < len(found) <= 20


def test_records_that_are_large_are_fewer(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    write_large(path, "large_results", 20_000_000)
    found = last(path, 200)
    assert isinstance(found[-1].entry, UserSaid)
    assert (
        sum(isinstance(each.entry, CallSettled) for each in found) == ending.MOST_BYTES // 10**6 + 1
    )


def test_a_line_that_is_too_long_is_shown_as_such(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hame.sessions.ending.LONG", 1_000_000)
    path = tmp_path / "s.jsonl"
    write_large(path, "one_long_line", 3_000_000)
    found = last(path, 200)
    assert isinstance(found[0].entry, SessionStarted)
    long = next(each.entry for each in found if isinstance(each.entry, CallSettled))
    assert long.call_id == "c0"
    assert "2 MB that stand here in the session are too large to be shown" in repr(long)


@given(
    st.lists(st.binary(max_size=40).map(lambda line: line.replace(b"\n", b"")), max_size=30),
    st.integers(1, 64),
    st.booleans(),
)
def test_spans_backwards_are_the_lines(lines: list[bytes], block: int, ended: bool) -> None:
    data = b"\n".join(lines) + (b"\n" if ended and lines else b"")
    original, ending._BLOCK = ending._BLOCK, block
    try:
        spans = list(spans_backwards(io.BytesIO(data), len(data)))
    finally:
        ending._BLOCK = original
    found = [data[start : start + length] for start, length in spans]
    assert found == [line for line in io.BytesIO(data) if len(line) > 1][::-1]
