"""Messages of users, labelled: which sentence is a standing demand, in four languages.

Those held out were written when the phrases of `hame.context.phrases` were done, and the phrases were not
changed for them; the others were used to write them. Among these are all that had been held out before:
once a set has been looked at and what it misses is mended, it says nothing any more. In a line that begins with `+` the
demand stands between « and »; one that begins with `-` holds none.
"""

import re
from pathlib import Path

import msgspec

from hame.context.demands import find_demands

FOLDER = Path(__file__).parent / "demands"
LANGUAGES = ("en", "de", "fr", "es")
_MARKED = re.compile(r"«([^»]*)»")


class Labelled(msgspec.Struct, frozen=True):
    text: str
    demand: str
    """Empty: there is none in it."""


class Score(msgspec.Struct, frozen=True):
    """What was found rightly, found wrongly, and missed."""

    right: int
    wrong: tuple[str, ...]
    missed: tuple[str, ...]

    @property
    def precision(self) -> float:
        return self.right / (self.right + len(self.wrong))

    @property
    def recall(self) -> float:
        return self.right / (self.right + len(self.missed))


def messages(language: str, part: str) -> list[Labelled]:
    """The messages of one language; `part` is `seen` or `held out`."""
    found: list[Labelled] = []
    section = ""
    for line in (FOLDER / f"{language}.txt").read_text("utf-8").splitlines():
        if line.startswith("# "):
            section = line[2:]
        elif section == part and line.strip():
            marked = _MARKED.search(line)
            text = line[2:].replace("«", "").replace("»", "")
            found.append(Labelled(text, marked[1] if marked else ""))
    return found


def score(labelled: list[Labelled]) -> Score:
    """How well the demands in these messages are found."""
    right, wrong, missed = 0, list[str](), list[str]()
    for each in labelled:
        found = [text for text, _ in find_demands(each.text)]
        hits = [
            text for text in found if each.demand and (each.demand in text or text in each.demand)
        ]
        right += bool(hits)
        wrong += [text for text in found if text not in hits]
        missed += [each.text] if each.demand and not hits else []
    return Score(right, tuple(wrong), tuple(missed))
