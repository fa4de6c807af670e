"""The summary: what the model is asked for it, what is made of its answer, and one made without it."""

import re
from collections.abc import Iterable, Sequence

import msgspec

from hame.base.entry import HistoryCompacted
from hame.base.memory import Constraint, KeptWords
from hame.base.message import Note, User
from hame.context.cut import cut_middle
from hame.context.remembered import Remembered

LEAST_CHARS = 40
"""A summary that is shorter says nothing."""
_DEMANDS = "Demands"
_SECTIONS = ("Goal", "Decisions", "Facts", "Files", "State", "Next", _DEMANDS)

_ASK = """[hame] The conversation no longer fits, so everything above is about to be replaced by your \
summary of it. Do not call a tool and do not go on with the task: write the summary now, for yourself, \
so that you can go on with the work without anything else. What the user said is kept word for word \
beside it; do not repeat it.

Use exactly these headings, a few short lines or bullets under each, at most {words} words in all:

## Goal
What is to be achieved, and what counts as done.
## Decisions
What was decided, and why; what was tried and did not work.
## Facts
Names, numbers, paths, versions, commands and error messages that are needed again, exactly as they are.
## Files
Each file that was read or changed and matters: its path, what is in it, what was done to it.
## State
What is done, what is half done, what was last being worked on, what the last results were.
## Next
The very next step, and those after it.
## Demands
Each standing demand or correction of the user's that still holds, one bullet each, in the user's own \
words (what to do or never do from now on; not the task itself). Write "none" if there are none.
"""
_UPDATE = """
The conversation begins with an earlier summary of yours. Bring it up to date: keep what still holds, \
change what has changed, drop what is over.
"""
_FOCUS = """
The user asks that the summary pays attention to this above all: {focus}
"""
_HEADING = re.compile(r"^#{1,4}[ \t]*\**([A-Za-z]+)\**:?[ \t]*$", re.MULTILINE)
_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+", re.MULTILINE)


class Written(msgspec.Struct, frozen=True):
    """What a model's summary says."""

    text: str
    """Without the demands."""
    demands: tuple[str, ...]


def ask_for_summary(remembered: Remembered, tokens: int, focus: str) -> str:
    """The words that ask a model to summarise the conversation in about so many tokens."""
    asked = _ASK.format(words=max(120, int(tokens * 0.6)))
    if remembered.summary:
        asked += _UPDATE
    return asked + (_FOCUS.format(focus=focus) if focus else "")


def read_summary(answer: str, tokens: int) -> Written | None:
    """What a model answered, at most about so many tokens of it; None when it is no summary."""
    text = answer.strip()
    heading = next((h for h in _HEADING.finditer(text) if h[1].capitalize() in _SECTIONS), None)
    if heading is not None:
        text = text[heading.start() :]
    body, demands = _take_demands(text)
    body = body.strip()
    if len(body) < LEAST_CHARS:
        return None
    limit = tokens * 4
    return Written(cut_middle(body, limit, _summary_mark), demands)


def summary_without_model(remembered: Remembered, tokens: int) -> str:
    """A summary from the journal alone: files, commands, the last words, and the summary before."""
    parts: list[str] = []
    if remembered.summary:
        earlier = cut_middle(remembered.summary, tokens * 2, _summary_mark)
        parts.append(earlier)
    if remembered.files:
        parts.append("## Files changed so far\n" + _bullets(remembered.files))
    if remembered.commands:
        parts.append("## Commands that ran last\n" + _bullets(remembered.commands))
    if remembered.answer:
        said = cut_middle(remembered.answer, tokens, _summary_mark)
        parts.append(f"## What you said last\n{said}")
    text = "\n\n".join(parts) or "Nothing was changed yet."
    return cut_middle(text, tokens * 4, _summary_mark)


def summary_message(entry: HistoryCompacted) -> User:
    """What the model sees in place of the history."""
    notes = [*entry.notes]
    if entry.constraints:
        notes.append(Note(constraints_text(entry.constraints), "constraints"))
    if entry.taken_back:
        notes.append(Note(_taken_back_text(entry.taken_back), "constraints"))
    if entry.words:
        notes.append(Note(_words_text(entry.words, entry.words_left_out), "earlier words"))
    notes.append(
        Note(
            "The earlier part of this conversation was left out to save room. Summary of it:\n\n"
            f"{entry.summary}",
            "summary",
        )
    )
    return User(tuple(notes))


def constraints_text(constraints: Iterable[Constraint]) -> str:
    """The demands that hold, as the model is told of them."""
    return (
        "Standing demands of the user. They hold for everything you do, until the user takes them"
        " back:\n" + _bullets(constraint.text for constraint in constraints)
    )


def _taken_back_text(demands: Iterable[str]) -> str:
    return "Taken back by the user, though said below. These hold no more:\n" + _bullets(demands)


def _words_text(words: Sequence[KeptWords], left_out: int) -> str:
    more = f" ({left_out} older ones are left out)" if left_out else ""
    said = "\n".join(f"<message>\n{each.text}\n</message>" for each in words)
    return f"What the user said so far, word for word, oldest first{more}:\n{said}"


def _take_demands(text: str) -> tuple[str, tuple[str, ...]]:
    """The text without its section of demands, and what that lists."""
    headings = list(_HEADING.finditer(text))
    for place, heading in enumerate(headings):
        if heading[1].capitalize() != _DEMANDS:
            continue
        end = headings[place + 1].start() if place + 1 < len(headings) else len(text)
        listed = text[heading.end() : end].strip()
        return text[: heading.start()] + text[end:], tuple(_items(listed))
    return text, ()


def _items(listed: str) -> list[str]:
    lines = (_BULLET.sub("", line).strip().strip('"') for line in listed.splitlines())
    return [line for line in lines if len(line) > 3 and line.casefold().strip(". ") != "none"]


def _bullets(items: Iterable[str]) -> str:
    return "\n".join(f"- {item}" for item in items)


def _summary_mark(left: int) -> str:
    return f"[{left:,} characters of the summary were too many]"
