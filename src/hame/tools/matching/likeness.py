"""The part of a text that is most like a block of lines.

Lines vote for where the block would begin if they were its lines; only the few places with the most
votes are compared in full. That keeps the search far below 50 ms in 10,000 lines.
"""

import re
from collections import defaultdict
from collections.abc import Sequence

import msgspec

from hame.tools.matching.canonical import TextLines, fold
from hame.tools.matching.merge import Pair

_PLACES = 6
"""Places that are compared in full."""
_VOTED = 60
"""Places whose votes are counted together with those around them."""
_REACH = 5
"""Lines that may lie between one that was found and the next."""
_COMMON = 60
"""A line that occurs more often says nothing about where the block is."""
_WORDS_TRIED = 60
_HITS = 40
_ALIKE = 0.5
"""Lines that are less alike than this do not stand for each other."""
_COMPARED = 400
"""Characters of a line that are compared."""
_WORD = re.compile(r"\w{3,}")


class Likeness(msgspec.Struct, frozen=True):
    """A place that is like the block."""

    first: int
    """Its first line, from 0."""
    last: int
    """Its last line, inclusive."""
    pairs: tuple[Pair, ...]
    """Lines of the block and of the text, both from 0, in order."""
    score: float
    """How alike they are: 1 is the same but for spaces and look-alikes."""


def find_alike(text: TextLines, block: Sequence[str]) -> list[Likeness]:
    """Places like the block, the most alike first; no two begin or end at the same line."""
    wanted = [fold(line).strip() for line in block]
    found: list[Likeness] = []
    for start in _voted_for(text, wanted):
        place = _compare(text, wanted, start)
        if place is not None and not any(_overlap(place, other) for other in found):
            found.append(place)
    return sorted(found, key=lambda place: -place.score)


def ratio(one: str, other: str, least: float = 0.0) -> float:
    """How alike two lines are, from 0 to 1; 0 when it is certainly less than `least`."""
    from difflib import SequenceMatcher

    if one == other:
        return 1.0
    matcher = SequenceMatcher(None, one[:_COMPARED], other[:_COMPARED], autojunk=False)
    if matcher.real_quick_ratio() < least or matcher.quick_ratio() < least:
        return 0.0
    return matcher.ratio()


def _overlap(one: Likeness, other: Likeness) -> bool:
    return one.first == other.first or one.last == other.last


def _voted_for(text: TextLines, wanted: Sequence[str]) -> list[int]:
    """Lines at which the block may begin, those with the most votes first."""
    votes: defaultdict[int, float] = defaultdict(float)
    unseen: list[tuple[int, str]] = []
    for index, line in enumerate(wanted):
        numbers = text.numbers_of.get(line, []) if line else []
        weight = min(len(line), 40) / max(len(numbers), 1)
        for number in numbers if len(numbers) <= _COMMON else ():
            votes[number - index] += weight
        if line and not numbers:
            unseen.append((index, line))
    _vote_by_words(text, unseen, votes)
    slack = max(2, len(wanted) // 5)
    most = sorted(votes, key=lambda start: -votes[start])[:_VOTED]
    near = {
        start: sum(votes.get(start + shift, 0.0) for shift in range(-slack, slack + 1))
        + votes[start] / 2
        for start in most
    }
    chosen: list[int] = []
    for start in sorted(near, key=lambda start: -near[start]):
        if all(abs(start - other) > slack for other in chosen):
            chosen.append(start)
    return chosen[:_PLACES]


def _vote_by_words(
    text: TextLines, unseen: Sequence[tuple[int, str]], votes: defaultdict[int, float]
) -> None:
    """Lines that are nowhere as they are written vote by their longest words."""
    words = [
        (index, word)
        for index, line in unseen
        for word in sorted(set(_WORD.findall(line)), key=len, reverse=True)[:4]
    ]
    for index, word in words[:_WORDS_TRIED]:
        numbers = text.lines_with(word, _HITS)
        for number in numbers if len(numbers) < _HITS else ():
            votes[number - index] += len(word) / (2 * len(numbers))


def _compare(text: TextLines, wanted: Sequence[str], start: int) -> Likeness | None:
    """The block against what stands around `start`."""
    slack = max(2, len(wanted) // 5)
    low = max(start - slack, 0)
    window = text.bare_folded[low : start + len(wanted) + slack]
    pairs, likeness = _pair_up(wanted, window)
    ours = [pair.ours for pair in pairs if pair.old is not None and pair.ours is not None]
    if not ours:
        return None
    first, last = ours[0], ours[-1]
    moved = tuple(
        Pair(pair.old, None if pair.ours is None else pair.ours + low)
        for pair in pairs
        if pair.ours is None or first <= pair.ours <= last
    )
    size = sum(len(line) + 1 for line in wanted) + sum(
        len(window[pair.ours]) + 1
        for pair in pairs
        if pair.old is None and pair.ours is not None and first < pair.ours < last
    )
    return Likeness(low + first, low + last, moved, likeness / size)


def _pair_up(wanted: Sequence[str], window: Sequence[str]) -> tuple[list[Pair], float]:
    """Which line stands for which, in order, and how many characters that explains."""
    from difflib import SequenceMatcher

    pairs: list[Pair] = []
    likeness = 0.0
    matcher = SequenceMatcher(None, list(wanted), list(window), autojunk=False)
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag == "equal":
            pairs += [Pair(i, j) for i, j in zip(range(i1, i2), range(j1, j2), strict=True)]
            likeness += sum(len(line) + 1 for line in wanted[i1:i2])
            continue
        gap, more = _pair_gap(wanted, window, (i1, i2), (j1, j2))
        pairs += gap
        likeness += more
    return pairs, likeness


def _pair_gap(
    wanted: Sequence[str],
    window: Sequence[str],
    theirs: tuple[int, int],
    ours: tuple[int, int],
) -> tuple[list[Pair], float]:
    """The same where no line is the same: each line takes the most alike of those left."""
    pairs: list[Pair] = []
    likeness = 0.0
    at, end = ours
    for index in range(*theirs):
        line = wanted[index]
        best, score = None, _ALIKE
        for number in range(at, min(end, at + _REACH)):
            found = ratio(line, window[number], score) if line and window[number] else 0.0
            if found > score:
                best, score = number, found
        if best is None:
            pairs.append(Pair(index, None))
            continue
        pairs += [Pair(None, number) for number in range(at, best)]
        pairs.append(Pair(index, best))
        likeness += score * (len(line) + 1)
        at = best + 1
    pairs += [Pair(None, number) for number in range(at, end)]
    return pairs, likeness
