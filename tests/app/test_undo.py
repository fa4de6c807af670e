"""Taking a session back: files, conversation, both, and forward again."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import anyio
import pytest

from hame.base.entry import (
    ModelAnswered,
    NoteAdded,
    OutcomesLost,
    Rewound,
    RunFinished,
    UserSaid,
)
from hame.base.errors import HameError, SessionError
from hame.base.settings import Mode
from hame.testing import HANG, answer, call

if TYPE_CHECKING:
    from app.conftest import Scene

HANG_FOR_EVER = [HANG]


def run(command: str) -> object:
    return answer(call("run_command", command=command))


async def talk(scene: "Scene", *more: object):
    """Three prompts: a file made, a file changed and removed, a question."""
    (scene.project / "old.txt").write_text("old\n")
    runtime = scene.start(
        answer(call("create_file", path="a.txt", content="a\n")),
        answer("made"),
        run("echo b >> a.txt; rm old.txt"),
        answer("changed"),
        answer("it is so"),
        *more,
    )
    await runtime.prompt("make a")
    await runtime.prompt("change it")
    await runtime.prompt("why?")
    return runtime


def files(scene: "Scene") -> dict[str, str]:
    return {path.name: path.read_text() for path in scene.project.iterdir()}


def words(runtime) -> list[str]:
    return [each.message.words for each in runtime.journal.entries if isinstance(each, UserSaid)]


async def test_the_list_has_prompts_with_what_they_changed(scene: "Scene") -> None:
    runtime = await talk(scene)
    history = await runtime.rewinder().history()
    assert [(turn.words, [step.number for step in turn.steps]) for turn in history.turns] == [
        ("make a", [1]),
        ("change it", [2]),
        ("why?", []),
    ]
    assert history.turns[1].steps[0].title == "Run echo b >> a.txt; rm old.txt"


async def test_undo_takes_back_the_last_prompt_that_changed_something(scene: "Scene") -> None:
    runtime = await talk(scene)
    plan = await runtime.rewinder().plan()
    assert [turn.words for turn in plan.turns] == ["change it", "why?"]
    assert files(scene) == {"a.txt": "a\nb\n"}
    step = await runtime.rewind(plan)
    assert step is not None
    assert files(scene) == {"a.txt": "a\n", "old.txt": "old\n"}
    assert words(runtime) == ["make a"]
    assert isinstance(runtime.journal.entries[-1], Rewound)
    await runtime.rewind(await runtime.rewinder().plan())
    assert files(scene) == {"old.txt": "old\n"}
    assert words(runtime) == []
    with pytest.raises(HameError):
        await runtime.rewinder().plan()


async def test_an_undo_can_be_undone(scene: "Scene") -> None:
    runtime = await talk(scene)
    step = await runtime.rewind(await runtime.rewinder().plan())
    plan = await runtime.rewinder().plan(step=step.number)
    await runtime.rewind(plan)
    assert files(scene) == {"a.txt": "a\nb\n"}
    assert words(runtime) == ["make a", "change it", "why?"]
    await runtime.rewind(await runtime.rewinder().plan())
    assert files(scene) == {"a.txt": "a\n", "old.txt": "old\n"}


async def test_files_alone_and_the_model_is_told(scene: "Scene") -> None:
    runtime = await talk(scene)
    await runtime.rewind(await runtime.rewinder().plan(conversation=False))
    assert files(scene) == {"a.txt": "a\n", "old.txt": "old\n"}
    assert words(runtime) == ["make a", "change it", "why?"]
    note = runtime.journal.entries[-1]
    assert isinstance(note, NoteAdded)
    assert "a.txt" in note.text
    await runtime.rewind(await runtime.rewinder().plan(conversation=False))
    assert files(scene) == {"old.txt": "old\n"}


async def test_the_conversation_alone_and_the_model_is_told(scene: "Scene") -> None:
    runtime = await talk(scene)
    await runtime.rewind(await runtime.rewinder().plan(turn=2, files=False))
    assert files(scene) == {"a.txt": "a\nb\n"}
    assert words(runtime) == ["make a"]
    note = runtime.journal.entries[-1]
    assert isinstance(note, NoteAdded)
    assert "old.txt" in note.text
    history = await runtime.rewinder().history()
    assert [step.number for step in history.apart] == [2]


async def test_the_next_prompt_follows_the_place_gone_back_to(scene: "Scene") -> None:
    runtime = await talk(scene, answer("another way"))
    await runtime.rewind(await runtime.rewinder().plan())
    await runtime.prompt("again")
    sent = scene.model.requests[-1].messages
    assert "change it" not in repr(sent)
    assert "make a" in repr(sent)
    assert words(runtime) == ["make a", "again"]


async def test_to_before_a_step(scene: "Scene") -> None:
    runtime = await talk(scene)
    await runtime.rewind(await runtime.rewinder().plan(step=1, conversation=False))
    assert files(scene) == {"old.txt": "old\n"}
    with pytest.raises(HameError, match="no step 9"):
        await runtime.rewinder().plan(step=9)
    with pytest.raises(HameError, match="no prompt 9"):
        await runtime.rewinder().plan(turn=9)


async def test_a_resumed_session_can_be_undone(scene: "Scene") -> None:
    runtime = await talk(scene)
    session = runtime.session
    await runtime.close()
    scene.runtimes.clear()
    again = scene.start(resume=session)
    await again.rewind(await again.rewinder().plan())
    assert files(scene) == {"a.txt": "a\n", "old.txt": "old\n"}


async def test_the_project_is_captured_while_the_model_first_thinks(scene: "Scene") -> None:
    (scene.project / "a.txt").write_text("a\n")
    runtime = scene.start(HANG_FOR_EVER)
    indexes = scene.project.parent / "snapshots"
    async with anyio.create_task_group() as group:
        group.start_soon(runtime.prompt, "think")
        await until(lambda: any(indexes.glob("*/sessions/*/*.index")))
        runtime.cancel()


async def test_nothing_is_captured_ahead_where_nothing_may_run(scene: "Scene") -> None:
    for mode, interactive in ((Mode.PLAN, True), (Mode.ASK, False)):
        await scene.start(mode=mode, interactive=interactive)._ahead()
    assert not (scene.project.parent / "snapshots").exists()
    await scene.start(mode=Mode.AUTO)._ahead()
    assert (scene.project.parent / "snapshots").exists()


async def until(reached: Callable[[], bool]) -> None:
    there = reached()
    with anyio.fail_after(20):
        while not there:
            await anyio.sleep(0.01)
            there = reached()


async def test_to_a_place_that_has_a_name_and_forward_to_one_that_was_left(scene: "Scene") -> None:
    runtime = await talk(scene)
    ids = list(runtime.journal.ids)
    ends = [
        name
        for name, entry in zip(ids, runtime.journal.entries, strict=True)
        if isinstance(entry, RunFinished)
    ]
    await runtime.memory().label("made it", ends[0])
    await runtime.memory().label("the end", ends[2])
    history = await runtime.rewinder().history()
    assert (history.labels, history.elsewhere) == ({1: ["made it"], 3: ["the end"]}, [])
    plan = await runtime.rewinder().plan(label="made it")
    assert [turn.words for turn in plan.turns] == ["change it", "why?"]
    await runtime.rewind(plan)
    assert files(scene) == {"a.txt": "a\n", "old.txt": "old\n"}
    assert words(runtime) == ["make a"]
    history = await runtime.rewinder().history()
    assert (history.labels, history.elsewhere) == ({1: ["made it"]}, ["the end"])
    # What was done to files is taken back by taking back the undo; the conversation goes by itself.
    forward = await runtime.rewinder().plan(label="the end")
    assert (forward.files, forward.turns) == (None, ())
    await runtime.rewind(forward)
    assert words(runtime) == ["make a", "change it", "why?"]
    assert files(scene) == {"a.txt": "a\n", "old.txt": "old\n"}
    with pytest.raises(HameError, match="no label elsewhere") as caught:
        await runtime.rewinder().plan(label="elsewhere")
    assert caught.value.hint.startswith("There are: made it, the end. # and a number")


async def test_to_any_record_also_between_a_call_and_its_outcome(scene: "Scene") -> None:
    runtime = await talk(scene)
    ids = list(runtime.journal.ids)
    place = next(n for n, e in enumerate(runtime.journal.entries) if isinstance(e, ModelAnswered))
    plan = await runtime.rewinder().plan(label=f"#{ids[place]}")
    await runtime.rewind(plan)
    assert files(scene) == {"old.txt": "old\n"}
    assert [type(each) for each in list(runtime.journal.entries)[place:]] == [
        ModelAnswered, Rewound, OutcomesLost,
    ]  # fmt: skip
    end = ids[-1]
    await runtime.rewind(await runtime.rewinder().plan(label=f"#{end}"))
    assert words(runtime) == ["make a", "change it", "why?"]
    with pytest.raises(SessionError, match="no record 4711"):
        await runtime.rewind(await runtime.rewinder().plan(label="#4711"))
    with pytest.raises(HameError, match="no label #"):
        await runtime.rewinder().plan(label="#")


@pytest.mark.parametrize("label", ["7", "#7", "files", "conversation", "over"])
async def test_what_means_something_else_is_no_label(scene: "Scene", label: str) -> None:
    runtime = await talk(scene)
    with pytest.raises(HameError, match="cannot be a label"):
        await runtime.memory().label(label)
