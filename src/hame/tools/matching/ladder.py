"""The steps by which an inexact text is still found.

Spaces at the ends of lines; the indentation, when it differs uniformly; characters that look alike;
other spellings; and at last a block that differs in what does not matter, with both ends and its
middle as they should be. Each step counts only where it fits one place. The change is then made in
the file's own lines, so that whatever the step forgave stays as the file has it.
"""

from collections.abc import Callable, Sequence

import msgspec

from hame.tools.matching.canonical import Span, TextLines
from hame.tools.matching.exact import find_spans
from hame.tools.matching.indentation import describe_indent, find_shift, indent_of
from hame.tools.matching.judgement import Forgiven, judge
from hame.tools.matching.likeness import Likeness, find_alike
from hame.tools.matching.merge import Pair, UnseenLineError, graft
from hame.tools.matching.naming import name_difference
from hame.tools.matching.spelling import Wish, spellings

_MOST = 12
"""Places that are counted when there are several."""
_SHORTEST = 10
"""Characters that a block needs to be found by likeness."""
_WORTH_NAMING = 0.4
"""Likeness of a place that is told although it was not taken."""


class Placed(msgspec.Struct, frozen=True):
    """Where a text was found although it is not written like that, and what comes there."""

    span: Span
    """In the text with even line endings."""
    new: str
    note: str
    """What was forgiven."""


class Several(msgspec.Struct, frozen=True):
    """It fits several places."""

    lines: tuple[int, ...]
    """From 1."""
    note: str


class Doubtful(msgspec.Struct, frozen=True):
    """There is a place that is like it, but it is not certain that it is meant."""

    first: int
    """From 1."""
    last: int
    reason: str


Found = Placed | Several | Doubtful | None


def find_inexact(text: TextLines, old: str, new: str) -> Found:
    """The place that is meant by a text that is not in the file as it is written."""
    wish = Wish(old, new)
    found = _find_close(text, wish)
    if found is not None:
        return found
    for spelling in spellings(wish):
        found = _find_spelt(text, spelling)
        if found is not None:
            return found
    return _find_alike(text, wish)


def _find_spelt(text: TextLines, wish: Wish) -> Found:
    spans = text.whole_words(find_spans(text.text, wish.old))
    if len(spans) == 1:
        return Placed(spans[0], wish.new, wish.note)
    return _several(text, spans, wish.note) if spans else _find_close(text, wish)


def _find_close(text: TextLines, wish: Wish) -> Found:
    """Where nothing differs but spaces and characters that look alike."""
    steps: tuple[Callable[[TextLines, Wish], Found], ...] = (
        _find_trimmed,
        _find_shifted,
        _find_folded,
        _find_shifted_and_folded,
    )
    for step in steps:
        found = step(text, wish)
        if found is not None:
            return found
    return None


def _find_trimmed(text: TextLines, wish: Wish) -> Found:
    spans = text.whole_words(text.find_trimmed(wish.old, _MOST))
    return _in_place(text, spans, wish.noting("spaces at the ends of lines were ignored"))


def _find_folded(text: TextLines, wish: Wish) -> Found:
    spans = text.whole_words(text.find_folded(wish.old, _MOST))
    note = "characters that look alike were taken as equal"
    if len(spans) == 1:
        note += _difference_in(text, spans[0], wish.old)
    return _in_place(text, spans, wish.noting(note))


def _in_place(text: TextLines, spans: Sequence[Span], wish: Wish) -> Found:
    """Make the change where each line of `old` has its line in the file, from end to end."""
    if not spans:
        return None
    if len(spans) > 1:
        return _several(text, spans, wish.note)
    ours = text.text[spans[0].start : spans[0].end].split("\n")
    theirs = wish.old.split("\n")
    pairs = [Pair(index, index) for index in range(len(theirs))]
    made = graft(theirs, ours, pairs, wish.new.split("\n"))
    return Placed(spans[0], "\n".join(made), wish.note)


def _several(text: TextLines, spans: Sequence[Span], note: str) -> Several:
    return Several(tuple(text.line_at(span.start) + 1 for span in spans[:_MOST]), note)


def _difference_in(text: TextLines, span: Span, old: str) -> str:
    found = name_difference(text.text[span.start : span.end], old)
    if found is None:
        return ""
    line = text.line_at(span.start) + found.line
    return f" (line {line} has {found.has} where old_string has {found.wants})"


def _find_shifted(text: TextLines, wish: Wish) -> Found:
    return _by_indentation(text, wish, folded=False)


def _find_shifted_and_folded(text: TextLines, wish: Wish) -> Found:
    return _by_indentation(text, wish, folded=True)


def _by_indentation(text: TextLines, wish: Wish, *, folded: bool) -> Found:
    block, _ = lines_of(wish.old)
    starts = [
        start
        for start in text.find_bare(block, _MOST, folded=folded)
        if find_shift(block, text.lines[start : start + len(block)])
    ]
    if not starts:
        return None
    if len(starts) > 1:
        return Several(tuple(start + 1 for start in starts), "the indentation differs")
    pairs = tuple(Pair(index, starts[0] + index) for index in range(len(block)))
    like = Likeness(starts[0], starts[0] + len(block) - 1, pairs, 1.0)
    note = f"the indentation differs{_indents(text, block, starts[0])}"
    also = "; characters that look alike were taken as equal" if folded else ""
    return _in_lines(text, like, wish.noting(note + also))


def _indents(text: TextLines, block: Sequence[str], first: int) -> str:
    for index, line in enumerate(block):
        theirs, ours = indent_of(line), indent_of(text.lines[first + index])
        if theirs != ours and line.strip():
            return (
                f" (line {first + index + 1} has {describe_indent(ours)} where old_string has"
                f" {describe_indent(theirs)}); new_string was indented as the file is"
            )
    return ""


def lines_of(block: str) -> tuple[list[str], bool]:
    """The whole lines of a block, and whether it ends with a line ending."""
    lines = block.split("\n")
    ends = len(lines) > 1 and not lines[-1].strip()
    return (lines[:-1] if ends else lines), ends


def _in_lines(text: TextLines, like: Likeness, wish: Wish) -> Found:
    """Make the change in whole lines of the file."""
    (block, ends), (wanted, new_ends) = lines_of(wish.old), lines_of(wish.new)
    both = [
        (a, b) for a, b in ((p.old, p.ours) for p in like.pairs) if a is not None and b is not None
    ]
    shift = find_shift([block[a] for a, _ in both], [text.lines[b] for _, b in both])
    if shift is None:
        return Doubtful(like.first + 1, like.last + 1, "its lines are not indented alike")
    pairs = [Pair(p.old, None if p.ours is None else p.ours - like.first) for p in like.pairs]
    ours = text.lines[like.first : like.last + 1]
    try:
        lines = graft(shift.apply(block), ours, pairs, shift.apply(wanted) if wish.new else [])
    except UnseenLineError as error:
        line = like.first + error.line
        reason = f"line {line + 1} is not in old_string, and the change meets it: {text.lines[line].strip()}"
        return Doubtful(like.first + 1, like.last + 1, reason)
    tail = "\n" if new_ends and lines else ""
    span = text.span_of(like.first, like.last, newline=ends)
    return Placed(span, "\n".join(lines) + tail, wish.note)


def _find_alike(text: TextLines, wish: Wish) -> Found:
    """A block that differs in what does not matter; blank lines around it do not count."""
    lead, tail = len(wish.old) - len(wish.old.lstrip("\n")), wish.old.endswith("\n")
    bare = wish.old.strip("\n") + ("\n" if tail else "")
    if len(bare.strip()) < _SHORTEST:
        return None
    block, _ = lines_of(bare)
    places = find_alike(text, block)
    verdicts = [judge(text, place, block) for place in places]
    good = [
        (place, verdict.words)
        for place, verdict in zip(places, verdicts, strict=True)
        if isinstance(verdict, Forgiven)
    ]
    if len(good) == 1 and good[0][0] is places[0]:
        new = wish.new
        for _ in range(lead):
            new = new.removeprefix("\n")
        return _in_lines(text, good[0][0], Wish(bare, new, good[0][1]))
    if not places or places[0].score < _WORTH_NAMING:
        return None
    first, last = places[0].first + 1, places[0].last + 1
    if not good:
        return Doubtful(first, last, verdicts[0].words)
    others = ", ".join(f"{place.first + 1}-{place.last + 1}" for place in places[:3])
    return Doubtful(first, last, f"more than one place is like it (lines {others})")
