"""Taking a session back: its files, its conversation, or both; and forward again.

A turn is a prompt with all that came of it. Files go back step by step (`hame.base.snapshot`), the
conversation goes back to before a prompt; what was left stays in the journal as a branch.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import overload

import msgspec
from typing_extensions import override

from hame.app.memory import RECORD_MARK
from hame.base.entry import Entry, NoteAdded, OutcomesLost, UserSaid
from hame.base.errors import HameError
from hame.base.kinds import places
from hame.base.ports import Journal, Snapshots
from hame.base.snapshot import Step, UndoPlan
from hame.prompts.undo import files_stay_text, files_undone_text
from hame.sessions.history import unsettled_calls


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt of the active conversation and the steps that came of it."""

    number: int
    """From 1 within the conversation."""
    words: str
    before: str
    """Id of the record before the prompt: where the conversation goes back to."""
    steps: tuple[Step, ...] = ()

    @property
    def holds(self) -> tuple[Step, ...]:
        """Its steps that can be taken back: no undo, and not undone."""
        return tuple(filter(_can_go, self.steps))


class Turns(Sequence[Turn]):
    """The turns of a conversation; what was said in each is read when it is asked for."""

    def __init__(
        self,
        journal: Journal,
        starts: Sequence[int],
        steps: Sequence[tuple[int, Step]],
        first: int = 1,
    ) -> None:
        """`starts` are the places of the prompts, `steps` come with theirs; `first` numbers the first."""
        self._journal, self._starts, self._first = journal, starts, first
        self._steps: dict[int, list[Step]] = {}
        for place, step in steps:
            number = bisect_right(starts, place) - 1
            if number >= 0:
                self._steps.setdefault(number, []).append(step)
        self._placed = steps

    @property
    def steps(self) -> Iterator[Step]:
        """The steps of all of them, turn by turn."""
        return (step for number in sorted(self._steps) for step in self._steps[number])

    def number_at(self, place: int) -> int:
        """The number of the turn that a place is in; 0 before the first."""
        return bisect_right(self._starts, place) - 1 + self._first

    def after(self, place: int) -> "Turns":
        """The turns that begin after a place."""
        return self[bisect_right(self._starts, place) :]

    def steps_after(self, place: int) -> Iterator[Step]:
        """The steps that came after a place, also within its turn: each stands at the record before it."""
        return (step for where, step in self._placed if where >= place)

    def since(self, step: int) -> "Turns":
        """The turns from the first one on that has this step or a later one."""
        changed = (n for n in sorted(self._steps) if any(s.number >= step for s in self._steps[n]))
        return self[next(changed, len(self)) :]

    def last_that_holds(self) -> Turn | None:
        """The last turn of which something can be taken back."""
        for number in sorted(self._steps, reverse=True):
            if self[number].holds:
                return self[number]
        return None

    @override
    def __len__(self) -> int:
        return len(self._starts)

    @overload
    def __getitem__(self, index: int) -> Turn: ...
    @overload
    def __getitem__(self, index: slice) -> "Turns": ...
    @override
    def __getitem__(self, index: int | slice) -> "Turn | Turns":
        if isinstance(index, slice):
            first, _, _ = index.indices(len(self))
            return Turns(self._journal, self._starts[index], self._placed, self._first + first)
        number = range(len(self))[index]
        start = self._starts[number]
        said = self._journal.entries[start]
        return Turn(
            number=self._first + number,
            words=said.message.words if isinstance(said, UserSaid) else "",
            before=self._journal.ids[start - 1] if start else "",
            steps=tuple(self._steps.get(number, ())),
        )


class History(msgspec.Struct, frozen=True, kw_only=True):
    """The turns of a conversation, and steps of parts of it that were taken back."""

    turns: Sequence[Turn]
    apart: tuple[Step, ...] = ()
    labels: Mapping[int, Sequence[str]] = {}
    """The names of places within turns, by the number of the turn; 0: before the first."""
    elsewhere: Sequence[str] = ()
    """Names of places in parts that were left."""


class Rewind(msgspec.Struct, frozen=True, kw_only=True):
    """What would be done; nothing has been done yet."""

    title: str
    files: UndoPlan | None = None
    back_to: str = ""
    """Id of the record with which the conversation would end; empty: it stays."""
    turns: Sequence[Turn] = ()
    """What would go from the conversation."""
    label: str = ""
    """The name of the place that it goes to."""


class Rewinder:
    """Takes one session back."""

    def __init__(self, journal: Journal, snapshots: Snapshots) -> None:
        """Work on this session; no run of it may be going."""
        self._journal = journal
        self._snapshots = snapshots

    async def history(self) -> History:
        """The turns, and what changed files in each."""
        turns, apart = await self._turns()
        labels: dict[int, list[str]] = {}
        elsewhere: list[str] = []
        for label, record in sorted(self._journal.labels.items()):
            place = _place(self._journal.ids, record)
            if place < 0:
                elsewhere.append(label)
            else:
                labels.setdefault(turns.number_at(place), []).append(label)
        return History(turns=turns, apart=apart, labels=labels, elsewhere=elsewhere)

    async def _turns(self) -> tuple[Turns, tuple[Step, ...]]:
        steps = await self._snapshots.steps()
        entries, ids = self._journal.entries, self._journal.ids
        starts = [place for place in places(entries, (UserSaid,)) if _begins(entries, place)]
        placed = [(_place(ids, step.record), step) for step in steps]
        apart = tuple(step for place, step in placed if place < 0)
        return Turns(self._journal, starts, placed), apart

    async def plan(
        self,
        *,
        step: int | None = None,
        turn: int | None = None,
        label: str = "",
        files: bool = True,
        conversation: bool = True,
        over: bool = False,
    ) -> Rewind:
        """What going back would do: to before a step or a turn, to a label, or before the last turn.

        In place of a label stands `#` and the id of a record, as `hame trace` shows it.

        Raises:
            HameError: when there is nothing to take back, or no such step, turn or label.
        """
        if label:
            return await self._to_label(label, files=files, conversation=conversation, over=over)
        if step is not None:
            return await self._before_step(step, files=files, conversation=conversation, over=over)
        turns, _ = await self._turns()
        chosen = _turn(turns, turn, files=files, conversation=conversation)
        later = turns[chosen.number - 1 :]
        numbers = [each.number for each in later.steps if _can_go(each)] if files else []
        return Rewind(
            title=f"undo of prompt {chosen.number}",
            files=await self._snapshots.plan(numbers, over=over) if numbers else None,
            back_to=chosen.before if conversation else "",
            turns=later if conversation else (),
        )

    async def _before_step(
        self, number: int, *, files: bool, conversation: bool, over: bool
    ) -> Rewind:
        turns, apart = await self._turns()
        steps = sorted((*turns.steps, *apart), key=lambda step: step.number)
        found = next((step for step in steps if step.number == number), None)
        if found is None:
            raise HameError(
                f"there is no step {number} that changed a file",
                hint="hame undo --list lists them.",
            )
        numbers = [step.number for step in steps if step.number >= number]
        later = turns.since(number)
        back_to = found.head or (later[0].before if later else "")
        return Rewind(
            title=f"undo to before step {number}",
            files=await self._snapshots.plan(numbers, over=over) if files else None,
            back_to=back_to if conversation else "",
            turns=later if conversation and not found.head else (),
        )

    async def _to_label(self, label: str, *, files: bool, conversation: bool, over: bool) -> Rewind:
        """To a place that has a name, also in a part that was left: there only the conversation goes.

        Raises:
            HameError: if there is none of that name.
        """
        labels = self._journal.labels
        record = labels.get(label) or label.removeprefix(RECORD_MARK)
        if label not in labels and (record == label or not record):
            known = ", ".join(sorted(labels))
            raise HameError(
                f"there is no label {label}",
                hint=(f"There are: {known}." if known else "/label NAME names a place.")
                + f" {RECORD_MARK} and a number that hame trace shows is any place.",
            )
        place = _place(self._journal.ids, record)
        turns, _ = await self._turns()
        here = place >= 0
        later = turns.after(place) if here else ()
        steps = filter(_can_go, turns.steps_after(place)) if here and files else ()
        numbers = [step.number for step in steps]
        return Rewind(
            title=f"undo to {label}",
            files=await self._snapshots.plan(numbers, over=over) if numbers else None,
            back_to=record if conversation else "",
            turns=later if conversation else (),
            label=label,
        )

    async def do(self, rewind: Rewind) -> Step | None:
        """Do what was planned; the step it is, None when no file was changed.

        Raises:
            HameError: if files were changed since the plan was made; nothing is changed then.
            SessionError: if the conversation cannot be moved.
        """
        head = self._journal.ids[-1] if self._journal.ids else ""
        plan = rewind.files or UndoPlan(steps=())
        if not plan.moves and not rewind.back_to:
            return None
        step = await self._snapshots.undo(
            plan, rewind.title, rewind.back_to or head, head if rewind.back_to else ""
        )
        if rewind.back_to:
            await self._journal.move(rewind.back_to)
            if lost := unsettled_calls(self._journal.entries):
                # Its calls were carried out in the part that is left; here nobody knows how.
                await self._journal.append(OutcomesLost(calls=lost))
        note = self._note(rewind, step)
        if note:
            await self._journal.append(NoteAdded(text=note, source="undo"))
        return step

    def _note(self, rewind: Rewind, step: Step | None) -> str:
        """What the model has to be told: only what its view of the conversation does not say."""
        if step is not None and step.changes and not rewind.back_to:
            return files_undone_text([change.path for change in step.changes])
        left = rewind.turns
        steps = left.steps if isinstance(left, Turns) else ()
        stay = [each for each_step in filter(_can_go, steps) for each in each_step.changes]
        if rewind.back_to and rewind.files is None and stay:
            return files_stay_text(sorted({change.path for change in stay}))
        return ""


def _can_go(step: Step) -> bool:
    """Whether a step can be taken back: it is no undo, and not undone."""
    return not step.undone and not step.reverts


def _begins(entries: Sequence[Entry], place: int) -> bool:
    """Whether the user's message there is a prompt of its own, not said into a run."""
    said = entries[place]
    return isinstance(said, UserSaid) and not said.steering


def _place(ids: Sequence[str], record: str) -> int:
    """The place of a record in the conversation; -1 where it is in a part that was taken back."""
    try:
        return ids.index(record)
    except ValueError:
        return -1


def _turn(turns: Turns, number: int | None, *, files: bool, conversation: bool) -> Turn:
    """The turn that is meant.

    Raises:
        HameError: when there is none.
    """
    if number is not None:
        if not 1 <= number <= len(turns):
            raise HameError(f"there is no prompt {number}", hint="/rewind lists them.")
        return turns[number - 1]
    changed = turns.last_that_holds() if files else None
    if changed is not None:
        return changed
    if turns and conversation:
        return turns[-1]
    raise HameError("there is nothing to undo", hint="No step of this session changed a file.")
