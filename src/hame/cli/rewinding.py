"""What the terminal says about taking a session back: `hame undo`, /undo, /rewind."""

import os
import sys
import time
from collections.abc import Sequence

import msgspec

from hame.app.undo import History, Rewind
from hame.base.errors import ConfigError
from hame.base.snapshot import Conflict, Planned, Step
from hame.cli.reveal import one_line
from hame.cli.words import counted

_SHOWN = 30
"""Paths that are listed before the rest is only counted."""
_NAMED = 3


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """How far back, and what of it."""

    step: int | None = None
    turn: int | None = None
    label: str = ""
    files: bool = True
    conversation: bool = True
    over: bool = False


def read_wish(name: str, argument: str) -> Wish:
    """What `/undo [STEP] [files|conversation] [over]` and `/rewind PROMPT|LABEL ...` mean.

    Raises:
        ConfigError: if it is not meant that way.
    """
    number: int | None = None
    parts = {"files": False, "conversation": False}
    label: list[str] = []
    over = False
    for word in argument.split():
        if word.isdecimal() and number is None and not label:
            number = int(word)
        elif word in parts:
            parts[word] = True
        elif word == "over":
            over = True
        elif name == "rewind" and number is None:
            label.append(word)
        else:
            form = "STEP" if name == "undo" else "PROMPT|LABEL|#N"
            raise ConfigError(
                f"/{name} does not know {word}",
                hint=f"/{name} [{form}] [files|conversation] [over]",
            )
    both = not any(parts.values())
    return Wish(
        step=number if name == "undo" else None,
        turn=number if name == "rewind" else None,
        label=" ".join(label),
        files=both or parts["files"],
        conversation=both or parts["conversation"],
        over=over,
    )


def history_lines(history: History, root: str, most: int = sys.maxsize) -> list[str]:
    """The prompts of a conversation, the last `most` of them, and what each changed."""
    lines: list[str] = []
    earlier = max(len(history.turns) - most, 0)
    if earlier:
        lines.append(f"{counted(earlier, 'earlier prompt')}; hame undo --list has them all")
    for turn in history.turns[earlier:]:
        lines.append(
            f"prompt {turn.number}  {one_line(turn.words, 100)}{_named(history, turn.number)}"
        )
        lines += _step_lines(turn.steps, root)
    if history.apart:
        lines.append("of parts of the conversation that were taken back:")
        lines += _step_lines(history.apart, root)
    if history.elsewhere:
        named = ", ".join(one_line(label, 40) for label in history.elsewhere)
        lines.append(f"labels in parts that were left: {named}")
    return lines or ["nothing was said in this session yet"]


def plan_lines(rewind: Rewind, root: str) -> list[str]:
    """What would be done, before it is done."""
    lines: list[str] = []
    if rewind.turns:
        words = one_line(rewind.turns[0].words, 60)
        count = len(rewind.turns)
        more = f", {counted(count, 'prompt')} are taken back" if count > 1 else ""
        lines.append(f"the conversation goes back to before “{words}”{more}")
    elif rewind.back_to and rewind.label:
        lines.append(f"the conversation goes to {one_line(rewind.label, 60)}")
    elif rewind.back_to:
        lines.append("the conversation goes on where it was before that undo")
    if rewind.files is not None:
        lines += _cut([_move_line(planned, root) for planned in rewind.files.moves])
        lines += _cut([_conflict_line(conflict, root) for conflict in rewind.files.conflicts])
        if rewind.files.conflicts:
            lines.append("  (over takes those back too, and gives up what was changed since)")
    return lines or ["nothing would change"]


def done_lines(step: Step | None, rewind: Rewind) -> list[str]:
    """What was done, and how it is taken back."""
    if step is None and not rewind.back_to:
        return ["nothing was changed"]
    lines: list[str] = []
    if step is not None:
        lines += [f"could not: {one_line(words)}" for words in step.failed]
        lines.append(
            f"{counted(len(step.changes), 'file')} changed; undo {step.number} takes it back"
        )
    if rewind.back_to:
        lines.append("the conversation was moved")
    return lines


def changes_anything(rewind: Rewind) -> bool:
    """Whether doing it would do anything."""
    return bool(rewind.back_to) or bool(rewind.files and rewind.files.moves)


def _named(history: History, number: int) -> str:
    """The labels within a turn."""
    labels = history.labels.get(number, ())
    return "".join(f"  [{one_line(label, 40)}]" for label in labels)


def _step_lines(steps: Sequence[Step], root: str) -> list[str]:
    lines: list[str] = []
    for step in steps:
        at = time.strftime("%H:%M", time.localtime(step.began))
        paths = [_shown(change.path, root) for change in step.changes]
        named = ", ".join(paths[:_NAMED]) + (", ..." if len(paths) > _NAMED else "")
        state = "  (undone)" if step.undone else ""
        what = one_line(step.title, 60)
        files = f"{counted(len(paths), 'file')}: {named}" if paths else "the conversation"
        lines.append(f"  step {step.number}  {at}  {what}  {files}{state}")
    return lines


def _move_line(planned: Planned, root: str) -> str:
    given_up = "  (what was changed since is given up)" if planned.over else ""
    return f"  {planned.move}  {_shown(planned.path, root)}{given_up}"


def _conflict_line(conflict: Conflict, root: str) -> str:
    return f"  leave alone  {_shown(conflict.path, root)}: {conflict.why}"


def _cut(lines: list[str]) -> list[str]:
    more = len(lines) - _SHOWN
    return [*lines[:_SHOWN], f"  ... and {counted(more, 'file')} more"] if more > 0 else lines


def _shown(path: str, root: str) -> str:
    inside = path.removeprefix(f"{root}/")
    return one_line(os.fsencode(inside).decode("utf-8", "replace"), 200)
