"""A project on disk."""

from collections.abc import Callable
from pathlib import Path

import pytest

from hame.workspace.local import LocalWorkspace, open_workspace


class DiskProject:
    """A workspace and its folder."""

    def __init__(self, root: Path, home: Path, rg: str | None) -> None:
        self.root = root
        self.workspace: LocalWorkspace = open_workspace(str(root), home=str(home), rg=rg)

    def put(self, path: str, data: bytes) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)

    def get(self, path: str) -> bytes | None:
        file = self.root / path
        return file.read_bytes() if file.is_file() else None


ProjectMaker = Callable[[str | None], DiskProject]


@pytest.fixture
def make_project(tmp_path: Path, home: Path) -> ProjectMaker:
    def make(rg: str | None) -> DiskProject:
        root = tmp_path / "project"
        root.mkdir()
        return DiskProject(root, home, rg)

    return make


@pytest.fixture
def project(make_project: ProjectMaker) -> DiskProject:
    return make_project("")
