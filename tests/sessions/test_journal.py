"""The journal on disk: what every journal does, and what only a file can go through."""

import errno
import fcntl
import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hame
from contracts.journal import JournalContract
from hame.base.entry import (
    VERSION,
    AnswerInterrupted,
    CallSettled,
    Entry,
    ModeChosen,
    ModelAnswered,
    ModelChosen,
    NoteAdded,
    OutcomesLost,
    SessionStarted,
    TitleSet,
    UserSaid,
)
from hame.base.errors import SessionError
from hame.base.message import Assistant, Text, ToolCall
from hame.base.outcome import Done, Failed, text_content
from hame.sessions.journal import FileJournal, load_history
from hame.sessions.store import SessionStore
from sessions.conftest import asked, kept_aside, make, mode, remove, reopened, said, written


class TestFileJournalIsAJournal(JournalContract):
    pass


def settled(call: str) -> CallSettled:
    return CallSettled(call_id=call, name="read_file", outcome=Done(text_content("x = 1")))


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]


# ------------------------------------------------------------ coming into being


async def test_a_session_in_which_nothing_was_said_leaves_no_file(
    store: SessionStore, folder: Path
) -> None:
    with store.create("/p", "0.1.0") as journal:
        await journal.append(ModelChosen(model="a/b"))
        await journal.append(ModeChosen(mode="plan"), durable=True)
        await journal.append(NoteAdded(text="plan mode", source="mode"))
        await journal.append(TitleSet(title="t"))
        assert len(journal.entries) == 5
    assert not os.access(folder, os.F_OK)


async def test_the_first_words_write_what_was_chosen_before_them_too(journal: FileJournal) -> None:
    chosen = ModelChosen(model="a/b")
    await journal.append(chosen)
    await journal.append(said("hello"))
    journal.close()
    history = load_history(journal.path)
    assert list(history.entries) == [
        SessionStarted(session=journal.session, cwd="/home/me/project", hame="0.1.0"),
        chosen,
        said("hello"),
    ]
    assert history.notices == ()


async def test_file_and_folders_are_private_whatever_the_umask(
    store: SessionStore, folder: Path
) -> None:
    before = os.umask(0)
    try:
        path = await written(store, said("hello"))
    finally:
        os.umask(before)
    assert [mode(each) for each in (path, folder, folder.parent)] == [0o600, 0o700, 0o700]


async def test_a_folder_that_others_could_look_into_is_closed_to_them(
    store: SessionStore, folder: Path
) -> None:
    make(folder)
    await written(store, said("hello"))
    assert mode(folder) == 0o700


async def test_each_entry_is_one_line_of_compact_json_in_the_file_at_once(
    journal: FileJournal,
) -> None:
    await journal.append(said("one\ntwo \u2028 three"))
    for number in range(3):
        record = await journal.append(said(str(number)))
        last = journal.path.read_bytes().split(b"\n")[-2]
        assert json.loads(last)["id"] == record.id
        assert b'": ' not in last
    assert [line.get("v", VERSION) for line in lines(journal.path)] == [1] * 5


async def test_a_session_that_exists_is_not_begun_again(journal: FileJournal) -> None:
    await journal.append(said("hello"))
    started = SessionStarted(session=journal.session, cwd="/", hame="1")
    second = FileJournal.begin(journal.path, started)
    with pytest.raises(SessionError, match="cannot write"):
        await second.append(said("me too"))


async def test_a_durable_entry_is_forced_to_the_disk_with_its_folder(
    journal: FileJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[Path] = []
    real = os.fsync

    def watched(descriptor: int) -> None:
        synced.append(Path(f"/proc/self/fd/{descriptor}").readlink())
        real(descriptor)

    monkeypatch.setattr(os, "fsync", watched)
    await journal.append(said("a"))
    assert synced == []
    await journal.append(said("b"), durable=True)
    assert synced == [journal.path, journal.path.parent]
    await journal.append(said("c"), durable=True)
    assert synced[2:] == [journal.path]


async def test_an_entry_with_half_a_character_is_written_all_the_same(
    journal: FileJournal,
) -> None:
    await journal.append(said("name: caf\udce9"))
    journal.close()
    words = load_history(journal.path).entries[-1]
    assert words == said("name: caf\ufffd")


async def test_a_closed_journal_takes_no_more(journal: FileJournal) -> None:
    await journal.append(said("a"))
    journal.close()
    journal.close()
    with pytest.raises(SessionError, match="is closed"):
        await journal.append(said("b"))
    assert len(load_history(journal.path).entries) == 2


# ------------------------------------------------------------ going on


async def test_what_was_appended_is_there_after_reopening(store: SessionStore) -> None:
    entries: list[Entry] = [said("a"), asked("c1"), settled("c1"), ModeChosen(mode="auto")]
    path = await written(store, *entries)
    with reopened(path) as journal:
        assert list(journal.entries[1:]) == entries
        assert journal.session == path.stem
        assert journal.notices == ()
        record = await journal.append(said("more"))
        assert record.parent == "5"
    assert load_history(path).entries[-1] == said("more")


async def test_ids_are_not_used_twice_over_several_openings(store: SessionStore) -> None:
    path = await written(store, said("a"))
    for turn in range(3):
        with reopened(path) as journal:
            await journal.append(said(f"{turn}"))
    ids = [line["id"] for line in lines(path)]
    assert len(set(ids)) == len(ids) == 5


async def test_calls_without_an_outcome_are_settled_when_the_session_is_opened(
    store: SessionStore,
) -> None:
    path = await written(store, said("a"), asked("c1", "c2", "c3"), settled("c2"))
    with reopened(path) as journal:
        match journal.entries[-1]:
            case OutcomesLost(calls=calls):
                assert [call.id for call in calls] == ["c1", "c3"]
            case other:
                pytest.fail(f"unexpected {other}")
    count = len(lines(path))
    with reopened(path) as journal:
        assert len(lines(path)) == count


async def test_calls_of_an_interrupted_answer_are_settled_too(store: SessionStore) -> None:
    call = ToolCall("c1", "run", {})
    path = await written(store, said("a"), AnswerInterrupted(message=Assistant((call,))))
    with reopened(path) as journal:
        assert journal.entries[-1] == OutcomesLost(calls=(call,))


@pytest.mark.parametrize(
    "entries",
    [
        [said("a")],
        [said("a"), ModelAnswered(message=Assistant((Text("done"),)))],
        [said("a"), asked("c1"), settled("c1"), said("b")],
        [said("a"), asked("c1"), ModelAnswered(message=Assistant((Text("done"),)))],
    ],
)
async def test_nothing_is_settled_where_the_last_answer_left_nothing_open(
    store: SessionStore, entries: list[Entry]
) -> None:
    path = await written(store, *entries)
    before = path.read_bytes()
    with reopened(path):
        assert path.read_bytes() == before


async def test_an_id_used_again_by_a_later_answer_is_open_again(store: SessionStore) -> None:
    path = await written(store, said("a"), asked("c0"), settled("c0"), asked("c0"))
    with reopened(path) as journal:
        assert isinstance(journal.entries[-1], OutcomesLost)


async def test_the_active_branch_is_the_ancestry_of_the_last_record(store: SessionStore) -> None:
    path = await written(store, said("root"), said("left"), said("left too"))
    fork = {"id": "x1", "parent": "2", "at": 1.0, "entry": json.loads(to_json(said("right")))}
    with path.open("a") as file:
        file.write(json.dumps(fork) + "\n")
    with reopened(path) as journal:
        assert list(journal.entries[1:]) == [said("root"), said("right")]
        record = await journal.append(said("right too"))
        assert (record.id, record.parent) == ("5", "x1")
    assert load_history(path).entries[1:] == [said("root"), said("right"), said("right too")]


def to_json(entry: Entry) -> str:
    from hame.base.json import dump

    return dump(entry)


# ------------------------------------------------------------ one writer, many readers


async def test_a_second_writer_is_refused_and_told_who_has_it(journal: FileJournal) -> None:
    await journal.append(said("a"))
    with pytest.raises(SessionError) as caught:
        reopened(journal.path)
    assert f"is open in another hame (pid {os.getpid()})" in caught.value.message
    assert "Close it there" in caught.value.hint


async def test_readers_read_while_it_is_open(journal: FileJournal) -> None:
    await journal.append(said("a"))
    assert load_history(journal.path).entries[-1] == said("a")
    await journal.append(said("b"))
    assert load_history(journal.path).entries[-1] == said("b")


async def test_the_lock_goes_with_its_holder(store: SessionStore) -> None:
    path = await written(store, said("a"))
    reopened(path).close()
    reopened(path).close()


async def test_the_lock_of_another_process_counts(store: SessionStore) -> None:
    path = await written(store, said("a"))
    code = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from hame.sessions.journal import FileJournal\n"
        "journal = FileJournal.reopen(Path(sys.argv[1]))\n"
        "print('open', flush=True)\n"
        "sys.stdin.read()\n"
    )
    with python(code, str(path)) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "open\n"
        with pytest.raises(SessionError, match=rf"pid {child.pid}\)"):
            reopened(path)
        child.kill()
        child.wait()
    reopened(path).close()


def python(code: str, *arguments: str) -> subprocess.Popen[str]:
    source = str(Path(hame.__file__).parents[1])
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": source, "PATH": os.defpath},
    )


async def test_a_file_system_without_locks_is_used_without(
    store: SessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unsupported(descriptor: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, "no locks")

    path = await written(store, said("a"))
    monkeypatch.setattr(fcntl, "flock", unsupported)
    with reopened(path) as journal:
        await journal.append(said("b"))


async def test_a_lock_that_fails_otherwise_is_said(
    store: SessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(descriptor: int, operation: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    path = await written(store, said("a"))
    monkeypatch.setattr(fcntl, "flock", broken)
    with pytest.raises(SessionError, match=r"cannot open session .*Input/output error"):
        reopened(path)


# ------------------------------------------------------------ repair


@given(cut=st.integers(min_value=1, max_value=200))
@settings(max_examples=60, deadline=None)
def test_a_torn_last_line_is_cut_off_and_kept_aside(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    async def run() -> None:
        folder = tmp_path_factory.mktemp("torn")
        path = await written(SessionStore(folder), said("one"), said("two " + "ü" * 60))
        whole = path.read_bytes()
        last = whole.rstrip(b"\n").rindex(b"\n") + 1
        cut_at = min(last + cut, len(whole) - 2)
        path.write_bytes(whole[:cut_at])
        with reopened(path) as journal:
            assert list(journal.entries[1:]) == [said("one")]
            assert path.read_bytes() == whole[:last]
            kept = folder / f"{path.name}.torn-1"
            assert kept.read_bytes() == whole[last:cut_at]
            assert kept.stat().st_mode & 0o777 == 0o600
            assert journal.notices == (
                f"{path.name}: the last line was torn; it is kept as {kept.name}",
            )
            await journal.append(said("three"))
        assert load_history(path).entries[1:] == [said("one"), said("three")]

    anyio.run(run)


async def test_each_torn_line_gets_a_file_of_its_own(store: SessionStore) -> None:
    path = await written(store, said("a"))
    for number in (1, 2):
        with path.open("ab") as file:
            file.write(b'{"id":"' + b"9" * number)
        reopened(path).close()
    assert [each.name for each in kept_aside(path, "torn")] == [
        f"{path.name}.torn-1",
        f"{path.name}.torn-2",
    ]


async def test_a_last_line_that_lacks_only_its_end_is_kept(store: SessionStore) -> None:
    path = await written(store, said("a"), said("b"))
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    with reopened(path) as journal:
        assert journal.entries[-1] == said("b")
        await journal.append(said("c"))
    history = load_history(path)
    assert (history.entries[1:], history.damaged) == ([said("a"), said("b"), said("c")], ())


async def test_a_reader_leaves_a_torn_line_alone(store: SessionStore) -> None:
    path = await written(store, said("a"))
    with path.open("ab") as file:
        file.write(b'{"id":"9","par')
    before = path.read_bytes()
    history = load_history(path)
    assert (history.torn, history.entries[-1], path.read_bytes()) == (True, said("a"), before)


DAMAGE = {
    "B047: NUL bytes as a line": b"\0" * 400 + b"\n",
    "half a record": b'{"id":"3","parent":"2","at":1.0,"entry":{"type":"user_sa\n',
    "other text": b"not json at all\n",
    "json that is no record": b'{"hello": 1}\n',
    "a number": b"12\n",
    "bytes that are no text": b"\xff\xfe\x00\xd8\n",
    "deep nesting": b"[" * 100_000 + b"\n",
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
async def test_a_damaged_line_in_the_middle_is_skipped_and_said(
    store: SessionStore, damage: bytes
) -> None:
    path = await written(store, said("a"), said("b"), said("c"))
    whole = path.read_bytes().splitlines(keepends=True)
    # The line is put in the place of a record: those after it name a parent that is not there.
    whole[2] = damage
    path.write_bytes(b"".join(whole))
    original = path.read_bytes()
    with reopened(path) as journal:
        assert list(journal.entries[1:]) == [said("a"), said("c")]
        (kept,) = kept_aside(path, "damaged")
        assert kept.read_bytes() == original
        assert journal.notices == (
            f"{path.name}: what is damaged was skipped (line 3)",
            f"{path.name}: the file as it was is kept as {kept.name}",
        )
        await journal.append(said("d"))
    with reopened(path) as journal:
        assert list(journal.entries[1:]) == [said("a"), said("c"), said("d")]
    assert len(kept_aside(path, "damaged")) == 1
    assert path.read_bytes().startswith(original)


async def test_many_damaged_lines_are_said_in_one_line(store: SessionStore) -> None:
    path = await written(store, said("a"))
    with path.open("ab") as file:
        file.write(b"rubbish\n" * 7)
    assert load_history(path).notices == (
        f"{path.name}: what is damaged was skipped (line 3, 4, 5, 6, 7, ...)",
    )


async def test_b049_a_record_written_in_part_and_then_again_whole_counts_once(
    store: SessionStore,
) -> None:
    path = await written(store, said("a"), said("b" * 300), said("c"))
    whole = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*whole[:2], whole[2][:120], *whole[2:]]))
    history = load_history(path)
    assert history.entries[1:] == [said("a"), said("b" * 300), said("c")]
    assert history.damaged == (3,)


@given(cut=st.integers(min_value=60, max_value=700))
@settings(max_examples=60, deadline=None)
def test_what_looks_like_a_record_inside_half_a_record_is_none(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    """The half of a record may hold whole objects that have ids of their own."""

    async def run() -> None:
        inner: dict[str, object] = {"id": "deep", "type": "x", "list": [{"id": "deeper"}]}
        calls = tuple(ToolCall(f"c{n}", "t", {"a": inner, "b": [inner, inner]}) for n in range(3))
        answer = ModelAnswered(message=Assistant(calls))
        lost: list[Entry] = [settled(f"c{n}") for n in range(3)]
        folder = tmp_path_factory.mktemp("half")
        path = await written(SessionStore(folder), said("a"), answer, *lost, said("b"))
        whole = path.read_bytes().splitlines(keepends=True)
        half = whole[2][: min(cut, len(whole[2]) - 2)]
        path.write_bytes(b"".join([*whole[:2], half, *whole[2:]]))
        history = load_history(path)
        assert history.entries[1:] == [said("a"), answer, *lost, said("b")]
        assert history.damaged == (3,)
        path.write_bytes(b"".join([*whole, half + b"\n"]))
        assert load_history(path).entries[1:] == [said("a"), answer, *lost, said("b")]

    anyio.run(run)


async def test_an_object_with_an_id_that_is_no_record_is_damage(store: SessionStore) -> None:
    path = await written(store, said("a"))
    with path.open("ab") as file:
        file.write(b'{"id":"x"}\n{"id":"y","parent":null,"at":1.0,"entry":{"type":3}}\n')
    history = load_history(path)
    assert (history.entries[1:], history.damaged) == ([said("a")], (3, 4))


async def test_records_run_together_on_one_line_are_all_read(store: SessionStore) -> None:
    path = await written(store, said("a"), said("b"), said("c"))
    whole = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join([*whole[:2], whole[2] + b"\0\0" + whole[3]]) + b"\n")
    assert load_history(path).entries[1:] == [said("a"), said("b"), said("c")]


async def test_a_last_line_of_a_half_and_a_whole_record_without_an_end_is_read(
    store: SessionStore,
) -> None:
    path = await written(store, said("a"), said("b"))
    whole = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join([*whole[:2], whole[2][:30] + whole[2]]))
    with reopened(path) as journal:
        assert list(journal.entries[1:]) == [said("a"), said("b")]
        await journal.append(said("c"))
    assert load_history(path).entries[1:] == [said("a"), said("b"), said("c")]


async def test_a_record_written_twice_counts_once(store: SessionStore) -> None:
    path = await written(store, said("a"), said("b"), said("c"))
    whole = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*whole[:3], whole[2], *whole[3:], whole[1]]))
    history = load_history(path)
    assert (history.entries[1:], history.notices) == ([said("a"), said("b"), said("c")], ())


async def test_empty_lines_are_no_damage(store: SessionStore) -> None:
    path = await written(store, said("a"))
    with path.open("ab") as file:
        file.write(b"\n\r\n  \n")
    assert load_history(path).notices == ()


@given(st.data())
@settings(max_examples=80, deadline=None)
def test_whatever_is_done_to_a_line_the_whole_records_around_it_are_read(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    async def run() -> None:
        folder = tmp_path_factory.mktemp("damage")
        path = await written(SessionStore(folder), *(said(f"words {n}") for n in range(6)))
        whole = path.read_bytes().splitlines(keepends=True)
        where = data.draw(st.integers(1, len(whole) - 1))
        junk = data.draw(st.binary(max_size=60)).replace(b"\n", b"")
        whole.insert(where, junk + b"\n")
        path.write_bytes(b"".join(whole))
        with reopened(path) as journal:
            assert list(journal.entries[1:]) == [said(f"words {n}") for n in range(6)]
            await journal.append(said("after"))
        assert load_history(path).entries[-1] == said("after")

    anyio.run(run)


# ------------------------------------------------------------ other versions


def stranger(kind: str, v: int = VERSION) -> bytes:
    frame = f'{{"id":"50","parent":"2","at":1.0,"entry":{{"type":"{kind}","what":1}},"v":{v}}}\n'
    return frame.encode()


async def test_an_entry_of_a_kind_not_known_is_skipped_said_and_kept(store: SessionStore) -> None:
    path = await written(store, said("a"))
    with path.open("ab") as file:
        file.write(stranger("dream_recorded"))
    before = path.read_bytes()
    with reopened(path) as journal:
        assert list(journal.entries[1:]) == [said("a")]
        (notice,) = journal.notices
        assert "1 entries of kinds this hame does not know were skipped" in notice
        record = await journal.append(said("b"))
        assert (record.id, record.parent) == ("51", "50")
    assert path.read_bytes().startswith(before)
    assert load_history(path).entries[1:] == [said("a"), said("b")]


async def test_a_newer_format_can_be_read_but_not_continued(store: SessionStore) -> None:
    path = await written(store, said("a"))
    with path.open("ab") as file:
        file.write(stranger("dream_recorded", VERSION + 1))
    history = load_history(path)
    assert history.entries[1:] == [said("a")]
    assert any("newer hame (format 2, this one writes 1)" in note for note in history.notices)
    before = path.read_bytes()
    with pytest.raises(SessionError, match="written by a newer hame") as caught:
        reopened(path)
    assert "Update hame" in caught.value.hint
    assert path.read_bytes() == before


# ------------------------------------------------------------ disks


async def test_a_full_disk_is_an_error_that_loses_nothing_and_can_be_got_over(
    journal: FileJournal,
) -> None:
    await journal.append(said("a"))
    before = journal.path.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 100, hard))
    try:
        with pytest.raises(SessionError, match="the disk is full") as caught:
            await journal.append(said("b" * 5000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert "nothing written so far is lost" in caught.value.hint
    assert journal.path.read_bytes() == before
    assert journal.entries[-1] == said("a")
    await journal.append(said("b" * 5000))
    journal.close()
    assert load_history(journal.path).entries[1:] == [said("a"), said("b" * 5000)]


async def test_a_disk_that_is_full_at_the_first_words_keeps_them_for_the_next_try(
    journal: FileJournal,
) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, hard))
    try:
        with pytest.raises(SessionError, match="the disk is full"):
            await journal.append(said("a"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    await journal.append(said("again"))
    journal.close()
    history = load_history(journal.path)
    assert history.notices == ()
    assert [type(entry).__name__ for entry in history.entries] == ["SessionStarted", "UserSaid"]


async def test_part_of_a_line_that_cannot_be_taken_back_does_not_spoil_the_next(
    journal: FileJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    await journal.append(said("a"))
    size = journal.path.stat().st_size
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 100, hard))

    def refused(descriptor: int, length: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "ftruncate", refused)
    try:
        with pytest.raises(SessionError):
            await journal.append(said("b" * 5000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    await journal.append(said("c"))
    journal.close()
    history = load_history(journal.path)
    assert history.entries[1:] == [said("a"), said("c")]
    assert history.damaged == (3,)


async def test_a_file_deleted_while_it_is_open_is_an_error_not_a_silent_loss(
    journal: FileJournal,
) -> None:
    await journal.append(said("a"))
    journal.path.unlink()
    with pytest.raises(SessionError, match="its file is gone") as caught:
        await journal.append(said("b"))
    assert "start a new session" in caught.value.hint
    assert journal.entries[-1] == said("a")


async def test_a_folder_that_went_away_is_made_again_for_a_session_not_yet_written(
    store: SessionStore, folder: Path
) -> None:
    make(folder)
    with store.create("/p", "0.1.0") as journal:
        remove(folder)
        await journal.append(said("a"))
    assert load_history(journal.path).entries[-1] == said("a")


async def test_where_there_can_be_no_folder_a_new_session_goes_on_in_memory_and_says_so(
    tmp_path: Path,
) -> None:
    (tmp_path / "file").write_text("in the way")
    store = SessionStore(tmp_path / "file" / "sessions")
    with store.create("/p", "1") as journal:
        await journal.append(said("a"))
        assert "there can be no folder of sessions" in journal.notices[0]
        assert list(journal.entries)[-1] == said("a")


async def test_a_failing_fsync_is_an_error(
    journal: FileJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    await journal.append(said("a"))

    def broken(descriptor: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(SessionError, match="Input/output error") as caught:
        await journal.append(said("b"), durable=True)
    assert "Check the disk" in caught.value.hint


@pytest.mark.parametrize("code", [errno.EROFS, errno.EACCES])
async def test_a_file_that_may_not_be_written_is_said_with_the_remedy(
    store: SessionStore, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    path = await written(store, said("a"))
    real = os.open

    def refused(name: object, flags: int, *rest: int, **named: int) -> int:
        if flags & os.O_RDWR:
            raise OSError(code, os.strerror(code))
        return real(name, flags, *rest, **named)

    monkeypatch.setattr(os, "open", refused)
    with pytest.raises(SessionError, match="may not be written") as caught:
        reopened(path)
    assert "permissions" in caught.value.hint
    assert load_history(path).entries[-1] == said("a")


def test_a_file_that_is_not_there_cannot_be_opened_or_read(folder: Path) -> None:
    for read in (reopened, load_history):
        with pytest.raises(SessionError, match="its file is gone"):
            read(folder / "nothing.jsonl")


async def test_an_entry_nested_too_deeply_is_refused_in_words(journal: FileJournal) -> None:
    nested: object = 1
    for _ in range(5000):
        nested = [nested]
    call = ToolCall("c", "t", {"a": nested})
    with pytest.raises(SessionError, match="nested too deeply"):
        await journal.append(ModelAnswered(message=Assistant((call,))))
    await journal.append(said("still there"))


# ------------------------------------------------------------ memory and speed


async def test_appending_does_not_copy_what_is_there(journal: FileJournal) -> None:
    await journal.append(said("a"))
    entries = journal.entries
    for _ in range(2000):
        await journal.append(Settled)
    assert journal.entries is entries
    assert sum(entry is Settled for entry in entries) == 2000


async def test_a_branch_that_was_gone_back_to_is_the_active_one_when_reopened(
    store: SessionStore,
) -> None:
    with store.create("/p", "1") as journal:
        first = await journal.append(said("a"))
        await journal.append(said("b"))
        await journal.move(first.id)
    with reopened(journal.path) as again:
        assert list(again.entries) == list(journal.entries)
        assert said("b") not in again.entries
        assert list(again.ids) == list(journal.ids)
        await again.append(said("c"))
        assert again.entries[-1] == said("c")


async def test_going_back_that_cannot_be_written_down_changes_nothing(
    journal: FileJournal,
) -> None:
    first = await journal.append(said("a"))
    await journal.append(said("b"))
    entries, ids = journal.entries, journal.ids
    journal.path.unlink()
    with pytest.raises(SessionError):
        await journal.move(first.id)
    assert journal.entries is entries
    assert journal.ids is ids


Settled = CallSettled(call_id="c", name="t", outcome=Failed("no"))


@pytest.mark.parametrize("code", [errno.EROFS, errno.EACCES, errno.EPERM])
async def test_where_no_file_may_be_made_a_new_session_goes_on_in_memory_and_says_so(
    store: SessionStore, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    with store.create("/p", "1") as journal:
        await journal.append(ModelChosen(model="a/b"))

        def refused(*_: object, **__: object) -> int:
            raise OSError(code, os.strerror(code))

        with monkeypatch.context() as patch:
            patch.setattr(os, "open", refused)
            assert journal.notices == ()
            first = await journal.append(said("a"), durable=True)
        assert not journal.kept
        assert len(journal.notices) == 1
        assert "this session is not kept: it may not be written here" in journal.notices[0]
        # Once begun so, it stays so: half a session in a file would be a riddle later.
        await journal.append(said("b"), durable=True)
        journal.sync_soon()
        await journal.move(first.id)
        await journal.append(said("c"))
        words = [each.message.words for each in journal.entries if isinstance(each, UserSaid)]
        assert words == ["a", "c"]
        assert len(journal.notices) == 1
    assert not journal.path.exists()
    assert list(journal.entries)[-1] == said("c")
