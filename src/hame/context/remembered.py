"""What holds in a session beside the messages: the opening notes, the user's words, demands, files.

It reads every entry once, in order, and is what a summary is made from without a model.
"""

import re
from collections.abc import Iterable

import msgspec

from hame.base.entry import (
    CallSettled,
    ConstraintAdded,
    ConstraintRemoved,
    Entry,
    HistoryCompacted,
    ModelAnswered,
    UserSaid,
)
from hame.base.memory import Constraint, KeptWords
from hame.base.message import Note
from hame.base.outcome import CommandView, Done, Failed
from hame.context.cut import cut_middle
from hame.context.tokens import text_size

_FILES = 60
"""Paths that changed, the latest of which are remembered."""
_COMMANDS = 12
_TAKEN_BACK = 20
AROUND_WORDS = 24
"""Bytes with which each message of the user's is marked off where it is kept."""
_NOT_WORDS = re.compile(r"[^\w]+")


class Said(msgspec.Struct, frozen=True):
    """One message of the user's."""

    entry: int
    """Place of its entry in the branch; -1 when it comes out of a summary."""
    words: KeptWords


class Remembered:
    """Grows with the journal."""

    def __init__(self) -> None:
        """Nothing has been read."""
        self.notes: tuple[Note, ...] = ()
        self.said: list[Said] = []
        self.left_out = 0
        """Messages of the user's that are in no summary any more."""
        self.constraints: dict[str, Constraint] = {}
        """Those that hold, by id."""
        self.taken_back: dict[str, None] = {}
        """Demands that hold no more, the latest last."""
        self.summary = ""
        self.files: dict[str, None] = {}
        """Paths that were changed, the latest last."""
        self.commands: list[str] = []
        """Commands that ran and how they ended, the latest last."""
        self.answer = ""
        """The last words of the model."""
        self._number = 0
        self._known: set[str] = set()
        self._found: set[tuple[str, str]] = set()
        """Record and words of each demand that was found in what the user said."""

    def add(self, index: int, entry: Entry) -> None:
        """Take the entry at that place of the branch."""
        match entry:
            case UserSaid(message=message):
                if not self.notes and not self.said:
                    self.notes = tuple(b for b in message.content if isinstance(b, Note))
                if message.words.strip():
                    self.said.append(Said(index, KeptWords(message.words)))
            case ModelAnswered(message=message):
                self.answer = message.text.strip() or self.answer
            case CallSettled(outcome=Done() | Failed() as outcome):
                self._settled(outcome)
            case ConstraintAdded(constraint=constraint):
                self._hold(constraint)
            case ConstraintRemoved(id=name):
                self._take_back(name)
            case HistoryCompacted():
                self._compact(index, entry)
            case _:
                pass

    def next_id(self) -> str:
        """Id for the next demand."""
        return f"c{self._number + 1}"

    def knows(self, text: str) -> bool:
        """Whether a demand of these words was ever held; one that was taken back stays so."""
        return normal(text) in self._known

    def taken_back_in(self, words: Iterable[KeptWords]) -> tuple[str, ...]:
        """The demands that hold no more and are still said in these words."""
        said = normal("\n".join(each.text for each in words))
        return tuple(text for text in self.taken_back if normal(text) in said)

    def _hold(self, constraint: Constraint) -> None:
        self.constraints[constraint.id] = constraint
        self.taken_back.pop(constraint.text, None)
        self._known.add(normal(constraint.text))
        if constraint.said:
            self._found.add((constraint.said, normal(constraint.text)))
        if constraint.id[1:].isdigit():
            self._number = max(self._number, int(constraint.id[1:]))

    def holds(self, text: str, record: str) -> bool:
        """Whether a demand of these words holds, or was found in that record before."""
        same = normal(text)
        held = any(normal(each.text) == same for each in self.constraints.values())
        return held or (record, same) in self._found

    def _take_back(self, name: str) -> None:
        gone = self.constraints.pop(name, None)
        if gone is not None:
            self.taken_back.pop(gone.text, None)
            self.taken_back[gone.text] = None
        for text in tuple(self.taken_back)[:-_TAKEN_BACK]:
            del self.taken_back[text]

    def _settled(self, outcome: Done | Failed) -> None:
        for path in outcome.changed:
            self.files.pop(path, None)
            self.files[path] = None
        for path in tuple(self.files)[:-_FILES]:
            del self.files[path]
        if isinstance(outcome.view, CommandView):
            view = outcome.view
            how = view.ended or f"exit code {view.exit_code}"
            self.commands = [*self.commands, f"{view.command.strip()} ({how})"][-_COMMANDS:]

    def _compact(self, index: int, entry: HistoryCompacted) -> None:
        kept = [said for said in self.said if said.entry >= index - entry.kept]
        self.said = [*(Said(-1, words) for words in entry.words), *kept]
        self.left_out = entry.words_left_out
        self.summary = entry.summary
        self.notes = entry.notes or self.notes
        for constraint in entry.constraints:
            self._hold(constraint)
        # Where the session is read from here on, what was taken back before stands only here.
        self.taken_back = dict.fromkeys((*entry.taken_back, *self.taken_back))


def normal(text: str) -> str:
    """A demand's words without case, marks and spacing."""
    return _NOT_WORDS.sub(" ", text.casefold()).strip()


def newest_within(said: Iterable[Said], size: int) -> tuple[list[KeptWords], int]:
    """The newest words that fit into `size` bytes, oldest first, and how many were left out.

    The very last message is always among them, cut in its middle where it alone is too long.
    """
    kept: list[KeptWords] = []
    left = size
    messages = list(said)
    for each in reversed(messages):
        words = each.words
        if text_size(words.text) > left and not kept:
            words = _shortened(words, max(left, 400))
        if text_size(words.text) + AROUND_WORDS > left and kept:
            break
        left -= text_size(words.text) + AROUND_WORDS
        kept.append(words)
    kept.reverse()
    return kept, len(messages) - len(kept)


def _shortened(words: KeptWords, size: int) -> KeptWords:
    text = cut_middle(words.text, size, lambda left: f"[{left:,} characters left out]")
    return KeptWords(text, words.cut + len(words.text) - len(text))
