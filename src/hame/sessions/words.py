"""The words of a session: what was said in it, by the user and the model, for searching."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from hame.sessions.lines import next_line

_MARKS = (
    b'"user_said"',
    b'"model_answered"',
    b'"title_set"',
    b'"label_set"',
    b'"history_compacted"',
)
MOST_CHARS = 400_000
"""Characters of one session that are searched; of more, the first."""
MOST_BYTES = 256 * 1024 * 1024
"""Of a file that is read for its words."""


class _Block(msgspec.Struct, frozen=True):
    type: str = ""
    text: str = ""


class _Message(msgspec.Struct, frozen=True):
    content: list[_Block] = []


class _Entry(msgspec.Struct, frozen=True):
    type: str
    message: _Message | None = None
    title: str = ""
    label: str = ""
    summary: str = ""


class _Line(msgspec.Struct, frozen=True):
    entry: _Entry


_LINES = msgspec.json.Decoder(_Line)


def read_words(path: Path) -> str:
    """The words of a session file, a line for each block; what cannot be read is left out."""
    parts: list[str] = []
    left = MOST_CHARS
    for text in _texts(path):
        parts.append(text[:left])
        left -= len(text)
        if left <= 0:
            break
    return "\n".join(parts)


def find_lines(path: Path, terms: list[str], most: int) -> list[str]:
    """Lines of what was said in which one of the terms stands, the first `most`."""
    folded = [term.casefold() for term in terms]
    found: list[str] = []
    for text in _texts(path):
        for line in text.splitlines():
            if any(term in line.casefold() for term in folded):
                found.append(line.strip())
                if len(found) == most:
                    return found
    return found


def _texts(path: Path) -> Iterator[str]:
    read = 0
    try:
        with path.open("rb") as file:
            while read <= MOST_BYTES:
                line, size, _ = next_line(file)
                if not size:
                    return
                read += size
                if any(mark in line for mark in _MARKS):
                    yield from _line_texts(line)
    except OSError:
        return


def _line_texts(line: bytes) -> Iterator[str]:
    try:
        entry = _LINES.decode(line.strip(b"\0 \t\r\n")).entry
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return
    if entry.message is not None:
        yield from (block.text for block in entry.message.content if block.type == "text")
    yield from filter(None, (entry.title, entry.label, entry.summary))
