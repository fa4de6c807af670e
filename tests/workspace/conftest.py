"""A project on disk."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
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


def names_in(folder: Path) -> list[str]:
    """Everything below a folder, sorted."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def open_descriptors() -> int:
    """How many this process has."""
    return len(list(Path("/proc/self/fd").iterdir()))


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


@pytest.fixture
def plain_project() -> Iterator[DiskProject]:
    """A project of a user who may not do everything; where the tests run as root, of `nobody`."""
    above = Path(tempfile.mkdtemp())
    root = above / "project"
    root.mkdir()
    nobody = 65534
    me = os.geteuid()
    if me == 0:
        for folder in (above, root):
            os.chown(folder, nobody, nobody)
        os.seteuid(nobody)
    try:
        yield DiskProject(root, above, "")
    finally:
        os.seteuid(me)
        shutil.rmtree(above)
