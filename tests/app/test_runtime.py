"""A session that can be prompted."""

import signal
from typing import TYPE_CHECKING, Any

import anyio
import msgspec
import pytest

from hame.base import entry, event
from hame.base.errors import ConfigError, HameError
from hame.base.message import Note, Text
from hame.base.ports import Model
from hame.base.question import Answer, Choice
from hame.base.run import RunDone, RunFailed, Stopped
from hame.base.settings import Mode
from hame.sessions.copying import import_session, read_import
from hame.testing import HANG, ScriptedModel, answer, call

if TYPE_CHECKING:
    from app.conftest import Scene

SECRET = "very-secret-value-1234567890"
WRITE = answer(call("create_file", path="a.txt", content="hi\n"))


def sent(scene: "Scene", request: int) -> list[Any]:
    """The messages of a request."""
    return list(scene.model.requests[request].messages)


async def test_a_prompt_works_in_the_real_project_and_is_journalled(scene: "Scene") -> None:
    runtime = scene.start(WRITE, answer("done"))
    ended = await runtime.prompt("make a.txt")
    assert ended.result == RunDone(text="done")
    assert (scene.project / "a.txt").read_text() == "hi\n"
    kinds = [type(item) for item in runtime.journal.entries]
    assert kinds == [
        entry.SessionStarted,
        entry.ModelChosen,
        entry.ModeChosen,
        entry.UserSaid,
        entry.ModelAnswered,
        entry.CallSettled,
        entry.ModelAnswered,
        entry.RunFinished,
    ]


async def test_events_are_stamped_with_their_run_and_a_growing_number(scene: "Scene") -> None:
    runtime = scene.start(answer("one"), answer("two"))
    await runtime.prompt("first")
    await runtime.prompt("second")
    assert [item.seq for item in scene.events] == list(range(1, len(scene.events) + 1))
    runs = {item.run for item in scene.events}
    assert len(runs) == 2
    assert isinstance(scene.events[0], event.RunStarted)
    assert isinstance(scene.events[-1], event.RunEnded)


async def test_folder_and_rules_enter_with_the_first_message_only(scene: "Scene") -> None:
    (scene.project / "AGENTS.md").write_text("use tabs")
    runtime = scene.start(answer("one"), answer("two"))
    await runtime.prompt("first")
    await runtime.prompt("second")
    first, second = sent(scene, 0), sent(scene, 1)
    sources = [block.source for block in first[0].content if isinstance(block, Note)]
    assert sources == ["environment", "AGENTS.md"]
    assert second[0] is first[0]
    assert second[-1].content == (Text("second"),)


async def test_secrets_reach_neither_model_nor_journal_nor_surface(scene: "Scene") -> None:
    (scene.project / "notes.txt").write_text(f"token {SECRET}\n")
    runtime = scene.start(
        answer(call("read_file", path="notes.txt")),
        answer(call("run_command", command="cat notes.txt; exit 1")),
        answer("ok"),
    )
    await runtime.prompt(f"my key is {SECRET}")
    assert SECRET not in repr(scene.model.requests)
    assert SECRET not in repr(scene.events)
    assert SECRET not in repr(runtime.journal.entries)


async def test_a_question_is_shown_with_the_diff_and_answered_by_id(scene: "Scene") -> None:
    runtime = scene.start(WRITE, answer("done"), mode=Mode.ASK, interactive=True)

    def reply(item: event.RunEvent) -> None:
        if isinstance(item, event.QuestionAsked):
            assert not (scene.project / "a.txt").exists()
            assert not runtime.answer("other", Answer(choice=Choice.ONCE))
            assert runtime.answer(item.question.id, Answer(choice=Choice.ONCE))

    runtime.subscribe(reply)
    await runtime.prompt("make a.txt")
    (asked,) = scene.seen(event.QuestionAsked)
    assert "+hi" in asked.question.view.diff
    assert (scene.project / "a.txt").exists()
    assert any(isinstance(item, entry.QuestionSettled) for item in runtime.journal.entries)


async def test_without_anybody_to_ask_a_change_is_refused_and_counted(scene: "Scene") -> None:
    runtime = scene.start(WRITE, answer("could not"), mode=Mode.ASK)
    ended = await runtime.prompt("make a.txt")
    assert ended.refused == 1
    assert not (scene.project / "a.txt").exists()


async def test_stopping_at_a_question_withdraws_it_and_counts_as_no(scene: "Scene") -> None:
    runtime = scene.start(WRITE, mode=Mode.ASK, interactive=True)

    def stop(item: event.RunEvent) -> None:
        if isinstance(item, event.QuestionAsked):
            runtime.cancel()

    runtime.subscribe(stop)
    ended = await runtime.prompt("make a.txt")
    assert isinstance(ended.result, Stopped)
    assert scene.seen(event.QuestionWithdrawn)
    assert not (scene.project / "a.txt").exists()


async def test_one_run_at_a_time(scene: "Scene") -> None:
    runtime = scene.start([HANG])
    async with anyio.create_task_group() as group:
        group.start_soon(runtime.prompt, "first")
        await anyio.wait_all_tasks_blocked()
        with pytest.raises(HameError, match="going already"):
            await runtime.prompt("second")
        with pytest.raises(HameError, match="going"):
            await runtime.clear()
        runtime.cancel()


async def test_a_session_whose_model_is_gone_says_so_and_how_to_go_on(scene: "Scene") -> None:
    async def nobody(name: str | None) -> Model:
        raise ConfigError(f"there is no model {name}", hint="hame models lists them.")

    runtime = scene.start(answer("one"))
    await runtime.prompt("first")
    await runtime.close()
    again = scene.start(resume=runtime.session, open_model=nobody)
    with pytest.raises(
        ConfigError, match=r"was with scripted/\S+, which cannot be asked"
    ) as caught:
        await again.prompt("second")
    assert "--model NAME" in caught.value.hint
    assert "hame models lists them" in caught.value.hint


async def test_a_resumed_session_goes_on_with_its_history_and_its_model(scene: "Scene") -> None:
    runtime = scene.start(answer("one"))
    await runtime.prompt("first")
    await runtime.close()
    again = scene.start(answer("two"), resume=runtime.session)
    await again.prompt("second")
    assert scene.opened[-1] == "scripted/model"
    assert [type(m).__name__ for m in sent(scene, 0)] == [
        "User",
        "Assistant",
        "User",
    ]


async def test_an_imported_session_chooses_no_model(scene: "Scene") -> None:
    """Whoever made the file would say whose servers the user's words go to."""
    runtime = scene.start(answer("one"))
    await runtime.prompt("first")
    await runtime.close()
    folder = scene.project.parent / "sessions"
    (made,) = folder.glob("*.jsonl")
    import_session(read_import(made), folder / "20260101-000000-aaaaaa.jsonl")
    again = scene.start(answer("two"), resume="20260101-000000-aaaaaa")
    await again.prompt("second")
    assert scene.opened[-1] is None
    assert len(sent(scene, 0)) == 3


async def test_changing_the_mode_tells_the_model_and_the_surface(scene: "Scene") -> None:
    runtime = scene.start(answer("one"), WRITE, answer("two"))
    await runtime.prompt("first")
    await runtime.set_mode(Mode.PLAN)
    await runtime.set_mode(Mode.PLAN)
    await runtime.prompt("make a.txt")
    assert [item.mode for item in scene.seen(event.ModeChanged)] == ["plan"]
    assert not (scene.project / "a.txt").exists()
    note = sent(scene, 1)[-2].content[0]
    assert note.source == "mode"


async def test_changing_the_model_keeps_the_history(scene: "Scene") -> None:
    runtime = scene.start(answer("one"), answer("two"))
    await runtime.prompt("first")
    await runtime.set_model("scripted/model")
    await runtime.prompt("second")
    assert len(sent(scene, 1)) == 3
    chosen = [item for item in runtime.journal.entries if isinstance(item, entry.ModelChosen)]
    assert len(chosen) == 2


async def test_a_model_is_offered_the_tool_it_was_taught_to_edit_with(scene: "Scene") -> None:
    runtime = scene.start(answer("one"), answer("two"))
    await runtime.prompt("first")
    names = {tool.name for tool in scene.model.requests[0].tools}
    assert "edit_file" in names
    assert "apply_patch" not in names
    taught = msgspec.structs.replace(scene.model.facts, editing="apply_patch")
    scene.model = ScriptedModel(answer("three"), facts=taught)
    await runtime.set_model("scripted/taught")
    await runtime.prompt("second")
    names = {tool.name for tool in scene.model.requests[0].tools}
    assert "apply_patch" in names
    assert "edit_file" not in names


async def test_clear_begins_a_new_session(scene: "Scene") -> None:
    runtime = scene.start(answer("one"), answer("two"))
    await runtime.prompt("first")
    old = runtime.session
    await runtime.clear()
    assert runtime.session != old
    await runtime.prompt("second")
    assert len(sent(scene, 1)) == 1


async def test_a_model_that_cannot_be_opened_leaves_no_session_behind(scene: "Scene") -> None:
    async def refuse(_: str | None) -> Model:
        raise ConfigError("no key", hint="set one")

    runtime = scene.start(open_model=refuse)
    with pytest.raises(ConfigError):
        await runtime.prompt("hello")
    assert not list(scene.project.parent.glob("sessions/*.jsonl"))


async def test_a_surface_that_breaks_stops_the_run_and_is_heard_of(scene: "Scene") -> None:
    runtime = scene.start(answer("one ", call("list_dir")), answer("two"))

    def broken(item: event.RunEvent) -> None:
        if isinstance(item, event.TextDelta):
            raise BrokenPipeError

    runtime.subscribe(broken)
    with pytest.raises(BrokenPipeError):
        await runtime.prompt("go")
    assert isinstance(scene.events[-1], event.RunEnded)


async def test_a_bug_in_hame_is_told_to_the_surface_before_it_is_raised(scene: "Scene") -> None:
    def bug(_: object) -> object:
        raise ZeroDivisionError("oops")

    runtime = scene.start(bug)
    with pytest.raises(ZeroDivisionError):
        await runtime.prompt("go")
    ended = scene.events[-1]
    assert isinstance(ended, event.RunEnded)
    assert isinstance(ended.result, RunFailed)
    assert runtime.rewinder()  # It is free again.


async def test_what_a_prompt_names_is_attached_and_what_cannot_be_is_said(scene: "Scene") -> None:
    (scene.project / "a.py").write_text("x = 1\n")
    (scene.project / ".env").write_text("K=1\n")
    runtime = scene.start(answer("ok"))
    await runtime.prompt("look at @a.py and @.env")
    said = sent(scene, 0)[0].content
    assert any(isinstance(block, Note) and "x = 1" in block.text for block in said)
    assert "secrets" in scene.seen(event.Notice)[0].text


async def test_secrets_in_what_is_attached_reach_nobody_either(scene: "Scene") -> None:
    (scene.project / "notes.txt").write_text(f"token {SECRET}\n")
    (scene.project / "AGENTS.md").write_text(f"the key is {SECRET}\n")
    runtime = scene.start(answer("ok"))
    await runtime.prompt("look at @notes.txt")
    said = repr(sent(scene, 0))
    assert "token [redacted]" in said
    assert "the key is [redacted]" in said
    assert SECRET not in repr(scene.model.requests)
    assert SECRET not in repr(runtime.journal.entries)


async def test_a_second_prompt_waits_for_nobody_while_the_first_opens_its_model(
    scene: "Scene",
) -> None:
    async def slow(_: str | None) -> Model:
        await anyio.sleep_forever()
        raise AssertionError

    runtime = scene.start(open_model=slow)
    async with anyio.create_task_group() as group:
        group.start_soon(runtime.prompt, "first")
        await anyio.wait_all_tasks_blocked()
        with pytest.raises(HameError, match="going already"):
            await runtime.prompt("second")
        with pytest.raises(HameError, match="going already"):
            await runtime.clear()
        runtime.cancel()


async def test_stopping_while_the_model_is_opened_ends_the_run(scene: "Scene") -> None:
    async def slow(_: str | None) -> Model:
        await anyio.sleep_forever()
        raise AssertionError

    runtime = scene.start(open_model=slow)
    async with anyio.create_task_group() as group:

        async def stop() -> None:
            await anyio.wait_all_tasks_blocked()
            runtime.cancel()

        group.start_soon(stop)
        ended = await runtime.prompt("go")
        assert isinstance(ended.result, Stopped)
    assert isinstance(scene.events[-1], event.RunEnded)


async def test_steering_reaches_the_run_that_is_going(scene: "Scene") -> None:
    runtime = scene.start(answer(call("list_dir")), answer("ok"))

    def steer(item: event.RunEvent) -> None:
        if isinstance(item, event.CallStarted):
            runtime.steer("and be brief")

    runtime.subscribe(steer)
    await runtime.prompt("go")
    assert sent(scene, 1)[-1].content == (Text("and be brief"),)


async def test_rules_that_can_never_match_are_named_once_when_they_are_loaded(
    scene: "Scene",
) -> None:
    (scene.project / ".hame").mkdir()
    (scene.project / ".hame/permissions.toml").write_text(
        '[[deny]]\npath = "../x/**"\n[[ask]]\nhost = "*"\n', "utf-8"
    )
    runtime = scene.start(answer("one"), answer("two"))
    await runtime.prompt("hello")
    await runtime.prompt("again")
    (notice,) = scene.seen(event.Notice)
    assert notice.level == "warning"
    assert "[[deny]] number 1 can never match" in notice.text
    assert notice.text.endswith("(and 1 more: hame permissions test)")


async def test_a_job_that_a_killed_hame_has_left_is_ended_and_named(scene: "Scene") -> None:
    mark = "feedfacefeedface"
    records = scene.folder_of_jobs()
    gone = {"owner": 1, "owner_started": "of another time", "started": "", "mark": mark}
    async with await anyio.open_process(["sleep", "300"], env={"HAME_PROCESS": mark}) as left:
        record = {**gone, "pid": left.pid, "command": "npm run dev"}
        (records / "0badf00d").write_bytes(msgspec.json.encode(record))
        await scene.start(answer("one")).prompt("hello")
        with anyio.fail_after(10):
            assert await left.wait() == -signal.SIGTERM
    (notice,) = scene.seen(event.Notice)
    assert notice.text == "Ended a job that a killed hame had left: npm run dev"


async def test_a_search_that_no_provider_will_make_is_named_once_for_each_model(
    scene: "Scene",
) -> None:
    runtime = scene.start(answer("one"), answer("two"), web_search=True)
    await runtime.prompt("first")
    await runtime.prompt("second")
    (notice,) = scene.seen(event.Notice)
    assert notice.text.startswith("web_search is on, but scripted/model offers no search")


async def test_what_there_is_to_say_of_a_session_is_said_with_its_first_prompt(
    scene: "Scene",
) -> None:
    runtime = scene.start(answer("One."))
    await runtime.prompt("one")
    await runtime.close()
    path = scene.project.parent / "sessions" / f"{runtime.session}.jsonl"
    path.write_bytes(path.read_bytes() + b'{"id":"99","par')
    again = scene.start(answer("Two."), answer("Three."), resume=runtime.session)
    await again.prompt("two")
    await again.prompt("three")
    warnings = [item.text for item in scene.seen(event.Notice) if item.level == "warning"]
    assert len(warnings) == 1
    assert "the last line was torn; it is kept as" in warnings[0]
    assert isinstance(scene.events[-1], event.RunEnded)
