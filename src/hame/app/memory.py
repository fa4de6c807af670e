"""What a session remembers, and what fills its model's window: to look at and to change."""

from collections.abc import Awaitable, Callable, Sequence

from hame.base import event
from hame.base.entry import (
    CacheRead,
    ConstraintAdded,
    ConstraintRemoved,
    HistoryCompacted,
    LabelSet,
    NoteAdded,
    Record,
    TitleSet,
)
from hame.base.errors import HameError
from hame.base.kinds import newest, places
from hame.base.memory import (
    CacheReading,
    Constraint,
    ConstraintKind,
    Shortened,
    WindowReport,
)
from hame.base.model import ModelFacts
from hame.base.ports import Clock, Context, Emit, Journal

RECORD_MARK = "#"
"""Before the id of a record, where a label may stand."""
NO_LABELS = frozenset({"files", "conversation", "over"})
"""Words of /rewind and /undo."""
LONGEST = 300
"""Characters of a demand that is added by hand."""


class Memory:
    """The memory of one session; no run of it should be going while it is changed."""

    def __init__(
        self,
        *,
        journal: Journal,
        context: Context,
        clock: Clock,
        emit: Emit,
        facts: Callable[[], Awaitable[ModelFacts]],
        compact: Callable[[str], Awaitable[Shortened | None]],
    ) -> None:
        """`facts` opens the model, if it was not, and sets what goes with every request."""
        self._journal, self._context, self._clock = journal, context, clock
        self._emit, self._facts, self._compact = emit, facts, compact

    async def report(self) -> WindowReport:
        """What fills the window, by part, with advice.

        Raises:
            ConfigError: if no model can be asked.
        """
        facts = await self._facts()
        return self._context.report(self._journal.entries, facts)

    async def compact(self, focus: str = "") -> Shortened | None:
        """Replace what came so far by a summary for the model; None when there is too little.

        Raises:
            HameError: while a run is going.
            ConfigError: if no model can be asked.
        """
        return await self._compact(focus)

    def summary(self) -> HistoryCompacted | None:
        """The last summary that took the place of a part of the history."""
        return newest(self._journal.entries, HistoryCompacted)

    def readings(self) -> Sequence[CacheReading]:
        """What the provider's cache did, request by request."""
        entries = self._journal.entries
        found = (entries[place] for place in places(entries, (CacheRead,)))
        return [each.reading for each in found if isinstance(each, CacheRead)]

    def records(self) -> Sequence[Record]:
        """What came so far as records, for a session that is in no file; their times are not known."""
        entries, ids = self._journal.entries, self._journal.ids
        parents = (None, *ids)
        return [
            Record(id=name, parent=parent, at=0.0, entry=entry)
            for name, parent, entry in zip(ids, parents, entries, strict=False)
        ]

    # ------------------------------------------------------------ demands

    def constraints(self) -> Sequence[Constraint]:
        """The user's demands that hold."""
        return self._context.constraints(self._journal.entries)

    async def add_constraint(self, text: str) -> Constraint:
        """Hold a demand from now on; the model is told.

        Raises:
            HameError: for one without words or with too many.
        """
        constraint = await self._hold(text)
        await self._tell(f"The user demands from now on: {constraint.text}")
        return constraint

    async def change_constraint(self, name: str, text: str) -> Constraint:
        """Hold a demand in other words.

        Raises:
            HameError: if there is none of that id, or for words that cannot be used.
        """
        old = self._find(name)
        _check(text)
        await self._drop(old)
        constraint = await self._hold(text)
        await self._tell(
            f"The user no longer demands: {old.text}\nInstead, from now on: {constraint.text}"
        )
        return constraint

    async def remove_constraint(self, name: str) -> Constraint:
        """Take a demand back; the model is told.

        Raises:
            HameError: if there is none of that id.
        """
        old = self._find(name)
        await self._drop(old)
        await self._tell(f"The user takes this demand back, it holds no more: {old.text}")
        return old

    # ------------------------------------------------------------ names

    async def rename(self, title: str) -> None:
        """Give the session a name for people."""
        await self._journal.append(TitleSet(title=" ".join(title.split())), durable=True)

    async def label(self, label: str, record: str = "") -> None:
        """Name a place in the conversation, the last one without a record; an empty name goes.

        Raises:
            HameError: if there is no such record, or for a name that means something else.
        """
        await set_label(self._journal, label, record)

    # ------------------------------------------------------------ inside

    def _find(self, name: str) -> Constraint:
        held = self.constraints()
        found = next((each for each in held if each.id == name), None)
        if found is None:
            ids = ", ".join(each.id for each in held)
            hint = f"There are: {ids}." if ids else "None hold; /constraints add TEXT adds one."
            raise HameError(f"there is no constraint {name}", hint=hint)
        return found

    async def _hold(self, text: str) -> Constraint:
        text = _check(text)
        constraint = Constraint(
            id=self._context.next_constraint(self._journal.entries),
            text=text,
            kind=ConstraintKind.ALWAYS,
            since=self._clock.now(),
            found_by="user",
        )
        await self._journal.append(ConstraintAdded(constraint=constraint))
        self._emit(event.ConstraintChanged(text))
        return constraint

    async def _drop(self, constraint: Constraint) -> None:
        await self._journal.append(ConstraintRemoved(id=constraint.id))
        self._emit(event.ConstraintChanged(constraint.text, added=False))

    async def _tell(self, words: str) -> None:
        await self._journal.append(NoteAdded(text=words, source="constraints"))


async def set_label(journal: Journal, label: str, record: str = "") -> None:
    """Name a place in a conversation, the last one without a record; an empty name goes.

    Raises:
        HameError: if there is no such record, or for a name that means something else.
    """
    ids, label = journal.ids, " ".join(label.split())
    record = record.removeprefix(RECORD_MARK) or (ids[-1] if ids else "")
    if record not in ids:
        raise HameError(
            f"there is no record {record or 'yet'} in the conversation",
            hint="hame trace shows the records.",
        )
    if label.isdecimal() or label in NO_LABELS or label.startswith(RECORD_MARK):
        raise HameError(f"{label} cannot be a label: it means something else where labels are used")
    await journal.append(LabelSet(record=record, label=label))


def _check(text: str) -> str:
    """A demand on one line.

    Raises:
        HameError: for one without words or with too many.
    """
    text = " ".join(text.split())
    if not text:
        raise HameError("a constraint needs words", hint="/constraints add never touch vendor/")
    if len(text) > LONGEST:
        raise HameError(
            f"a constraint has at most {LONGEST} characters, this has {len(text)}",
            hint="Put longer rules into AGENTS.md.",
        )
    return text
