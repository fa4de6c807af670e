"""The index is only a memory of what the files say: whatever becomes of it, lists stay right."""

import os
import sqlite3
from pathlib import Path

import pytest

from hame.base.entry import Record, SessionStarted, TitleSet
from hame.base.errors import SessionError
from hame.base.json import dump_bytes
from hame.sessions import store as store_module
from hame.sessions.journal import FileJournal
from hame.sessions.store import SessionStore
from sessions.conftest import asked, said, written


@pytest.fixture
def index(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "sessions.sqlite"


@pytest.fixture
def indexed(folder: Path, index: Path, monkeypatch: pytest.MonkeyPatch) -> SessionStore:
    monkeypatch.setattr(store_module, "FEW", 0)
    return SessionStore(folder, index=index)


def titles(store: SessionStore) -> list[str]:
    return [summary.title for summary in store.list()]


def kept(index: Path) -> bool:
    return index.exists()


def spoil(index: Path, data: bytes) -> None:
    index.write_bytes(data)


def touch(path: Path, at: float) -> None:
    os.utime(path, (at, at))


async def test_a_list_by_the_index_is_the_list_by_the_files(
    indexed: SessionStore, folder: Path
) -> None:
    for number in range(12):
        touch(await written(indexed, said(f"task {number}"), cwd=f"/p{number % 3}"), 1e9 + number)
    direct = SessionStore(folder)
    for cwd in (None, "/p1", "/nowhere"):
        for _ in range(2):
            assert indexed.list(cwd) == direct.list(cwd)


async def test_a_session_that_grows_or_is_renamed_or_goes_is_seen(
    indexed: SessionStore, index: Path
) -> None:
    path = await written(indexed, said("first words"))
    other = await written(indexed, said("other words"))
    assert sorted(titles(indexed)) == ["first words", "other words"]
    assert kept(index)
    with FileJournal.reopen(path) as journal:
        await journal.append(TitleSet(title="a name"))
        await journal.append(asked())
    assert sorted(titles(indexed)) == ["a name", "other words"]
    with FileJournal.reopen(path) as journal:
        await journal.append(said("more"))
    assert sorted(titles(indexed)) == ["a name", "other words"]
    other.unlink()
    assert titles(indexed) == ["a name"]


async def test_another_file_under_the_same_name_is_read_anew(indexed: SessionStore) -> None:
    path = await written(indexed, said("old"))
    assert titles(indexed) == ["old"]
    started = SessionStarted(session=path.stem, cwd="/p", hame="1", title="x" * 400)
    path.unlink()
    path.write_bytes(
        dump_bytes(Record(id="1", parent=None, at=1.0, entry=started)) + b"\n"
        + dump_bytes(Record(id="2", parent="1", at=1.0, entry=said("new"))) + b"\n"
    )  # fmt: skip
    assert titles(indexed) == ["x" * 400]


@pytest.mark.parametrize("data", [b"", b"no database", b"SQLite format 3\0" + b"\0" * 200])
async def test_a_broken_index_is_made_anew(indexed: SessionStore, index: Path, data: bytes) -> None:
    await written(indexed, said("words"))
    titles(indexed)
    spoil(index, data)
    assert titles(indexed) == ["words"]
    assert titles(indexed) == ["words"]
    assert [hit.summary.title for hit in indexed.search(["words"])] == ["words"]
    sqlite3.connect(index).execute("SELECT * FROM digest").fetchone()


async def test_an_index_of_another_version_or_another_making_is_thrown_away(
    indexed: SessionStore, index: Path
) -> None:
    await written(indexed, said("words"))
    titles(indexed)
    with sqlite3.connect(index) as store:
        store.execute("PRAGMA user_version = 99")
    store.close()
    assert titles(indexed) == ["words"]
    with sqlite3.connect(index) as store:
        store.execute("UPDATE digest SET data = x'00'")
    store.close()
    assert titles(indexed) == ["words"]


async def test_without_a_place_for_an_index_lists_and_searches_still_work(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "FEW", 0)
    (tmp_path / "file").write_text("")
    store = SessionStore(folder, index=tmp_path / "file" / "sessions.sqlite")
    await written(store, said("some words"))
    assert titles(store) == ["some words"]
    assert len(store.search(["some", "WORDS"])) == 1


async def test_an_index_that_is_locked_by_another_hame_is_done_without(
    indexed: SessionStore, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hame.sessions.index._BUSY_S", 0.01)
    await written(indexed, said("one"))
    titles(indexed)
    other = sqlite3.connect(index)
    other.execute("BEGIN EXCLUSIVE")
    await written(indexed, said("two"))
    assert sorted(titles(indexed)) == ["one", "two"]
    assert len(indexed.search(["two"])) == 1
    other.close()


# ------------------------------------------------------------ search


async def test_all_the_words_must_have_been_said_by_anybody_in_any_case(
    indexed: SessionStore, folder: Path
) -> None:
    await written(indexed, said("Fix the PARSER of dates"), asked("a.py"), cwd="/a")
    await written(indexed, said("fix the lexer"), cwd="/b")
    for store in (indexed, SessionStore(folder)):
        assert [hit.summary.title for hit in store.search(["parser", "fix"])] == [
            "Fix the PARSER of dates"
        ]
        assert len(store.search(["fix the"])) == 2
        assert len(store.search(["fix the"], "/b")) == 1
        assert [hit.lines for hit in store.search(["I LOOK"])] == [("I look.",)]
        assert store.search(["parser", "lexer"]) == []
        assert len(store.search(["fix"], limit=1)) == 1


async def test_what_was_said_since_is_found_too(indexed: SessionStore) -> None:
    path = await written(indexed, said("one"))
    assert not indexed.search(["zebra"])
    with FileJournal.reopen(path) as journal:
        await journal.append(said("a zebra"))
    (hit,) = indexed.search(["zebra"])
    assert hit.lines == ("a zebra",)


async def test_damaged_files_do_not_hide_the_others(indexed: SessionStore, folder: Path) -> None:
    await written(indexed, said("a zebra"))
    (folder / "broken.jsonl").write_bytes(b"\0" * 100 + b"\n{zebra\n\xff\n")
    assert len(indexed.search(["zebra"])) == 1
    assert [summary.damaged for summary in indexed.list()].count(True) == 1


# ------------------------------------------------------------ names and deleting


async def test_a_session_is_renamed(indexed: SessionStore) -> None:
    path = await written(indexed, said("one"))
    assert await indexed.rename(path.stem[:12], "  a   name ") == path.stem
    assert titles(indexed) == ["a name"]


async def test_a_session_is_deleted_with_what_was_kept_of_it(indexed: SessionStore) -> None:
    path = await written(indexed, said("one"))
    path.with_name(f"{path.name}.torn-1").write_text("x")
    assert indexed.delete(path.stem) == path.stem
    assert list(path.parent.iterdir()) == []


async def test_a_session_that_is_open_is_not_deleted(indexed: SessionStore) -> None:
    path = await written(indexed, said("one"))
    with FileJournal.reopen(path), pytest.raises(SessionError, match="is open in"):
        indexed.delete(path.stem)
    assert path.exists()


async def test_a_session_of_a_newer_hame_can_be_deleted(indexed: SessionStore) -> None:
    path = await written(indexed, said("one"))
    path.write_bytes(path.read_bytes().replace(b'"at"', b'"v":99,"at"'))
    indexed.delete(path.stem)
    assert not path.exists()
