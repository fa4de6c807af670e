from hypothesis import given
from hypothesis import strategies as st

from hame.cli.cells import cut, cut_start, width, wrap, wrap_indented

WORDS = st.text(alphabet=st.sampled_from("ab é漢字\u0301🙂-."), max_size=60)


def test_wide_characters_take_two_cells():
    assert width("漢字") == 4
    assert width("abc") == 3


@given(WORDS, st.integers(2, 20))
def test_wrapped_lines_fit_and_hold_all_that_is_no_space(text, cells):
    lines = wrap(text, cells)
    assert all(width(line) <= cells for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


@given(WORDS, st.integers(0, 4), st.integers(8, 20))
def test_what_goes_on_below_an_indented_line_is_indented_too(text, indent, cells):
    lines = wrap_indented(" " * indent + text.lstrip(), cells)
    assert all(line.startswith(" " * indent) and width(line) <= cells for line in lines)


def test_lines_are_broken_at_spaces_where_there_are_some():
    assert wrap("one two three", 8) == ["one two", "three"]
    assert wrap("unbreakable", 4) == ["unbr", "eaka", "ble"]
    assert wrap("    indented text", 12) == ["    indented", "text"]
    assert wrap("a\n\nb", 10) == ["a", "", "b"]


@given(WORDS, st.integers(1, 20))
def test_a_cut_line_fits_and_says_that_it_was_cut(text, cells):
    for shown in (cut(text, cells), cut_start(text, cells)):
        assert width(shown) <= max(cells, 1)
        assert shown == text or "…" in shown


def test_the_end_of_what_is_typed_stays_in_sight():
    assert cut_start("abcdef", 4) == "…def"
