"""The loop and snapshots: which calls are held, when what they changed is captured, and what is said."""

from collections.abc import Sequence
from typing import cast

import anyio
import pytest

from agent.conftest import Stage
from hame.base import event
from hame.base.outcome import Denied
from hame.base.ports import Snapshots, ToolContext
from hame.base.run import RunDone, Stopped
from hame.base.snapshot import Attempt
from hame.base.tool import Effect
from hame.testing import HANG, answer, call


class WatchedSnapshots:
    """Writes down what it is told."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.attempts: list[Attempt] = []
        self.words: str | None = None
        self.changed: tuple[str, ...] = ()

    async def begin(self, attempt: Attempt) -> str | None:
        self.told.append(f"begin {attempt.tool}")
        self.attempts.append(attempt)
        return self.words

    def end(self, call: str) -> None:
        self.told.append("end")

    async def settle(self) -> Sequence[str]:
        self.told.append("settle")
        await anyio.lowlevel.checkpoint()
        return self.changed


@pytest.fixture
def snapshots(stage: Stage) -> WatchedSnapshots:
    watched = WatchedSnapshots()
    stage.snapshots = cast("Snapshots", watched)
    stage.add("edit_file", effect=Effect.WRITE)
    stage.add("run_command", effect=Effect.RUN)
    return watched


async def test_a_read_only_step_is_not_touched(stage: Stage, snapshots: WatchedSnapshots) -> None:
    await stage.play(answer(call("read_file", path="a")), answer("ok"))
    assert snapshots.told == []


async def test_what_may_change_files_is_held_before_and_captured_after(
    stage: Stage, snapshots: WatchedSnapshots
) -> None:
    await stage.play(
        answer(call("edit_file", path="a"), call("run_command", path="b")), answer("ok")
    )
    assert snapshots.told == [
        "begin edit_file", "end", "begin run_command", "end", "settle",
    ]  # fmt: skip
    assert [attempt.record for attempt in snapshots.attempts] == ["2", "3"]
    assert snapshots.attempts[0].title == "edit_file a"
    assert snapshots.attempts[1].command == "run_command"


async def test_a_refused_call_is_not_held(stage: Stage, snapshots: WatchedSnapshots) -> None:
    stage.gate.refusals["run_command"] = Denied(reason="no")
    await stage.play(answer(call("run_command", path="b")), answer("ok"))
    assert not snapshots.attempts


async def test_what_changed_and_what_is_held_are_told(
    stage: Stage, snapshots: WatchedSnapshots
) -> None:
    snapshots.words, snapshots.changed = "undo holds 3 files", ("a", "b")
    ended = await stage.play(answer(call("run_command", path="b")), answer("ok"))
    assert isinstance(ended.result, RunDone)
    assert [notice.text for notice in stage.seen(event.Notice)] == ["undo holds 3 files"]
    assert [changed.paths for changed in stage.seen(event.FilesChanged)] == [("a", "b")]


async def test_a_stopped_call_is_captured_all_the_same(
    stage: Stage, snapshots: WatchedSnapshots
) -> None:
    async def hang(arguments: object, context: ToolContext):
        run.cancel()
        await anyio.sleep_forever()

    from hame.base.message import Text, User
    from hame.testing import ScriptedModel

    stage.add("run_command", hang, effect=Effect.RUN)
    run = stage.make(ScriptedModel(answer(call("run_command", path="b")), HANG))
    ended = await run.run(User((Text("go"),)))
    assert isinstance(ended.result, Stopped)
    assert snapshots.told == ["begin run_command", "end", "settle"]
