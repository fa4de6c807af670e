"""Paths on a real disk: links, races and what stands there."""

import os
import socket
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hame.base.errors import PathError
from hame.base.path import FileKind, Resolution
from hame.base.zone import Operation, ProjectPaths, Zone
from hame.workspace.locate import locate
from workspace.conftest import DiskProject, open_descriptors


def resolve(project: DiskProject, path: str, operation: Operation = Operation.READ) -> Resolution:
    place = project.workspace.locate(path, operation)
    place.close()
    return place.resolution


def test_a_link_is_shown_as_what_it_leads_to(project: DiskProject) -> None:
    project.put("README.md", b"hello")
    (project.root / "link").symlink_to("README.md")
    found = resolve(project, "link", Operation.WRITE)
    assert (found.shown, found.kind, found.link_target) == ("README.md", FileKind.FILE, None)


def test_dots_after_a_link_are_taken_where_the_link_leads(project: DiskProject) -> None:
    project.put("a/b/file", b"")
    project.put("a/other", b"")
    project.put("other", b"")
    (project.root / "short").symlink_to("a/b")
    assert resolve(project, "short/../other").shown == "a/other"


def test_a_link_out_of_the_project_leads_outside(project: DiskProject, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/victim.txt").write_text("x")
    (project.root / "notes.md").symlink_to(tmp_path / "outside/victim.txt")
    (project.root / "dir").symlink_to(tmp_path / "outside")
    (project.root / "dangling").symlink_to(tmp_path / "outside/new.txt")
    for path in ("notes.md", "dir/victim.txt", "dir/new.txt", "dangling"):
        found = resolve(project, path, Operation.WRITE)
        assert found.zone is Zone.OUTSIDE
        assert found.real.startswith(str(tmp_path / "outside/"))
        assert found.shown == found.real


def test_a_link_within_the_project_that_dangles_leads_to_a_new_file(project: DiskProject) -> None:
    (project.root / "link").symlink_to("new/file.txt")
    found = resolve(project, "link", Operation.WRITE)
    assert (found.shown, found.kind) == ("new/file.txt", FileKind.MISSING)


@pytest.mark.parametrize("target", ["loop", "./loop", "other"])
def test_a_loop_of_links_is_an_error(project: DiskProject, target: str) -> None:
    (project.root / "loop").symlink_to(target)
    (project.root / "other").symlink_to("loop")
    for path in ("loop", "loop/x", "loop/.."):
        with pytest.raises(PathError, match="links"):
            project.workspace.locate(path, Operation.READ)


def test_forty_links_are_followed_and_no_more(project: DiskProject) -> None:
    project.put("link0", b"end")
    for number in range(1, 42):
        (project.root / f"link{number}").symlink_to(f"link{number - 1}")
    assert resolve(project, "link40").shown == "link0"
    with pytest.raises(PathError, match="links"):
        project.workspace.locate("link41", Operation.READ)


def test_deleting_means_the_link_and_a_slash_after_it_means_its_target(
    project: DiskProject,
) -> None:
    project.put("real/file", b"")
    (project.root / "link").symlink_to("real")
    found = resolve(project, "link", Operation.DELETE)
    assert (found.shown, found.link_target, found.kind) == ("link", "real", FileKind.FILE)
    assert resolve(project, "link/", Operation.DELETE).shown == "real"
    assert resolve(project, "link/file", Operation.DELETE).shown == "real/file"


@pytest.mark.parametrize(
    "path",
    [
        "/proc/self/cwd",
        "/proc/self/root/etc/hostname",
        "/proc/self/fd/0",
        "/proc/self/exe",
        "/dev/fd/0",
        "/dev/stdin",
        "/proc/thread-self/cwd/x",
    ],
)
def test_links_of_processes_are_not_followed(project: DiskProject, path: str) -> None:
    with pytest.raises(PathError, match="processes"):
        project.workspace.locate(path, Operation.READ)


def test_the_environment_of_a_process_is_secret(project: DiskProject) -> None:
    (project.root / "self").symlink_to("/proc/self")
    for path in ("/proc/self/environ", "self/environ", f"/proc/{os.getpid()}/environ"):
        assert resolve(project, path).zone is Zone.SECRET


def test_what_is_neither_file_nor_folder_is_told_apart(project: DiskProject) -> None:
    os.mkfifo(project.root / "fifo")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(project.root / "socket"))
    kinds = [resolve(project, path).kind for path in ("fifo", "socket", "/dev/null")]
    assert kinds == [FileKind.FIFO, FileKind.SOCKET, FileKind.DEVICE]


def test_a_file_with_two_names_says_so(project: DiskProject) -> None:
    project.put("a", b"")
    os.link(project.root / "a", project.root / "b")
    assert (resolve(project, "a").links, resolve(project, ".").links) == (2, 1)


def test_a_name_that_is_no_utf_8_is_shown_escaped(project: DiskProject) -> None:
    (project.root / "link").symlink_to(os.fsdecode(b"caf\xe9"))
    assert resolve(project, "link").shown == "caf\\xe9"


def test_a_project_that_is_a_string_prefix_of_its_neighbour_does_not_hold_it(
    project: DiskProject,
) -> None:
    neighbour = project.root.with_name(project.root.name + "-evil")
    neighbour.mkdir()
    assert resolve(project, f"../{neighbour.name}").zone is Zone.OUTSIDE


def test_the_root_of_the_file_system_is_a_place(project: DiskProject) -> None:
    for path in ("/", "/..", "//", "/./"):
        found = resolve(project, path, Operation.LIST)
        assert (found.real, found.kind, found.zone) == ("/", FileKind.DIRECTORY, Zone.OUTSIDE)


def test_a_folder_that_may_only_be_passed_can_be_passed(project: DiskProject) -> None:
    project.put("closed/file", b"x")
    (project.root / "closed").chmod(0o111)
    assert resolve(project, "closed/file").kind is FileKind.FILE


def test_what_is_swapped_for_a_link_afterwards_is_not_followed(
    project: DiskProject, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.txt").write_text("theirs")
    project.put("dir/a.txt", b"ours")
    place = project.workspace.locate("dir/a.txt", Operation.READ)
    (project.root / "dir").rename(project.root / "moved")
    (project.root / "dir").symlink_to(outside)
    assert os.stat(place.leaf, dir_fd=place.directory).st_size == len("ours")
    place.close()


def test_places_leave_no_descriptor_open(project: DiskProject) -> None:
    project.put("src/app.py", b"")
    (project.root / "loop").symlink_to("loop")
    paths = ["src/app.py", "src/..", "new/file", "loop", "src/app.py/x", "gone/../x", "/"]
    before = open_descriptors()
    for number in range(2_000):
        try:
            project.workspace.locate(paths[number % len(paths)], Operation.READ).close()
        except PathError:
            continue
    # Others' may be closed meanwhile: what is collected late belongs to earlier tests.
    assert open_descriptors() <= before


def test_a_forgotten_place_is_closed_too(project: DiskProject) -> None:
    before = open_descriptors()
    for _ in range(100):
        project.workspace.locate(".", Operation.LIST)
    assert open_descriptors() <= before + 1


def test_a_closed_place_is_not_acted_on(project: DiskProject) -> None:
    place = project.workspace.locate(".", Operation.LIST)
    place.close()
    with pytest.raises(PathError, match="again"):
        _ = place.directory


def test_without_a_home_a_tilde_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(PathError, match="home"):
        locate("~/x", Operation.READ, ProjectPaths(root=str(tmp_path)))


def test_a_literal_tilde_is_reached_through_the_current_folder(project: DiskProject) -> None:
    project.put("~/x.txt", b"")
    assert resolve(project, "./~/x.txt").shown == "~/x.txt"


_NAMES = st.sampled_from(["a", "b", "up", "down", "loop", "..", ".", "", "gone"])


@given(names=st.lists(_NAMES, min_size=1, max_size=8))
def test_a_path_leads_where_the_kernel_says_it_does(
    tmp_path_factory: pytest.TempPathFactory, names: list[str]
) -> None:
    root = _tangle(tmp_path_factory)
    asked = "./" + "/".join(names)
    by_kernel = kernel(f"{root}/{asked}")
    try:
        place = locate(asked, Operation.READ, ProjectPaths(root=str(root)))
    except PathError:
        assert by_kernel is None
        return
    place.close()
    found = place.resolution
    if found.identity is None:
        assert by_kernel is None
    else:
        assert by_kernel == (found.identity.device, found.identity.inode)
        assert found.real == os.path.realpath(f"{root}/{asked}")


def kernel(path: str) -> tuple[int, int] | None:
    """Which file the kernel finds at a path, taken as it is written."""
    try:
        descriptor = os.open(path, os.O_PATH)
    except OSError:
        return None
    found = os.fstat(descriptor)
    os.close(descriptor)
    return found.st_dev, found.st_ino


def _tangle(factory: pytest.TempPathFactory) -> Path:
    """A folder with links up, down and round."""
    root = factory.getbasetemp() / "tangle" / "deep" / "er"
    if not root.exists():
        (root / "a" / "b").mkdir(parents=True)
        (root / "b").write_text("file")
        (root / "a" / "up").symlink_to("..")
        (root / "up").symlink_to("../..")
        (root / "down").symlink_to("a/b/")
        (root / "loop").symlink_to("loop")
        (root / "a" / "a").symlink_to(root / "down")
    return root


def test_a_file_that_a_command_left_in_its_tmp_is_found_under_that_name(tmp_path: Path) -> None:
    private, root = tmp_path / "private", tmp_path / "project"
    private.mkdir()
    root.mkdir()
    (private / "out.log").write_text("", "utf-8")
    paths = ProjectPaths(root=str(root), temporary=str(private), temporary_alias="/tmp")
    place = locate("/tmp/out.log", Operation.WRITE, paths)
    place.close()
    assert place.resolution.real == str(private / "out.log")
    assert place.resolution.shown == "/tmp/out.log"
    assert place.resolution.zone is Zone.PROJECT
    other = locate("/tmp", Operation.LIST, msgspec.structs.replace(paths, temporary="/nowhere/t"))
    other.close()
    assert (other.resolution.real, other.resolution.zone) == ("/tmp", Zone.OUTSIDE)
