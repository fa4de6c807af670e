"""Entries of the journal in, messages for the model out.

The projection only grows while the journal only grows, so the messages sent once stay the same
objects: a codec may remember what it wrote for each, and the provider's cache keeps its prefix.
Shortening a history that no longer fits is not built yet: a full window ends the run with an error
that says so.
"""

from collections.abc import Sequence
from typing import assert_never

from hame.base.entry import (
    AnswerAbandoned,
    AnswerInterrupted,
    CallSettled,
    Entry,
    ModeChosen,
    ModelAnswered,
    ModelChosen,
    NoteAdded,
    OutcomesLost,
    QuestionSettled,
    Rewound,
    RunFinished,
    SessionStarted,
    TitleSet,
    UserSaid,
)
from hame.base.message import Message, Note, ToolCall, ToolResult, ToolResults, User
from hame.base.model import ModelFacts
from hame.base.outcome import Cancelled, Outcome, result_content


class Projection:
    """Implements the Context port. One per session: it remembers how far it has read."""

    def __init__(self) -> None:
        """Nothing has been read."""
        self._source: Sequence[Entry] | None = None
        self._read = 0
        self._messages: list[Message] = []
        self._calls: tuple[ToolCall, ...] = ()
        self._outcomes: dict[str, Outcome] = {}

    async def fit(self, entries: Sequence[Entry], facts: ModelFacts) -> tuple[Message, ...]:
        """All messages of the history, in order."""
        del facts  # the window is not measured yet
        if entries is not self._source or len(entries) < self._read:
            self.__init__()
            self._source = entries
        for index in range(self._read, len(entries)):
            self._add(entries[index])
        self._read = len(entries)
        return tuple(self._messages)

    def _add(self, entry: Entry) -> None:
        match entry:
            case UserSaid(message=message):
                self._messages.append(message)
            case ModelAnswered(message=message):
                self._messages.append(message)
                self._calls, self._outcomes = message.calls, {}
            case AnswerInterrupted(message=message):
                self._messages.append(message)
            case CallSettled(call_id=call_id, outcome=outcome):
                self._settle(call_id, outcome)
            case OutcomesLost(calls=calls):
                for call in calls:
                    self._settle(call.id, Cancelled(reason="hame was ended before it was done"))
            case NoteAdded(text=text, source=source):
                self._messages.append(User((Note(text, source),)))
            case (
                SessionStarted()
                | AnswerAbandoned()
                | QuestionSettled()
                | ModelChosen()
                | ModeChosen()
                | TitleSet()
                | RunFinished()
                | Rewound()
            ):
                pass
            case _:
                assert_never(entry)

    def _settle(self, call_id: str, outcome: Outcome) -> None:
        """Results enter as one message, once the last of an answer's calls is settled."""
        self._outcomes[call_id] = outcome
        if any(call.id not in self._outcomes for call in self._calls):
            return
        self._messages.append(ToolResults(tuple(self._result(call) for call in self._calls)))
        self._calls, self._outcomes = (), {}

    def _result(self, call: ToolCall) -> ToolResult:
        content, is_error = result_content(self._outcomes[call.id])
        return ToolResult(call_id=call.id, name=call.name, content=content, is_error=is_error)
