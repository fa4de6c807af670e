"""The programs hame starts by itself are never the project's."""

import os
from pathlib import Path

import pytest

from hame.base.confinement import Confinement
from hame.base.errors import ToolError
from hame.base.process import Launch
from hame.sandbox.unconfined import Unconfined
from hame.workspace.ownprograms import OwnPrograms
from hame.workspace.process import LocalProcesses


@pytest.fixture
def project(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    return made


def program(folder: Path, name: str, text: str = "echo mine") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    made = folder / name
    made.write_text(f"#!/bin/sh\n{text}\n")
    made.chmod(0o755)
    return made


def own(project: Path, *path: object) -> OwnPrograms:
    return OwnPrograms({"PATH": ":".join(map(str, path))}, (str(project),))


def test_a_folder_of_the_projects_is_passed_over_by_whatever_name(
    project: Path, tmp_path: Path
) -> None:
    program(project / "bin", "tool")
    outside = program(tmp_path / "outside", "tool")
    (tmp_path / "link").symlink_to(project / "bin")
    for first in (project / "bin", tmp_path / "link", f"{tmp_path}/outside/../project/bin"):
        assert own(project, first, outside.parent).find("tool") == str(outside)
        assert own(project, first).find("tool") is None


def test_a_program_that_is_a_link_into_the_project_is_passed_over(
    project: Path, tmp_path: Path
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "tool").symlink_to(program(project, "tool"))
    assert own(project, tmp_path / "bin").find("tool") is None


def test_relative_folders_do_not_count(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path, "tool")
    monkeypatch.chdir(tmp_path)
    for path in ("", ".", "./", "bin/.."):
        assert own(project, path).find("tool") is None
        assert own(project, path, "/usr/bin").path == "/usr/bin"


def test_what_cannot_be_run_is_no_program(project: Path, tmp_path: Path) -> None:
    (tmp_path / "tool").mkdir()
    program(tmp_path, "other").chmod(0o644)
    assert own(project, tmp_path).find("tool") is None
    assert own(project, tmp_path).find("other") is None


def test_without_a_search_path_the_systems_own_is_used(project: Path) -> None:
    assert OwnPrograms({}, ()).find("sh") in {"/bin/sh", "/usr/bin/sh"}


async def test_processes_start_the_program_outside_and_hand_on_that_search_path(
    project: Path, tmp_path: Path
) -> None:
    """T19: was seen to fail where the system looked along the whole search path."""
    program(project / "bin", "tool", "echo the project's")
    program(tmp_path / "outside", "tool", 'echo outside; echo "$PATH"')
    environment = {"PATH": f"{project}/bin:{tmp_path}/outside:/usr/bin:/bin"}
    processes = LocalProcesses(environment, Unconfined(), without=(str(project),))
    async with processes.start(Launch(argv=("tool",), cwd=str(project))) as process:
        said = b"".join([chunk async for chunk in process.output()]).decode().split("\n")
    assert said[0] == "outside"
    assert str(project) not in said[1]


async def test_a_program_that_only_the_project_has_is_not_there(project: Path) -> None:
    program(project / "bin", "tool")
    processes = LocalProcesses({"PATH": f"{project}/bin"}, without=(str(project),))
    with pytest.raises(ToolError, match="there is no such program"):
        async with processes.start(Launch(argv=("tool",), cwd=str(project))):
            pass


async def test_what_keeps_the_output_of_a_terminal_is_not_the_projects(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It runs outside the sandbox; its word is `cat`, as often as a job has a terminal."""
    canary, log = tmp_path / "canary", tmp_path / "log"
    program(project / "bin", "cat", f"touch {canary}; exec /bin/cat")
    path = f"{project}/bin:{os.environ['PATH']}"
    monkeypatch.setenv("PATH", path)
    processes = LocalProcesses({"PATH": path}, Unconfined(), without=(str(project),))
    launch = Launch(
        argv=("/bin/sh", "-c", "echo said"),
        cwd=str(project),
        confinement=Confinement(),
        pty=True,
        output=str(log),
    )
    async with processes.start(launch) as process:
        await process.wait()
    assert "said" in log.read_text()
    assert not canary.exists()
