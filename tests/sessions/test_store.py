"""Finding, listing and opening sessions."""

import os
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hame.base.entry import ModeChosen, TitleSet, UserSaid
from hame.base.errors import SessionError
from hame.base.message import Image, Note, Text, User
from hame.sessions.store import SessionStore, shorten
from sessions.conftest import asked, said, written


def put_strange_files(folder: Path) -> None:
    (folder / "link.jsonl").symlink_to("/dev/zero")
    os.mkfifo(folder / "pipe.jsonl")


def touch(path: Path, at: float) -> None:
    os.utime(path, (at, at))


def put(folder: Path, name: str, data: bytes = b"x\n") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_bytes(data)
    return path


# ------------------------------------------------------------ ids


def test_ids_sort_by_time_and_end_in_chance(folder: Path) -> None:
    times = iter([1_796_042_874.0, 1_796_042_874.5, 1_796_042_875.0])
    ids = [SessionStore(folder, now=lambda at=at: at).create("/p", "1").session for at in times]
    assert [each[:15] for each in ids] == ["20261130-124754", "20261130-124754", "20261130-124755"]
    assert len(set(ids)) == 3
    assert all(len(each) == 22 for each in ids)


async def test_a_session_is_resumed_by_its_id_or_a_beginning_of_it(store: SessionStore) -> None:
    path = await written(store, said("hello"))
    for name in (path.stem, path.stem[:-1], path.stem[:8]):
        with store.resume(name) as journal:
            assert journal.entries[-1] == said("hello")


def test_a_beginning_of_several_ids_names_them(store: SessionStore, folder: Path) -> None:
    for number in range(7):
        put(folder, f"20261130-12000{number}-aaaaaa.jsonl")
    with pytest.raises(SessionError) as caught:
        store.find("20261130-12")
    assert "7 sessions begin with 20261130-12: 20261130-120006-aaaaaa, " in caught.value.message
    assert caught.value.message.endswith(", ...")
    assert caught.value.hint == "Give more of the id."


def test_an_id_that_is_a_beginning_of_another_is_itself(store: SessionStore, folder: Path) -> None:
    put(folder, "abc.jsonl")
    put(folder, "abcd.jsonl")
    assert store.find("abc") == "abc"


def test_an_unknown_id_names_the_nearest(store: SessionStore, folder: Path) -> None:
    put(folder, "20261130-124754-ab12cd.jsonl")
    put(folder, "20250101-000000-ffffff.jsonl")
    with pytest.raises(SessionError, match="there is no session 20261130-124754-ab12ce") as caught:
        store.resume("20261130-124754-ab12ce")
    assert "20261130-124754-ab12cd" in caught.value.hint


@pytest.mark.parametrize("name", ["", "../../etc/passwd", "zzz", "*", "."])
def test_a_name_that_is_like_none_names_the_newest(
    store: SessionStore, folder: Path, name: str
) -> None:
    put(folder, "20261130-124754-ab12cd.jsonl")
    with pytest.raises(SessionError) as caught:
        store.find(name)
    assert caught.value.hint == "The nearest: 20261130-124754-ab12cd."


def test_without_any_session_that_is_said(store: SessionStore) -> None:
    with pytest.raises(SessionError) as caught:
        store.read("20261130")
    assert caught.value.hint == "There are no sessions yet."


async def test_a_session_is_read_while_it_is_open(store: SessionStore) -> None:
    with store.create("/p", "1") as journal:
        await journal.append(said("a"))
        assert list(store.read(journal.session).entries) == list(journal.entries)


# ------------------------------------------------------------ listing


async def test_the_list_tells_title_project_times_and_size(store: SessionStore) -> None:
    path = await written(store, said("Fix the\n  tests   please"), asked("c"), cwd="/home/p")
    (summary,) = store.list()
    assert summary.id == path.stem
    assert summary.title == "Fix the tests please"
    assert summary.cwd == "/home/p"
    assert abs(summary.started - time.time()) < 60
    assert summary.started - 1 < summary.updated < time.time() + 1
    assert summary.size == len(read(path))
    assert not summary.damaged


def read(path: Path) -> bytes:
    return path.read_bytes()


async def test_the_newest_change_comes_first_and_the_limit_holds(store: SessionStore) -> None:
    paths = [await written(store, said(f"{number}")) for number in range(5)]
    for number, path in enumerate(paths):
        touch(path, 1_700_000_000 + [3, 1, 5, 2, 4][number])
    assert [each.title for each in store.list()] == ["2", "4", "0", "3", "1"]
    assert [each.title for each in store.list(limit=2)] == ["2", "4"]


async def test_continuing_means_the_last_session_of_this_project(store: SessionStore) -> None:
    mine = await written(store, said("mine"), cwd="/mine")
    older = await written(store, said("older"), cwd="/mine")
    other = await written(store, said("other"), cwd="/other")
    for at, path in enumerate((older, mine, other)):
        touch(path, 1_700_000_000 + at)
    assert store.latest("/mine") == mine.stem
    assert store.latest("/other") == other.stem
    assert store.latest("/nowhere") is None
    assert [each.title for each in store.list("/mine")] == ["mine", "older"]


async def test_a_name_that_was_set_is_the_title_however_far_back(store: SessionStore) -> None:
    await written(
        store, said("words"), TitleSet(title="first"), TitleSet(title="second"), asked("c"),
        *(said("x" * 100_000) for _ in range(12)),
    )  # fmt: skip
    assert [each.title for each in store.list()] == ["second"]


@pytest.mark.parametrize("before", range(262_100, 262_180, 7))
async def test_a_name_is_found_wherever_the_blocks_of_the_search_fall(
    store: SessionStore, before: int
) -> None:
    await written(store, said("w"), TitleSet(title="named"), said("y" * before))
    assert [each.title for each in store.list()] == ["named"]


async def test_words_that_look_like_a_name_are_none(store: SessionStore) -> None:
    await written(
        store,
        said('{"type":"title_set","title":"no"}'),
        asked("c"),
        TitleSet(title="yes"),
        *(look_alike(size) for size in (0, 600)),
    )
    assert [each.title for each in store.list()] == ["yes"]


def look_alike(size: int):
    from hame.base.entry import ModelAnswered
    from hame.base.message import Assistant, ToolCall

    arguments: dict[str, object] = {
        "pad": "x" * size,
        "entry": {"type": "title_set", "title": "no"},
    }
    return ModelAnswered(message=Assistant((ToolCall("c", "t", arguments),)))


async def test_the_title_is_what_the_user_said_not_what_hame_added(store: SessionStore) -> None:
    message = User((
        Note("It is Monday.", "environment"),
        Image("image/png", b"\x89PNG" * 100_000),
        Text("What is this?"),
    ))
    await written(store, ModeChosen(mode="plan"), UserSaid(message=message))
    assert [each.title for each in store.list()] == ["What is this?"]


async def test_one_bad_file_never_hides_the_others(store: SessionStore, folder: Path) -> None:
    await written(store, said("good"))
    put(folder, "nuls.jsonl", b"\0" * 5000)
    put(folder, "text.jsonl", b"hello\n" * 50)
    put(folder, "empty.jsonl", b"")
    put(folder, "notes.txt", b"no session")
    put(folder / "folder.jsonl", "inside")
    put_strange_files(folder)
    found = {each.id: each for each in store.list()}
    assert {name for name, each in found.items() if each.damaged} == {"nuls", "text"}
    assert [each.title for each in found.values() if not each.damaged] == ["good"]
    assert store.list("/p")[0].title == "good"


async def test_a_session_whose_first_words_are_damaged_is_still_listed(
    store: SessionStore, folder: Path
) -> None:
    path = await written(store, said("a"), said("b"))
    first, *rest = read(path).splitlines(keepends=True)
    put(folder, path.name, first + b"rubbish\n" + rest[1])
    assert [(each.title, each.damaged) for each in store.list()] == [("b", False)]


def test_a_file_that_may_not_be_read_is_listed_as_damaged(
    store: SessionStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(folder, "mine.jsonl")

    def refused(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refused)
    assert [(each.id, each.damaged) for each in store.list()] == [("mine", True)]


def test_a_folder_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SessionError, match="cannot list the sessions") as caught:
        SessionStore(put(tmp_path, "file")).list()
    assert caught.value.hint == "Check its permissions."


def test_no_folder_means_no_sessions(store: SessionStore) -> None:
    assert store.list() == []


async def test_a_thousand_sessions_are_listed_in_a_moment(
    store: SessionStore, folder: Path
) -> None:
    path = await written(store, said("hello"), *(said("x" * 2000) for _ in range(20)))
    data = read(path)
    for number in range(1000):
        put(folder, f"20260101-{number:06}-aaaaaa.jsonl", data)
    start = time.perf_counter()
    assert len(store.list(limit=50)) == 50
    assert store.latest("/nowhere") is None
    assert time.perf_counter() - start < 2.0


@given(st.text())
def test_a_title_is_one_line_of_at_most_eighty_characters(words: str) -> None:
    title = shorten(words)
    assert len(title) <= 80
    assert title == " ".join(title.split())
