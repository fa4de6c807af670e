"""The workspace on disk keeps the contract, with ripgrep and without."""

import pytest

from contracts.workspace import WorkspaceContract
from hame.base.errors import ConfigError
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
