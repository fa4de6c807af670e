"""Questions to the user, and their answers. Plain data; an answer goes back by the question's id."""

from enum import StrEnum

import msgspec

from hame.base.outcome import View


class Choice(StrEnum):
    """What a user may answer when asked whether a call may run."""

    ONCE = "once"
    SESSION = "session"
    ALWAYS = "always"
    OUTSIDE = "outside"
    """This one command, this once, outside the sandbox."""
    NO = "no"


class Question(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something only the user can decide."""

    id: str
    title: str
    """One line: what is to happen."""
    detail: str = ""
    """The real thing: the whole command, the resolved target."""
    view: View | None = None
    reason: str = ""
    """Why it is asked."""
    call_id: str | None = None
    tool: str = ""
    source: str = ""
    """Who contributes the tool; empty for hame's own."""
    choices: tuple[str, ...] = (Choice.ONCE, Choice.SESSION, Choice.NO)
    free_text: bool = True
    """Words may be sent instead of a choice."""
    grant: str = ""
    """What `session` or `always` would cover, in words."""
    extent: str = ""
    """How far it may reach when it runs: confined to what, or not at all."""
    loss: str = ""
    """What would be destroyed, counted: `discards changes: 3 modified files, 2 untracked`."""
    rules: tuple[str, ...] = ()
    """The rules that `always` would write, one line each."""
    expires_s: float | None = None
    """Seconds after which no answer counts as no; None: it waits for ever."""


class Answer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The user's answer: one of the question's choices, or words."""

    choice: str = ""
    words: str = ""
