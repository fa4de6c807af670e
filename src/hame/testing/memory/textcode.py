"""Text to bytes and back, in the coding a file already has."""

from hame.base.errors import PathError

_MARKS = (("utf-8", b"\xef\xbb\xbf"), ("utf-16-le", b"\xff\xfe"), ("utf-16-be", b"\xfe\xff"))
"""Codings that a byte-order mark at the beginning names."""


def decode(data: bytes, shown: str) -> tuple[str, str, bool]:
    """The text, its encoding, and whether a byte-order mark was before it.

    Raises:
        PathError: for what is no text.
    """
    for encoding, mark in _MARKS:
        if data.startswith(mark):
            try:
                return data[len(mark) :].decode(encoding), encoding, True
            except UnicodeDecodeError:
                break
    if b"\0" in data:
        raise PathError(f"{shown} is a binary file ({len(data):,} bytes), not text")
    try:
        return data.decode("utf-8"), "utf-8", False
    except UnicodeDecodeError:
        return data.decode("latin-1"), "latin-1", False


def encode(text: str, encoding: str, shown: str, *, bom: bool) -> bytes:
    """The bytes of a text.

    Raises:
        PathError: when the encoding has no such character.
    """
    mark = dict(_MARKS).get(encoding, b"") if bom else b""
    try:
        return mark + text.encode(encoding)
    except UnicodeEncodeError as error:
        letter = text[error.start]
        raise PathError(
            f"{shown} is in {encoding}, which has no U+{ord(letter):04X}; nothing was changed"
        ) from error


def searched(data: bytes) -> str | None:
    """The text in which lines are looked for; None for a binary file."""
    for encoding, mark in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace")
    return None if b"\0" in data else data.decode("utf-8", "replace")
