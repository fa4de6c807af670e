"""Which paths a model may be held to: on real files."""

from pathlib import Path

import pytest

from hame.app.grounding import MOST, Grounding
from hame.base.tool import ArgumentKind
from hame.workspace.index import LocalIndex
from hame.workspace.local import open_workspace


@pytest.fixture
def grounding(tmp_path: Path) -> Grounding:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("x")
    (tmp_path / "b.txt").write_text("x")
    return Grounding(LocalIndex(open_workspace(str(tmp_path), home=str(tmp_path))))


def test_paths_are_listed_by_what_an_argument_means(grounding: Grounding) -> None:
    assert grounding(ArgumentKind.EXISTING_FILE) == ("b.txt", "src/a.py")
    assert grounding(ArgumentKind.EXISTING_DIRECTORY) == (".", "src")
    assert grounding(ArgumentKind.EXISTING_PATH) == ("b.txt", "src/a.py", ".", "src")
    assert grounding(ArgumentKind.NEW_PATH) == ()


def test_a_file_that_has_come_is_listed(grounding: Grounding, tmp_path: Path) -> None:
    assert "c.txt" not in grounding(ArgumentKind.EXISTING_FILE)
    (tmp_path / "c.txt").write_text("x")
    assert "c.txt" in grounding(ArgumentKind.EXISTING_FILE)


def test_of_too_many_files_none_is_listed(grounding: Grounding, tmp_path: Path) -> None:
    for number in range(MOST - 2):
        (tmp_path / f"{number}.txt").write_text("x")
    assert len(grounding(ArgumentKind.EXISTING_FILE)) == MOST
    assert grounding(ArgumentKind.EXISTING_PATH) == ()
    assert len(grounding(ArgumentKind.EXISTING_FILE)) == MOST, "they alone are few enough"
    (tmp_path / "one-more.txt").write_text("x")
    assert grounding(ArgumentKind.EXISTING_FILE) == ()
    assert grounding(ArgumentKind.EXISTING_DIRECTORY) == ()
