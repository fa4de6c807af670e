"""Why a text was not found."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hame.tools.matching.canonical import TextLines
from hame.tools.mismatch import explain_missing


@pytest.mark.parametrize(
    ("text", "old", "words"),
    [
        # B006: never a bare "not found" for a space that is none
        ("a = 1\nthe\u00a0word here\n", "the word hare", "line 2 has NO-BREAK SPACE (U+00A0) at column 4 where old_string has a space."),
        # B004: curly quotes
        ("run \u201cwhat repo\u201d\n", 'run "which repo"', 'line 1 has LEFT DOUBLE QUOTATION MARK (U+201C) at column 5 where old_string has `"`.'),
        ("if x:\n\treturn 1\n", "if x:\n return 1", "line 2 is indented with 1 tab, in old_string with 1 space."),
        ("if x:\n        return 1\n", "if x:\n    return 1\n", "line 2 is indented with 8 spaces, in old_string with 4 spaces."),
        ("def f():   \n    pass\n", "def f():\n    pass", "line 1 differs in the spaces at its end."),
        ("total = count + 1\n", "total = cuont + 1", "Nearest is line 1: line 1 has `o` at column 10 where old_string has `u`.\n1\ttotal = count + 1"),
        ("value = 1\n", "value = 12", "line 1 has the end of the line at column 10 where old_string has `2`."),
        ("one\ntwo\nthree\n", "one\nthree\n", "line 2 is not in old_string.\n1\tone\n2\ttwo\n3\tthree"),
        ("one\ntwo\n", "one\n2\ntwo\n", "the file has no line `2` there."),
        ("one\n" + "x\n" * 70 + "two\n", "two\none\n", "not one after another"),
        ("one\ntwo\n", "completely different text", "No line of the file is like it."),
        ("x\n", "   ", ""),
    ],
)  # fmt: skip
def test_the_difference_is_named(text: str, old: str, words: str):
    said = explain_missing(TextLines(text), old)
    assert (words in said) if words else not said


def test_a_reason_takes_the_place_of_the_difference():
    said = explain_missing(TextLines("a = call(1)\n"), "a = call(2)", "it is another line.")
    assert said == "Nearest is line 1: it is another line.\n1\ta = call(1)"


def test_long_lines_are_cut_around_the_difference():
    said = explain_missing(TextLines("x" * 3_000 + " word y\n"), "x" * 3_000 + " word z")
    assert len(said) < 600
    assert "column 3007" in said
    assert "…" in said
    assert "word y" in said


def test_long_places_are_cut_with_a_count():
    text = "".join(f"line number {n}\n" for n in range(100))
    said = explain_missing(TextLines(text), text[:-1] + " more\n")
    assert "[88 more lines]" in said


@settings(deadline=None)
@given(st.text(max_size=60), st.text(min_size=1, max_size=30))
def test_it_never_raises(text: str, old: str):
    explain_missing(TextLines(text), old)


_LINE = st.sampled_from(["a = 1", "  b(2)", "", "c", "# note", "\td", "\u201cq\u201d"])


@settings(deadline=None)
@given(st.lists(_LINE, max_size=12), st.lists(_LINE, max_size=5))
def test_it_never_raises_for_texts_of_lines_either(text: list[str], old: list[str]):
    explain_missing(TextLines("\n".join(text)), "\n".join(old))
