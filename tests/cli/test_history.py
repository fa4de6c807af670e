"""The history of the prompt: what is kept of it, and that it never stands in the way."""

import json
import os
from pathlib import Path

from hame.cli.history import Prompt


def test_a_history_that_grew_too_long_is_cut_to_its_latest_lines(tmp_path: Path) -> None:
    path = tmp_path / "history"
    path.write_text("".join(f"{json.dumps(f'line {n}')}\n" for n in range(3_000)), "utf-8")
    entries = Prompt(str(path), ())._load()
    assert (len(entries), entries[0], entries[-1]) == (1_000, "line 2000", "line 2999")
    assert len(path.read_text("utf-8").splitlines()) == 1_000


def test_a_history_that_cannot_be_cut_is_read_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "history"
    path.write_text('"again"\n' * 3_000, "utf-8")
    (tmp_path / f"history.{os.getpid()}").mkdir()
    assert len(Prompt(str(path), ())._load()) == 1_000
