"""Drafts that a killed hame left are taken away by the next write there; a live one's never are."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hame.base.snapshot import REGULAR, FileState
from hame.base.zone import Operation
from hame.workspace.draft import aside_name, drafted, sweep
from hame.workspace.local import open_workspace
from hame.workspace.snapshots.disk import put

SOURCE = Path(__file__).resolve().parents[2] / "src"
HOLDER = """
import os, sys, time
from hame.workspace.draft import drafted
with drafted(os.open(sys.argv[1], os.O_RDONLY), 0o600) as draft:
    print(draft.name, flush=True)
    time.sleep(60)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[int]:
    descriptor = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    yield descriptor
    os.close(descriptor)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def holder(folder: Path) -> tuple[subprocess.Popen[str], str]:
    """Another process that is writing a draft."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(folder)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
    )
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


def test_a_draft_is_kept_while_its_process_lives_and_swept_when_it_was_killed(
    tmp_path: Path, folder: int
) -> None:
    process, name = holder(tmp_path)
    with process:
        sweep(folder)
        assert names(tmp_path) == [name]
        process.send_signal(signal.SIGKILL)
    assert names(tmp_path) == [name]
    sweep(folder)
    assert names(tmp_path) == []


async def test_the_first_write_in_a_folder_sweeps_it_and_an_undo_does_too(tmp_path: Path) -> None:
    for name in ("edited", "undone"):
        (tmp_path / name).mkdir()
        (tmp_path / name / ".hame-0123456789abcdef.tmp").write_text("half a te")
    workspace = open_workspace(str(tmp_path), home="", rg="")
    place = workspace.locate("edited/a.txt", Operation.CREATE)
    await workspace.write_text(place, "whole", None, replace=False)
    place.close()
    assert names(tmp_path / "edited") == ["a.txt"]
    put(str(tmp_path / "undone/b.txt"), FileState(mode=REGULAR, blob="x"), b"b")
    assert names(tmp_path / "undone") == ["b.txt"]
    assert (tmp_path / "undone/b.txt").read_bytes() == b"b"


def test_what_was_set_aside_stays_unless_it_is_old_and_has_another_name(
    tmp_path: Path, folder: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    only, second = aside_name(), aside_name()
    (tmp_path / only).write_text("the last copy")
    (tmp_path / "kept.txt").write_text("kept")
    os.link(tmp_path / "kept.txt", tmp_path / second)
    sweep(folder)
    assert names(tmp_path) == sorted([only, second, "kept.txt"])
    two_days_on = time.time() + 48 * 3600
    monkeypatch.setattr(time, "time", lambda: two_days_on)
    sweep(folder)
    assert names(tmp_path) == sorted([only, "kept.txt"])


def test_nothing_else_is_touched(tmp_path: Path, folder: int) -> None:
    (tmp_path / ".hame-notes.md").write_text("mine")
    (tmp_path / ".hame-x.tmp").symlink_to("nowhere")
    (tmp_path / ".hame-y.tmp").mkdir()
    os.mkfifo(tmp_path / ".hame-z.tmp")
    before = names(tmp_path)
    sweep(folder)
    assert names(tmp_path) == before


def test_a_draft_is_gone_when_it_was_not_renamed(tmp_path: Path, folder: int) -> None:
    def give_up() -> None:
        with drafted(folder, 0o600) as draft:
            os.close(draft.descriptor)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        give_up()
    assert names(tmp_path) == []
