"""The commands about memory and copies, typed into a real hame with a real session."""

from pathlib import Path

import anyio

from hame.base.entry import ModelAnswered, UserSaid
from hame.base.message import Assistant, Text, User
from hame.base.model import Usage
from hame.sessions.store import SessionStore
from hame.testing import ScriptedServer, answer

READY = r"^\u276f\s*$"


def a_session(home: Path) -> str:
    store = SessionStore(home / ".local/share/hame/sessions")

    async def write() -> str:
        with store.create(str(home), "0.1.0") as journal:
            await journal.append(UserSaid(message=User((Text("count the teas"),))))
            await journal.append(ModelAnswered(message=Assistant((Text("There are four."),))))
            return journal.session

    return anyio.run(write)


def test_demands_names_copies_and_exports_are_a_line_away(terminal, tmp_path):
    session = a_session(tmp_path)
    hame = terminal("--resume", session, real=True, HOME=str(tmp_path))
    for line, said in (
        ("/constraints", "no demands hold yet"),
        ("/constraints add never touch vendor/", "c1 holds from now on: never touch vendor/"),
        ("/constraints", "never touch vendor/"),
        ("/constraints remove c1", "c1 holds no more"),
        ("/cache", "no request of this session was counted yet"),
        ("/rename the tea list", "this session is now called the tea list"),
        ("/label start", "this place is labelled start"),
        ("/export teas.html", r"wrote [\s\S]*teas\.html"),
        ("/export", "/export needs a file"),
        ("/fork start", "a copy of"),
    ):
        hame.send(f"{line}\r")
        hame.wait_for(said)
    hame.send("\x04")
    assert hame.ended() == 0
    assert "There are four." in (tmp_path / "teas.html").read_text()
    titles = [s.title for s in SessionStore(tmp_path / ".local/share/hame/sessions").list()]
    assert titles == ["the tea list", "the tea list"]


def test_what_a_change_of_model_costs_is_said_when_it_is_made_and_once(terminal, tmp_path):
    large = Usage(input_uncached=60_000, output=5)
    with ScriptedServer(answer("Four.", usage=large), answer("Five.")) as server:
        own = {"HOME": str(tmp_path), "MINE_BASE_URL": f"{server.url}/v1", "HAME_MODEL": "mine/m"}
        hame = terminal(real=True, columns=120, **own)
        hame.wait_for(READY)
        hame.send("count\r")
        hame.wait_for(r"^Four\.$")
        hame.wait_for(READY)
        hame.send("/model mine/other\r")
        hame.wait_for("60,000 tokens anew")
        hame.wait_for(READY)
        hame.send("again\r")
        assert hame.wait_for(r"^Five\.$").count("60,000 tokens anew") == 1


def test_a_session_that_can_be_kept_in_no_file_can_be_exported(terminal, tmp_path):
    (tmp_path / "data").write_text("no folder")
    with ScriptedServer(answer("Four.")) as server:
        own = {"HOME": str(tmp_path), "MINE_BASE_URL": f"{server.url}/v1", "HAME_MODEL": "mine/m"}
        hame = terminal(real=True, columns=120, **own, XDG_DATA_HOME=str(tmp_path / "data"))
        hame.wait_for(READY)
        hame.send("/export teas.md\r")
        hame.wait_for("nothing was said in this session yet")
        hame.send("count the teas\r")
        hame.wait_for(r"^Four\.$")
        hame.wait_for(READY)
        hame.send("/export teas.md\r")
        hame.wait_for(r"wrote [\s\S]*teas\.md")
        hame.send("/fork\r")
        hame.wait_for("is in no file, so it cannot be copied")
    assert "Four." in (tmp_path / "teas.md").read_text()
