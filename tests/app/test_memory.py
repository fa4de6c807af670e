"""A real session's memory: summary on request, demands that the model is told of, costs said before."""

from typing import TYPE_CHECKING

import pytest

from hame.base.entry import HistoryCompacted
from hame.base.errors import HameError
from hame.base.event import Compacted, Notice
from hame.base.message import Note, User
from hame.base.model import Usage
from hame.testing import answer

if TYPE_CHECKING:
    from app.conftest import Scene

SUMMARY = "## Goal\nCount the teas in the list.\n## Next\nRead teas.py."


def notes_of(message: object) -> str:
    assert isinstance(message, User)
    return "\n".join(block.text for block in message.content if isinstance(block, Note))


async def test_a_session_is_compacted_on_request_and_goes_on_from_the_summary(
    scene: "Scene",
) -> None:
    runtime = scene.start(answer("Four teas. " * 200), answer(SUMMARY), answer("Go."))
    await runtime.prompt("Count the teas. Never touch config.ini.")
    done = await runtime.memory().compact("the counting")
    assert done is not None
    assert done.summary == SUMMARY
    assert [each.summary for each in scene.seen(Compacted)] == [SUMMARY]
    await runtime.prompt("Go on.")
    first = notes_of(scene.model.requests[2].messages[0])
    assert "Project folder" in first
    assert "- Never touch config.ini." in first
    assert "Count the teas. Never touch config.ini." in first
    assert "Read teas.py." in first
    summary = runtime.memory().summary()
    assert summary is not None
    assert summary.focus == "the counting"


async def test_the_request_for_a_summary_begins_as_the_last_request_did(scene: "Scene") -> None:
    runtime = scene.start(answer("Four teas. " * 200), answer(SUMMARY))
    await runtime.prompt("Count the teas.")
    await runtime.memory().compact()
    turn, summary = scene.model.requests
    assert summary.messages[: len(turn.messages)] == turn.messages
    assert (summary.system, summary.tools) == (turn.system, turn.tools)


async def test_a_new_session_has_nothing_to_compact(scene: "Scene") -> None:
    assert await scene.start().memory().compact() is None


async def test_a_summary_cannot_be_asked_for_during_a_run(scene: "Scene") -> None:
    def during(_: object) -> object:
        asked = runtime.memory().compact()
        with pytest.raises(HameError, match="a run is going"):
            asked.send(None)
        return answer("Done.")

    runtime = scene.start(during)
    await runtime.prompt("go")


async def test_the_model_is_told_of_demands_that_are_added_by_hand(scene: "Scene") -> None:
    runtime = scene.start(answer("Yes."), answer("Yes."))
    await runtime.prompt("go")
    await runtime.memory().add_constraint("use tabs")
    await runtime.prompt("go on")
    said = "\n".join(notes_of(m) for m in scene.model.requests[1].messages if isinstance(m, User))
    assert "The user demands from now on: use tabs" in said
    assert [each.text for each in runtime.memory().constraints()] == ["use tabs"]


async def test_a_report_counts_tools_and_system_prompt(scene: "Scene") -> None:
    report = await scene.start().memory().report()
    parts = {part.name: part for part in report.parts}
    assert parts["tools"].tokens > 300
    assert parts["system prompt"].tokens > 50


async def test_what_another_model_must_read_anew_is_said_before_it_is_asked(
    scene: "Scene",
) -> None:
    large = Usage(input_uncached=60_000, output=5)
    runtime = scene.start(answer("Yes.", usage=large), answer("Yes."))
    await runtime.prompt("go")
    assert len(runtime.memory().readings()) == 1
    other = scene.model
    other._facts = type(other.facts)(backend="other", model="m", wire="scripted")
    await runtime.set_model("other/m")
    said = [notice.text for notice in scene.seen(Notice)]
    assert any("60,000 tokens anew" in text and "other/m" in text for text in said)


async def test_a_resumed_session_shows_the_summary_and_not_what_it_replaced(
    scene: "Scene",
) -> None:
    runtime = scene.start(answer("Four teas. " * 200), answer(SUMMARY))
    await runtime.prompt("Count the teas.")
    await runtime.memory().compact()
    session = runtime.session
    await runtime.close()
    again = scene.start(answer("Yes."), resume=session)
    await again.prompt("And now?")
    messages = scene.model.requests[0].messages
    assert len(messages) == 2
    assert "Read teas.py." in notes_of(messages[0])
    assert any(isinstance(entry, HistoryCompacted) for entry in again.journal.entries)
