"""Reading on a real disk: what would hang or never end is refused before it is opened."""

import os
import socket
from pathlib import Path

import anyio
import pytest

from hame.base.errors import PathError
from hame.base.zone import Operation
from hame.workspace import reading
from workspace.conftest import DiskProject, open_descriptors


def put_socket(project: DiskProject) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(project.root / "socket"))


async def read(project: DiskProject, path: str, limit: int | None = None) -> bytes:
    place = project.workspace.locate(path, Operation.READ)
    try:
        return await project.workspace.read_bytes(place, limit)
    finally:
        place.close()


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("fifo", "named pipe"),
        ("link_to_fifo", "named pipe"),
        ("socket", "socket"),
        ("/dev/zero", "device"),
        ("/dev/tty", "device"),
        ("dir", "directory"),
        ("gone", "no such file"),
        ("gone/deeper", "no such file"),
    ],
)
async def test_what_is_no_file_is_refused_at_once(
    project: DiskProject, path: str, words: str
) -> None:
    os.mkfifo(project.root / "fifo")
    (project.root / "link_to_fifo").symlink_to("fifo")
    (project.root / "dir").mkdir()
    put_socket(project)
    before = open_descriptors()
    with anyio.fail_after(5), pytest.raises(PathError, match=words):
        await read(project, path)
    assert open_descriptors() == before


async def test_a_file_swapped_for_something_else_is_refused(
    project: DiskProject, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text("s")
    project.put("a.txt", b"a")
    project.put("b.txt", b"b")
    first = project.workspace.locate("a.txt", Operation.READ)
    second = project.workspace.locate("b.txt", Operation.READ)
    for name in ("a.txt", "b.txt"):
        (project.root / name).unlink()
    (project.root / "a.txt").symlink_to(tmp_path / "secret")
    os.mkfifo(project.root / "b.txt")
    with pytest.raises(PathError, match="symbolic link"):
        await project.workspace.read_bytes(first)
    with anyio.fail_after(5), pytest.raises(PathError, match="named pipe"):
        await project.workspace.read_bytes(second)
    first.close()
    second.close()


async def test_files_that_claim_to_be_empty_are_read(project: DiskProject) -> None:
    assert b"Linux" in await read(project, "/proc/version")
    assert len(await read(project, "/proc/version", 5)) == 5


async def test_a_file_that_has_nothing_to_read_yet_is_not_waited_for(
    project: DiskProject,
) -> None:
    with anyio.fail_after(5):
        try:
            await read(project, "/proc/kmsg", 1 << 20)
        except PathError:
            return


async def test_a_large_file_is_read_in_part_but_not_whole(project: DiskProject) -> None:
    project.put("large", b"head")
    os.truncate(project.root / "large", reading.BYTES_LIMIT + 1)
    assert (await read(project, "large", 4)) == b"head"
    with pytest.raises(PathError, match="too large"):
        await read(project, "large")
    place = project.workspace.locate("large", Operation.READ)
    with pytest.raises(PathError, match="too large"):
        await project.workspace.read_text(place)
    place.close()


async def test_a_file_that_never_ends_is_cut_off(
    project: DiskProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "BYTES_LIMIT", 10)
    with pytest.raises(PathError, match="more than that"):
        await read(project, "/proc/version")
