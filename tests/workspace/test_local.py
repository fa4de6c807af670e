"""The workspace on disk keeps the contract, with ripgrep and without."""

from pathlib import Path

import pytest

from contracts.workspace import WorkspaceContract
from hame.base.errors import ConfigError
from hame.base.zone import Operation, Zone
from hame.workspace.local import bundled_ripgrep, open_workspace
from workspace.conftest import DiskProject, ProjectMaker


class TestWithRipgrep(WorkspaceContract):
    @pytest.fixture
    def project(self, make_project: ProjectMaker) -> DiskProject:
        assert bundled_ripgrep(), "ripgrep is installed together with hame"
        return make_project(None)


class TestWithItsOwnSearch(WorkspaceContract):
    @pytest.fixture
    def project(self, make_project: ProjectMaker) -> DiskProject:
        return make_project("")


def test_a_folder_that_is_not_there_cannot_be_opened() -> None:
    with pytest.raises(ConfigError, match="no folder"):
        open_workspace("/nowhere/at/all", home="/")


async def test_the_private_folder_of_commands_counts_as_the_projects(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "private").mkdir()
    workspace = open_workspace(str(tmp_path / "project"), home=str(tmp_path))
    workspace.share_temporary(str(tmp_path / "private"), "/tmp")
    place = workspace.locate("/tmp/note.txt", Operation.CREATE)
    await workspace.write_text(place, "kept\n", None, replace=False)
    place.close()
    assert place.resolution.zone is Zone.PROJECT
    assert (tmp_path / "private/note.txt").read_text("utf-8") == "kept\n"
