"""Entry: everything a session's journal may hold. All of them are listed here.

The journal is append-only; what the model sees is a projection of it. A record is an entry with its
place in the session's tree. Entries keep loading for ever: a field is added with a default, a type
is never reused for another meaning, and `VERSION` is raised (with a migration in `sessions`) when
that is not enough.
"""

from typing import TypeAlias

import msgspec

from hame.base.errors import Failure
from hame.base.memory import CacheReading, Constraint, KeptWords
from hame.base.message import Assistant, Note, ToolCall, User
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
    forked_from: str = ""
    """Id of the session it was copied from."""
    imported: bool = False
    """It came from a file: what it says of models is not the user's choice."""


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


class ResultsElided(_Entry, frozen=True, tag="results_elided"):
    """From here on the model sees a stub in place of these results; the journal keeps them whole."""

    stubs: dict[str, str]
    """By call id: the words that stand in place of its result."""
    arguments: tuple[str, ...] = ()
    """Calls whose long arguments are shown cut."""
    pictures: bool = False
    """Pictures and documents of everything before are left out too."""
    tokens_before: int = 0
    tokens_after: int = 0


class HistoryCompacted(_Entry, frozen=True, tag="history_compacted"):
    """From here on the model sees this in place of the history, and after it the last `kept` entries.

    It holds everything the model is still to know of what came before, so that a session can be read
    from here on.
    """

    summary: str
    kept: int
    """Entries directly before this one that are still shown as they are."""
    notes: tuple[Note, ...] = ()
    """The opening notes of the session."""
    words: tuple[KeptWords, ...] = ()
    """What the user said before, oldest first."""
    words_left_out: int = 0
    """Older messages of the user's that are not among them."""
    constraints: tuple[Constraint, ...] = ()
    """The demands that hold."""
    taken_back: tuple[str, ...] = ()
    """Demands that hold no more though they stand among the words; the latest last."""
    stubs: dict[str, str] = {}
    """Stubs that stand, as before, in place of results among the entries that are still shown."""
    arguments: tuple[str, ...] = ()
    """Calls among them whose long arguments are, as before, shown cut."""
    focus: str = ""
    by_model: bool = False
    """The summary is the model's; otherwise it was made from the journal."""
    tokens_before: int = 0
    tokens_after: int = 0
    usage: Usage | None = None
    """Of the request that made the summary."""


class ConstraintAdded(_Entry, frozen=True, tag="constraint_added"):
    """A demand of the user's holds from here on."""

    constraint: Constraint


class ConstraintRemoved(_Entry, frozen=True, tag="constraint_removed"):
    """A demand holds no more."""

    id: str


class CacheRead(_Entry, frozen=True, tag="cache_read"):
    """What the provider's cache did for one request."""

    reading: CacheReading


class LabelSet(_Entry, frozen=True, tag="label_set"):
    """A record has this name for people; an empty label takes it away."""

    record: str
    label: str


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
    | ResultsElided
    | HistoryCompacted
    | ConstraintAdded
    | ConstraintRemoved
    | CacheRead
    | LabelSet
)


class Record(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of a journal: an entry and its place in the tree."""

    id: str
    parent: str | None
    at: float
    """Unix time in seconds."""
    entry: Entry
    v: int = VERSION
