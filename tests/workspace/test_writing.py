"""Writing on a real disk: what is kept, what is refused, and what a failing disk leaves behind."""

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from hame.base.errors import PathError
from hame.base.path import FileText
from hame.base.ports import Located
from hame.base.zone import Operation
from hame.workspace import rename
from workspace.conftest import DiskProject, names_in


async def read(project: DiskProject, path: str) -> FileText:
    place = project.workspace.locate(path, Operation.READ)
    try:
        return await project.workspace.read_text(place)
    finally:
        place.close()


async def write(
    project: DiskProject,
    path: str,
    text: str,
    like: FileText | None = None,
    *,
    replace: bool = True,
) -> None:
    place = project.workspace.locate(path, Operation.WRITE)
    try:
        await project.workspace.write_text(place, text, like, replace=replace)
    finally:
        place.close()


@pytest.mark.parametrize("mode", [0o755, 0o600, 0o640, 0o4755, 0o2770])
async def test_the_mode_of_a_file_is_kept(project: DiskProject, mode: int) -> None:
    project.put("run.sh", b"#!/bin/sh\n")
    (project.root / "run.sh").chmod(mode)
    await write(project, "run.sh", "#!/bin/bash\n")
    assert stat.S_IMODE((project.root / "run.sh").stat().st_mode) == mode


async def test_a_new_file_has_the_mode_the_umask_leaves(project: DiskProject) -> None:
    before = os.umask(0o027)
    try:
        await write(project, "a.txt", "a", replace=False)
    finally:
        os.umask(before)
    assert stat.S_IMODE((project.root / "a.txt").stat().st_mode) == 0o640


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
async def test_the_owner_of_a_file_is_kept(project: DiskProject) -> None:
    project.put("a.txt", b"a")
    os.chown(project.root / "a.txt", 1234, 2345)
    await write(project, "a.txt", "b")
    found = (project.root / "a.txt").stat()
    assert (found.st_uid, found.st_gid) == (1234, 2345)


async def test_extended_attributes_are_kept(project: DiskProject) -> None:
    project.put("a.txt", b"a")
    try:
        os.setxattr(project.root / "a.txt", "user.note", b"kept")
    except OSError:
        pytest.skip("this file system has no extended attributes")
    await write(project, "a.txt", "b")
    assert os.getxattr(project.root / "a.txt", "user.note") == b"kept"


async def test_a_link_stays_a_link_and_its_target_is_written(project: DiskProject) -> None:
    project.put("real.md", b"old")
    (project.root / "link.md").symlink_to("real.md")
    like = await read(project, "link.md")
    await write(project, "link.md", "new", like)
    assert (project.root / "link.md").is_symlink()
    assert project.get("real.md") == b"new"


async def test_a_dangling_link_is_written_through_to_its_target(project: DiskProject) -> None:
    (project.root / "link").symlink_to("sub/new.txt")
    await write(project, "link", "new", replace=False)
    assert project.get("sub/new.txt") == b"new"


async def test_another_name_of_a_file_keeps_the_old_text(project: DiskProject) -> None:
    project.put("a.txt", b"old")
    os.link(project.root / "a.txt", project.root / "b.txt")
    await write(project, "a.txt", "new")
    assert (project.get("a.txt"), project.get("b.txt")) == (b"new", b"old")


async def test_a_file_that_vanished_since_it_was_read_is_not_made_again(
    project: DiskProject,
) -> None:
    project.put("sub/a.txt", b"old")
    like = await read(project, "sub/a.txt")
    (project.root / "sub/a.txt").unlink()
    with pytest.raises(PathError, match="deleted"):
        await write(project, "sub/a.txt", "new", like)
    (project.root / "sub").rmdir()
    with pytest.raises(PathError, match="deleted"):
        await write(project, "sub/a.txt", "new", like)
    assert names_in(project.root) == []


async def test_a_file_put_there_meanwhile_is_not_overwritten(project: DiskProject) -> None:
    place = project.workspace.locate("a.txt", Operation.CREATE)
    project.put("a.txt", b"of the user")
    with pytest.raises(PathError, match="exists"):
        await project.workspace.write_text(place, "new", None, replace=False)
    assert project.get("a.txt") == b"of the user"


async def test_a_link_put_there_meanwhile_is_not_written_through(
    project: DiskProject, tmp_path: Path
) -> None:
    victim = tmp_path / "victim"
    victim.write_text("safe")
    place = project.workspace.locate("dir/a.txt", Operation.CREATE)
    leaf = project.workspace.locate("a.txt", Operation.CREATE)
    (project.root / "dir").symlink_to(tmp_path)
    (project.root / "a.txt").symlink_to(victim)
    for each in (place, leaf):
        for replace in (True, False):
            with pytest.raises(PathError):
                await project.workspace.write_text(each, "evil", None, replace=replace)
    assert victim.read_text() == "safe"
    assert names_in(tmp_path)[-1] == "victim"
    assert names_in(tmp_path / "project") == ["a.txt", "dir"]


async def test_what_is_no_file_is_not_replaced(project: DiskProject) -> None:
    os.mkfifo(project.root / "fifo")
    with pytest.raises(PathError, match="named pipe"):
        await write(project, "fifo", "text")
    assert stat.S_ISFIFO((project.root / "fifo").stat().st_mode)


async def test_a_read_only_file_is_not_replaced(plain_project: DiskProject) -> None:
    plain_project.put("a.txt", b"old")
    (plain_project.root / "a.txt").chmod(0o444)
    with pytest.raises(PathError, match="read-only"):
        await write(plain_project, "a.txt", "new")
    assert plain_project.get("a.txt") == b"old"


async def test_what_may_not_be_touched_is_said_to_be_so(plain_project: DiskProject) -> None:
    plain_project.put("dir/a.txt", b"old")
    plain_project.put("closed.txt", b"old")
    (plain_project.root / "closed.txt").chmod(0o000)
    (plain_project.root / "dir").chmod(0o555)
    with pytest.raises(PathError, match="permission denied"):
        await write(plain_project, "dir/b.txt", "new")
    with pytest.raises(PathError, match="permission denied"):
        await read(plain_project, "closed.txt")
    assert names_in(plain_project.root / "dir") == ["a.txt"]
    (plain_project.root / "dir").chmod(0o000)
    with pytest.raises(PathError, match="permission denied"):
        plain_project.workspace.locate("dir/a.txt", Operation.READ)
    (plain_project.root / "dir").chmod(0o700)


async def test_a_path_that_ends_with_a_slash_is_no_file(project: DiskProject) -> None:
    with pytest.raises(PathError, match="directory"):
        await write(project, "new/", "text", replace=False)
    assert names_in(project.root) == []


async def test_lone_surrogates_are_not_written(project: DiskProject) -> None:
    with pytest.raises(PathError, match=r"U\+D800"):
        await write(project, "a.txt", "\ud800", replace=False)
    assert names_in(project.root) == []


_FAILURES = {
    errno.ENOSPC: "disk is full",
    errno.EDQUOT: "quota",
    errno.EROFS: "read-only",
    errno.EACCES: "permission denied",
    errno.EIO: "disk reports an error",
}


@pytest.mark.parametrize("number", _FAILURES)
@pytest.mark.parametrize("call", ["open", "write", "fsync", "fchmod", "rename"])
async def test_a_failing_disk_leaves_the_old_file_and_nothing_else(
    project: DiskProject, monkeypatch: pytest.MonkeyPatch, call: str, number: int
) -> None:
    project.put("a.txt", b"old")
    like = await read(project, "a.txt")
    place = project.workspace.locate("a.txt", Operation.WRITE)
    with monkeypatch.context() as broken:
        broken.setattr(os, call, failing(getattr(os, call), number, creating=call == "open"))
        with pytest.raises(PathError, match=_FAILURES[number]):
            await project.workspace.write_text(place, "new", like, replace=True)
    assert project.get("a.txt") == b"old"
    assert names_in(project.root) == ["a.txt"]
    await project.workspace.write_text(place, "new", like, replace=True)
    assert project.get("a.txt") == b"new"


@pytest.mark.parametrize("call", ["open", "write", "fsync", "mkdir"])
async def test_a_failing_disk_leaves_no_new_folders_either(
    project: DiskProject, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    place = project.workspace.locate("new/deep/a.txt", Operation.CREATE)
    with monkeypatch.context() as broken:
        broken.setattr(os, call, failing(getattr(os, call), errno.ENOSPC, creating=call == "open"))
        with pytest.raises(PathError, match="disk is full"):
            await project.workspace.write_text(place, "new", None, replace=False)
    assert names_in(project.root) == []


def failing(call: Callable[..., Any], number: int, *, creating: bool) -> Callable[..., Any]:
    """A system call that fails; opening fails only where it would make a file."""

    def fail(*args: Any, **rest: Any) -> Any:
        if creating and not args[1] & os.O_CREAT:
            return call(*args, **rest)
        raise OSError(number, os.strerror(number))

    return fail


async def test_a_disk_that_takes_little_at_a_time_gets_it_all(
    project: DiskProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.write
    with monkeypatch.context() as slow:
        slow.setattr(os, "write", lambda descriptor, data: real(descriptor, bytes(data[:3])))
        await write(project, "a.txt", "0123456789", replace=False)
    assert project.get("a.txt") == b"0123456789"


@pytest.mark.parametrize("links", [True, False])
async def test_without_the_exclusive_rename_nothing_is_overwritten_either(
    project: DiskProject, monkeypatch: pytest.MonkeyPatch, links: bool
) -> None:
    monkeypatch.setattr(rename, "_renameat2", lambda: None)
    if not links:
        monkeypatch.setattr(os, "link", failing(os.link, errno.EPERM, creating=False))
    await write(project, "a.txt", "first", replace=False)
    project.put("b.txt", b"b")
    project.put("dir/c.txt", b"c")
    with pytest.raises(PathError, match="exists"):
        await write(project, "a.txt", "second", replace=False)
    for source, target in (("a.txt", "b.txt"), ("dir", "b.txt"), ("a.txt", "dir")):
        with pytest.raises(PathError, match="exists"):
            await move(project, source, target)
    await move(project, "a.txt", "moved.txt")
    await move(project, "dir", "folder")
    assert names_in(project.root) == ["b.txt", "folder", "folder/c.txt", "moved.txt"]


async def move(project: DiskProject, source: str, target: str) -> None:
    workspace = project.workspace
    here, there = (
        workspace.locate(source, Operation.DELETE),
        workspace.locate(target, Operation.CREATE),
    )
    try:
        await workspace.move(here, there)
    finally:
        here.close()
        there.close()


async def test_a_place_of_another_workspace_is_a_mistake_of_the_program(
    project: DiskProject,
) -> None:
    class Foreign:
        """As a fake makes it."""

    with pytest.raises(TypeError, match="another workspace"):
        await project.workspace.read_bytes(cast("Located", Foreign()))
