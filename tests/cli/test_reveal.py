import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hame.cli.reveal import clean, one_line, reveal


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("rm \u202egpj.x", r"rm \u{202e}gpj.x"),
        ("a\u200bb", r"a\u{200b}b"),
        ("a\u2028b", r"a\u{2028}b"),
        ("x\U000e0041", r"x\u{e0041}"),
        ("\x1b[2K\x1b[1Aok", r"\u{1b}[2K\u{1b}[1Aok"),
        ("a\rb", r"a\u{d}b"),
        ("ls\u00a0-la", r"ls\u{a0}-la"),
        ("\u3164", r"\u{3164}"),
        ("a\ufe0fb", r"a\u{fe0f}b"),
        ("ls" + " " * 300 + "; rm -rf ~", "ls⟨300 spaces⟩; rm -rf ~"),
        ("ls\n" + "\n" * 60 + "rm -rf ~", "ls\n⟨60 empty lines⟩\nrm -rf ~"),
        ("a\tb", r"a\tb"),
        ("if x:\n\ty", "if x:\n    y"),
        ("if x:\n        y", "if x:\n        y"),
        ("schön 漢字", "schön 漢字"),
    ],
)
def test_what_eyes_could_miss_is_written_out(text, shown):
    assert reveal(text) == shown


@given(st.text())
def test_nothing_invisible_is_left_in_a_revealed_text(text):
    for character in reveal(text):
        category = unicodedata.category(character)
        assert character == "\n" or category[0] != "C", ascii(character)
        assert category not in {"Zl", "Zp"}
        assert category != "Zs" or character == " "


@given(st.text(alphabet=st.characters(min_codepoint=33, max_codepoint=126)))
def test_ordinary_text_is_revealed_as_it_is(text):
    assert reveal(text) == text


@given(st.text())
def test_no_control_character_reaches_the_terminal(text):
    cleaned = clean(text)
    assert not any((ord(c) < 32 and c not in "\n\t") or 0x7F <= ord(c) < 0xA0 for c in cleaned)
    assert not set(cleaned) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def test_an_escape_sequence_split_over_two_pieces_cannot_act_either():
    assert clean("\x1b") + clean("[2J") == "␛[2J"


def test_languages_and_emoji_stay_readable():
    for text in ("مرحبا", "שלום\u200f", "👩‍👩‍👧", "ไทย", "a\tb\n"):
        assert clean(text) == text


def test_words_of_others_come_on_one_line_and_capped():
    assert one_line("a\nb\t c\x07") == "a b c␇"
    assert one_line("x" * 500, 10) == "x" * 9 + "…"
