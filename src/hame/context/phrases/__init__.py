"""The phrases by which people make standing demands, one file for each language.

A demand is a sentence that says what to do, or never to do, from now on; a correction is one too. What
is asked for once (the task) is not, nor is a remark, a question, or a report of what went wrong. A line
of a file is a kind and a pattern for a whole sentence in lower case. Before them stand the line `words`,
words of which at least one is in every sentence that the patterns could match, and `report`, a pattern
of sentences that tell what is always or never so and demand nothing.
"""

import re
from functools import cache
from pathlib import Path

import msgspec

from hame.base.memory import ConstraintKind

LANGUAGES = ("en", "de", "fr", "es")


class Phrases(msgspec.Struct, frozen=True):
    """How demands are made in one language."""

    words: tuple[str, ...]
    report: str
    rules: tuple[tuple[ConstraintKind, str], ...]
    """In the order in which they are tried."""

    def kind_of(self, sentence: str) -> ConstraintKind | None:
        """What sort of demand a sentence in lower case is; None when it is none."""
        if not any(word in sentence for word in self.words):
            return None
        if _compiled(self.report).search(sentence):
            return None
        return next((kind for kind, rule in self.rules if _compiled(rule).search(sentence)), None)


@cache
def phrases(language: str) -> Phrases:
    """The phrases of a language of `LANGUAGES`."""
    text = Path(__file__).with_name(f"{language}.txt").read_text(encoding="utf-8")
    words: tuple[str, ...] = ()
    report = ""
    rules: list[tuple[ConstraintKind, str]] = []
    for line in text.splitlines():
        head, _, rest = line.partition(" ")
        if head == "words":
            words = tuple(rest.split("|"))
        elif head == "report":
            report = rest
        elif head and head != "#":
            rules.append((ConstraintKind(head), rest))
    return Phrases(words, report, tuple(rules))


@cache
def _compiled(rule: str) -> re.Pattern[str]:
    """Compiled when a sentence first gets that far."""
    return re.compile(rule)
