"""Results that are kept whole."""

import os
from pathlib import Path

import pytest

from hame.workspace.results import ResultStore


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "results"


def test_a_text_comes_back_under_its_id(folder: Path) -> None:
    store = ResultStore(str(folder))
    name = store.put("one\ntwo é\n")
    assert name is not None
    path = store.path(name)
    assert path is not None
    assert Path(path).read_text(encoding="utf-8") == "one\ntwo é\n"


def test_files_are_private_and_ids_are_their_own(folder: Path) -> None:
    store = ResultStore(str(folder))
    names = {store.put("x") for _ in range(20)}
    assert len(names) == 20
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}


def test_a_result_is_bounded_and_says_what_is_missing(folder: Path) -> None:
    store = ResultStore(str(folder), largest=10)
    writer = store.begin()
    assert writer is not None
    for _ in range(5):
        writer.write("12345")
    writer.close()
    writer.close()
    text = (folder / writer.id).read_text()
    assert text.startswith("1234512345\n[15 bytes beyond")


@pytest.mark.parametrize("name", ["", "..", "../secret", "nothing1", "0" * 7, "/etc/passwd"])
def test_no_other_name_leads_anywhere(folder: Path, name: str) -> None:
    store = ResultStore(str(folder))
    store.put("x")
    assert store.path(name) is None


def test_old_results_go_when_new_ones_come(folder: Path) -> None:
    old = ResultStore(str(folder)).put("old")
    assert old is not None
    os.utime(folder / old, (1, 1))
    (folder / "other").write_text("not a result")
    store = ResultStore(str(folder))
    new = store.put("new")
    assert store.path(old) is None
    assert {path.name for path in folder.iterdir()} == {new, "other"}


def test_where_nothing_can_be_kept_there_is_no_id(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    store = ResultStore(str(tmp_path / "file" / "results"))
    assert store.put("x") is None
    assert store.begin() is None
