"""Entry: everything a session's journal may hold. All of them are listed here.

The journal is append-only; what the model sees is a projection of it. A record is an entry with its
place in the session's tree. Entries keep loading for ever: a field is added with a default, a type
is never reused for another meaning, and `VERSION` is raised (with a migration in `sessions`) when
that is not enough.
"""

from typing import TypeAlias

import msgspec

from hame.base.errors import Failure
from hame.base.message import Assistant, ToolCall, User
from hame.base.model import Usage
from hame.base.outcome import Outcome
from hame.base.question import Answer
from hame.base.run import RunResult

VERSION = 1


class _Entry(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", omit_defaults=True):
    """Base of all entries."""


class SessionStarted(_Entry, frozen=True, tag="session_started"):
    """First entry of every session."""

    session: str
    cwd: str
    """Real path of the project."""
    hame: str
    """Version of hame that wrote it."""
    title: str = ""


class UserSaid(_Entry, frozen=True, tag="user_said"):
    """The user's message, a steering message included, with the notes added to it."""

    message: User
    steering: bool = False


class ModelAnswered(_Entry, frozen=True, tag="model_answered"):
    """One whole answer."""

    message: Assistant


class AnswerAbandoned(_Entry, frozen=True, tag="answer_abandoned"):
    """An answer that broke; kept for people, never shown to a model."""

    message: Assistant
    failure: Failure


class AnswerInterrupted(_Entry, frozen=True, tag="answer_interrupted"):
    """The words of an answer the user stopped; shown to the model as they stand."""

    message: Assistant


class CallSettled(_Entry, frozen=True, tag="call_settled"):
    """The outcome of one call of the answer before it."""

    call_id: str
    name: str
    outcome: Outcome
    seconds: float = 0.0


class NoteAdded(_Entry, frozen=True, tag="note_added"):
    """Words of the harness that the model gets as a message (a nudge, a change of mode)."""

    text: str
    source: str


class QuestionSettled(_Entry, frozen=True, tag="question_settled"):
    """What was asked and what was answered."""

    question: str
    title: str
    answer: Answer | None
    """None: withdrawn or not answered."""


class ModelChosen(_Entry, frozen=True, tag="model_chosen"):
    """From here on this model is asked."""

    model: str


class ModeChosen(_Entry, frozen=True, tag="mode_chosen"):
    """From here on this permission mode holds."""

    mode: str


class TitleSet(_Entry, frozen=True, tag="title_set"):
    """The session's name for people."""

    title: str


class RunFinished(_Entry, frozen=True, tag="run_finished"):
    """A run ended."""

    result: RunResult
    usage: Usage
    steps: int
    cost_usd: float | None = None


class OutcomesLost(_Entry, frozen=True, tag="outcomes_lost"):
    """Calls that had no outcome when the session was opened again (the process was killed)."""

    calls: tuple[ToolCall, ...]


class Rewound(_Entry, frozen=True, tag="rewound"):
    """The conversation was taken back, or forward, to the record before this one in its branch."""

    left: str
    """Id of the last record of the branch that was left; it stays in the file."""


Entry: TypeAlias = (
    SessionStarted
    | UserSaid
    | ModelAnswered
    | AnswerAbandoned
    | AnswerInterrupted
    | CallSettled
    | NoteAdded
    | QuestionSettled
    | ModelChosen
    | ModeChosen
    | TitleSet
    | RunFinished
    | OutcomesLost
    | Rewound
)


class Record(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of a journal: an entry and its place in the tree."""

    id: str
    parent: str | None
    at: float
    """Unix time in seconds."""
    entry: Entry
    v: int = VERSION
