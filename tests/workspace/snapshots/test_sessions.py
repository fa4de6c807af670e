"""Steps of several sessions, and of several processes, in one project."""

import errno
import os
from pathlib import Path

import anyio
import pytest

from hame.base.errors import ToolError
from hame.base.snapshot import Attempt, Move, UndoPlan
from hame.sandbox.unconfined import Unconfined
from hame.workspace.process import LocalProcesses
from hame.workspace.snapshots.keeper import LocalSnapshots
from hame.workspace.snapshots.log import StepLog
from workspace.snapshots.conftest import Project, Session


async def test_two_sessions_edit_and_each_undoes_its_own(project: Project) -> None:
    project.put("a.txt", b"".join(b"line %d\n" % n for n in range(30)))
    project.put("b.txt", b"b\n")
    one, two = project.session("one"), project.session("two")
    await one.edit("mine.txt", b"one\n")
    await two.edit("theirs.txt", b"two\n")
    await one.run("sed -i 's/line 2$/ONE 2/' a.txt; rm b.txt")
    await two.run("sed -i 's/line 25$/TWO 25/' a.txt; echo > two.txt")
    await two.edit("theirs.txt", b"two again\n")
    plan, _ = await one.undo()
    assert plan.conflicts == ()
    state = project.state()
    assert b"line 2\n" in state["a.txt"][0]
    assert b"TWO 25\n" in state["a.txt"][0]
    assert state["b.txt"] == (b"b\n", False)
    assert "mine.txt" not in state
    assert state["theirs.txt"] == (b"two again\n", False)
    assert "two.txt" in state
    plan, _ = await two.undo()
    assert plan.conflicts == ()
    assert sorted(project.state()) == ["a.txt", "b.txt"]
    assert project.state()["a.txt"][0] == b"".join(b"line %d\n" % n for n in range(30))


async def test_what_another_session_changed_while_a_command_ran_is_left_alone(
    project: Project,
) -> None:
    project.put("a.txt", b"a\n")
    project.put("b.txt", b"b\n")
    one, two = project.session("one"), project.session("two")
    command = Attempt(call="c", tool="run_command", title="t", record="r", command="make")
    await one.snapshots.begin(command)
    (project.root / "a.txt").write_bytes(b"made\n")
    await two.edit("b.txt", b"of the other\n")
    one.snapshots.end("c")
    await one.snapshots.settle()
    plan, _ = await one.undo()
    assert [conflict.path for conflict in plan.conflicts] == [str(project.root / "b.txt")]
    assert "session two" in plan.conflicts[0].why
    assert project.state()["a.txt"] == (b"a\n", False)
    assert project.state()["b.txt"] == (b"of the other\n", False)


async def test_sessions_at_work_at_the_same_time_do_not_disturb_each_other(
    project: Project,
) -> None:
    for number in range(50):
        project.put(f"f{number}.txt", b"x\n")
    sessions = [project.session(f"s{number}") for number in range(4)]

    async def work(number: int, session: Session) -> None:
        for turn in range(3):
            await session.edit(f"s{number}-{turn}.txt", b"made\n")
            await session.run(f"echo {turn} >> own-{number}.txt")

    async with anyio.create_task_group() as group:
        for number, session in enumerate(sessions):
            group.start_soon(work, number, session)
    for session in sessions:
        assert session.notices == []
        steps = await session.snapshots.steps()
        assert sum(step.exact for step in steps) == 3


async def test_a_step_that_was_cut_off_by_a_kill_can_be_undone(project: Project) -> None:
    project.put("a.txt", b"a\n")
    project.put("b.txt", b"b\n")
    killed = project.session("s")
    await killed.edit("c.txt", b"c\n")
    await killed.snapshots.begin(
        Attempt(call="x", tool="run_command", title="t", record="r", command="rm a.txt")
    )
    (project.root / "a.txt").unlink()
    await killed.snapshots.begin(
        Attempt(call="y", tool="edit_file", title="t", record="r",
                paths=(str(project.root / "b.txt"),))
    )  # fmt: skip
    (project.root / "b.txt").write_bytes(b"half\n")
    again = project.session("s")
    assert [step.number for step in await again.snapshots.steps()] == [1, 2, 3]
    plan, _ = await again.undo()
    assert plan.conflicts == ()
    assert project.state() == {"a.txt": (b"a\n", False), "b.txt": (b"b\n", False)}


async def test_a_list_with_a_torn_last_line_is_read_up_to_it(project: Project) -> None:
    session = project.session()
    await session.edit("a.txt", b"a\n")
    log = project.store.session("s1") / "log.jsonl"
    with log.open("ab") as file:
        file.write(b'{"type":"began","numb')
    again = project.session()
    assert len(await again.snapshots.steps()) == 1
    await again.edit("b.txt", b"b\n")
    assert len(await project.session().snapshots.steps()) == 2


async def test_an_undo_can_be_undone_and_that_again(project: Project) -> None:
    project.put("a.txt", b"a\n")
    session = project.session()
    await session.edit("a.txt", b"b\n")
    await session.run("rm a.txt; echo made > m.txt")
    _, first = await session.undo()
    assert project.state() == {"a.txt": (b"a\n", False)}
    _, second = await session.undo(first.number)
    assert project.state() == {"m.txt": (b"made\n", False)}
    steps = {step.number: step.undone for step in await session.snapshots.steps()}
    assert steps == {1: False, 2: False, first.number: True, second.number: False}
    await session.undo(second.number)
    assert project.state() == {"a.txt": (b"a\n", False)}


async def test_one_step_in_the_middle_can_be_taken_back(project: Project) -> None:
    project.put("a.txt", b"".join(b"line %d\n" % n for n in range(30)))
    session = project.session()
    for number in (2, 14, 27):
        await session.run(f"sed -i 's/line {number}$/NEW {number}/' a.txt")
    plan, _ = await session.undo(2)
    assert [planned.move for planned in plan.moves] == [Move.MERGE]
    text = (project.root / "a.txt").read_bytes()
    assert b"NEW 2\n" in text
    assert b"line 14\n" in text
    assert b"NEW 27\n" in text


async def test_conflicts_are_shown_and_nothing_is_overwritten(project: Project) -> None:
    project.put("same.txt", b"one\n")
    project.put("gone.txt", b"g\n")
    session = project.session()
    await session.run("echo two > same.txt; echo new > made.txt; echo g2 > gone.txt")
    project.put("same.txt", b"three, by hand\n")
    project.put("made.txt", b"new, and mine\n")
    (project.root / "gone.txt").unlink()
    before = project.state()
    plan, step = await session.undo()
    whys = {conflict.path.rpartition("/")[2]: conflict.why for conflict in plan.conflicts}
    assert whys == {
        "same.txt": "it was changed since, in the same lines",
        "made.txt": "it was changed since it was made",
        "gone.txt": "it was deleted since",
    }
    assert step is None
    assert project.state() == before
    plan, step = await session.undo(over=True)
    assert all(planned.over for planned in plan.moves)
    assert project.state() == {"same.txt": (b"one\n", False), "gone.txt": (b"g\n", False)}
    await session.undo(step.number)
    assert project.state() == before


async def test_a_change_between_plan_and_undo_stops_it(project: Project) -> None:
    from hame.base.errors import ToolError

    project.put("a.txt", b"a\n")
    project.put("b.txt", b"b\n")
    session = project.session()
    await session.run("echo x > a.txt; echo y > b.txt")
    plan = await session.snapshots.plan([1])
    project.put("b.txt", b"mine\n")
    with pytest.raises(ToolError, match=r"b\.txt was changed just now"):
        await session.snapshots.undo(plan, "undo", "r")
    assert project.state() == {"a.txt": (b"x\n", False), "b.txt": (b"mine\n", False)}


async def test_without_git_edits_can_be_undone_and_commands_are_said_not_to(
    project: Project,
) -> None:
    project.put("a.txt", b"a\n")
    bare = project.root.parent / "no-git"
    bare.mkdir()
    session = project.session()
    session.snapshots = LocalSnapshots(
        project.store, "s", project.paths, LocalProcesses({"PATH": str(bare)}, Unconfined())
    )
    await session.edit("a.txt", b"b\n")
    await session.run("rm a.txt")
    await session.run("true")
    assert session.notices == [
        "git is not installed: what commands change cannot be undone, edits can"
    ]
    await session.undo(1, over=True)
    assert project.state() == {"a.txt": (b"a\n", False)}
    assert list(bare.iterdir()) == []


def test_nothing_is_written_or_started_before_the_first_step(project: Project) -> None:
    project.session()
    assert not Path(project.base).exists()


async def test_a_full_disk_is_said_and_stops_no_step(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.put("a.txt", b"a\n")
    session = project.session()
    await session.edit("b.txt", b"b\n")

    def full(self: StepLog, line: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(StepLog, "write", full)
        await session.edit("a.txt", b"c\n")
        await session.run("rm a.txt")
    assert "No space left on device" in session.notices[0]
    await session.run("echo d > d.txt")
    await session.undo()
    assert sorted(project.state()) == []


async def test_commands_one_after_another_keep_their_own_changes(project: Project) -> None:
    session = project.session()
    await session.run("echo 1 > one.txt", settle=False)
    await session.edit("two.txt", b"2\n")
    await session.run("echo 3 > three.txt", settle=False)
    await session.run("echo 4 > four.txt", settle=False)
    await session.snapshots.settle()
    steps = await session.snapshots.steps()
    changed = [[Path(change.path).name for change in step.changes] for step in steps]
    assert changed == [["one.txt"], ["two.txt"], ["three.txt"], ["four.txt"]]


async def test_the_conversation_goes_back_also_where_nothing_can_be_written_down(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = project.session()
    project.put("a.txt", b"one\n")
    await session.edit("a.txt", b"two\n")

    def refused(*_: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(StepLog, "write", refused)
    assert await session.snapshots.undo(UndoPlan(steps=()), "undo", "1", "3") is None
    plan = await session.snapshots.plan([1])
    with pytest.raises(ToolError, match="cannot be written down"):
        await session.snapshots.undo(plan, "undo", "1", "3")
    assert (project.root / "a.txt").read_bytes() == b"one\n"
