"""Room in the window: makes it before a request would not fit, and once after one did not.

A summary is asked for on the way of every turn: the same model, system prompt, tools and messages, and
one message of hame's after them, so that the provider's cache serves what was there.
"""

from collections.abc import Callable, Sequence

import msgspec

from hame.agent.cache import CacheLedger
from hame.agent.ports import Ports
from hame.agent.turn import origin_of, take_turn
from hame.base import event
from hame.base.entry import (
    CacheRead,
    ConstraintAdded,
    Entry,
    ModelAnswered,
    NoteAdded,
    RunFinished,
    UserSaid,
)
from hame.base.errors import ErrorKind, Failure
from hame.base.event import RunEvent
from hame.base.fold import Fold
from hame.base.kinds import last_place, places
from hame.base.memory import Shortened
from hame.base.message import Assistant, Message, Note, User
from hame.base.ports import CountTokens, Emit, ModelRequest

OVERFLOWS = frozenset({ErrorKind.CONTEXT_OVERFLOW, ErrorKind.REQUEST_TOO_LARGE})
DEAR_USD = 0.05
"""From here on a miss of the cache is worth a line."""


class Room:
    """The window of one run's model."""

    def __init__(
        self,
        ports: Ports,
        request: Callable[[tuple[Message, ...]], ModelRequest],
        count: Callable[[Assistant], None],
    ) -> None:
        """`request` makes what is sent of messages; `count` takes what a summary cost."""
        self._model, self._context, self._journal = ports.model, ports.context, ports.journal
        self._emit, self._clock = ports.emit, ports.clock
        self._request, self._count = request, count
        self._counter = ports.count
        self._ledger = ports.ledger or CacheLedger(ports.journal.entries)
        self._recovering = False
        """Room was made after an overflow, and no answer has come since."""
        self._unheard: list[tuple[str, str, float]] = []

    async def turn(self, request: ModelRequest, fold: Fold, emit: Emit) -> None:
        """Ask the model, and account for what its cache should serve."""
        self._ledger.asked(request, self._model.facts, self._clock.now())
        await take_turn(self._model, request, fold, emit)

    async def account(self, answer: Assistant) -> None:
        """Put on record what the cache did for the answer that came, and say what was dear."""
        reading = self._ledger.answered(answer.usage, self._model.facts)
        if reading is None:
            return
        await self._journal.append(CacheRead(reading=reading))
        if not reading.broke and (reading.lost_usd or 0.0) >= DEAR_USD:
            missed = reading.expected - reading.got
            self._emit(
                event.Notice(
                    f"The cache missed {max(missed, 0):,} tokens, about"
                    f" ${reading.lost_usd:.2f}: {reading.why}."
                )
            )

    async def messages(self) -> tuple[Message, ...]:
        """The messages of the next request; room is made for it first where that is needed."""
        entries, facts = self._journal.entries, self._model.facts
        if self._counter is not None and self._context.is_doubtful(entries, facts):
            await self._measure(self._counter)
        if self._context.is_full(entries, facts):
            await self.make()
        return await self._context.fit(entries, facts)

    async def _measure(self, count: CountTokens) -> None:
        """Have the next request counted; whoever did not count once is not asked again in this run."""
        entries = self._journal.entries
        shown = await self._context.fit(entries, self._model.facts)
        tokens = await count(self._request(shown))
        if tokens is None:
            self._counter = None
        else:
            self._context.counted(entries, tokens)

    async def make(self, focus: str | None = None) -> Shortened | None:
        """Shorten what the model sees, as the context sees fit; with `focus` by a summary in any case."""
        await self.note_demands()
        done = await self._context.shorten(
            self._journal.entries, self._model.facts, self._ask, self._write, focus=focus
        )
        if done is None:
            return None
        self._emit(
            event.Compacted(
                tokens_before=done.tokens_before,
                tokens_after=done.tokens_after,
                summary=done.summary,
            )
        )
        if done.trouble:
            self._emit(
                event.Notice(
                    f"The summary was made from the journal: {done.trouble.rstrip('.')}.",
                    level="warning",
                )
            )
        await self._check_demands()
        return done

    async def after_overflow(self, kind: ErrorKind) -> bool:
        """The last request was too large: whether it may be asked again, shorter. Once, not twice."""
        if self._recovering:
            return False
        self._recovering = True
        self._context.overflowed(self._model.facts, kind)
        return await self.make() is not None

    def answered(self) -> None:
        """A request fitted."""
        self._recovering = False

    # ------------------------------------------------------------ demands

    def hear(self, words: str, record: str, at: float) -> None:
        """The user said this; it is looked through once the model has been asked."""
        self._unheard.append((words, record, at))

    def hear_missed(self) -> None:
        """Look through what was said before and may not have been: its run came to no answer, or died."""
        entries, ids = self._journal.entries, self._journal.ids
        for place in places(entries, (UserSaid,), _heard_until(entries)):
            if isinstance(said := entries[place], UserSaid):
                self.hear(said.message.words, ids[place], self._clock.now())

    async def note_demands(self) -> None:
        """Put the demands in what the user said into the ledger, and show them."""
        unheard, self._unheard = self._unheard, []
        for words, record, at in unheard:
            await self._context.fit(self._journal.entries, self._model.facts)
            for constraint in self._context.demands_in(words, record, at):
                await self._write(ConstraintAdded(constraint=constraint))

    async def _check_demands(self) -> None:
        """Nothing that holds may be out of the model's sight after the view was shortened."""
        messages = await self._context.fit(self._journal.entries, self._model.facts)
        missing = self._context.missing_demands(messages)
        if missing:
            listed = "\n".join(f"- {each.text}" for each in missing)
            text = f"Standing demands of the user that hold as well:\n{listed}"
            await self._journal.append(NoteAdded(text=text, source="constraints"))

    # ------------------------------------------------------------ inside

    async def _write(self, entry: Entry) -> None:
        await self._journal.append(entry)
        if isinstance(entry, ConstraintAdded):
            self._emit(event.ConstraintChanged(entry.constraint.text))

    async def _ask(self, words: str, tokens: int) -> tuple[Assistant, Failure | None]:
        facts = self._model.facts
        shown = await self._context.fit(self._journal.entries, facts)
        request = self._request((*shown, User((Note(words, "summary"),))))
        fold = Fold()
        request = msgspec.structs.replace(request, max_output_tokens=tokens)
        await self.turn(request, fold, self._show)
        answer = fold.message(origin_of(facts))
        self._count(answer)
        if fold.failure is None:
            await self.account(answer)
        return answer, fold.failure.failure if fold.failure is not None else None

    def _show(self, item: RunEvent) -> None:
        """Waits are shown; the words of a summary are shown when it is whole."""
        if isinstance(item, event.WaitStarted | event.Notice):
            self._emit(item)


def _heard_until(entries: Sequence[Entry]) -> int:
    """The place in a branch up to which what was said has been looked through for demands.

    It is looked through when an answer has come. Of a run that was killed it is not known whether it
    got that far with its last answer.
    """
    answered = last_place(entries, (ModelAnswered,))
    if answered > last_place(entries, (RunFinished,)):
        before = range(answered - 1, -1, -1)
        answered = next((p for p in before if isinstance(entries[p], ModelAnswered)), -1)
    return answered + 1
