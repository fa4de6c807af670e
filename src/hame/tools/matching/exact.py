"""Where a text stands exactly as it is written."""

from hame.tools.matching.canonical import Span


def find_spans(text: str, wanted: str) -> list[Span]:
    """Every place where `wanted` stands, also those that overlap."""
    if not wanted:
        return []
    spans: list[Span] = []
    index = text.find(wanted)
    while index >= 0:
        spans.append(Span(index, index + len(wanted)))
        index = text.find(wanted, index + 1)
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
