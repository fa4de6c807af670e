"""The phrases by which people make standing demands, one file for each language.

A demand is a sentence that says what to do, or never to do, from now on; a correction is one too. What
is asked for once (the task) is not, nor is a remark, a question, or a report of what went wrong. A line
of a file is a kind and a pattern for a whole sentence in lower case. Before them stand these lines:

* `define NAME pattern`: a part that later lines use as `<NAME>`;
* `common`: the commonest words, by which the language of a sentence is known;
* `words`: parts of words of which at least one is in every sentence that the patterns could match, so that most
  sentences need no pattern at all;
* `report`: sentences that tell what is always or never so and demand nothing;
* `refusal`: how a user begins who refuses what was done ("no, "). What follows is judged by itself, and a
  demand there is a correction; so is what only `contrast` matches ("with two spaces, not four").
"""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import msgspec

from hame.base.memory import ConstraintKind

LANGUAGES = ("en", "de", "fr", "es")
_WORD = re.compile(r"\w+")
_NAMED = re.compile(r"<(\w+)>")


class Phrases(msgspec.Struct, frozen=True):
    """How demands are made in one language."""

    common: frozenset[str]
    words: tuple[str, ...]
    report: str
    refusal: str
    contrast: str
    rules: tuple[tuple[ConstraintKind, str], ...]
    """In the order in which they are tried."""

    def kind_of(self, sentence: str) -> ConstraintKind | None:
        """What sort of demand a sentence in lower case is; None when it is none."""
        if not any(word in sentence for word in self.words):
            return None
        refused = _compiled(self.refusal).match(sentence)
        if refused is None:
            return self._demanded(sentence)
        rest = sentence[refused.end() :]
        demanded = self._demanded(rest) or _compiled(self.contrast).search(rest)
        return ConstraintKind.CORRECTION if demanded else None

    def _demanded(self, sentence: str) -> ConstraintKind | None:
        if _compiled(self.report).search(sentence):
            return None
        return next((kind for kind, rule in self.rules if _compiled(rule).search(sentence)), None)


@cache
def phrases(language: str) -> Phrases:
    """The phrases of a language of `LANGUAGES`."""
    text = Path(__file__).with_name(f"{language}.txt").read_text(encoding="utf-8")
    defined: dict[str, str] = {}
    heads: dict[str, str] = {}
    rules: list[tuple[ConstraintKind, str]] = []
    for line in text.splitlines():
        head, _, rest = line.partition(" ")
        if head in ("", "#"):
            continue
        if head == "define":
            name, _, rest = rest.partition(" ")
            defined[name] = _filled(rest, defined)
        elif head in ("common", "words", "report", "refusal", "contrast"):
            heads[head] = _filled(rest, defined)
        else:
            rules.append((ConstraintKind(head), _filled(rest, defined)))
    return Phrases(
        common=frozenset(heads["common"].split("|")),
        words=tuple(heads["words"].split("|")),
        report=heads["report"],
        refusal=heads["refusal"],
        contrast=heads["contrast"],
        rules=tuple(rules),
    )


def likely(sentence: str) -> list[Phrases]:
    """Those of the languages that a sentence in lower case is most likely in; several where in doubt."""
    said = frozenset(_WORD.findall(sentence))
    known = [(len(said & each.common), each) for each in map(phrases, LANGUAGES)]
    most = max(common for common, _ in known)
    return [each for common, each in known if common == most]


def _filled(pattern: str, defined: Mapping[str, str]) -> str:
    """A pattern with the parts it names in their places."""
    return _NAMED.sub(lambda name: defined[name[1]], pattern)


@cache
def _compiled(rule: str) -> re.Pattern[str]:
    """Compiled when a sentence first gets that far."""
    return re.compile(rule)
