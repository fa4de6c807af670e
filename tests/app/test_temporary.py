"""The private folder of commands is gone when hame is, and so are those of hames that were killed."""

import os
import subprocess
import sys
from pathlib import Path

from hame.app.temporary import TemporaryFolder


def fill(path: str) -> None:
    inside = Path(path, "a/b")
    inside.mkdir(parents=True)
    (inside / "file").write_text("x", "utf-8")
    inside.chmod(0o500)


def link(folder: str, target: Path) -> None:
    Path(folder, "link").symlink_to(target)


def mark_kept(folder: Path) -> None:
    Path(f"{folder}.kept").touch()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def dead_pid() -> int:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    return child.pid


async def test_it_is_gone_at_the_end_with_what_commands_made_unreadable(tmp_path: Path) -> None:
    folder = TemporaryFolder(str(tmp_path))
    fill(folder.path)
    await folder.remove()
    assert names(tmp_path) == []


async def test_one_that_was_never_needed_is_no_trouble(tmp_path: Path) -> None:
    await TemporaryFolder(str(tmp_path / "nowhere")).remove()


async def test_what_links_in_it_lead_to_stays(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "file").write_text("x", "utf-8")
    folder = TemporaryFolder(str(tmp_path / "parent"))
    fill(folder.path)
    link(folder.path, mine)
    await folder.remove()
    assert names(mine) == ["file"]
    assert names(tmp_path / "parent") == []


async def test_folders_of_hames_that_are_gone_go_too_and_of_those_that_live_stay(
    tmp_path: Path,
) -> None:
    fill(str(tmp_path / f"{dead_pid()}-1"))
    fill(str(tmp_path / f"{os.getppid()}-2"))
    folder = TemporaryFolder(str(tmp_path))
    fill(folder.path)
    await folder.remove()
    assert names(tmp_path) == [f"{os.getppid()}-2"]


async def test_one_that_something_still_runs_in_outlives_its_hame_for_a_week(
    tmp_path: Path,
) -> None:
    folder = TemporaryFolder(str(tmp_path))
    fill(folder.path)
    folder.keep()
    await folder.remove()
    await TemporaryFolder(str(tmp_path)).remove()
    mark = f"{folder.path}.kept"
    assert names(tmp_path) == sorted([Path(folder.path).name, Path(mark).name])
    gone = tmp_path / f"{dead_pid()}-1"
    fill(str(gone))
    mark_kept(gone)
    await TemporaryFolder(str(tmp_path)).remove()
    assert gone.exists()
    os.utime(f"{gone}.kept", (0, 0))
    await TemporaryFolder(str(tmp_path)).remove()
    assert not gone.exists()
