"""Trust belongs to one folder, and to what it was when the user said so."""

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from hame.base.errors import ConfigError
from hame.config.trust import TrustStore


@pytest.fixture
def store(tmp_path: Path) -> TrustStore:
    return TrustStore(str(tmp_path / "config" / "hame" / "trust.json"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "work" / "project"
    made.mkdir(parents=True)
    return made


def trusted(store: TrustStore, folder: Path) -> bool:
    return store.why(str(folder)) is not None


def test_nothing_is_trusted_before_the_user_says_so(store: TrustStore, folder: Path) -> None:
    assert not trusted(store, folder)
    assert store.folders() == []


def test_a_folder_is_trusted_until_it_is_revoked(store: TrustStore, folder: Path) -> None:
    store.grant(str(folder))
    assert trusted(store, folder)
    assert not trusted(store, folder.parent)
    assert store.revoke(str(folder))
    assert not trusted(store, folder)
    assert not store.revoke(str(folder))


def test_what_lies_below_is_covered_only_where_the_user_said_so(
    store: TrustStore, folder: Path
) -> None:
    inner = folder / "inner"
    inner.mkdir()
    (folder.parent / "project-2").mkdir()
    store.grant(str(folder))
    assert not trusted(store, inner)
    store.grant(str(folder), below=True)
    assert trusted(store, inner)
    assert trusted(store, folder)
    assert not trusted(store, folder.parent / "project-2"), "a longer name is not below it"


def test_a_folder_on_another_file_system_is_not_below(store: TrustStore, folder: Path) -> None:
    store.grant("/", below=True)
    assert trusted(store, folder) == (folder.stat().st_dev == Path("/").stat().st_dev)
    assert not trusted(store, Path("/proc/self"))


def test_a_link_to_a_trusted_folder_is_that_folder_and_a_link_in_it_leads_out(
    store: TrustStore, folder: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    store.grant(str(folder), below=True)
    (tmp_path / "link").symlink_to(folder)
    (folder / "out").symlink_to(other)
    assert trusted(store, tmp_path / "link")
    assert not trusted(store, folder / "out")


def test_a_folder_that_took_its_place_is_a_stranger(store: TrustStore, folder: Path) -> None:
    """Was seen to fail with device and inode alone: ext4 gives the new folder the old number."""
    store.grant(str(folder), below=True)
    for _ in range(5):
        shutil.rmtree(folder)
        folder.mkdir()
        assert not trusted(store, folder)
    (folder / "inner").mkdir()
    assert not trusted(store, folder / "inner")


def test_a_folder_under_another_name_is_a_stranger_and_so_is_a_copy(
    store: TrustStore, folder: Path
) -> None:
    store.grant(str(folder))
    moved = folder.rename(folder.with_name("moved"))
    assert not trusted(store, moved)
    assert not trusted(store, folder)
    shutil.copytree(moved, folder)
    assert not trusted(store, folder)


def test_a_link_that_took_its_place_is_a_stranger(
    store: TrustStore, folder: Path, tmp_path: Path
) -> None:
    store.grant(str(folder))
    folder.rmdir()
    (tmp_path / "evil").mkdir()
    folder.symlink_to(tmp_path / "evil")
    assert not trusted(store, folder)


def test_no_git_file_borrows_the_trust_of_another_folder(
    store: TrustStore, folder: Path, tmp_path: Path
) -> None:
    """T06: was seen to fail where the folder was looked up by its `commondir`."""
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    store.grant(str(folder), below=True)
    evil = tmp_path / "evil"
    (evil / ".git").mkdir(parents=True)
    (evil / ".git" / "commondir").write_text(f"{folder}/.git\n")
    (evil / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    assert not trusted(store, evil)
    shutil.rmtree(evil / ".git")
    (evil / ".git").write_text(f"gitdir: {folder}/.git/worktrees/evil\n")
    assert not trusted(store, evil)


def test_the_file_is_the_users_alone_whatever_the_umask(store: TrustStore, folder: Path) -> None:
    before = os.umask(0)
    try:
        store.grant(str(folder))
    finally:
        os.umask(before)
    path = Path(store._path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_file_that_others_can_write_proves_nothing(store: TrustStore, folder: Path) -> None:
    store.grant(str(folder))
    Path(store._path).chmod(0o620)
    with pytest.raises(ConfigError, match="others can write it"):
        store.why(str(folder))


@pytest.mark.parametrize("text", ["", "[]", '{"folders": 3}', '{"version": 99}'])
def test_a_damaged_or_newer_file_is_an_error_and_stays_as_it_is(
    store: TrustStore, folder: Path, text: str
) -> None:
    path = Path(store._path)
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError):
        store.grant(str(folder))
    assert path.read_text(encoding="utf-8") == text


def test_two_writers_at_once_lose_nothing(tmp_path: Path, store: TrustStore) -> None:
    import threading

    folders = [tmp_path / f"p{number}" for number in range(20)]
    for each in folders:
        each.mkdir()
    threads = [
        threading.Thread(target=TrustStore(store._path).grant, args=(str(each),))
        for each in folders
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(trusted(store, each) for each in folders)


def test_what_is_no_folder_cannot_be_trusted(store: TrustStore, folder: Path) -> None:
    (folder / "file").write_text("")
    for path in (folder / "file", folder / "none"):
        with pytest.raises(ConfigError, match="is not a folder"):
            store.grant(str(path))
