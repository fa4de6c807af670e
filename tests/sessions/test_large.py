"""A session of any size and shape is opened, gone on with and gone about in in bounded memory."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import hame
from hame.base.entry import (
    CallSettled,
    HistoryCompacted,
    ModelAnswered,
    NoteAdded,
    Record,
    Rewound,
    UserSaid,
)
from hame.base.errors import SessionError
from hame.base.kinds import last_place, newest, places
from hame.base.model import ModelFacts
from hame.context import Window
from hame.context.projection import MOST_BYTES, MOST_MESSAGES
from hame.sessions.branch import read_branch
from hame.sessions.copying import fork
from hame.sessions.export import ExportFormat, export
from hame.sessions.journal import FileJournal, load_history
from hame.sessions.pages import HELD
from hame.sessions.store import SessionStore
from hame.sessions.trace import Tracer
from sessions.conftest import asked, said
from sessions.large import SHAPES, settled, write_large

SIZE = 12_000_000
WINDOW = 32_000
FACTS = ModelFacts(backend="b", model="m", wire="openai_chat", context_window=WINDOW)
OPENING = """
import asyncio, json, re, sys
from pathlib import Path
from hame.base.model import ModelFacts
from hame.context import Window
from hame.sessions.ending import last_records
from hame.sessions.journal import FileJournal

path = Path(sys.argv[1])
facts = ModelFacts(backend="b", model="m", wire="openai_chat", context_window=200_000)
# Of this program: what getrusage says begins with that of its parent.
peak = lambda: int(re.search("VmHWM: +([0-9]+) kB", " ".join(Path("/proc/self/status").read_text().split()))[1]) // 1024
before = peak()
with path.open("rb") as file:
    shown = len(last_records(file, path.stat().st_size, 200))
with FileJournal.reopen(path) as journal:
    opened = peak() - before
    window = Window()
    messages = asyncio.run(window.fit(journal.entries, facts))
    held = journal.entries.pages.held
print(json.dumps({
    "shown": shown, "opened_mb": opened, "view_mb": peak() - before, "held": held,
    "messages": len(messages), "records": len(journal.entries.pages.tree),
}))
"""


@pytest.fixture(params=SHAPES)
def shape(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def path(tmp_path: Path, shape: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A session that is much larger than what is held of it."""
    monkeypatch.setattr("hame.sessions.history.HELD", 200_000)
    monkeypatch.setattr("hame.sessions.pages.HELD", 200_000)
    for module in ("lines", "pages", "ending"):
        monkeypatch.setattr(f"hame.sessions.{module}.LONG", 2_000_000)
    path = tmp_path / "sessions/s.jsonl"
    write_large(path, shape, SIZE)
    return path


# ------------------------------------------------------------ what is held


def test_only_its_end_is_held_when_it_is_opened(path: Path) -> None:
    with FileJournal.reopen(path) as journal:
        pages = journal.entries.pages
        assert pages.reads < 20
        held = sum(pages.tree.sizes[place] for place in pages._held)
        assert held < 200_000 + max(size for size in pages.tree.sizes if size < 2_000_000)
        assert len(pages.tree) > pages.held


async def test_what_is_appended_does_not_stay_in_memory_either(path: Path) -> None:
    with FileJournal.reopen(path) as journal:
        start = len(journal.entries)
        for number in range(100):
            await journal.append(settled(number, "y" * 20_000))
        assert journal.entries.pages.held < 15
        assert journal.entries[start] == settled(0, "y" * 20_000)
        assert [entry.call_id for entry in journal.entries[start:]] == [f"c{n}" for n in range(100)]


async def test_a_session_of_usual_size_is_in_memory_as_a_whole(store: SessionStore) -> None:
    with store.create("/p", "1") as journal:
        for number in range(500):
            await journal.append(said(f"{number}"))
        assert journal.entries.held
    with FileJournal.reopen(journal.path) as again:
        assert again.entries.held
        assert list(again.entries) == list(journal.entries)
        assert again.entries.pages.reads == 0


async def test_the_view_is_bounded_and_holds_what_the_user_demanded(path: Path, shape: str) -> None:
    with FileJournal.reopen(path) as journal:
        window = Window()
        messages = await window.fit(journal.entries, FACTS)
        assert window.projection._weight <= MOST_BYTES
        assert len(messages) <= MOST_MESSAGES + 1
        demands = window.constraints(journal.entries)
        assert [each.text for each in demands] == ["never touch vendor/"]
        if shape != "with_a_summary":
            assert "The folder is /p." in repr(messages[0])
        last = journal.entries[-1]
        if isinstance(last, UserSaid):
            assert messages[-1] == last.message


async def test_it_is_gone_on_with_by_a_summary_and_read_from_there(path: Path) -> None:
    with FileJournal.reopen(path) as journal:
        await journal.append(said("go on"))
        window, entries = Window(), journal.entries

        async def ask(words: str, tokens: int) -> tuple[object, None]:
            shown = await window.fit(entries, FACTS)
            assert window.projection.tokens < WINDOW
            assert shown
            return asked().message, None

        assert await window.shorten(entries, FACTS, ask, journal.append, focus="") is not None
        shown = await window.fit(entries, FACTS)
        assert window.projection.tokens < WINDOW * 0.75
        assert "never touch vendor/" in repr(shown[0])
        assert "go on" in repr(shown)
    with FileJournal.reopen(path) as journal:
        reads = journal.entries.pages.reads
        again = await Window().fit(journal.entries, FACTS)
        assert again == shown
        assert journal.entries.pages.reads - reads < 200


# ------------------------------------------------------------ going about in it


async def test_one_can_go_back_to_its_very_beginning_and_on_from_there(path: Path) -> None:
    with FileJournal.reopen(path) as journal:
        count = len(journal.entries)
        left = journal.ids[-1]
        await journal.move("2")
        assert [type(entry) for entry in journal.entries[1:]] == [UserSaid, Rewound]
        await journal.append(said("another way"))
        await journal.move(left)
        assert len(journal.entries) == count + 1
    with FileJournal.reopen(path) as journal:
        assert len(journal.entries) == count + 1


def test_places_and_kinds_are_those_of_the_entries(path: Path) -> None:
    entries = load_history(path).entries
    read = list(entries)
    for kinds in ((UserSaid,), (ModelAnswered, CallSettled), (NoteAdded,), (HistoryCompacted,)):
        expected = [place for place, each in enumerate(read) if isinstance(each, kinds)]
        assert list(places(entries, kinds)) == expected == list(places(read, kinds))
        assert list(places(entries, kinds, 50)) == [each for each in expected if each >= 50]
        assert last_place(entries, kinds) == last_place(read, kinds)
    assert newest(entries, UserSaid) == newest(read, UserSaid)


def test_ids_are_found_without_going_through_them(path: Path) -> None:
    ids = load_history(path).ids
    read = list(ids)
    assert (len(read), read[0]) == (len(ids), "1")
    for place in (0, 1, len(read) // 2, len(read) - 1):
        assert ids.index(read[place]) == place
        assert read[place] in ids
    for none in ("0", "x", "", "01", str(10**25), str(int(read[-1]) + 1)):
        assert none not in ids
        with pytest.raises(ValueError, match=f"^{none}$"):
            ids.index(none)


def test_records_come_as_they_were_written_whole(path: Path) -> None:
    branch = read_branch(path)
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    by_id = {line["id"]: line for line in lines}
    for record in (*branch.records[:5], *branch.records[-5:]):
        assert json.loads(hame_json(record)) == by_id[record.id]
    assert all(
        record.entry == entry
        for record, entry in zip(branch.records, branch.entries, strict=True)
        if len(hame_json(record)) < 2_000_000
    )


def hame_json(record: Record) -> bytes:
    from hame.base.json import dump_bytes

    return dump_bytes(record)


def test_it_can_be_copied_traced_exported_and_searched(path: Path, tmp_path: Path) -> None:
    store = SessionStore(path.parent)
    branch = read_branch(path)
    count = len(branch.records)
    copy = fork(read_branch(path, branch.ids[3]), store.path("copy"))
    assert len(load_history(copy).entries) == 4
    assert sum(1 for _ in Tracer().lines(branch.records)) == count
    pieces = export(branch, ExportFormat.JSON)
    assert len(json.loads(b"".join(pieces))["records"]) == count
    assert max(map(len, export(branch, ExportFormat.HTML))) < 10_000_000
    assert [hit.summary.id for hit in store.search(["tea", "list"])] == ["copy", "s"]


# ------------------------------------------------------------ what can go wrong


def test_a_file_that_was_changed_meanwhile_is_said(path: Path, shape: str) -> None:
    history = load_history(path)
    path.write_bytes(b"x" * path.stat().st_size)
    with pytest.raises(
        SessionError, match=r"record 1 of session s cannot be read any more"
    ) as caught:
        history.entries[0]
    assert str(path) in caught.value.hint
    path.unlink()
    history.pages.close()
    with pytest.raises(SessionError, match="cannot read session s"):
        history.entries[0]


def test_damage_in_its_middle_is_skipped_said_and_kept(path: Path) -> None:
    lines = path.read_bytes().split(b"\n")
    middle = len(lines) // 2
    whole = len(load_history(path).entries)
    lines[middle] = b"\0" * 30 + lines[middle][:50]
    path.write_bytes(b"\n".join(lines))
    with FileJournal.reopen(path) as journal:
        assert any(f"line {middle + 1}" in notice for notice in journal.notices)
        # A record that follows one that is lost follows what came before in the file.
        assert abs(len(journal.entries) - whole) <= 12
    assert len(list(path.parent.glob("s.jsonl.damaged-*"))) == 1


# ------------------------------------------------------------ a hundred megabytes


@pytest.mark.parametrize("shape", SHAPES)
def test_a_hundred_megabytes_take_bounded_memory(tmp_path: Path, shape: str) -> None:
    path = tmp_path / "s.jsonl"
    count = write_large(path, shape, 105_000_000)
    assert path.stat().st_size > 95_000_000
    source = str(Path(hame.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", OPENING, str(path)],
        env={"PYTHONPATH": source, "PATH": os.defpath}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    found = json.loads(done.stdout)
    path.unlink()
    assert found["records"] in {count, count + 1}
    assert found["opened_mb"] < 45, found
    assert found["view_mb"] < 110, found
    assert found["shown"] > 1
    assert HELD < 10_000_000
