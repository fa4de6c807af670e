"""Forks, exports and imports: copies that stand on their own and lose nothing."""

import html
import json
import os
import re
from pathlib import Path

import pytest

from hame.base.entry import (
    CallSettled,
    LabelSet,
    ModelAnswered,
    SessionStarted,
    TitleSet,
    UserSaid,
)
from hame.base.errors import SessionError
from hame.base.json import dump
from hame.base.message import Assistant, Image, Text, Thinking, ToolCall, User
from hame.base.outcome import Done, Failed, text_content
from hame.sessions.branch import Branch, read_branch
from hame.sessions.copying import fork, import_session, read_import, write_session
from hame.sessions.export import ExportFormat, export, title_of
from hame.sessions.journal import FileJournal
from hame.sessions.store import SessionStore
from sessions.conftest import asked, mode, said, written

HOSTILE = "<script>alert(1)</script>\n```\n</pre><img src=x onerror=alert(1)>"


def exported(branch: Branch, form: ExportFormat) -> bytes:
    return b"".join(export(branch, form))


async def a_session(store: SessionStore) -> Path:
    picture = Image("image/png", b"\x89PNG", "shot.png")
    calls = (ToolCall("c1", "read_file", {"path": "a.py"}), ToolCall("c2", "run", None, "{bad"))
    return await written(
        store,
        UserSaid(message=User((Text(f"Fix it. {HOSTILE}"), picture))),
        ModelAnswered(message=Assistant((Thinking("Hm."), Text("I look."), *calls))),
        CallSettled(call_id="c1", name="read_file", outcome=Done(text_content(HOSTILE))),
        CallSettled(call_id="c2", name="run", outcome=Failed("no JSON")),
        ModelAnswered(message=Assistant((Text("Done."),))),
        TitleSet(title="The <fix>"),
    )


# ------------------------------------------------------------ forks


async def test_a_fork_begins_as_its_session_does_and_goes_its_own_way(
    store: SessionStore,
) -> None:
    path = await a_session(store)
    before = path.read_bytes()
    copy = fork(read_branch(path), store.path(store.new_id()))
    with FileJournal.reopen(copy) as journal:
        assert journal.notices == ()
        started = journal.entries[0]
        assert isinstance(started, SessionStarted)
        assert (started.session, started.forked_from) == (copy.stem, path.stem)
        assert list(journal.entries[1:]) == list(read_branch(path).entries[1:])
        await journal.append(said("another way"))
    assert path.read_bytes() == before
    assert mode(copy) == 0o600


async def test_a_fork_at_a_label_or_record_ends_there(store: SessionStore) -> None:
    path = await written(store, said("a"), said("b"), LabelSet(record="2", label="here"), said("c"))
    for place in ("here", "2"):
        copy = fork(read_branch(path, place), store.path(store.new_id()))
        assert [e for e in read_branch(copy).entries if isinstance(e, UserSaid)] == [said("a")]
    with pytest.raises(SessionError, match="no record nowhere") as caught:
        read_branch(path, "nowhere")
    assert "here" in caught.value.hint


async def test_a_label_that_was_taken_away_is_none(store: SessionStore) -> None:
    path = await written(
        store, said("a"), LabelSet(record="2", label="here"), LabelSet(record="2", label="")
    )
    with pytest.raises(SessionError, match="no record here"):
        read_branch(path, "here")


async def test_a_fork_leaves_out_branches_that_were_left(store: SessionStore) -> None:
    path = await written(store, said("a"), said("left"))
    with FileJournal.reopen(path) as journal:
        await journal.move("2")
        await journal.append(said("c"))
    copy = fork(read_branch(path), store.path(store.new_id()))
    assert b"left" not in copy.read_bytes().replace(b'"left":', b"")
    words = [e.message.words for e in read_branch(copy).entries if isinstance(e, UserSaid)]
    assert words == ["a", "c"]


async def test_a_copy_that_cannot_be_written_leaves_nothing(store: SessionStore) -> None:
    path = await written(store, said("a"))
    with pytest.raises(SessionError, match="File exists"):
        fork(read_branch(path), path)
    assert sorted(each.name for each in path.parent.iterdir()) == [path.name]


# ------------------------------------------------------------ out of hame and into it


async def test_what_was_exported_as_json_comes_back_as_it_was(store: SessionStore) -> None:
    path = await a_session(store)
    file = path.parent / "exported.json"
    file.write_bytes(exported(read_branch(path), ExportFormat.JSON))
    copy = import_session(read_import(file), store.path(store.new_id()))
    assert read_branch(copy).entries[1:] == read_branch(path).entries[1:]
    assert read_branch(copy).records[3].at == read_branch(path).records[3].at
    with FileJournal.reopen(copy) as journal:
        await journal.append(said("go on"))


async def test_a_journal_from_elsewhere_is_taken_in_with_all_its_branches(
    store: SessionStore, tmp_path: Path
) -> None:
    path = await written(store, said("a"), said("left"))
    with FileJournal.reopen(path) as journal:
        await journal.move("2")
        await journal.append(said("c"))
    foreign = tmp_path / "foreign.jsonl"
    foreign.write_bytes(path.read_bytes() + b"\0\0\n{torn")
    copy = import_session(read_import(foreign), store.path(store.new_id()), cwd="/here")
    started = read_branch(copy).entries[0]
    assert isinstance(started, SessionStarted)
    assert (started.session, started.cwd) == (copy.stem, "/here")
    with FileJournal.reopen(copy) as journal:
        await journal.move("3")


@pytest.mark.parametrize(
    "data",
    [b"", b"{}", b"[]", b"hello\nworld\n", b'{"format":"other","version":1,"session":"s","records":[]}',
     b'{"id":"1","parent":null,"at":1.0,"entry":{"type":"title_set","title":"x"}}\n', b"\xff\xfe\0"],
)  # fmt: skip
def test_what_is_no_session_is_refused_with_the_remedy(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "x.json"
    file.write_bytes(data)
    with pytest.raises(SessionError, match="is not a session of hame") as caught:
        read_import(file)
    assert "export" in caught.value.hint


def test_a_file_that_is_not_there_or_is_newer_is_said(tmp_path: Path) -> None:
    with pytest.raises(SessionError, match="No such file"):
        read_import(tmp_path / "no.json")


def test_what_has_no_end_or_no_beginning_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (Path("/dev/zero"), tmp_path / "pipe", tmp_path):
        with pytest.raises(SessionError, match="is no file"):
            read_import(path)
    newer = tmp_path / "newer.jsonl"
    started = SessionStarted(session="s", cwd="/p", hame="9")
    newer.write_text('{"id":"1","parent":null,"at":1.0,"v":9,"entry":' + dump(started) + "}\n")
    with pytest.raises(SessionError, match="newer hame"):
        read_import(newer)


async def test_markdown_shows_what_was_said_with_fences_that_hold(store: SessionStore) -> None:
    branch = read_branch(await a_session(store))
    text = exported(branch, ExportFormat.MARKDOWN).decode()
    assert text.startswith("# The <fix>\n")
    assert "\n## You\n\nFix it." in text
    assert "\n## hame\n\nI look." in text
    assert "failed of run" in text
    fence = re.search(r"result of read_file</summary>\n\n(`+)\n", text)
    assert fence is not None
    assert len(fence[1]) == 4


async def test_html_needs_nothing_else_and_runs_nothing(store: SessionStore) -> None:
    text = exported(read_branch(await a_session(store)), ExportFormat.HTML).decode()
    assert "<script" not in text
    assert "onerror=alert(1)>" not in text.replace(html.escape(HOSTILE), "")
    assert html.escape("<script>alert(1)</script>") in text
    assert "default-src 'none'" in text
    assert not re.findall(r'(?:src|href)="(?!data:)', text)
    assert "data:image/png;base64,iVBORw" in text
    assert "<title>The &lt;fix&gt;</title>" in text


async def test_a_picture_of_an_odd_type_is_not_shown(store: SessionStore) -> None:
    odd = Image('image/svg+xml" onload="x', b"<svg/>", "x.svg")
    path = await written(store, UserSaid(message=User((Text("look"), odd))))
    text = exported(read_branch(path), ExportFormat.HTML).decode()
    assert "<img" not in text
    assert "onload" not in text


async def test_json_is_one_object_that_names_itself(store: SessionStore) -> None:
    found = json.loads(exported(read_branch(await a_session(store)), ExportFormat.JSON))
    assert (found["format"], found["version"]) == ("hame-session", 1)
    assert len(found["records"]) == 7


async def test_a_session_without_a_name_is_called_by_its_first_words(store: SessionStore) -> None:
    assert (
        title_of(read_branch(await written(store, said("fix the bug"), asked()))) == "fix the bug"
    )
    path = write_session(store.path("empty"), [])
    assert title_of(read_branch(path)) == "empty"
