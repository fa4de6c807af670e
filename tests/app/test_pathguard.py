"""The labelled paths on a real layout, through the path guard as `hame debug path` shows it."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from corpus.paths import lay_out, moved, needs_paths, posix_rows, rows
from hame.app.pathguard import Layout, PathRow, judge_row, judge_rows
from hame.permissions.decision import Decision


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The layout below a folder of our own."""
    return lay_out(tmp_path_factory.mktemp("disk"))


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


@needs_paths
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


@needs_paths
def test_only_paths_of_this_platform_are_judged(layout: Layout) -> None:
    judged = list(judge_rows(layout, rows()[1:]))
    assert [verdict.id for verdict in judged] == [row["id"] for row in posix_rows()]


@needs_paths
def test_both_ends_of_a_rename_count(layout: Layout) -> None:
    row = PathRow(id="x", op="rename", input="README.md -> .git/hooks/pre-commit")
    assert judge_row(layout, row).verdict is Decision.DENY
    row = PathRow(id="x", op="rename", input="README.md -> src/new.md")
    assert judge_row(layout, row).verdict is Decision.ALLOW
