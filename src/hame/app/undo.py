"""Taking a session back: its files, its conversation, or both; and forward again.

A turn is a prompt with all that came of it. Files go back step by step (`hame.base.snapshot`), the
conversation goes back to before a prompt; what was left stays in the journal as a branch.
"""

from collections.abc import Sequence

import msgspec

from hame.base.entry import NoteAdded, UserSaid
from hame.base.errors import HameError
from hame.base.ports import Journal, Snapshots
from hame.base.snapshot import Step, UndoPlan
from hame.prompts.undo import files_stay_text, files_undone_text


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
        return tuple(step for step in self.steps if not step.undone and not step.reverts)


class History(msgspec.Struct, frozen=True, kw_only=True):
    """The turns of a conversation, and steps of parts of it that were taken back."""

    turns: tuple[Turn, ...]
    apart: tuple[Step, ...] = ()


class Rewind(msgspec.Struct, frozen=True, kw_only=True):
    """What would be done; nothing has been done yet."""

    title: str
    files: UndoPlan | None = None
    back_to: str = ""
    """Id of the record with which the conversation would end; empty: it stays."""
    turns: tuple[Turn, ...] = ()
    """What would go from the conversation."""


class Rewinder:
    """Takes one session back."""

    def __init__(self, journal: Journal, snapshots: Snapshots) -> None:
        """Work on this session; no run of it may be going."""
        self._journal = journal
        self._snapshots = snapshots

    async def history(self) -> History:
        """The turns, and what changed files in each."""
        steps = await self._snapshots.steps()
        entries, ids = self._journal.entries, self._journal.ids
        place = {record: number for number, record in enumerate(ids)}
        starts = [
            number
            for number, entry in enumerate(entries)
            if isinstance(entry, UserSaid) and not entry.steering
        ]
        turns: list[Turn] = []
        for number, start in enumerate(starts):
            end = starts[number + 1] if number + 1 < len(starts) else len(ids)
            said = entries[start]
            assert isinstance(said, UserSaid)
            turns.append(
                Turn(
                    number=number + 1,
                    words=said.message.words,
                    before=ids[start - 1] if start else "",
                    steps=tuple(
                        step for step in steps if start <= place.get(step.record, -1) < end
                    ),
                )
            )
        apart = tuple(step for step in steps if step.record not in place)
        return History(turns=tuple(turns), apart=apart)

    async def plan(
        self,
        *,
        step: int | None = None,
        turn: int | None = None,
        files: bool = True,
        conversation: bool = True,
        over: bool = False,
    ) -> Rewind:
        """What going back would do: to before a step, or a turn, or the last turn there is.

        Raises:
            HameError: when there is nothing to take back, or no such step or turn.
        """
        history = await self.history()
        if step is not None:
            return await self._before_step(history, step, files=files, conversation=conversation,
                                           over=over)  # fmt: skip
        chosen = _turn(history, turn, files=files, conversation=conversation)
        later = history.turns[chosen.number - 1 :]
        numbers = [each.number for other in later for each in other.holds] if files else []
        return Rewind(
            title=f"undo of prompt {chosen.number}",
            files=await self._snapshots.plan(numbers, over=over) if numbers else None,
            back_to=chosen.before if conversation else "",
            turns=later if conversation else (),
        )

    async def _before_step(
        self, history: History, number: int, *, files: bool, conversation: bool, over: bool
    ) -> Rewind:
        steps = sorted(
            (*(step for turn in history.turns for step in turn.steps), *history.apart),
            key=lambda step: step.number,
        )
        found = next((step for step in steps if step.number == number), None)
        if found is None:
            raise HameError(
                f"there is no step {number} that changed a file",
                hint="hame undo --list lists them.",
            )
        numbers = [step.number for step in steps if step.number >= number]
        later = tuple(turn for turn in history.turns if any(s.number >= number for s in turn.steps))
        back_to = found.head or (later[0].before if later else "")
        return Rewind(
            title=f"undo to before step {number}",
            files=await self._snapshots.plan(numbers, over=over) if files else None,
            back_to=back_to if conversation else "",
            turns=later if conversation and not found.head else (),
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
        note = self._note(rewind, step)
        if note:
            await self._journal.append(NoteAdded(text=note, source="undo"))
        return step

    def _note(self, rewind: Rewind, step: Step | None) -> str:
        """What the model has to be told: only what its view of the conversation does not say."""
        if step is not None and step.changes and not rewind.back_to:
            return files_undone_text([change.path for change in step.changes])
        stay = [each for turn in rewind.turns for step in turn.holds for each in step.changes]
        if rewind.back_to and rewind.files is None and stay:
            return files_stay_text(sorted({change.path for change in stay}))
        return ""


def _turn(history: History, number: int | None, *, files: bool, conversation: bool) -> Turn:
    """The turn that is meant.

    Raises:
        HameError: when there is none.
    """
    turns: Sequence[Turn] = history.turns
    if number is not None:
        found = next((turn for turn in turns if turn.number == number), None)
        if found is None:
            raise HameError(f"there is no prompt {number}", hint="/rewind lists them.")
        return found
    if files:
        changed = next((turn for turn in reversed(turns) if turn.holds), None)
        if changed is not None:
            return changed
    if turns and conversation:
        return turns[-1]
    raise HameError("there is nothing to undo", hint="No step of this session changed a file.")
