"""The index of a project on disk."""

import os

import pytest

from hame.workspace.index import TEXT_LIMIT, LocalIndex
from workspace.conftest import DiskProject


@pytest.fixture
def index(project: DiskProject) -> LocalIndex:
    return LocalIndex(project.workspace)


def settle(project: DiskProject) -> None:
    """Make everything look as if it had last changed long ago."""
    for path in (project.root, *project.root.rglob("*")):
        os.utime(path, (1_000_000_000, 1_000_000_000))


def test_an_empty_project_has_its_own_folder_only(index: LocalIndex) -> None:
    assert (list(index.files()), list(index.directories())) == ([], ["."])
    assert index.test_command() is None


def test_files_and_the_folders_that_hold_them_are_listed(
    project: DiskProject, index: LocalIndex
) -> None:
    for path in ("b.py", "a/deep/x.py", "a/y.py", "c/z.txt"):
        project.put(path, b"")
    (project.root / "empty").mkdir()
    assert list(index.files()) == ["a/deep/x.py", "a/y.py", "b.py", "c/z.txt"]
    assert list(index.directories()) == [".", "a", "a/deep", "c"]


def test_ignored_hidden_made_and_secret_files_are_left_out(
    project: DiskProject, index: LocalIndex
) -> None:
    project.put(".gitignore", b"*.log\n")
    for path in (
        "a.log", ".venv/lib/x.py", "__pycache__/a.pyc", "node_modules/p/i.js", "server.pem", "a.py",
    ):  # fmt: skip
        project.put(path, b"")
    (project.root / "link.py").symlink_to("a.py")
    assert list(index.files()) == ["a.py"]


@pytest.mark.parametrize("place", ["new.py", "sub/new.py", "empty/new.py", "made/deep/new.py"])
def test_a_new_file_is_seen(project: DiskProject, index: LocalIndex, place: str) -> None:
    project.put("sub/old.py", b"")
    (project.root / "empty").mkdir()
    settle(project)
    assert list(index.files()) == ["sub/old.py"]
    project.put(place, b"")
    assert place in index.files()


def test_what_went_away_or_is_ignored_now_is_gone(project: DiskProject, index: LocalIndex) -> None:
    for path in ("a.py", "b.log", "sub/c.log"):
        project.put(path, b"")
    project.put(".gitignore", b"nothing\n")
    settle(project)
    assert list(index.files()) == ["a.py", "b.log", "sub/c.log"]
    (project.root / ".gitignore").write_bytes(b"*.log\n")
    assert list(index.files()) == ["a.py"]
    (project.root / "a.py").unlink()
    assert list(index.files()) == []


def test_changes_right_after_looking_are_seen(project: DiskProject, index: LocalIndex) -> None:
    for number in range(20):
        project.put(f"f{number}", b"")
        assert len(index.files()) == number + 1


def test_text_is_given_of_text_files_up_to_a_size(project: DiskProject, index: LocalIndex) -> None:
    project.put("a.txt", "häm".encode())
    project.put("edge.txt", b"x" * TEXT_LIMIT)
    project.put("large.txt", b"x" * (TEXT_LIMIT + 1))
    project.put("a.bin", b"\0")
    project.put(".env", b"KEY=1")
    os.mkfifo(project.root / "fifo")
    assert index.text("a.txt") == "häm"
    assert len(index.text("edge.txt") or "") == TEXT_LIMIT
    for path in ("large.txt", "a.bin", ".env", "gone", ".", "fifo", "/etc/passwd", "a\0b", "../x"):
        assert index.text(path) is None


def test_the_test_command_follows_the_manifests(project: DiskProject, index: LocalIndex) -> None:
    project.put("Makefile", b"all:\n")
    settle(project)
    assert index.test_command() is None
    (project.root / "Makefile").write_bytes(b"test:\n\ttrue\n")
    assert index.test_command() == "make test"
    assert index.test_command() == "make test"
