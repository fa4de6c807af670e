"""Unified diffs: applying one gives the other text."""

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hame.tools.difference import difference, split_lines


def test_a_change_is_shown_with_three_lines_around_it():
    before = "".join(f"{n}\n" for n in range(1, 21))
    view = difference("a.txt", before, before.replace("10\n", "ten\n"))
    assert view.diff == (
        "--- a/a.txt\n+++ b/a.txt\n@@ -7,7 +7,7 @@\n 7\n 8\n 9\n-10\n+ten\n 11\n 12\n 13\n"
    )
    assert (view.added, view.removed) == (1, 1)


def test_a_new_file_comes_from_nowhere():
    view = difference("n.txt", "", "one\ntwo", created=True)
    assert view.diff == (
        "--- /dev/null\n+++ b/n.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n\\ No newline at end of file\n"
    )
    assert view.created


def test_equal_texts_have_no_difference():
    assert not difference("a", "x\ny\n", "x\ny\n").diff
    assert not difference("a", "", "").diff


def test_a_carriage_return_is_part_of_its_line():
    """B001: the difference shown is what is written."""
    view = difference("a", "a\r\nb\rc\n", "a\r\nb\rd\n")
    assert "-b\rc\n+b\rd\n" in view.diff
    assert " a\r\n" in view.diff


@settings(deadline=None)
@given(st.text(alphabet="ab\r\n"))
def test_lines_joined_are_the_text(text: str):
    assert "".join(split_lines(text)) == text
    assert all(line.endswith("\n") for line in split_lines(text)[:-1])


TEXTS = st.lists(st.sampled_from(["a", "b", "c", "", "  d"]), max_size=30).map("\n".join)


@pytest.mark.skipif(shutil.which("patch") is None, reason="patch is not installed")
@settings(max_examples=40, deadline=None)
@given(TEXTS, TEXTS)
def test_patch_turns_the_one_into_the_other(tmp_path_factory, before: str, after: str):
    view = difference("f", before, after)
    if not view.diff or not after:
        return
    file: Path = tmp_path_factory.mktemp("d") / "f"
    file.write_bytes(before.encode())
    command = ["patch", "-s", "-p1", "--no-backup-if-mismatch", str(file)]
    subprocess.run(command, input=view.diff.encode(), check=True, capture_output=True)
    assert file.read_bytes() == after.encode()


def test_lines_after_the_last_change_are_shown_where_there_are_some():
    view = difference("f", "a\na\na\na\na\nb\nb\nb\nb\na", "a\na\na\nb\na\na\nb\nb\nb\na")
    assert not view.diff.endswith(("-b\n", "+b\n"))


@settings(deadline=None)
@given(TEXTS, TEXTS)
def test_the_counts_are_those_of_the_rows(before: str, after: str):
    view = difference("f", before, after)
    rows = view.diff.split("\n")[2:]
    assert view.added == sum(row.startswith("+") for row in rows)
    assert view.removed == sum(row.startswith("-") for row in rows)
