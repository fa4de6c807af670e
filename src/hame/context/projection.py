"""Entries of the journal in, messages for the model out.

The projection only grows while the journal only grows, so the messages sent once stay the same
objects: a codec may remember what it wrote for each, and the provider's cache keeps its prefix. Only
two entries change what was shown before, `ResultsElided` and `HistoryCompacted`; the journal itself is
never rewritten.
"""

from collections.abc import Sequence
from typing import assert_never

import msgspec
from msgspec.structs import replace

from hame.base.entry import (
    AnswerAbandoned,
    AnswerInterrupted,
    CacheRead,
    CallSettled,
    ConstraintAdded,
    ConstraintRemoved,
    Entry,
    HistoryCompacted,
    LabelSet,
    ModeChosen,
    ModelAnswered,
    ModelChosen,
    NoteAdded,
    OutcomesLost,
    QuestionSettled,
    ResultsElided,
    Rewound,
    RunFinished,
    SessionStarted,
    TitleSet,
    UserSaid,
)
from hame.base.message import Assistant, Message, Note, ToolCall, ToolResult, ToolResults, User
from hame.base.outcome import Cancelled, Outcome, result_content
from hame.context.remembered import Remembered
from hame.context.stubs import cut_arguments, stubbed_results, without_pictures
from hame.context.summary import summary_message
from hame.context.tokens import message_tokens

LEAST_SCALE, MOST_SCALE = 0.4, 2.5
"""What is believed of a provider's count beside hame's own estimate."""


class Shown(msgspec.Struct, frozen=True):
    """One message of the view."""

    message: Message
    size: int
    """Tokens, estimated."""
    entry: int
    """Place in the branch of the entry it began with; -1 for a summary."""
    whole: bool
    """No call was open when it began: what comes before it can be left out."""


class Measured(msgspec.Struct, frozen=True):
    """What the provider counted last."""

    tokens: int
    """Of the request and its answer together."""
    size: int
    """The estimate of the same messages."""


class Projection:
    """What the model sees of one session; it remembers how far it has read."""

    def __init__(self) -> None:
        """Nothing has been read."""
        self.overhead = 0
        """Tokens, estimated, of what goes with every request: the system prompt and the tools."""
        self.scale = 1.0
        """Tokens the provider counts for one that hame estimates."""
        self._begin(None)

    def _begin(self, source: Sequence[Entry] | None) -> None:
        self._source = source
        self._read = 0
        self._calls: tuple[ToolCall, ...] = ()
        self._outcomes: dict[str, Outcome] = {}
        self._results_from = -1
        self._stubs: dict[str, str] = {}
        self._cut: set[str] = set()
        self._messages: list[Message] = []
        self.shown: list[Shown] = []
        self.size = 0
        """Tokens, estimated, of all messages."""
        self.measured: Measured | None = None
        """None when the view has changed since the provider counted."""
        self.remembered = Remembered()

    def read(self, entries: Sequence[Entry]) -> None:
        """Take what was appended; another sequence of entries starts over."""
        if entries is not self._source or len(entries) < self._read:
            self._begin(entries)
        for index in range(self._read, len(entries)):
            entry = entries[index]
            self._add(index, entry)
            self.remembered.add(index, entry)
        self._read = len(entries)

    @property
    def messages(self) -> tuple[Message, ...]:
        """All messages of the view."""
        return tuple(self._messages)

    @property
    def tokens(self) -> int:
        """Tokens of the next request: the provider's count and what came since, else an estimate."""
        estimate = self.scale * (self.overhead + self.size)
        if self.measured is None:
            return int(estimate)
        since = self.measured.tokens + self.scale * (self.size - self.measured.size)
        return int(max(since, estimate * LEAST_SCALE))

    @property
    def has_pictures(self) -> bool:
        """Whether pictures or documents are shown before the last message."""
        return any(without_pictures(each) is not each for each in self._messages[:-1])

    def scaled(self, size: int) -> int:
        """Tokens the provider would count for an estimate."""
        return int(size * self.scale)

    def left_out_from(self, entry: int) -> tuple[dict[str, str], tuple[str, ...]]:
        """Stubs, and calls with cut arguments, in the view from that place of the branch on."""
        stubs: dict[str, str] = {}
        cut: list[str] = []
        for shown in self.shown:
            match shown.message:
                case ToolResults(results=results) if shown.entry >= entry:
                    ids = (result.call_id for result in results)
                    stubs |= {name: self._stubs[name] for name in ids if name in self._stubs}
                case Assistant() as answer if shown.entry >= entry:
                    cut += [call.id for call in answer.calls if call.id in self._cut]
                case _:
                    pass
        return stubs, tuple(cut)

    # ------------------------------------------------------------ reading

    def _add(self, index: int, entry: Entry) -> None:
        match entry:
            case UserSaid(message=message):
                self._show(index, message)
            case ModelAnswered(message=message):
                self._answered(index, message)
            case AnswerInterrupted(message=message):
                self._show(index, message)
            case CallSettled(call_id=call_id, outcome=outcome):
                self._settle(index, call_id, outcome)
            case OutcomesLost(calls=calls):
                for call in calls:
                    lost = Cancelled(reason="hame was ended before it was done")
                    self._settle(index, call.id, lost)
            case NoteAdded(text=text, source=source):
                self._show(index, User((Note(text, source),)))
            case ResultsElided():
                self._elide(entry)
            case HistoryCompacted():
                self._compact(index, entry)
            case (
                SessionStarted()
                | AnswerAbandoned()
                | QuestionSettled()
                | ModelChosen()
                | ModeChosen()
                | TitleSet()
                | RunFinished()
                | Rewound()
                | ConstraintAdded()
                | ConstraintRemoved()
                | CacheRead()
                | LabelSet()
            ):
                pass
            case _:
                assert_never(entry)

    def _show(self, index: int, message: Message, *, whole: bool | None = None) -> None:
        size = message_tokens(message)
        nothing_open = not self._calls if whole is None else whole
        self.shown.append(Shown(message, size, index, nothing_open))
        self._messages.append(message)
        self.size += size

    def _answered(self, index: int, message: Assistant) -> None:
        before = self.overhead + self.size
        self._show(index, cut_arguments(message, self._cut), whole=True)
        self._calls, self._outcomes, self._results_from = message.calls, {}, -1
        usage = message.usage
        if usage is None or not usage.input_total:
            return
        if before:
            self.scale = min(max(usage.input_total / before, LEAST_SCALE), MOST_SCALE)
        self.measured = Measured(usage.input_total + usage.output, self.size)

    def _settle(self, index: int, call_id: str, outcome: Outcome) -> None:
        """Results enter as one message, once the last of an answer's calls is settled."""
        if all(call.id != call_id for call in self._calls):
            return  # Its answer is not shown.
        if self._results_from < 0:
            self._results_from = index
        self._outcomes[call_id] = outcome
        if any(call.id not in self._outcomes for call in self._calls):
            return
        results = ToolResults(tuple(self._result(call) for call in self._calls))
        start = self._results_from
        self._calls, self._outcomes, self._results_from = (), {}, -1
        self._show(start, stubbed_results(results, self._stubs), whole=False)

    def _result(self, call: ToolCall) -> ToolResult:
        content, is_error = result_content(self._outcomes[call.id])
        return ToolResult(call_id=call.id, name=call.name, content=content, is_error=is_error)

    # ------------------------------------------------------------ shortening

    def _elide(self, entry: ResultsElided) -> None:
        self._stubs.update(entry.stubs)
        self._cut.update(entry.arguments)
        for place, shown in enumerate(self.shown):
            message = self._elided(shown.message)
            if entry.pictures and place < len(self.shown) - 1:
                message = without_pictures(message)
            if message is not shown.message:
                self._replace(place, message)

    def _elided(self, message: Message) -> Message:
        match message:
            case Assistant():
                return cut_arguments(message, self._cut)
            case ToolResults():
                return stubbed_results(message, self._stubs)
            case User():
                return message

    def _replace(self, place: int, message: Message) -> None:
        size = message_tokens(message)
        self.size += size - self.shown[place].size
        self.shown[place] = replace(self.shown[place], message=message, size=size)
        self._messages[place] = message
        self.measured = None

    def _compact(self, index: int, entry: HistoryCompacted) -> None:
        """Begin anew with the summary, then the entries that stay."""
        source = self._source or ()
        self.shown, self._messages, self.size = [], [], 0
        self._calls, self._outcomes, self._results_from = (), {}, -1
        self._stubs, self._cut = dict(entry.stubs), set(entry.arguments)
        self._show(-1, summary_message(entry), whole=True)
        scale = self.scale
        for place in range(max(0, index - entry.kept), index):
            kept = source[place]
            if not isinstance(kept, HistoryCompacted | ResultsElided):
                self._add(place, kept)
        self.scale, self.measured = scale, None
