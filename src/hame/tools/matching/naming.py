"""Names for characters, so that none is mistaken for another."""

import msgspec

_NAMES = {" ": "a space", "\t": "a tab", "\r": "a carriage return", "\n": "the end of the line"}


class Difference(msgspec.Struct, frozen=True):
    """The first character in which two texts differ."""

    line: int
    """From 1, within the text."""
    column: int
    """From 1."""
    has: str
    wants: str


def name_of(letter: str) -> str:
    """A character so that it cannot be mistaken: `"a"`, `a tab`, `NO-BREAK SPACE (U+00A0)`."""
    if not letter:
        return "the end of the line"
    if letter in _NAMES:
        return _NAMES[letter]
    if letter.isascii() and letter.isprintable():
        return f"`{letter}`"
    import unicodedata

    return f"{unicodedata.name(letter, 'a character')} (U+{ord(letter):04X})"


def name_difference(text: str, wanted: str) -> Difference | None:
    """Where `text` first differs from `wanted`; None when it does not."""
    index = next(
        (at for at, (a, b) in enumerate(zip(text, wanted, strict=False)) if a != b),
        min(len(text), len(wanted)),
    )
    if index == len(text) == len(wanted):
        return None
    line = text.count("\n", 0, index) + 1
    column = index - text.rfind("\n", 0, index)
    return Difference(
        line, column, name_of(text[index : index + 1]), name_of(wanted[index : index + 1])
    )
