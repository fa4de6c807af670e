"""`hame undo`, `hame snapshots gc`, /undo and /rewind in a real process on a real project."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from hame.app.build import Launchpad, build_runtime
from hame.base.settings import Mode, Settings
from hame.config.places import find_places
from hame.sessions.store import SessionStore
from hame.testing import ScriptedModel, answer, call

SOURCE = Path(__file__).resolve().parents[2] / "src"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "old.txt").write_text("old\n")
    return folder


@pytest.fixture
def session(project: Path, home: Path) -> str:
    """A session that made a file, and removed another with a command."""
    return anyio.run(_talk, project, home)


async def _talk(project: Path, home: Path) -> str:
    environment = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
    places = find_places(environment)
    pad = Launchpad(
        settings=Settings(mode=Mode.AUTO),
        environment=environment,
        places=places,
        project=str(project),
        interactive=False,
    )
    runtime = await build_runtime(pad)
    model = ScriptedModel(
        answer(call("create_file", path="a.txt", content="a\n")),
        answer("made"),
        answer(call("run_command", command="rm -rf old.txt; echo b > b.txt")),
        answer("removed"),
    )
    runtime._model = model
    await runtime.prompt("make a")
    await runtime.prompt("remove old")
    name = runtime.session
    await runtime.close()
    return name


def hame(project: Path, home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "hame", *arguments],
        cwd=project,
        env={"HOME": str(home), "PATH": "/usr/bin:/bin", "PYTHONPATH": str(SOURCE)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )


def files(project: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in project.iterdir()}


def test_the_list_names_prompts_steps_and_files(project: Path, home: Path, session: str) -> None:
    done = hame(project, home, "undo", "--list")
    assert done.returncode == 0, done.stderr
    assert "prompt 1  make a" in done.stdout
    assert "step 2" in done.stdout
    assert "2 files: b.txt, old.txt" in done.stdout
    listed = json.loads(hame(project, home, "undo", "--list", "--json").stdout)
    assert [len(turn["steps"]) for turn in listed["turns"]] == [1, 1]


def test_nothing_is_done_without_being_asked_or_told(
    project: Path, home: Path, session: str
) -> None:
    before = files(project)
    done = hame(project, home, "undo")
    assert done.returncode == 3
    assert "bring back  old.txt" in done.stdout
    assert "remove  b.txt" in done.stdout
    assert "--yes" in done.stderr
    assert files(project) == before


def test_undo_and_back_again(project: Path, home: Path, session: str) -> None:
    after = files(project)
    done = hame(project, home, "undo", "--yes")
    assert done.returncode == 0, done.stderr
    assert files(project) == {"a.txt": "a\n", "old.txt": "old\n"}
    assert "undo 3 takes it back" in done.stdout
    assert "remove old" not in hame(project, home, "sessions", "show", session).stdout
    done = hame(project, home, "undo", "--to", "3", "-y")
    assert done.returncode == 0, done.stderr
    assert files(project) == after
    assert "remove old" in hame(project, home, "sessions", "show", session).stdout


def test_files_only_to_a_step_with_a_conflict(project: Path, home: Path, session: str) -> None:
    (project / "a.txt").write_text("a\nand mine\n")
    done = hame(project, home, "undo", "--to", "1", "--files", "--yes")
    assert done.returncode == 0, done.stderr
    assert "leave alone  a.txt: it was changed since it was made" in done.stdout
    assert files(project) == {"a.txt": "a\nand mine\n", "old.txt": "old\n"}
    assert "remove old" in hame(project, home, "sessions", "show", session).stdout


def test_what_is_not_there_is_an_error_that_names_the_remedy(
    project: Path, home: Path, session: str, tmp_path: Path
) -> None:
    done = hame(project, home, "undo", "--to", "9")
    assert done.returncode == 1
    assert "no step 9" in done.stderr
    assert "--list" in done.stderr
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    done = hame(elsewhere, home, "undo")
    assert done.returncode == 2
    assert "no session of" in done.stderr


def test_snapshots_are_cleared_up(project: Path, home: Path, session: str) -> None:
    done = hame(project, home, "snapshots", "gc", "--older-than", "0")
    assert done.returncode == 0, done.stderr
    assert "1 session forgotten" in done.stdout
    assert "there is nothing to undo" in hame(project, home, "undo", "--files").stderr


def test_a_session_that_is_open_elsewhere_is_listed_but_not_touched(
    project: Path, home: Path, session: str
) -> None:
    before = files(project)
    store = SessionStore(Path(find_places({"HOME": str(home)}).sessions))
    with store.resume(session):
        done = hame(project, home, "undo", "--yes")
        listed = hame(project, home, "undo", "--list")
    assert done.returncode == 2
    assert "is open in another hame" in done.stderr
    assert "step 2" in listed.stdout
    assert files(project) == before


def test_a_project_that_was_deleted_as_a_whole_comes_back(
    project: Path, home: Path, session: str
) -> None:
    elsewhere = project.parent
    shutil.rmtree(project)
    done = hame(
        elsewhere, home, "undo", "--session", session, "--to", "2", "--files", "--over", "-y"
    )
    assert done.returncode == 0, done.stderr
    assert files(project)["old.txt"] == "old\n"
