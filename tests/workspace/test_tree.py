"""Folders on a real disk: links are never followed, and deep or wide trees are no trouble."""

import errno
import os
import resource
from pathlib import Path

import pytest

from hame.base.errors import PathError
from hame.base.path import FileKind
from hame.base.zone import Operation
from workspace.conftest import DiskProject, open_descriptors


async def delete(project: DiskProject, path: str) -> None:
    place = project.workspace.locate(path, Operation.DELETE)
    try:
        await project.workspace.delete(place)
    finally:
        place.close()


async def test_deleting_a_link_leaves_what_it_leads_to(project: DiskProject) -> None:
    project.put("real/a.txt", b"a")
    (project.root / "link").symlink_to("real")
    (project.root / "dangling").symlink_to("nowhere")
    await delete(project, "link")
    await delete(project, "dangling")
    assert [path.name for path in project.root.iterdir()] == ["real"]
    assert project.get("real/a.txt") == b"a"


async def test_deleting_a_folder_deletes_the_links_in_it_only(
    project: DiskProject, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "safe.txt").write_text("safe")
    project.put("dir/sub/a.txt", b"a")
    (project.root / "dir/link").symlink_to(outside)
    (project.root / "dir/sub/file").symlink_to(outside / "safe.txt")
    await delete(project, "dir")
    assert not (project.root / "dir").exists()
    assert (outside / "safe.txt").read_text() == "safe"


async def test_a_deep_and_a_wide_tree_are_deleted_with_few_descriptors(
    project: DiskProject,
) -> None:
    project.put("/".join(["tree", *(f"d{number}" for number in range(50)), "leaf"]), b"")
    for number in range(200):
        project.put(f"tree/w{number}/leaf", b"")
    before = open_descriptors()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (before + 100, hard))
    try:
        await delete(project, "tree")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert not (project.root / "tree").exists()
    assert open_descriptors() == before


async def test_a_deletion_that_fails_says_why(
    project: DiskProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.put("dir/a.txt", b"a")

    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.EBUSY, "busy")

    monkeypatch.setattr(os, "unlink", fail)
    with pytest.raises(PathError, match="in use"):
        await delete(project, "dir")


async def test_a_listing_says_where_links_lead(project: DiskProject) -> None:
    project.put("real/a.txt", b"a")
    (project.root / "to_dir").symlink_to("real")
    (project.root / "to_file").symlink_to("real/a.txt")
    (project.root / "to_nothing").symlink_to("gone")
    os.mkfifo(project.root / "fifo")
    place = project.workspace.locate(".", Operation.LIST)
    entries = await project.workspace.list_directory(place)
    place.close()
    assert [(entry.name, entry.kind, entry.link_target) for entry in entries] == [
        ("real", FileKind.DIRECTORY, None),
        ("to_dir", FileKind.DIRECTORY, "real"),
        ("fifo", FileKind.FIFO, None),
        ("to_file", FileKind.FILE, "real/a.txt"),
        ("to_nothing", FileKind.MISSING, "gone"),
    ]


async def test_what_sandboxes_put_there_for_a_moment_is_not_listed(project: DiskProject) -> None:
    """An empty folder with a protected name stands in for a missing one while commands run."""
    for name in (".codex", ".envrc", ".vscode", "empty"):
        (project.root / name).mkdir()
    project.put(".vscode/settings.json", b"{}")
    project.put(".mcp.json", b"{}")
    (project.root / ".idea").symlink_to("empty")
    place = project.workspace.locate(".", Operation.LIST)
    entries = await project.workspace.list_directory(place)
    place.close()
    assert [entry.name for entry in entries] == [".idea", ".vscode", "empty", ".mcp.json"]


async def test_names_that_are_no_utf_8_are_listed_escaped(project: DiskProject) -> None:
    for name in (b"caf\xe9", "普通.md".encode(), b"new\nline", b" leading"):
        project.put(os.fsdecode(name), b"")
    place = project.workspace.locate(".", Operation.LIST)
    entries = await project.workspace.list_directory(place)
    place.close()
    assert [entry.name for entry in entries] == [" leading", "caf\\xe9", "new\nline", "普通.md"]


async def test_moving_to_another_disk_is_refused_with_the_way_out(
    project: DiskProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.put("a.txt", b"a")

    def fail(*_: object) -> None:
        raise OSError(errno.EXDEV, "cross-device")

    monkeypatch.setattr("hame.workspace.tree.rename_new", fail)
    here = project.workspace.locate("a.txt", Operation.DELETE)
    there = project.workspace.locate("new/b.txt", Operation.CREATE)
    with pytest.raises(PathError, match="another file system"):
        await project.workspace.move(here, there)
    here.close()
    there.close()
    assert sorted(path.name for path in project.root.iterdir()) == ["a.txt"]


async def test_moving_a_link_moves_the_link(project: DiskProject) -> None:
    project.put("real.txt", b"a")
    (project.root / "link").symlink_to("real.txt")
    here = project.workspace.locate("link", Operation.DELETE)
    there = project.workspace.locate("new", Operation.CREATE)
    await project.workspace.move(here, there)
    here.close()
    there.close()
    assert (project.root / "new").readlink() == Path("real.txt")
    assert not (project.root / "link").is_symlink()
