"""The commands about memory and copies, typed into a real hame with a real session."""

from pathlib import Path

import anyio

from hame.base.entry import ModelAnswered, UserSaid
from hame.base.message import Assistant, Text, User
from hame.sessions.store import SessionStore


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
        ("/export teas.html", "wrote .*teas.html"),
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
