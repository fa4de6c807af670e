"""Going on with a session shows where it was left, and says at once when that cannot be done."""

from pathlib import Path

import anyio
import pytest

from hame.base.entry import Entry, ModelAnswered, RunFinished, TitleSet, UserSaid
from hame.base.errors import SessionError
from hame.base.message import Assistant, Text, User
from hame.base.model import Usage
from hame.base.run import RunDone, StepLimit
from hame.cli.recap import recap_lines
from hame.config.places import Places, find_places
from hame.sessions.journal import FileJournal
from hame.sessions.store import SessionStore

READY = r"^\u276f\s*$"


def said(words: str, *, steering: bool = False) -> UserSaid:
    return UserSaid(message=User((Text(words),)), steering=steering)


def answered(words: str) -> ModelAnswered:
    return ModelAnswered(message=Assistant((Text(words),)))


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return find_places({"HOME": str(tmp_path)})


def write(places: Places, *entries: Entry, cwd: str = "/p") -> Path:
    async def put() -> Path:
        with SessionStore(Path(places.sessions)).create(cwd, "0.1.0") as journal:
            for entry in entries:
                await journal.append(entry)
        return journal.path

    return anyio.run(put)


def test_the_last_prompt_and_the_end_of_its_answer_are_shown(places: Places) -> None:
    answer = "\n".join(f"line {number}" for number in range(20))
    path = write(
        places,
        said("first"), answered("one"), said("second\nquestion"), answered("Let me look."),
        said("quick", steering=True), answered(answer), RunFinished(result=RunDone(text="x"), usage=Usage(), steps=2),
        TitleSet(title="the teas"),
    )  # fmt: skip
    assert recap_lines(path) == [
        f"going on with {path.stem}  the teas",
        "> second question",
        "  … 12 lines before",
        *(f"  line {number}" for number in range(12, 20)),
    ]


def test_how_it_ended_is_said_where_it_is_not_simply_done(places: Places) -> None:
    ended = RunFinished(result=StepLimit(steps=3), usage=Usage(), steps=3)
    path = write(places, said("\x1b[2Jgo"), ended)
    lines = recap_lines(path)
    assert lines[0].startswith(f"going on with {path.stem}")
    assert "\x1b" not in "".join(lines)
    assert lines[2] == "stopped at the limit of 3 steps"


def test_a_session_that_is_shown_is_nobody_elses_even_before_anything_is_typed(
    terminal, places: Places, tmp_path: Path
) -> None:
    path = write(places, said("go"), cwd=str(tmp_path))
    hame = terminal("--continue", HOME=str(tmp_path))
    hame.wait_for(READY)
    with pytest.raises(SessionError, match=r"open in another hame \(pid \d+\)") as caught:
        FileJournal.reopen(path)
    assert f"hame sessions fork {path.stem}" in caught.value.hint
    again = terminal("--continue", HOME=str(tmp_path))
    again.wait_for("is open in another hame")
    assert again.ended() == 2
    hame.send("\x04")
    assert hame.ended() == 0
    FileJournal.reopen(path).close()


def test_a_conversation_begins_with_it(terminal, places: Places, tmp_path: Path) -> None:
    path = write(places, said("count the teas"), answered("There are four."), cwd=str(tmp_path))
    hame = terminal("--continue", HOME=str(tmp_path))
    text = hame.wait_for(READY)
    assert f"going on with {path.stem}  count the teas" in text
    assert "> count the teas\n  There are four." in text


def test_a_session_that_there_is_not_ends_it_at_once(terminal, tmp_path: Path) -> None:
    hame = terminal("--resume", "nope", HOME=str(tmp_path))
    hame.wait_for("there is no session nope")
    assert hame.ended() == 2
