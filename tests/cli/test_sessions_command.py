"""`hame sessions` on real files."""

import json
from pathlib import Path

import anyio
import pytest

from hame.base.entry import ModelAnswered, RunFinished, UserSaid
from hame.base.message import Assistant, Origin, Text, User
from hame.base.model import Usage
from hame.base.run import RunDone
from hame.sessions.store import SessionStore


@pytest.fixture
def sessions(tmp_path: Path) -> SessionStore:
    return SessionStore(tmp_path / ".local/share/hame/sessions")


@pytest.fixture
def session(sessions: SessionStore, tmp_path: Path) -> str:
    async def write() -> str:
        with sessions.create(str(tmp_path), "0.1.0") as journal:
            await journal.append(UserSaid(message=User((Text("count the teas"),))))
            await journal.append(ModelAnswered(message=Assistant((Text("There are four."),))))
            return journal.session

    return anyio.run(write)


def test_what_was_said_is_found_and_shown(hame, session, tmp_path):
    home = {"HOME": str(tmp_path)}
    found = hame("sessions", "search", "TEAS", "four", real=True, **home)
    assert session in found.stdout
    assert "count the teas" in found.stdout
    assert (
        json.loads(hame("sessions", "search", "teas", "--json", real=True, **home).stdout)[0][
            "summary"
        ]["id"]
        == session
    )
    assert "nothing was found" in hame("sessions", "search", "zebra", real=True, **home).stderr
    shown = hame("sessions", "show", session[:15], real=True, **home).stdout
    assert shown == "> count the teas\n\nThere are four.\n\n"
    assert hame("sessions", "show", session, "--last", "1", real=True, **home).stdout == (
        "There are four.\n\n"
    )


def test_a_session_is_renamed_forked_exported_and_taken_in_again(hame, session, sessions, tmp_path):
    home = {"HOME": str(tmp_path)}
    assert (
        "the tea list"
        in hame("sessions", "rename", session, "the tea list", real=True, **home).stdout
    )
    forked = hame("sessions", "fork", session, real=True, **home).stdout.splitlines()[0]
    assert forked != session
    assert len(sessions.list()) == 2
    for name, beginning in (("a.md", "# the tea list"), ("a.html", "<!doctype"), ("a.json", "{")):
        assert hame("sessions", "export", session, "-o", name, real=True, **home).returncode == 0
        assert (tmp_path / name).read_text().startswith(beginning)
    again = hame("sessions", "export", session, "-o", "a.md", real=True, **home)
    assert again.returncode == 2
    assert "exists already" in again.stderr
    assert "There are four." in hame("sessions", "export", session, real=True, **home).stdout
    taken = hame("sessions", "import", "a.json", "--here", real=True, **home).stdout.split()[0]
    assert "There are four." in hame("sessions", "show", taken, real=True, **home).stdout
    assert hame("sessions", "import", "a.md", real=True, **home).returncode == 2


def test_deleting_asks_or_needs_to_be_told(hame, session, sessions, tmp_path):
    home = {"HOME": str(tmp_path)}
    refused = hame("sessions", "delete", session, real=True, **home)
    assert (refused.returncode, len(sessions.list())) == (2, 1)
    assert "--yes" in refused.stderr
    done = hame("sessions", "delete", session, "--yes", real=True, **home)
    assert done.stdout == f"deleted {session}\n"
    assert sessions.list() == []


def test_a_session_s_trace_is_shown_as_lines_and_as_json(hame, session, tmp_path):
    home = {"HOME": str(tmp_path)}
    lines = hame("trace", real=True, **home).stdout.splitlines()
    assert len(lines) == 3
    assert "PROMPT" in lines[1]
    assert "| count the teas" in lines[1]
    rows = [
        json.loads(line)
        for line in hame("trace", session, "--json", real=True, **home).stdout.splitlines()
    ]
    assert [row["stage"] for row in rows] == ["SESSION", "PROMPT", "ANSWER"]
    assert hame("trace", "nope", real=True, **home).returncode == 2


def test_a_session_is_replayed_without_a_key_and_left_as_it_is(hame, session, sessions, tmp_path):
    home = {"HOME": str(tmp_path)}
    before = sessions.path(session).read_bytes()
    shown = hame("replay", real=True, **home)
    assert shown.returncode == 1
    assert "DIVERGES at the end: recorded: nothing more" in shown.stdout
    assert shown.stdout.endswith("1 run, 1 request, 3 records, 1 divergence\n")
    again = [hame("replay", session, "--json", real=True, **home).stdout for _ in range(2)]
    assert again[0] == again[1]
    step = json.loads(again[0])["steps"][0]
    assert (step["run"], len(step["sha256"])) == (1, 64)
    assert step["sha256"][:16] in shown.stdout
    assert sessions.path(session).read_bytes() == before
    assert hame("replay", "nope", real=True, **home).returncode == 2


def test_a_whole_session_is_replayed_without_a_difference(hame, sessions, tmp_path):
    async def write() -> str:
        with sessions.create(str(tmp_path), "0.1.0") as journal:
            said = Assistant(
                (Text("There are four."),), Origin("openai_chat", "openai", "gpt-4.1-mini")
            )
            await journal.append(UserSaid(message=User((Text("count the teas"),))))
            await journal.append(ModelAnswered(message=said))
            done = RunDone(text="There are four.")
            await journal.append(RunFinished(result=done, usage=Usage(), steps=1))
            return journal.session

    session = anyio.run(write)
    shown = hame("replay", session, real=True, HOME=str(tmp_path))
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "openai/gpt-4.1-mini" in shown.stdout
    assert shown.stdout.endswith("1 run, 1 request, 4 records, 0 divergences\n")


def test_what_a_program_reads_is_json_whatever_was_said(hame, sessions, tmp_path):
    words = "teas \x1b]0;t\x07 \u202egnp.exe \x9b \U000e0041 \\ é"

    async def write() -> str:
        with sessions.create(str(tmp_path), "0.1.0") as journal:
            await journal.append(UserSaid(message=User((Text(words),))))
            return journal.session

    session = anyio.run(write)
    home = {"HOME": str(tmp_path)}
    listed = hame("sessions", "--json", real=True, **home).stdout
    found = hame("sessions", "search", "teas", "--json", real=True, **home).stdout
    undone = hame("undo", "--list", "--json", real=True, **home).stdout
    traced = hame("trace", session, "--json", real=True, **home).stdout
    for text in (listed, found, undone, *traced.splitlines()):
        json.loads(text)
        assert not any(sign in text for sign in "\x1b\x07\u202e\x9b\U000e0041")
    assert json.loads(listed)[0]["title"] == " ".join(words.split())


def test_a_place_is_labelled_and_forked_from(hame, session, sessions, tmp_path):
    home = {"HOME": str(tmp_path)}
    assert "record 2 of" in hame("sessions", "label", session, "asked", "--at", "2", real=True, **home).stdout  # fmt: skip
    assert "record 4 of" in hame("sessions", "label", session, "the end", real=True, **home).stdout
    listed = hame("sessions", "label", session, real=True, **home).stdout
    assert listed == "    2  asked\n    4  the end\n"
    forked = hame("sessions", "fork", session, "--at", "asked", real=True, **home).stdout
    copy = sessions.read(forked.split()[0])
    assert [type(each).__name__ for each in copy.entries] == ["SessionStarted", "UserSaid"]
    refused = hame("sessions", "label", session, "x", "--at", "99", real=True, **home)
    assert refused.returncode == 1
    assert "no record 99" in refused.stderr
