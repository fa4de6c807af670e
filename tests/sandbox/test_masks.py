"""What stands in the place of missing names is gone when the last sandbox is."""

import os
from pathlib import Path

import pytest

from hame.sandbox.masks import Masks
from sandbox.cage import Cage, Driver, caged
from sandbox.test_running import gone


@pytest.fixture
def mechanism() -> str:
    return "bubblewrap"


def names(folder: Path) -> set[str]:
    return {each.name for each in folder.iterdir()}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def masks(tmp_path: Path) -> Masks:
    return Masks(str(tmp_path / "masks"))


class TestRegister:
    def test_empty_folders_are_made_and_taken_away(self, project: Path, masks: Masks):
        hold = masks.hold([str(project)])
        assert hold.put([f"{project}/a", f"{project}/b"]) == [f"{project}/a", f"{project}/b"]
        assert names(project) == {"a", "b"}
        hold.release()
        assert names(project) == set()

    def test_what_was_there_stays(self, project: Path, masks: Masks):
        (project / "a").mkdir()
        hold = masks.hold([str(project)])
        assert hold.put([f"{project}/a", f"{project}/b"]) == [f"{project}/b"]
        hold.release()
        assert names(project) == {"a"}

    def test_what_is_not_empty_stays(self, project: Path, masks: Masks):
        """Seen failing with a removal of whole trees."""
        hold = masks.hold([str(project)])
        hold.put([f"{project}/a", f"{project}/b"])
        (project / "a" / "mine").write_text("x")
        (project / "b").rmdir()
        (project / "b").write_text("mine")
        hold.release()
        assert names(project) == {"a", "b"}
        assert (project / "b").read_text() == "mine"

    def test_the_last_one_takes_them_away(self, project: Path, masks: Masks, tmp_path: Path):
        """Seen failing without the count: the first one's end takes away what the second needs."""
        first, other = masks.hold([str(project)]), Masks(str(tmp_path / "masks"))
        first.put([f"{project}/a"])
        second = other.hold([str(project)])
        second.put([f"{project}/b"])
        first.release()
        assert names(project) == {"a", "b"}
        second.release()
        assert names(project) == set()

    def test_sandboxes_of_other_folders_do_not_count(
        self, project: Path, masks: Masks, tmp_path: Path
    ):
        first, second = masks.hold([str(project)]), masks.hold([str(tmp_path / "elsewhere")])
        first.put([f"{project}/a"])
        first.release()
        assert names(project) == set()
        second.release()

    def test_a_copy_of_the_descriptor_holds_them(self, project: Path, masks: Masks):
        hold = masks.hold([str(project)])
        hold.put([f"{project}/a"])
        copy = os.dup(hold.descriptor)
        hold.release()
        masks.sweep()
        assert names(project) == {"a"}
        os.close(copy)
        masks.sweep()
        assert names(project) == set()

    def test_where_nothing_can_be_made_nothing_is(self, project: Path, masks: Masks):
        (project / "link").symlink_to("/")
        hold = masks.hold([str(project)])
        assert hold.put([f"{project}/no/a", f"{project}/link/a", f"{project}/link"]) == []
        hold.release()
        assert names(project) == {"link"}

    def test_a_torn_record_is_read_as_far_as_it_goes(
        self, project: Path, masks: Masks, tmp_path: Path
    ):
        hold = masks.hold([str(project)])
        hold.put([f"{project}/a"])
        os.write(hold.descriptor, b'{"type":"made","path":"/x","ino')
        hold.release()
        assert names(project) == set()
        assert names(tmp_path / "masks") == {"lock"}


def test_they_are_there_only_while_a_command_runs(cage: Cage):
    """F6."""
    cage.git("init", "-q")
    before = names(cage.root), names(cage.root / ".git")
    cage.begin("echo up; sleep 20", "long")
    assert cage.line("long") == "up\n"
    assert cage.run("true").ok
    assert {".vscode", ".mcp.json", ".hame"} <= names(cage.root)
    assert cage.run("true", "read").ok
    assert {".vscode", ".mcp.json", ".hame"} <= names(cage.root)
    assert cage.git("status", "--short") == ""
    cage.end("long")
    assert (names(cage.root), names(cage.root / ".git")) == before


def test_a_second_hame_does_not_take_away_what_the_first_needs(cage: Cage):
    """Seen failing without the lock: `.vscode` is gone, and comes with what a command puts in it."""
    cage.begin(
        "echo up; while [ ! -e go ]; do sleep 0.01; done; mkdir .vscode; echo evil > .vscode/x"
    )
    assert cage.line() == "up\n"
    second = Driver(cage.user)
    try:
        other = Cage.__new__(Cage)
        other.__dict__ |= cage.__dict__ | {"driver": second, "_session": ""}
        assert other.run("true").ok
        other.ask(do="prepare")
    finally:
        second.close()
    assert ".vscode" in names(cage.root)
    (cage.root / "go").touch()
    cage.wait()
    assert names(cage.root) == {"go"}


def test_what_a_killed_hame_has_left_is_taken_away_by_the_next(cage: Cage):
    own = Driver(cage.user)
    with caged(own) as other:
        other.begin("echo up; sleep 98760")
        assert other.line() == "up\n"
        own.kill()
        assert gone("98760")
        assert ".vscode" in names(other.root)
        other.driver, other._session = cage.driver, ""
        other.ask(do="prepare")
        assert names(other.root) == set()
