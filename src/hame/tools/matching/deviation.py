"""How a line of the file may differ from what the model remembers of it, and still be meant.

Spacing, the style of quotes, a comma at an end, the wording of a comment, a slip of the pen: these
say nothing about which line is meant. Names, numbers and operators do, so a line that differs in
one of them is another line.
"""

import re
from collections import Counter
from collections.abc import Callable
from itertools import zip_longest

from hame.tools.matching.canonical import fold
from hame.tools.matching.likeness import ratio

SPACING = "the spacing or punctuation differs"
_WHOLE_COMMENT = re.compile(r"(?:#+|//+|--|/\*+|<!--|;+|%+)(?=\s)|\*/")
_LATE_COMMENT = re.compile(r"\s#\s|(?<=[;{},])\s*//\s|\s/\*\s")
"""After code. A `//` that follows anything else divides, and a `#` before a letter is a name."""
_TOKENS = re.compile(r"\w+|[^\w\s]")
_SAME_COMMENT = 0.65
_SLIP_LENGTH = 5
"""Letters of a word in which a slip can be told from another word."""
_PROSE_WORDS = 5
_PROSE_ALIKE = 0.75
_SMALL_WORDS = frozenset([
    "a",
    "an",
    "and",
    "are",
    "as",
    "at",
    "be",
    "by",
    "for",
    "in",
    "is",
    "it",
    "of",
    "on",
    "or",
    "that",
    "the",
    "this",
    "to",
    "with",
])


def is_comment(line: str) -> bool:
    """Whether a line is blank or nothing but a comment."""
    bare = line.strip()
    return not bare or _WHOLE_COMMENT.match(bare) is not None


def harmless(theirs: str, ours: str, known: Callable[[str], bool]) -> str | None:
    """What the difference is when the same line can be meant; None when it is another line.

    `known` tells whether the file has a word: one that it has elsewhere is no slip.
    """
    theirs, ours = fold(theirs).strip(), fold(ours).strip()
    if theirs == ours:
        return ""
    (their_code, their_comment), (our_code, our_comment) = _split(theirs), _split(ours)
    if not their_comment and _is_prose(theirs) and _is_prose(ours):
        return "the wording differs" if _same_prose(theirs, ours) else None
    what = _same_code(their_code, our_code, known)
    if what is None:
        return None
    if their_comment == our_comment:
        return what
    if not their_code and ratio(their_comment, our_comment) < _SAME_COMMENT:
        return None
    return "the comment differs"


def first_difference(theirs: str, ours: str) -> tuple[str, str]:
    """The first words in which two lines differ; empty where one of them ends."""
    tokens = zip_longest(_TOKENS.findall(theirs), _TOKENS.findall(ours), fillvalue="")
    return next(((their, our) for their, our in tokens if their != our), ("", ""))


def _split(line: str) -> tuple[str, str]:
    """A line's code and its comment."""
    if _WHOLE_COMMENT.match(line):
        return "", line
    for found in _LATE_COMMENT.finditer(line):
        before = line[: found.start()]
        if before.count('"') % 2 == 0 and before.count("'") % 2 == 0:
            return before.rstrip(), line[found.start() :].strip()
    return line, ""


def _same_code(theirs: str, ours: str, known: Callable[[str], bool]) -> str | None:
    if theirs == ours:
        return ""
    one, other = _essential(theirs), _essential(ours)
    if one == other:
        return SPACING
    if len(one) != len(other):
        return None
    pairs = [(a, b) for a, b in zip(one, other, strict=True) if a != b]
    if all(_is_slip(a, b) and not known(a) for a, b in pairs):
        return "a word is spelt differently"
    return None


def _essential(code: str) -> list[str]:
    """The tokens that make a line what it is: no quotes' style, no comma before an end."""
    tokens = _TOKENS.findall(code.replace('"', "'").replace("`", "'"))
    kept: list[str] = []
    for token, after in zip_longest(tokens, tokens[1:], fillvalue=""):
        if token in {",", ";"} and after in {"", ")", "]", "}"}:
            continue
        kept.append(token)
    return kept


def _is_slip(one: str, other: str) -> bool:
    """Whether two words are the same but for case, underscores, or letters in another order."""
    if one.replace("_", "").lower() == other.replace("_", "").lower():
        return True
    letters = not any(map(str.isdigit, one + other))
    return letters and min(len(one), len(other)) >= _SLIP_LENGTH and Counter(one) == Counter(other)


def _is_prose(line: str) -> bool:
    """Whether a line is a sentence rather than code."""
    words = line.split()
    letters = sum(letter.isalpha() or letter.isspace() for letter in line)
    plain = not re.search(r"[=(){};<>_\[\]]", line)
    return plain and len(words) >= _PROSE_WORDS and letters >= 0.85 * len(line)


def _same_prose(theirs: str, ours: str) -> bool:
    from difflib import SequenceMatcher

    one, other = _TOKENS.findall(theirs.lower()), _TOKENS.findall(ours.lower())
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        for a, b in zip_longest(one[i1:i2], other[j1:j2], fillvalue=""):
            if not _same_word(a, b):
                return False
    return True


def _same_word(one: str, other: str) -> bool:
    small = _SMALL_WORDS | {""}
    if (one in small or not one.isalnum()) and (other in small or not other.isalnum()):
        return True
    digits = any(map(str.isdigit, one + other))
    return bool(one and other) and not digits and ratio(one, other) >= _PROSE_ALIKE
