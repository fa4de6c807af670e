"""Demands: finds what the user wants to hold from now on, and sees that it is not lost.

Two ways lead to the ledger: phrases of explicit demands in what the user says, and the list a model
gives when it summarises. Only the user's own words count, never the notes or rules files beside them.
A demand that was taken back is not found again until the user makes it again.
"""

import re
from collections.abc import Iterator, Sequence

from hame.base.entry import ConstraintAdded
from hame.base.memory import Constraint, ConstraintKind
from hame.base.message import Message, Note, Text, User
from hame.context.phrases import likely
from hame.context.projection import Projection
from hame.context.remembered import normal

MOST_CHARS = 300
"""Of one demand; what is longer is no demand but a text."""
LEAST_CHARS = 6
MOST_AT_ONCE = 12
"""Demands taken from one message."""
_EVIDENCE = 0.6
"""Share of the words of a model's demand that the user must have said."""
_SAME = 0.75
"""Share of common words from which two demands are one."""

_CODE = re.compile(r"```.*?(?:```|\Z)|^(?: {4}|\t|>).*$", re.DOTALL | re.MULTILINE)
_QUOTED = re.compile(r"`[^`\n]*`|\"[^\"\n]+\"|“[^”\n]+”|„[^“”\n]+[“”]|«[^»\n]+»")
"""What is cited, not said."""
_SENTENCE = re.compile(r"[^\n]+?(?:[.!?](?=\s|$)|\n|$)")
_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s*")
_PATHS = re.compile(
    r"`([^`\n]+)`|(?<![\w/])((?:[\w.-]+/)+[\w.*-]*|\w[\w-]*\.(?!g\.|e\.)[a-z]{1,5}\b)"
)
_WORD = re.compile(r"\w{3,}")


class Demands:
    """The demands of one session, as its projection remembers them."""

    def __init__(self, projection: Projection) -> None:
        """Look after this session."""
        self._projection = projection

    def found_in(self, words: str, record: str, at: float) -> list[Constraint]:
        """The demands in a message that are not known yet, with ids of their own."""
        remembered = self._projection.remembered
        number = int(remembered.next_id()[1:])
        rules_text = normal(" ".join(note.text for note in remembered.notes))
        found: list[Constraint] = []
        for text, kind in find_demands(words):
            if len(found) == MOST_AT_ONCE:
                break
            same = normal(text)
            if remembered.holds(text, record) or same in rules_text:
                continue
            if any(normal(each.text) == same for each in found):
                continue
            found.append(
                Constraint(
                    id=f"c{number + len(found)}",
                    text=text,
                    kind=kind,
                    scope=scope_of(text),
                    said=record,
                    since=at,
                )
            )
        return found

    def found_by_model(self, listed: Sequence[str]) -> list[ConstraintAdded]:
        """Those of a model's list that the user really said and that are not held yet."""
        remembered = self._projection.remembered
        said = [set(_WORD.findall(each.words.text.casefold())) for each in remembered.said]
        held = [
            set(_WORD.findall(each.text.casefold())) for each in remembered.constraints.values()
        ]
        number = int(remembered.next_id()[1:])
        added: list[ConstraintAdded] = []
        for text in listed:
            words = set(_WORD.findall(text.casefold()))
            if not LEAST_CHARS <= len(text) <= MOST_CHARS or not words or remembered.knows(text):
                continue
            told = any(len(words & message) >= _EVIDENCE * len(words) for message in said)
            if not told or any(_is_same(words, other) for other in held):
                continue
            held.append(words)
            kinds = [kind for _, kind in find_demands(text)]
            constraint = Constraint(
                id=f"c{number + len(added)}",
                text=text,
                kind=kinds[0] if kinds else ConstraintKind.ALWAYS,
                scope=scope_of(text),
                found_by="model",
            )
            added.append(ConstraintAdded(constraint=constraint))
        return added[:MOST_AT_ONCE]

    def missing_from(self, messages: Sequence[Message]) -> list[Constraint]:
        """The demands that hold and are not said in these messages."""
        held = self._projection.remembered.constraints.values()
        if not held:
            return []
        said = normal(
            "\n".join(
                block.text
                for message in messages
                if isinstance(message, User)
                for block in message.content
                if isinstance(block, Text | Note)
            )
        )
        return [each for each in held if normal(each.text) not in said]


def find_demands(words: str) -> Iterator[tuple[str, ConstraintKind]]:
    """The sentences of a message that are demands, in the user's own words, and their kinds."""
    for sentence in sentences(words):
        kind = kind_of(sentence)
        if kind is not None:
            yield sentence, kind


def kind_of(sentence: str) -> ConstraintKind | None:
    """What sort of demand a sentence is; None when it is none."""
    folded = _QUOTED.sub("x", sentence).lower().replace("\u2019", "'")
    if folded.endswith("?"):
        return None
    kinds = (each.kind_of(folded) for each in likely(folded))
    return next((kind for kind in kinds if kind is not None), None)


def sentences(words: str) -> list[str]:
    """The sentences of a message, without code, quotations and marks of lists."""
    text = _CODE.sub("\n", words)
    found = (_BULLET.sub("", match[0]).strip() for match in _SENTENCE.finditer(text))
    return [each for each in found if LEAST_CHARS <= len(each) <= MOST_CHARS]


def scope_of(text: str) -> str:
    """The paths and names that a demand is about, as far as it names them."""
    named = (match[1] or match[2] for match in _PATHS.finditer(text))
    return ", ".join(dict.fromkeys(each.rstrip(".") for each in named))


def _is_same(words: set[str], other: set[str]) -> bool:
    common = len(words & other)
    return common >= _SAME * min(len(words), len(other))
