"""Outcome: what a tool call came to. Every call gets exactly one.

A result has two faces: `content` for the model, `view` for eyes. Surfaces draw the view and never
change what the model reads.
"""

from enum import StrEnum
from typing import TypeAlias, assert_never

import msgspec

from hame.base.confinement import SandboxDenied
from hame.base.message import ResultBlock, Text


class _View(msgspec.Struct, frozen=True, tag_field="type", omit_defaults=True):
    """Base of what eyes are shown."""


class TextView(_View, frozen=True, tag="text"):
    """Plain text, for instance the part of a file that was read."""

    text: str
    title: str = ""


class DiffView(_View, frozen=True, tag="diff"):
    """A change to one file as a unified diff."""

    path: str
    diff: str
    added: int = 0
    removed: int = 0
    created: bool = False
    deleted: bool = False


class PathsView(_View, frozen=True, tag="paths"):
    """Paths: a listing or the files that matched."""

    paths: tuple[str, ...]
    title: str = ""
    total: int | None = None


class CommandView(_View, frozen=True, tag="command"):
    """A command, what it printed and how it ended."""

    command: str
    output: str = ""
    exit_code: int | None = None
    ended: str = ""
    """How it ended when not by itself: `timed out after 120 s`, `killed by SIGKILL`, ..."""
    seconds: float = 0.0
    aftermath: tuple[str, ...] = ()
    """What its sandbox put right after it: protected files that are again what they were, ..."""


class TodoState(StrEnum):
    """How far a part of a task is."""

    OPEN = "open"
    ACTIVE = "active"
    DONE = "done"


class TodoItem(msgspec.Struct, frozen=True):
    """A part of a task."""

    text: str
    state: TodoState = TodoState.OPEN


class TodoView(_View, frozen=True, tag="todo"):
    """The plan of a task and how far it is."""

    items: tuple[TodoItem, ...]


View: TypeAlias = TextView | DiffView | PathsView | CommandView | TodoView


class _Outcome(msgspec.Struct, frozen=True, tag_field="type", omit_defaults=True):
    """Base of the outcomes."""


class Done(_Outcome, frozen=True, tag="done"):
    """The tool did what was asked."""

    content: tuple[ResultBlock, ...]
    view: View | None = None
    changed: tuple[str, ...] = ()
    """Paths of files that changed, relative to the project where they lie in it."""


class Failed(_Outcome, frozen=True, tag="failed"):
    """The tool could not; the text tells the model what to do instead."""

    message: str
    view: View | None = None
    changed: tuple[str, ...] = ()
    """A failed command may have changed files before it failed."""
    denied: tuple[SandboxDenied, ...] = ()
    """What its sandbox kept a failed command from, as far as can be told."""


class Denied(_Outcome, frozen=True, tag="denied"):
    """The gate or the user refused it."""

    reason: str
    by_user: bool = False
    unanswered: bool = False
    """It would have asked, and there was nobody to ask."""


class Corrected(_Outcome, frozen=True, tag="corrected"):
    """The user refused it and said what to do instead."""

    words: str


class Cancelled(_Outcome, frozen=True, tag="cancelled"):
    """The run was stopped before or while the tool ran."""

    reason: str = "stopped by the user"
    partial: str = ""
    """What the tool had produced by then."""


Outcome: TypeAlias = Done | Failed | Denied | Corrected | Cancelled


def text_content(text: str) -> tuple[ResultBlock, ...]:
    """The content of a result that is only text."""
    return (Text(text),)


def _sandbox_denied(denied: SandboxDenied) -> str:
    """What the model is told of one thing that the sandbox kept a command from: typed, not a switch."""
    fact = msgspec.json.encode(denied).decode()
    return f"\n[sandbox_denied{fact}: only the user can allow this, and did not]"


def result_content(outcome: Outcome) -> tuple[tuple[ResultBlock, ...], bool]:
    """What the model is told of an outcome, and whether it counts as an error."""
    match outcome:
        case Done(content=content):
            return content, False
        case Failed(message=message, denied=denied):
            return text_content("".join((message, *map(_sandbox_denied, denied)))), True
        case Denied(reason=reason, by_user=by_user):
            who = "The user refused this call" if by_user else "This call was not allowed"
            return text_content(f"{who}: {reason}" if reason else f"{who}."), True
        case Corrected(words=words):
            said = f"The user refused this call and said: {words}"
            return text_content(said), True
        case Cancelled(reason=reason, partial=partial):
            tail = f"\nOutput until then:\n{partial}" if partial else ""
            return text_content(f"Not finished: {reason}.{tail}"), True
        case _:
            assert_never(outcome)
