"""Finding the text to be replaced. Exact for now; a match never guesses."""

from typing import NamedTuple

from hame.tools.endings import EvenText, even


class Span(NamedTuple):
    """A place in a file's own text."""

    start: int
    end: int


def find_spans(text: EvenText, old: str) -> list[Span]:
    """Every place where `old` stands, also those that overlap; line endings count as equal."""
    wanted = even(old)
    if not wanted:
        return []
    spans: list[Span] = []
    index = text.text.find(wanted)
    while index >= 0:
        start, end = text.original_index(index), text.original_index(index + len(wanted))
        spans.append(Span(start, end))
        index = text.text.find(wanted, index + 1)
    return spans


def without_overlaps(spans: list[Span]) -> list[Span]:
    """The spans that are left when each takes its text from those after it."""
    kept: list[Span] = []
    for span in spans:
        if not kept or span.start >= kept[-1].end:
            kept.append(span)
    return kept


def line_of(text: str, index: int) -> int:
    """The number, from 1, of the line that `index` lies in."""
    return text.count("\n", 0, index) + 1
