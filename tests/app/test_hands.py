"""Questions, jobs, notes and hidden tools through the whole runtime."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hame.base import entry, event
from hame.base.message import Note, Text
from hame.base.outcome import Denied, Done, Failed, result_content
from hame.base.question import Answer, Choice
from hame.base.settings import Mode
from hame.testing import answer, call

if TYPE_CHECKING:
    from app.conftest import Scene


def outcomes(runtime) -> list:
    return [each for each in runtime.journal.entries if isinstance(each, entry.CallSettled)]


def words(outcome) -> str:
    return "".join(block.text for block in result_content(outcome)[0] if isinstance(block, Text))


def use(name: str, args: str):
    return answer(call("use_tool", name=name, args=args))


def alive(pid: int) -> bool:
    place = Path(f"/proc/{pid}/stat")
    return place.exists() and place.read_text(encoding="ascii").rpartition(")")[2].split()[0] != "Z"


async def test_a_question_of_the_models_is_answered_and_journalled(scene: "Scene") -> None:
    ask = answer(call("ask_user", question="Tabs or spaces?", choices=["tabs", "spaces"]))
    runtime = scene.start(ask, answer("ok"), interactive=True)

    def reply(item: event.RunEvent) -> None:
        if isinstance(item, event.QuestionAsked):
            runtime.answer(item.question.id, Answer(choice="tabs"))

    runtime.subscribe(reply)
    await runtime.prompt("indent it")
    (settled,) = outcomes(runtime)
    assert words(settled.outcome) == "The user answered: tabs"
    (question,) = [e for e in runtime.journal.entries if isinstance(e, entry.QuestionSettled)]
    assert question.answer == Answer(choice="tabs")


async def test_without_anybody_a_question_is_no_refusal(scene: "Scene") -> None:
    runtime = scene.start(answer(call("ask_user", question="Which?")), answer("ok"))
    ended = await runtime.prompt("go")
    assert ended.refused == 0
    assert isinstance(outcomes(runtime)[0].outcome, Failed)


@pytest.mark.parametrize("end", ["close", "clear"])
async def test_a_job_ends_with_its_session(scene: "Scene", end: str) -> None:
    run = answer(call("run_command", command="echo $$; exec sleep 300", background=True))
    runtime = scene.start(run, answer("ok"))
    await runtime.prompt("serve")
    text = words(outcomes(runtime)[0].outcome)
    pid = int(text.split("\n")[1])
    assert alive(pid)
    if end == "clear":
        await runtime.clear()
    else:
        await runtime.close()
        scene.runtimes.clear()
    assert not alive(pid)


async def test_a_hidden_tool_is_gated_and_recorded_as_itself(scene: "Scene") -> None:
    note = use("remember", '{"note": "Use tabs."}')
    runtime = scene.start(note, answer("ok"), mode=Mode.PLAN)
    await runtime.prompt("remember that")
    (settled,) = outcomes(runtime)
    assert settled.name == "remember"
    assert isinstance(settled.outcome, Denied)
    assert not (scene.project / "AGENTS.md").exists()
    await runtime.set_mode(Mode.AUTO)


async def test_a_note_can_be_undone_like_any_change(scene: "Scene") -> None:
    note = use("remember", '{"note": "Use tabs."}')
    runtime = scene.start(note, answer("ok"), interactive=True)

    def allow(item: event.RunEvent) -> None:
        if isinstance(item, event.QuestionAsked):
            runtime.answer(item.question.id, Answer(choice=Choice.ONCE))

    runtime.subscribe(allow)
    await runtime.prompt("remember that")
    assert isinstance(outcomes(runtime)[0].outcome, Done)
    assert (scene.project / "AGENTS.md").exists()
    await runtime.rewind(await runtime.rewinder().plan())
    assert not (scene.project / "AGENTS.md").exists()


async def test_the_users_own_rules_enter_with_the_first_message(scene: "Scene") -> None:
    rules = scene.project.parent / "own" / "AGENTS.md"
    rules.parent.mkdir()
    rules.write_text("Be brief.\n")
    (scene.project / "AGENTS.md").write_text("Use tabs.\n")
    runtime = scene.start(answer("ok"), user_notes=str(rules))
    await runtime.prompt("go")
    notes = [
        block.text
        for block in scene.model.requests[0].messages[0].content
        if isinstance(block, Note)
    ]
    assert any("the user's for all projects" in text and "Be brief." in text for text in notes)
    assert any("of this project" in text and "Use tabs." in text for text in notes)


async def test_the_tools_block_of_a_request_stays_small(scene: "Scene") -> None:
    from hame.base.json import dump

    runtime = scene.start(answer("ok"))
    await runtime.prompt("go")
    request = scene.model.requests[0]
    names = [spec.name for spec in request.tools]
    assert "web_fetch" not in names
    assert {"find_tool", "use_tool", "ask_user", "todo"} <= set(names)
    block = sum(len(spec.description) + len(dump(spec.schema())) for spec in request.tools)
    said = sum(len(str(message)) for message in request.messages)
    assert (block + said + len(request.system)) / 4 < 3_000
