"""Entries of the journal in, messages for the model out.

The projection only grows while the journal only grows, so the messages sent once stay the same
objects: a codec may remember what it wrote for each, and the provider's cache keeps its prefix. Only
two entries change what was shown before, `ResultsElided` and `HistoryCompacted`; the journal itself is
never rewritten.
"""

from collections import deque
from collections.abc import Callable, Sequence
from itertools import islice
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
from hame.base.kinds import KnowsKinds, places
from hame.base.memory import KeptWords
from hame.base.message import Assistant, Message, Note, ToolCall, ToolResult, ToolResults, User
from hame.base.outcome import Cancelled, Outcome, result_content
from hame.context.remembered import Remembered, newest_within
from hame.context.stubs import cut_arguments, stubbed_results, without_pictures
from hame.context.summary import summary_message, summary_without_model
from hame.context.tokens import BYTES_PER_TOKEN, message_bytes, message_tokens

LEAST_SCALE, MOST_SCALE = 0.4, 2.5
"""What is believed of a provider's count beside hame's own estimate."""
MOST_MESSAGES = 40_000
MOST_BYTES = 32 * 1024 * 1024
"""Of the view, more than any model takes. What is older is left out, so that a session of any size is
gone on with in bounded memory."""
_NARROW_BYTES, _NARROW_TOKENS, _NARROW_SHARE = 40_000, 2_000, 0.2
"""Of the user's words, and of the summary, that stand for what is left out; the words' share at most."""
_SHOWN = (UserSaid, ModelAnswered, AnswerInterrupted, NoteAdded, CallSettled)
_DEMANDS = (ConstraintAdded, ConstraintRemoved)


class Shown(msgspec.Struct, frozen=True):
    """One message of the view."""

    message: Message
    size: int
    """Tokens, estimated."""
    entry: int
    """Place in the branch of the entry it began with; -1 for a summary."""
    whole: bool
    """No call was open when it began: what comes before it can be left out."""
    weight: int = 0
    """Bytes of memory, about."""


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
        self.frame: Callable[[], int] | None = None
        """Measures what goes with every request, in estimated tokens; None as long as that is not known."""
        self._overhead: int | None = None
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
        self._weight = 0
        self._named: dict[str, list[int]] = {}
        """Where in the view each call, and its result, is."""
        self.measured: Measured | None = None
        """None when the view has changed since the provider counted."""
        self.remembered = Remembered()

    @property
    def overhead(self) -> int:
        """Tokens, estimated, of what goes with every request: the system prompt and the tools."""
        if self._overhead is None and self.frame is not None:
            self._overhead = self.frame()
        return self._overhead or 0

    def reframe(self, frame: Callable[[], int]) -> None:
        """Something else goes with every request from now on; it is measured when that is needed."""
        self.frame, self._overhead = frame, None

    def read(self, entries: Sequence[Entry]) -> None:
        """Take what was appended; another sequence of entries starts over."""
        if entries is not self._source or len(entries) < self._read:
            self._begin(entries)
            self._read = self._skip(entries)
        for index in range(self._read, len(entries)):
            entry = entries[index]
            self._add(index, entry)
            self.remembered.add(index, entry)
            self._read = index + 1
            if self._weight > MOST_BYTES or len(self.shown) > MOST_MESSAGES:
                self._lighten()

    def forget(self) -> None:
        """Read all over when something is to be read."""
        self._source = None

    def narrow(self, stale: ResultsElided, size: int) -> None:
        """Show less for now, whatever the journal says: without what is stale, then only the latest.

        `size` is in tokens, estimated. It holds until `forget`, or until a summary is read.
        """
        self._elide(stale)
        if self.size > size:
            kept = min(int(size * BYTES_PER_TOKEN * _NARROW_SHARE), _NARROW_BYTES)
            self._drop_before(self._latest(size, len(self.shown)), kept)

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
    def estimated(self) -> int:
        """Tokens of the next request that no provider has counted yet."""
        if self.measured is None:
            return self.scaled(self.overhead + self.size)
        return max(self.scaled(self.size - self.measured.size), 0)

    def count(self, tokens: int) -> None:
        """The provider counts so many tokens for the next request as it is now."""
        self._set_scale(tokens, self.overhead + self.size)
        self.measured = Measured(tokens, self.size)

    @property
    def has_pictures(self) -> bool:
        """Whether pictures or documents are shown before the last message."""
        return any(without_pictures(each) is not each for each in self._messages[:-1])

    def scaled(self, size: int) -> int:
        """Tokens the provider would count for an estimate."""
        return int(size * self.scale)

    def unscaled(self, tokens: int) -> int:
        """The estimate of what the provider would count as so many tokens."""
        return int(tokens / self.scale)

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
        weight = message_bytes(message, size)
        nothing_open = not self._calls if whole is None else whole
        self.shown.append(Shown(message, size, index, nothing_open, weight))
        for call in _calls_of(message):
            self._named.setdefault(call, []).append(len(self._messages))
        self._messages.append(message)
        self.size += size
        self._weight += weight

    def _answered(self, index: int, message: Assistant) -> None:
        shown = self.size
        self._show(index, cut_arguments(message, self._cut), whole=True)
        self._calls, self._outcomes, self._results_from = message.calls, {}, -1
        usage = message.usage
        if usage is None or not usage.input_total:
            return
        if self.frame is not None:
            self._set_scale(usage.input_total, self.overhead + shown)
        self.measured = Measured(usage.input_total + usage.output, self.size)

    def _set_scale(self, tokens: int, estimate: int) -> None:
        if estimate:
            self.scale = min(max(tokens / estimate, LEAST_SCALE), MOST_SCALE)

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

    # ------------------------------------------------------------ bounds

    def _skip(self, entries: Sequence[Entry]) -> int:
        """The place to begin to read at, where not all entries are in memory.

        A summary holds all that is still to be known of what came before what it has kept. Where there
        is none, no more messages are read than any model takes.
        """
        if not isinstance(entries, KnowsKinds) or entries.held:
            return 0
        place = entries.last_place((HistoryCompacted,))
        if place >= 0:
            last = entries[place]
            start = place - last.kept if isinstance(last, HistoryCompacted) else place
        else:
            start = self._first_of_many(entries)
        if start <= 0:
            return 0
        for demand in entries.places(_DEMANDS):
            if demand < start:
                self.remembered.add(demand, entries[demand])
        if place < 0:
            self._leave_out(entries, start)
        return start

    def _first_of_many(self, entries: KnowsKinds) -> int:
        """The place of the first message that is read where there are too many; else 0."""
        shown = deque(enumerate(entries.places(_SHOWN), 1), maxlen=MOST_MESSAGES // 2)
        if not shown or shown[-1][0] <= MOST_MESSAGES:
            return 0
        return next(entries.places((UserSaid, ModelAnswered), shown[0][1]), 0)

    def _leave_out(self, entries: Sequence[Entry], start: int) -> None:
        """Begin the view at that place: what came before is only counted."""
        said = [place for place in places(entries, (UserSaid,)) if place < start]
        if said:
            self.remembered.add(said[0], entries[said[0]])
            self.remembered.said.clear()
        self.remembered.left_out = len(said)
        self._put_summary(start, start, ())

    def _lighten(self) -> None:
        """The view is more than any model takes: pictures go first, then the oldest messages."""
        for place in range(len(self.shown) - 1):
            if self._weight <= MOST_BYTES // 2:
                break
            message = without_pictures(self.shown[place].message)
            if message is not self.shown[place].message:
                self._replace(place, message)
        if self._weight > MOST_BYTES // 2 or len(self.shown) > MOST_MESSAGES // 2:
            share = MOST_BYTES // 2 * self.size // max(self._weight, 1)
            self._drop_before(self._latest(share, MOST_MESSAGES // 2), _NARROW_BYTES)

    def _latest(self, size: int, count: int) -> int:
        """The place in the branch from which on the messages are about so large and so many."""
        first = self._read
        for shown in islice(reversed(self.shown), count):
            size -= shown.size
            if shown.entry < 0 or (size < 0 and first < self._read):
                break
            if shown.whole and not isinstance(shown.message, ToolResults):
                first = shown.entry
        return first

    def _drop_before(self, first: int, size: int) -> None:
        """Begin the view at that place of the branch, with a summary of hame's own before it."""
        remembered = self.remembered
        gone = [said for said in remembered.said if said.entry < first]
        words, left_out = newest_within(gone, size)
        remembered.left_out += left_out
        self._put_summary(self._read, first, tuple(words))

    def _put_summary(self, index: int, first: int, words: tuple[KeptWords, ...]) -> None:
        remembered = self.remembered
        stubs, arguments = self.left_out_from(first)
        entry = HistoryCompacted(
            summary=summary_without_model(remembered, _NARROW_TOKENS),
            kept=index - first,
            notes=remembered.notes,
            words=words,
            words_left_out=remembered.left_out,
            constraints=tuple(remembered.constraints.values()),
            taken_back=remembered.taken_back_in(words),
            stubs=stubs,
            arguments=arguments,
        )
        self._compact(index, entry)
        remembered.add(index, entry)

    # ------------------------------------------------------------ shortening

    def _elide(self, entry: ResultsElided) -> None:
        self._stubs.update(entry.stubs)
        self._cut.update(entry.arguments)
        named = (self._named.get(call, ()) for call in (*entry.stubs, *entry.arguments))
        meant = {place for found in named for place in found}
        for place in range(len(self.shown)) if entry.pictures else sorted(meant):
            shown = self.shown[place].message
            message = self._elided(shown) if place in meant else shown
            if entry.pictures and place < len(self.shown) - 1:
                message = without_pictures(message)
            if message is not shown:
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
        old, size = self.shown[place], message_tokens(message)
        weight = message_bytes(message, size)
        self.size += size - old.size
        self._weight += weight - old.weight
        self.shown[place] = replace(old, message=message, size=size, weight=weight)
        self._messages[place] = message
        self.measured = None

    def _compact(self, index: int, entry: HistoryCompacted) -> None:
        """Begin anew with the summary, then the entries that stay."""
        source = self._source or ()
        self.shown, self._messages, self.size, self._weight = [], [], 0, 0
        self._named = {}
        self._calls, self._outcomes, self._results_from = (), {}, -1
        self._stubs, self._cut = dict(entry.stubs), set(entry.arguments)
        self._show(-1, summary_message(entry), whole=True)
        scale = self.scale
        for place in range(max(0, index - entry.kept), index):
            kept = source[place]
            if not isinstance(kept, HistoryCompacted | ResultsElided):
                self._add(place, kept)
        self.scale, self.measured = scale, None


def _calls_of(message: Message) -> list[str]:
    """The ids of the calls that a message asks for or has the results of."""
    match message:
        case Assistant():
            return [call.id for call in message.calls]
        case ToolResults(results=results):
            return [result.call_id for result in results]
        case User():
            return []
