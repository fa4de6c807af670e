"""Masks outlast their command for a moment, and the next command takes them over."""

import threading
from pathlib import Path

import pytest

from hame.sandbox.lingering import Lingering
from hame.sandbox.masks import Masks


def names(folder: Path) -> set[str]:
    return {each.name for each in folder.iterdir()}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def put(masks: Masks, project: Path, name: str = "a"):
    hold = masks.hold([str(project)])
    hold.put([f"{project}/{name}"])
    return hold


def test_the_next_command_finds_what_the_last_one_left(tmp_path: Path, project: Path) -> None:
    masks, lingering = Masks(str(tmp_path / "masks")), Lingering(60)
    lingering.take(put(masks, project), 0)
    inode = (project / "a").stat().st_ino
    lingering.take(put(masks, project), 0)
    assert (project / "a").stat().st_ino == inode
    lingering.end()
    assert names(project) == set()
    assert names(tmp_path / "masks") == {"lock"}


def test_a_moment_after_the_last_command_they_are_gone(tmp_path: Path, project: Path) -> None:
    masks, lingering = Masks(str(tmp_path / "masks")), Lingering(0.05)
    lingering.take(put(masks, project), 0)
    (waiting,) = [each for each in threading.enumerate() if isinstance(each, threading.Timer)]
    waiting.join()
    assert names(project) == set()


def test_without_a_moment_they_go_at_once(tmp_path: Path, project: Path) -> None:
    Lingering(0).take(put(Masks(str(tmp_path / "masks")), project), 0)
    assert names(project) == set()


def test_ending_what_holds_nothing_is_no_trouble() -> None:
    Lingering(1).end()
