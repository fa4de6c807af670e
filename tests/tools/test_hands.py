"""ask_user, todo, remember, find_tool, use_tool: the hands that touch no program."""

import pytest

from hame.base.confinement import Confinement
from hame.base.errors import ArgumentError, ToolError
from hame.base.outcome import Done, TodoItem, TodoState, TodoView
from hame.base.question import Answer
from hame.base.tool import Effect
from hame.base.zone import Zone
from hame.testing import ScriptedAsker


async def test_a_question_is_put_to_the_user_with_its_choices(desk):
    asker = ScriptedAsker("blue", Answer(words="neither, green"), Answer())
    desk.change(asker=asker)
    asked = {"question": "Which colour?", "choices": ["red", "blue", "blue", " "]}
    assert await desk.done("ask_user", **asked) == "The user answered: blue"
    assert await desk.done("ask_user", **asked) == "The user answered: neither, green"
    assert "closed the question" in await desk.done("ask_user", **asked)
    question = asker.questions[0]
    assert (question.title, question.choices) == ("Which colour?", ("red", "blue"))
    assert question.free_text
    assert len({question.id for question in asker.questions}) == 3


async def test_a_long_question_is_shown_whole(desk):
    asker = ScriptedAsker(Answer(words="yes"))
    desk.change(asker=asker)
    words = "First line\n" + "word " * 100 + "end"
    await desk.done("ask_user", question=words)
    assert asker.questions[0].detail == words.strip()
    assert "\n" not in asker.questions[0].title


async def test_without_anybody_to_ask_the_model_is_told_to_go_on(desk):
    for asker in (None, ScriptedAsker(None)):
        desk.change(asker=asker)
        text = await desk.failed("ask_user", question="Which?")
        assert "Nobody is there" in text
        assert "assumption" in text


async def test_a_question_that_is_none_is_refused(desk):
    for arguments in ({"question": "  "}, {"question": "q", "choices": list("abcdefghij")}):
        with pytest.raises(ArgumentError):
            await desk.prepare("ask_user", **arguments)


async def test_the_plan_is_shown_and_what_is_left_is_told(desk):
    outcome = await desk.call(
        "todo",
        items=[
            {"text": "look", "state": "done"},
            {"text": "write\nit", "state": "active"},
            {"text": "test", "state": "open"},
        ],
    )
    assert isinstance(outcome, Done)
    assert outcome.view == TodoView((
        TodoItem("look", TodoState.DONE),
        TodoItem("write it", TodoState.ACTIVE),
        TodoItem("test", TodoState.OPEN),
    ))
    assert "2 left" in outcome.content[0].text
    assert desk.tools["todo"].summarize({"items": [{"text": "a", "state": "done"}]}) == (
        "1 of 1 item done"
    )
    assert "all done" in await desk.done("todo", items=[{"text": "a", "state": "done"}])


async def test_a_plan_with_an_empty_item_is_refused(desk):
    for items in ([{"text": " ", "state": "open"}], [{"text": "a", "state": "open"}] * 51):
        with pytest.raises(ArgumentError):
            await desk.prepare("todo", items=items)


# ---------------------------------------------------------------- notes


async def test_a_note_goes_under_its_heading_in_the_projects_file(desk):
    assert await desk.done("remember", note="Use  tabs.") == "Noted in AGENTS.md."
    assert desk.read("AGENTS.md") == b"## Notes\n\n- Use tabs.\n"
    await desk.done("remember", note="Run make test.")
    await desk.done("remember", note="Use tabs.")
    assert desk.read("AGENTS.md") == b"## Notes\n\n- Use tabs.\n- Run make test.\n"


async def test_what_is_in_the_file_stays_as_it_is(desk):
    desk.write("CLAUDE.md", b"# Rules\r\n\r\n## Notes\r\n- one\r\n\r\n## More\r\nlast")
    await desk.done("remember", note="two")
    assert desk.read("CLAUDE.md") == (
        b"# Rules\r\n\r\n## Notes\r\n- one\r\n- two\r\n\r\n## More\r\nlast"
    )
    assert not (desk.root / "AGENTS.md").exists()


async def test_the_question_shows_the_change_and_the_call_is_a_write(desk):
    action = await desk.prepare("remember", note="Use tabs.")
    assert "+- Use tabs." in action.view.diff
    assert action.view.created
    assert desk.tools["remember"].spec.effect is Effect.WRITE
    action.close()


async def test_a_note_of_the_users_own_always_asks(desk):
    config = desk.root.parent / ".config" / "hame"
    config.mkdir(parents=True)
    desk.change(user_notes=str(config / "AGENTS.md"))
    action = await desk.prepare("remember", **{"note": "Be brief.", "for": "user"})
    (target,) = action.targets
    # Outside the project: asks in every mode. Its real zone would never be written by a model.
    assert target.resolution.zone is Zone.OUTSIDE
    assert isinstance(await action.run(Confinement()), Done)
    action.close()
    assert (config / "AGENTS.md").read_text(encoding="utf-8") == "## Notes\n\n- Be brief.\n"
    desk.change(user_notes="")
    assert "note it for the project" in await desk.failed(
        "remember", **{"note": "Be brief.", "for": "user"}
    )


async def test_a_note_that_is_none_is_refused(desk):
    for note in ("  ", "x" * 501):
        with pytest.raises(ArgumentError):
            await desk.prepare("remember", note=note)
    (desk.root / "AGENTS.md").mkdir()
    assert "is a directory" in await desk.failed("remember", note="a")


# ---------------------------------------------------------------- hidden tools


async def test_hidden_tools_are_found_by_what_they_do(desk):
    desk.change(tools=desk.tools)
    text = await desk.done("find_tool", query="fetch a web page")
    assert text.splitlines()[1].startswith("web_fetch: ")
    assert '"url"' in text
    assert "job_output" in await desk.done("find_tool", query="background jobs output")
    assert "run_program" in await desk.done("find_tool", query="run the program with input")
    assert "remember" in await desk.done("find_tool", query="notes")
    nothing = await desk.done("find_tool", query="zzzz qqqq")
    assert nothing.startswith("No tool is about")
    assert "web_fetch" in nothing
    every = await desk.done("find_tool")
    hidden = [name for name, tool in desk.tools.items() if not tool.spec.advertised]
    assert all(name in every for name in hidden)
    assert "read_file" not in every


async def test_where_nothing_is_hidden_that_is_said(desk):
    desk.change(tools={})
    assert await desk.done("find_tool", query="x") == "There are no further tools."


async def test_use_tool_itself_runs_nothing(desk):
    with pytest.raises(ToolError, match="not put through"):
        await desk.tools["use_tool"].prepare({"name": "web_fetch"}, desk.context)
    assert desk.tools["use_tool"].spec.forwards
