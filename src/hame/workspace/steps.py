"""A change to a file, worked out to the bytes."""

import msgspec

from hame.base.edit import apply_edits
from hame.base.errors import PathError
from hame.base.ports import FileChange
from hame.workspace.batch import Step
from hame.workspace.locate import held
from hame.workspace.textcode import encode


class Planned(msgspec.Struct, frozen=True):
    """A step, the text it leaves, and the paths that change with it."""

    step: Step
    text: str | None
    shown: tuple[str, ...]


def plan_step(change: FileChange) -> Planned:
    """Work a change out.

    Raises:
        PathError: for edits that do not fit the text, or letters its encoding lacks.
    """
    place = held(change.place)
    target = held(change.target) if change.target is not None else None
    text = None
    if not change.delete and (change.edits or change.before is None):
        before = change.before.text if change.before else ""
        try:
            text = apply_edits(before, change.edits)
        except ValueError as error:
            raise PathError(f"cannot change {place.shown}: {error}") from error
    data = None if text is None else encode(text, change.before, place.shown)
    step = Step(place=place, before=change.before, data=data, target=target, delete=change.delete)
    same = data is None and target is None and not change.delete
    shown = tuple(each.shown for each in (place, target) if each is not None)
    return Planned(step, text, () if same else shown)
