"""RunEvent: everything a run may tell a surface. All of them are listed here.

Plain data: no futures, callbacks or widgets. Surfaces match on these and on nothing else; answers to
questions go back through the runtime by id. `seq` grows by one within a session as the surface sees
it; `run` names the run, `parent` the run that started it (sub-agents).
"""

from typing import TypeAlias

import msgspec

from hame.base.errors import Failure
from hame.base.json import JsonObject
from hame.base.message import Assistant
from hame.base.model import Usage
from hame.base.outcome import Outcome
from hame.base.question import Answer, Question
from hame.base.run import RunResult


class _RunEvent(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", omit_defaults=True):
    """Base of all run events."""

    run: str = ""
    seq: int = 0
    parent: str | None = None


class RunStarted(_RunEvent, frozen=True, tag="run_started"):
    """A prompt was taken and journalled."""

    session: str
    model: str
    """`backend/model`."""
    mode: str
    prompt: str
    sandbox: str = "none"


class StepStarted(_RunEvent, frozen=True, tag="step_started"):
    """The model is being asked, for the `step`-th time in this run, from 1."""

    step: int


class TextDelta(_RunEvent, frozen=True, tag="text_delta"):
    """More words of the answer."""

    text: str


class ThinkingDelta(_RunEvent, frozen=True, tag="thinking_delta"):
    """More words of the reasoning."""

    text: str


class CallProposed(_RunEvent, frozen=True, tag="call_proposed"):
    """The model has begun to ask for a tool; its arguments are still arriving."""

    call: str
    tool: str


class AnswerCompleted(_RunEvent, frozen=True, tag="answer_completed"):
    """One whole answer of the model has been journalled."""

    message: Assistant


class AnswerAbandoned(_RunEvent, frozen=True, tag="answer_abandoned"):
    """An answer broke midway; it is kept aside and the step is asked again or the run ends."""

    failure: Failure
    again: bool


class CallStarted(_RunEvent, frozen=True, tag="call_started"):
    """A call passed validation and is being decided or run."""

    call: str
    tool: str
    title: str
    """The tool's name for eyes."""
    summary: str
    """One line: what this call does."""
    arguments: JsonObject = {}


class CallProgress(_RunEvent, frozen=True, tag="call_progress"):
    """A running call has more to show (lines of a command's output)."""

    call: str
    text: str


class CallSettled(_RunEvent, frozen=True, tag="call_settled"):
    """A call has its outcome."""

    call: str
    tool: str
    outcome: Outcome
    seconds: float = 0.0


class QuestionAsked(_RunEvent, frozen=True, tag="question_asked"):
    """The user is to decide; answer with the question's id."""

    question: Question


class QuestionAnswered(_RunEvent, frozen=True, tag="question_answered"):
    """A question has its answer."""

    question: str
    answer: Answer


class QuestionWithdrawn(_RunEvent, frozen=True, tag="question_withdrawn"):
    """A question need not be answered any more."""

    question: str
    reason: str


class FilesChanged(_RunEvent, frozen=True, tag="files_changed"):
    """Files changed on disk through hame."""

    paths: tuple[str, ...]


class UsageUpdated(_RunEvent, frozen=True, tag="usage_updated"):
    """Usage of the run so far; `cost_usd` None is unknown."""

    usage: Usage
    step_usage: Usage
    cost_usd: float | None = None
    step_cost_usd: float | None = None
    context_tokens: int | None = None
    """Tokens of the last request and answer together: what fills the window."""


class WaitStarted(_RunEvent, frozen=True, tag="wait_started"):
    """The run waits before it asks again; it can be stopped meanwhile."""

    seconds: float
    failure: Failure
    attempt: int


class SteeringTaken(_RunEvent, frozen=True, tag="steering_taken"):
    """A message sent during the run was delivered to the model."""

    text: str


class ModeChanged(_RunEvent, frozen=True, tag="mode_changed"):
    """The permission mode changed."""

    mode: str


class Compacted(_RunEvent, frozen=True, tag="compacted"):
    """The model's view of the history was shortened."""

    tokens_before: int
    tokens_after: int
    summary: str = ""


class ConstraintChanged(_RunEvent, frozen=True, tag="constraint_changed"):
    """A demand of the user's was added to, or taken from, the ledger."""

    text: str
    added: bool = True


class Notice(_RunEvent, frozen=True, tag="notice"):
    """Something worth a line: a limit that bit, a file set aside, a nudge."""

    text: str
    level: str = "info"
    """`info`, `warning` or `error`."""


class RunEnded(_RunEvent, frozen=True, tag="run_ended"):
    """The run is over; always the last event of a run."""

    result: RunResult
    usage: Usage
    steps: int
    seconds: float
    cost_usd: float | None = None
    refused: int = 0
    """Calls that were refused because nobody was there to answer."""


RunEvent: TypeAlias = (
    RunStarted
    | StepStarted
    | TextDelta
    | ThinkingDelta
    | CallProposed
    | AnswerCompleted
    | AnswerAbandoned
    | CallStarted
    | CallProgress
    | CallSettled
    | QuestionAsked
    | QuestionAnswered
    | QuestionWithdrawn
    | FilesChanged
    | UsageUpdated
    | WaitStarted
    | SteeringTaken
    | ModeChanged
    | Compacted
    | ConstraintChanged
    | Notice
    | RunEnded
)
