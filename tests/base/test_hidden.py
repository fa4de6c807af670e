"""Characters that eyes do not see."""

import unicodedata

import pytest

from hame.base.hidden import count_hidden, escape_hidden


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\ttext\n", "plain\ttext\n"),
        ("\ufeffwith a mark\r\nand an old line end\r\n", "with a mark\nand an old line end\n"),
        ("a\u202eb\u2066c", "a\\u{202e}b\\u{2066}c"),
        ("zero\u200bwidth\u2060", "zero\\u{200b}width\\u{2060}"),
        ("\U000e0041", "\\u{e0041}"),
        ("a bell \x07 and an escape \x1b[2J", "a bell \\u{7} and an escape \\u{1b}[2J"),
        ("lone\rreturn", "lone\\u{d}return"),
        ("soft\u00adhyphen \u2028 \u3164", "soft\\u{ad}hyphen \\u{2028} \\u{3164}"),
        ("\ue000", "\\u{e000}"),
        ("✔\ufe0f fine", "✔\ufe0f fine"),
        ("x\ufe0f\ufe01\ufe02", "x\ufe0f\\u{fe01}\\u{fe02}"),
        ("\ufe0f", "\\u{fe0f}"),
        ("x\U000e0100", "x\\u{e0100}"),
        ("Grüße, 日本語, عربى, हिन्दी 👍", "Grüße, 日本語, عربى, हिन्दी 👍"),
    ],
)  # fmt: skip
def test_what_is_hidden_is_written_out_and_nothing_else(text: str, shown: str) -> None:
    assert escape_hidden(text) == shown
    assert count_hidden(text) == shown.count("\\u{")


def test_every_format_character_counts() -> None:
    formats = [chr(code) for code in range(0x11000) if unicodedata.category(chr(code)) == "Cf"]
    text = "x".join(formats).removeprefix("\ufeff")
    assert count_hidden(text) == sum(letter in text for letter in formats) > 40
    assert not any(letter in escape_hidden(text) for letter in formats)
