"""Why a text was not found."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hame.tools.mismatch import explain_missing


@pytest.mark.parametrize(
    ("text", "old", "words"),
    [
        # B006: never a bare "not found" for a space that is none
        ("a = 1\nthe\u00a0word\n", "the word", "Line 2 of the file has NO-BREAK SPACE (U+00A0) at column 4 where old_string has a space."),
        # B004: curly quotes
        ("run \u201cwhat repo\u201d\n", 'run "what repo"', 'Line 1 of the file has LEFT DOUBLE QUOTATION MARK (U+201C) at column 5 where old_string has `"`.'),
        ("a\u2014b", "a-b", "EM DASH"),
        ("if x:\n\treturn 1\n", "if x:\n return 1\n", "Line 2 of the file has a tab at column 1 where old_string has a space."),
        ("if x:\n\treturn 1\n", "if x:\n    return 1\n", "Line 2 is indented with 1 tab, in old_string with 4 spaces."),
        ("if x:\n        return 1\n", "if x:\n    return 1\n", "Line 2 is indented with 8 spaces, in old_string with 4 spaces."),
        ("def f():   \n    pass\n", "def f():\n    pass", "Line 1 differs in the spaces at its end."),
        ("total = count + 1\n", "total = cuont + 1", "Nearest is line 1: total = count + 1\nIt has `o` at column 10 where old_string has `u`."),
        ("value = 1\n", "value = 12", "It has the end of the line at column 10 where old_string has `2`."),
        ("one\ntwo\nthree\n", "one\nthree\n", "not one after another"),
        ("one\ntwo\n", "completely different text", "No line of the file is like it."),
        ("x = 1\ny = 2\n", "1\tx = 1\n2\ty = 2", "line numbers"),
        ("x\n", "   ", ""),
    ],
)  # fmt: skip
def test_the_difference_is_named(text: str, old: str, words: str):
    said = explain_missing(text, old)
    assert (words in said) if words else not said


def test_long_lines_are_cut_in_the_words():
    said = explain_missing("x" * 3_000 + "y\n", "x" * 2_999 + "zz")
    assert len(said) < 400


@settings(deadline=None)
@given(st.text(max_size=60), st.text(min_size=1, max_size=30))
def test_it_never_raises(text: str, old: str):
    explain_missing(text, old)
