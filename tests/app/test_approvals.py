"""What was approved is what runs: T27, T44 and T48 of the threat catalogue, from question to process.

Between the answer and the start lies time: snapshots are taken, a cell is built. What changes then is
not run.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hame.app.runtime import Runtime
from hame.base import event
from hame.base.outcome import CommandView, Done, Failed, Outcome
from hame.base.ports import Snapshots
from hame.base.process import CHANGED
from hame.base.question import Answer, Choice, Question
from hame.base.settings import Mode
from hame.base.snapshot import Attempt
from hame.testing import answer, call

if TYPE_CHECKING:
    from app.conftest import Scene


class MeddledSnapshots:
    """The real ones; something happens after they have held what there is."""

    def __init__(self, real: Snapshots, meanwhile: Callable[[], object]) -> None:
        self._real = real
        self._meanwhile = meanwhile

    def __getattr__(self, name: str) -> object:
        return getattr(self._real, name)

    async def begin(self, attempt: Attempt) -> str | None:
        words = await self._real.begin(attempt)
        self._meanwhile()
        return words


def approving(scene: "Scene", runtime: Runtime) -> list[Question]:
    asked: list[Question] = []

    def reply(item: event.RunEvent) -> None:
        if isinstance(item, event.QuestionAsked):
            asked.append(item.question)
            runtime.answer(item.question.id, Answer(choice=Choice.ONCE))

    runtime.subscribe(reply)
    return asked


async def approve(
    scene: "Scene", command: str, meanwhile: Callable[[], object] = lambda: None, **more: object
) -> tuple[Outcome, list[Question]]:
    """What becomes of a command that is approved, and the questions that were asked."""
    asked_for = call("run_command", command=command, **more)
    runtime = scene.start(answer(asked_for), answer("ok"), mode=Mode.ASK, interactive=True)
    asked = approving(scene, runtime)
    runtime._snapshots = MeddledSnapshots(runtime._snapshots, meanwhile)
    await runtime.prompt("do it")
    (settled,) = scene.seen(event.CallSettled)
    return settled.outcome, asked


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize(
    "command",
    [
        "echo one > a\n" + "\n" * 200 + "echo two >> a",
        "echo one > a" + " " * 5_000 + "; echo two >> a",
        "echo one > a; # \\\necho two >> a",
    ],
)
async def test_t27_the_whole_of_what_runs_is_what_was_shown(scene: "Scene", command: str) -> None:
    outcome, asked = await approve(scene, command)
    assert isinstance(outcome, Done)
    (question,) = asked
    assert isinstance(question.view, CommandView)
    assert question.view.command == command
    assert (scene.project / "a").read_text() == "one\ntwo\n"


async def test_t44_a_folder_that_becomes_a_link_after_the_answer_is_not_copied_into(
    scene: "Scene",
) -> None:
    put(scene.project / "a.mp4", "[[allow]]")
    docs, config = scene.project / "docs", scene.project.parent / "config"
    docs.mkdir()
    config.mkdir()

    def swap() -> None:
        docs.rmdir()
        docs.symlink_to(config)

    outcome, asked = await approve(scene, "cp a.mp4 docs/", swap)
    assert len(asked) == 1
    assert outcome == Failed(message=f"{CHANGED}")
    assert list(config.iterdir()) == []


@pytest.mark.parametrize("background", [False, True])
@pytest.mark.parametrize("how", ["written", "replaced", "gone"])
async def test_t48_a_script_that_changes_after_the_answer_is_not_run(
    scene: "Scene", how: str, background: bool
) -> None:
    script = put(scene.project / "build/run.sh", "echo good > made\n")

    def change() -> None:
        match how:
            case "written":
                script.write_text("echo evil > made\n")
            case "replaced":
                put(scene.project / "evil.sh", "echo evil > made\n").replace(script)
            case _:
                script.unlink()

    outcome, _ = await approve(scene, "bash build/run.sh", change, background=background)
    assert outcome == Failed(message=CHANGED)
    assert not (scene.project / "made").exists()


async def test_t48_a_program_that_is_named_by_its_path_is_not_run_when_it_was_swapped(
    scene: "Scene",
) -> None:
    tool = put(scene.project / "tool", "#!/bin/sh\necho good > made\n")
    tool.chmod(0o755)
    outcome, _ = await approve(scene, "./tool", lambda: tool.write_text("#!/bin/sh\n: > made\n"))
    assert outcome == Failed(message=CHANGED)
    assert not (scene.project / "made").exists()


async def test_t48_a_working_folder_that_was_swapped_is_not_run_in(scene: "Scene") -> None:
    folder = scene.project / "web"
    folder.mkdir()

    def swap() -> None:
        folder.rename(scene.project / "old")
        folder.mkdir()

    outcome, _ = await approve(scene, "echo x > made", swap, cwd="web")
    assert isinstance(outcome, Failed)
    assert not (folder / "made").exists()


async def test_what_did_not_change_runs_though_other_files_did(scene: "Scene") -> None:
    put(scene.project / "run.sh", "echo good > made\n")
    outcome, _ = await approve(
        scene, "bash run.sh", lambda: put(scene.project / "other.txt", "by hand\n")
    )
    assert isinstance(outcome, Done)
    assert (scene.project / "made").read_text() == "good\n"
