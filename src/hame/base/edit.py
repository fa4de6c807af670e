"""Changes to texts, symbols in them and mistakes in them; pure data."""

from collections.abc import Sequence

import msgspec


class TextEdit(msgspec.Struct, frozen=True, order=True):
    """Characters `start` to `end` (exclusive) of a text, and what comes in their place."""

    start: int
    end: int
    new: str


def apply_edits(text: str, edits: Sequence[TextEdit]) -> str:
    """The text with all edits made; their offsets all count in the text as it was.

    Raises:
        ValueError: when two edits overlap, or one lies outside the text.
    """
    last = len(text)
    pieces: list[str] = []
    for edit in sorted(edits, reverse=True):
        if not 0 <= edit.start <= edit.end <= last:
            raise ValueError(f"an edit of {edit.start}-{edit.end} lies outside or overlaps another")
        pieces += [text[edit.end : last], edit.new]
        last = edit.start
    return "".join([text[:last], *reversed(pieces)])


class Symbol(msgspec.Struct, frozen=True, kw_only=True):
    """Something with a name that source code defines."""

    name: str
    kind: str
    """In the language's own words: `class`, `function`, `method`, `struct`, ..."""
    line: int
    """Where the definition begins, from 1."""
    end_line: int
    depth: int = 0
    """How many symbols it lies in."""
    inside: str = ""
    """Names of the symbols it lies in, joined by dots."""
    signature: str = ""
    """The line that introduces it, trimmed."""


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """Something that is wrong with a file."""

    line: int
    """From 1."""
    column: int
    """From 1, in characters."""
    message: str
