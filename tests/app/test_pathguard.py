"""The labelled paths on a real layout, through the path guard as `hame debug path` shows it."""

import json
import os
import socket
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hame.app.pathguard import Layout, PathRow, judge_row, judge_rows
from hame.permissions.decision import Decision

CORPUS = Path(__file__).resolve().parents[2] / ".." / "shared" / "reference" / "paths.jsonl"


@cache
def rows() -> list[dict[str, Any]]:
    if not CORPUS.exists():
        return []
    return [json.loads(line) for line in CORPUS.read_text("utf-8").splitlines() if line]


def posix_rows() -> list[dict[str, Any]]:
    return [row for row in rows()[1:] if row["platform"] == "posix"]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The layout below a folder of our own."""
    folder = tmp_path_factory.mktemp("disk")
    for name in ("home", "tmp"):
        (folder / name).mkdir()
    (folder / "home/README.md").write_text("above", "utf-8")
    for entry in rows()[0]["entries"]:
        put(folder, *entry)
    return folder


def put(base: Path, what: str, path: str, more: str = "") -> None:
    place = Path(moved(path, base))
    place.parent.mkdir(parents=True, exist_ok=True)
    match what:
        case "d":
            place.mkdir(exist_ok=True)
        case "f":
            place.write_text(more, "utf-8")
        case "l":
            place.symlink_to(moved(more, base))
        case "p":
            os.mkfifo(place)
        case "s":
            with socket.socket(socket.AF_UNIX) as listener:
                listener.bind(os.path.relpath(place))
        case _:
            target = Path(moved(more, base))
            target.touch()
            os.link(target, place)


def moved(path: str, base: Path) -> str:
    """An absolute path of the layout, below our own folder; the system's own paths stay."""
    own = "/proc/self/root"
    if path.startswith(f"{own}/home/"):
        return own + moved(path[len(own) :], base)
    return f"{base}{path}" if path.startswith(("/home/", "/tmp/")) else path


@pytest.fixture(scope="module")
def layout(base: Path) -> Layout:
    first = rows()[0]
    plain = {
        name: [moved(path, base) for path in value]
        if isinstance(value, list)
        else moved(value, base)
        for name, value in first.items()
        if name in Layout.__struct_fields__
    }
    return msgspec.convert(plain, Layout)


@pytest.mark.skipif(not rows(), reason="the labelled paths are not on this machine")
@pytest.mark.parametrize("row", posix_rows(), ids=lambda row: row["id"])
def test_a_labelled_path_gets_its_verdict(row: dict[str, Any], base: Path, layout: Layout) -> None:
    asked = msgspec.convert(row, PathRow)
    own = msgspec.structs.replace(
        asked, input=moved(row["input"], base), cwd=moved(asked.cwd, base)
    )
    verdict = judge_row(layout, own)
    assert verdict.verdict == row["expected"], verdict
    if "resolved" in row:
        assert verdict.resolved == moved(row["resolved"], base)


@pytest.mark.skipif(not rows(), reason="the labelled paths are not on this machine")
def test_only_paths_of_this_platform_are_judged(layout: Layout) -> None:
    judged = list(judge_rows(layout, rows()[1:]))
    assert [verdict.id for verdict in judged] == [row["id"] for row in posix_rows()]


@pytest.mark.skipif(not rows(), reason="the labelled paths are not on this machine")
def test_both_ends_of_a_rename_count(layout: Layout) -> None:
    row = PathRow(id="x", op="rename", input="README.md -> .git/hooks/pre-commit")
    assert judge_row(layout, row).verdict is Decision.DENY
    row = PathRow(id="x", op="rename", input="README.md -> src/new.md")
    assert judge_row(layout, row).verdict is Decision.ALLOW
