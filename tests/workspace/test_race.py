"""Somebody swaps a folder for a link while paths are resolved and files are read and written."""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hame.base.errors import PathError
from hame.base.zone import Operation, Zone
from workspace.conftest import DiskProject, names_in

SWAPPER = """
import ctypes, sys
call = ctypes.CDLL(None).renameat2
one, two = (path.encode() for path in sys.argv[1:])
print(call(-100, one, -100, two, 2), flush=True)
while True:
    call(-100, one, -100, two, 2)
"""
"""Exchanges two names as fast as it can (RENAME_EXCHANGE is 2, AT_FDCWD is -100)."""
SECONDS = 1.0


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "file.txt").write_text("theirs", "utf-8")
    return folder


@pytest.fixture
def _swapping(project: DiskProject, outside: Path) -> Iterator[None]:
    project.put("dir/file.txt", b"ours")
    (project.root / "link").symlink_to(outside)
    command = [sys.executable, "-c", SWAPPER, str(project.root / "dir"), str(project.root / "link")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as swapper:
        assert swapper.stdout is not None
        try:
            if swapper.stdout.readline() != b"0\n":
                pytest.skip("this file system cannot exchange names")
            yield
        finally:
            swapper.kill()


@pytest.mark.usefixtures("_swapping")
async def test_what_is_read_in_the_project_is_never_of_outside(project: DiskProject) -> None:
    seen = {Zone.PROJECT: 0, Zone.OUTSIDE: 0}
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        try:
            place = project.workspace.locate("dir/file.txt", Operation.READ)
        except PathError:
            continue
        zone = place.resolution.zone
        data = await project.workspace.read_bytes(place)
        place.close()
        seen[zone] += 1
        assert data == (b"ours" if zone is Zone.PROJECT else b"theirs")
    assert min(seen.values()) > 0, "the race was not run"


@pytest.mark.usefixtures("_swapping")
async def test_what_is_written_to_the_project_never_lands_outside(
    project: DiskProject, outside: Path
) -> None:
    written = 0
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        try:
            place = project.workspace.locate(f"dir/new/{written}.txt", Operation.CREATE)
        except PathError:
            continue
        if place.resolution.zone is Zone.PROJECT:
            await project.workspace.write_text(place, "mine", None, replace=False)
            written += 1
        place.close()
    assert written > 0, "the race was not run"
    assert names_in(outside) == ["file.txt"]
