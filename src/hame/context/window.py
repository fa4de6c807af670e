"""Window: keeps what the model sees within what it can take. Implements the Context port.

Results that are too large are kept aside when they come. When the view passes the high-water mark, old
results are left out in one batch, down to the low one. When that is not enough, the history before the
last steps is replaced by a summary; if the model cannot make one, by one made from the journal. Each
shortening is an entry of the journal; nothing that was written is changed.
"""

from collections.abc import Sequence
from operator import is_

import msgspec

from hame.base.entry import Entry, HistoryCompacted, ResultsElided
from hame.base.errors import ErrorKind
from hame.base.memory import Constraint, KeptWords, Shortened, WindowReport
from hame.base.message import Assistant, Message, StopReason, ToolResults, User
from hame.base.model import ModelFacts, ToolSupport, Usage
from hame.base.outcome import Outcome
from hame.base.ports import AskModel, Blobs, WriteEntry
from hame.base.tool import ToolSpec
from hame.context.demands import Demands
from hame.context.elision import Candidates, find_stale, stubs_for
from hame.context.projection import Projection
from hame.context.remembered import Remembered, newest_within
from hame.context.report import describe_window, frame_tokens
from hame.context.spill import spill_message, spill_outcome
from hame.context.summary import (
    Written,
    ask_for_summary,
    read_summary,
    summary_message,
    summary_without_model,
)
from hame.context.tokens import BYTES_PER_TOKEN, message_tokens, text_tokens

ASSUMED_WINDOW = 128_000
"""Tokens, where nothing is known; an overflow teaches better."""
HIGH_WATER, LOW_WATER = 0.70, 0.35
"""Shares of the window between which old results are left out in one batch."""
SUMMARISE_AT = 0.75
"""Share of the window at which the history is summarised."""
ASK_AT_MOST, NARROW_SHARE = 0.97, 0.6
"""Share of the window above which the model is shown less for a summary, and what it is shown then."""
PROTECTED_SHARE, PROTECTED_MOST = 0.12, 24_000
"""Of the window, and in tokens: the latest part, which is not touched."""
WORDS_SHARE, WORDS_MOST = 0.10, 20_000
"""Of the window, and in tokens: the user's words that are kept."""
SUMMARY_SHARE, SUMMARY_LEAST, SUMMARY_MOST = 0.06, 400, 4_000
LEAST_WINDOW = 2_000
"""Tokens; no overflow teaches that a model takes fewer."""
WORTH_SHARE = 0.2
"""Of the window: leaving out less than this does not pay for the broken cache."""
ERROR = 1.35
"""Times by which an estimate may be wrong either way."""
DOUBTFUL_SHARE = 0.1
"""Of the window: an estimate of fewer tokens than this decides nothing."""
MOST_FAILURES = 2
"""Summaries in a row that the model may fail at; then it is not asked any more."""
NOTHING_STALE = Candidates(results=(), arguments=(), freed=0)


class Window:
    """What one session's model sees."""

    def __init__(self, blobs: Blobs | None = None) -> None:
        """Keep what is too large in `blobs`."""
        self._blobs = blobs
        self.projection = Projection()
        self._demands = Demands(self.projection)
        self._learned: int | None = None
        """Tokens that were too many, when the model turned out to take fewer than its facts say."""
        self._failures = 0
        self._tried_at = 0
        """Tokens at which shortening came to nothing; not tried again before there are more."""
        self._overflowed = False
        self._drop_pictures = False
        self._frame: tuple[str, Sequence[ToolSpec]] = ("", ())

    # ------------------------------------------------------------ the Context port

    def frame(self, system: str, tools: Sequence[ToolSpec]) -> None:
        """What goes with every request besides the messages."""
        before, same = self._frame, len(self._frame[1]) == len(tools)
        if before[0] != system or not same or not all(map(is_, before[1], tools)):
            self._frame = (system, tools)
            self.projection.reframe(lambda: frame_tokens(system, tools))

    async def fit(self, entries: Sequence[Entry], facts: ModelFacts) -> tuple[Message, ...]:
        """The messages to send; they fit as far as `shorten` could bring it about."""
        del facts
        self.projection.read(entries)
        return self.projection.messages

    def admit(self, outcome: Outcome, facts: ModelFacts, among: int = 1) -> Outcome:
        """An outcome as the history takes it, one of `among` of the same answer."""
        return spill_outcome(outcome, self.limit(facts), among, self._blobs)

    def admit_message(self, message: User, facts: ModelFacts) -> User:
        """A message of the user's as the history takes it."""
        return spill_message(message, self.limit(facts), self._blobs)

    def demands_in(self, words: str, record: str, at: float) -> Sequence[Constraint]:
        """The demands in a message of the user's that are not held yet."""
        return self._demands.found_in(words, record, at)

    def is_full(self, entries: Sequence[Entry], facts: ModelFacts) -> bool:
        """Whether the next request should not be sent before `shorten` was tried."""
        self.projection.read(entries)
        window = self.limit(facts)
        if self.projection.size * 4 < window and self.projection.measured is None:
            return False  # Not worth measuring system prompt and tools for.
        return self._tokens() > max(window * HIGH_WATER, self._tried_at)

    def is_doubtful(self, entries: Sequence[Entry], facts: ModelFacts) -> bool:
        """Whether what is estimated of the next request decides if room must be made for it."""
        self.projection.read(entries)
        window = self.limit(facts)
        if self.projection.size * 4 < window and self.projection.measured is None:
            return False  # As for `is_full`.
        tokens, edge = self._tokens(), window * HIGH_WATER
        near = edge / ERROR < tokens < edge * ERROR
        return near and self.projection.estimated > window * DOUBTFUL_SHARE

    def counted(self, entries: Sequence[Entry], tokens: int) -> None:
        """The provider has counted the next request."""
        self.projection.read(entries)
        self._tokens()
        self.projection.count(tokens)

    def overflowed(self, facts: ModelFacts, kind: ErrorKind) -> None:
        """The server said that the last request was too large."""
        self._overflowed, self._tried_at = True, 0
        if kind is ErrorKind.REQUEST_TOO_LARGE and self.projection.has_pictures:
            self._drop_pictures = True  # Bytes were too many, not tokens.
        else:
            self._learned = max(min(int(self._tokens() * 0.9), self.limit(facts)), LEAST_WINDOW)

    async def shorten(
        self,
        entries: Sequence[Entry],
        facts: ModelFacts,
        ask: AskModel,
        write: WriteEntry,
        *,
        focus: str | None = None,
    ) -> Shortened | None:
        """Make room; None when there is nothing to be gained.

        With `focus`, even an empty one, the user wants a summary, whatever the window holds.
        """
        self.projection.read(entries)
        before, window = self._tokens(), self.limit(facts)
        pressed, self._overflowed = self._overflowed, False
        if self._drop_pictures:
            self._drop_pictures = False
            return await self._elide(entries, write, NOTHING_STALE, pictures=True)
        if focus is None:
            stale = find_stale(self.projection, self._protected(window))
            after = before - self.projection.scaled(stale.freed)
            worth = before - after >= window * WORTH_SHARE
            if worth and after <= window * (SUMMARISE_AT if pressed else LOW_WATER):
                return await self._elide(entries, write, stale)
            if before < window * SUMMARISE_AT:
                return None
        if not self.projection.shown or (focus is not None and self._is_short()):
            return None
        cut = 0 if focus is not None else self._protected(window)
        # A model that speaks in masked lines only cannot write a summary.
        asked = None if facts.tools is ToolSupport.MASKED else ask
        way = _Way(asked, write, focus or "", wished=focus is not None)
        done = await self._summarise(entries, window, cut, way)
        if done is None:
            return None
        if self._tokens() > window * SUMMARISE_AT:
            stale = find_stale(self.projection, 0)
            await self._elide(entries, write, stale, pictures=True)
        after = self._tokens()
        self._tried_at = int(after + window * 0.05) if after > window * HIGH_WATER else 0
        return msgspec.structs.replace(done, tokens_before=before, tokens_after=after)

    def missing_demands(self, messages: Sequence[Message]) -> Sequence[Constraint]:
        """Those that hold and are not said anywhere in these messages."""
        return self._demands.missing_from(messages)

    # ------------------------------------------------------------ inside

    def report(self, entries: Sequence[Entry], facts: ModelFacts) -> WindowReport:
        """What fills the window now, for people."""
        self.projection.read(entries)
        self._tokens()
        assumed = facts.context_window is None and self._learned is None
        window = self.limit(facts)
        return describe_window(self.projection, self._frame, window, assumed=assumed)

    def narrow(self, window: int) -> None:
        """Before a summary is asked for: show less where the request would be refused as too large.

        A summary of the latest part is worth more than none. It holds until the summary is read.
        """
        if self._tokens() <= window * ASK_AT_MOST:
            return
        stale = find_stale(self.projection, self._protected(window))
        entry = ResultsElided(
            stubs=stubs_for(stale, None), arguments=stale.arguments, pictures=True
        )
        size = self.projection.unscaled(int(window * NARROW_SHARE)) - self.projection.overhead
        self.projection.narrow(entry, max(size, 0))

    def limit(self, facts: ModelFacts) -> int:
        """Tokens that the model takes, as far as is known or was learned."""
        known = facts.context_window or ASSUMED_WINDOW
        return min(known, self._learned) if self._learned is not None else known

    def constraints(self, entries: Sequence[Entry]) -> Sequence[Constraint]:
        """The demands that hold."""
        self.projection.read(entries)
        return tuple(self.projection.remembered.constraints.values())

    def next_constraint(self, entries: Sequence[Entry]) -> str:
        """Id for a demand that is added by hand."""
        self.projection.read(entries)
        return self.projection.remembered.next_id()

    def _tokens(self) -> int:
        return self.projection.tokens

    def _is_short(self) -> bool:
        """Whether no summary could be shorter, so that none need be paid for."""
        return len(self.projection.shown) < 2 or self.projection.size < SUMMARY_LEAST // 2

    def _protected(self, window: int) -> int:
        """Tokens, as estimated, of the latest part."""
        return int(min(window * PROTECTED_SHARE, PROTECTED_MOST) / self.projection.scale)

    async def _elide(
        self,
        entries: Sequence[Entry],
        write: WriteEntry,
        stale: Candidates,
        *,
        pictures: bool = False,
    ) -> Shortened:
        before = self._tokens()
        await write(
            ResultsElided(
                stubs=stubs_for(stale, self._blobs),
                arguments=stale.arguments,
                pictures=pictures,
                tokens_before=before,
                tokens_after=max(before - self.projection.scaled(stale.freed), 0),
            )
        )
        self.projection.read(entries)
        return Shortened(tokens_before=before, tokens_after=self._tokens())

    async def _summarise(
        self,
        entries: Sequence[Entry],
        window: int,
        protected: int,
        way: "_Way",
    ) -> Shortened | None:
        """Put a summary in place of what came so far; None when the user wished it and it is no shorter."""
        size = int(min(max(window * SUMMARY_SHARE, SUMMARY_LEAST), SUMMARY_MOST))
        remembered = self.projection.remembered
        self.narrow(window)
        written, usage, trouble = await self._ask(remembered, size, way)
        text = written.text if written else summary_without_model(remembered, size)
        if written:
            for added in self._demands.found_by_model(written.demands):
                await way.write(added)
        self.projection.read(entries)
        kept, first = self._kept(protected, len(entries))
        words, left_out = self._words(first, window)
        stubs, arguments = self.projection.left_out_from(first)
        entry = HistoryCompacted(
            summary=text,
            kept=kept,
            notes=remembered.notes,
            words=tuple(words),
            words_left_out=left_out,
            constraints=tuple(remembered.constraints.values()),
            taken_back=remembered.taken_back_in(words),
            stubs=stubs,
            arguments=arguments,
            focus=way.focus,
            by_model=written is not None,
            tokens_before=self._tokens(),
            usage=usage,
        )
        size = self._size_after(entry, first)
        if way.wished and size >= self.projection.size:
            return None
        after = self.projection.scaled(self.projection.overhead + size)
        entry = msgspec.structs.replace(entry, tokens_after=after)
        await way.write(entry)
        self.projection.read(entries)
        return Shortened(tokens_before=0, tokens_after=0, summary=text, trouble=trouble)

    async def _ask(
        self, remembered: Remembered, size: int, way: "_Way"
    ) -> tuple[Written | None, Usage | None, str]:
        """The model's summary, what it took, and what was wrong with it."""
        if way.ask is None:
            return None, None, "this model cannot write one"
        if self._failures >= MOST_FAILURES:
            return None, None, "the model could not summarise before"
        instruction = ask_for_summary(remembered, size, way.focus)
        try:
            answer, failure = await way.ask(instruction, size * 2)
        except BaseException:
            self.projection.forget()
            raise
        written = _usable(answer, size)
        if written is None:
            self._failures += 1
            trouble = failure.message if failure is not None else _what_is_wrong(answer)
            return None, answer.usage, trouble
        self._failures = 0
        return written, answer.usage, ""

    def _kept(self, protected: int, length: int) -> tuple[int, int]:
        """How many entries stay as they are, and the place of the first of them.

        Calls stay with their results: the cut is only where no call is open. What the model has not
        answered to yet always stays.
        """
        first = length
        left = protected
        view = self.projection.shown
        for place in range(len(view) - 1, 0, -1):
            shown = view[place]
            left -= shown.size
            answered = first < length
            if (left < 0 and answered) or shown.entry < 0:
                break
            if shown.whole and not isinstance(shown.message, ToolResults):
                first = shown.entry
        if not self._is_waiting() and left < 0 and first == view[-1].entry:
            first = length  # One long answer that nobody waits for: its summary is enough.
        return length - first, first

    def _is_waiting(self) -> bool:
        """Whether the model still has to answer to the last message."""
        view = self.projection.shown
        return bool(view) and not isinstance(view[-1].message, Assistant)

    def _words(self, first: int, window: int) -> tuple[list[KeptWords], int]:
        """The user's words that would not be seen any more, as far as they fit."""
        remembered = self.projection.remembered
        gone = [said for said in remembered.said if said.entry < first]
        tokens = min(window * WORDS_SHARE, WORDS_MOST)
        words, left_out = newest_within(
            gone, int(self.projection.unscaled(int(tokens)) * BYTES_PER_TOKEN)
        )
        return words, remembered.left_out + left_out

    def _size_after(self, entry: HistoryCompacted, first: int) -> int:
        """Tokens, estimated, of the messages once the summary stands for what came so far."""
        kept = sum(shown.size for shown in self.projection.shown if shown.entry >= first)
        return message_tokens(summary_message(entry)) + kept


class _Way(msgspec.Struct, frozen=True):
    """How a summary is made: whom to ask, where to write, what to look to."""

    ask: AskModel | None
    """None: a model that cannot write one."""
    write: WriteEntry
    focus: str
    wished: bool
    """By the user; otherwise it must be."""


def _usable(answer: Assistant, size: int) -> Written | None:
    if answer.calls or answer.stop_reason in {
        StopReason.ERROR,
        StopReason.REFUSAL,
        StopReason.CONTENT_FILTER,
        StopReason.CONTEXT_FULL,
    }:
        return None
    if text_tokens(answer.text) > size * 6:
        return None
    return read_summary(answer.text, size)


def _what_is_wrong(answer: Assistant) -> str:
    if answer.calls:
        return "the model called a tool instead of summarising"
    if not answer.text.strip():
        return "the model answered nothing"
    return "the model's summary could not be used"
