"""A checked call that holds its places open until it has run or was refused.

Tools check before the gate has spoken, so what goes wrong there may tell the model about a place it
may not see (a line of a key file, the names in a folder). Outside the project a failed check is
therefore kept back: the gate judges first, and only an allowed `run` raises it.
"""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack
from typing import TypeAlias

import msgspec

from hame.base.confinement import Confinement
from hame.base.errors import PathError, ToolError
from hame.base.outcome import Done, Failed, View
from hame.base.ports import Located, Target, Workspace
from hame.base.process import CHANGED
from hame.base.zone import Operation, Zone

Still: TypeAlias = Callable[[], bool]
"""Whether what an approval rests on is as it was."""
Places: TypeAlias = tuple[tuple[Located, Operation], ...]
"""Places that are held open, each with what is to be done there."""


class Confined(msgspec.Struct, frozen=True):
    """Something that starts programs which are not hame's own: they reach no further than they are given."""

    run: Callable[[Confinement, Still | None], Awaitable[Done | Failed]]
    """The second argument goes with the first program that is started."""


class Plan(msgspec.Struct, frozen=True):
    """What a tool has worked out before the question."""

    run: Callable[[], Awaitable[Done | Failed]] | Confined
    view: View | None = None
    binds: tuple[str | bytes, ...] = ()
    """What the approval is bound to besides the places: the old and the new bytes, the command."""


class HeldAction:
    """An action on places that stay open until it is closed."""

    def __init__(self, places: Places, plan: Plan) -> None:
        """Take over the places: closing the action closes them."""
        self._places = places
        self._plan = plan
        self._still: Still | None = None

    @property
    def targets(self) -> Sequence[Target]:
        """The places it would touch."""
        return [Target(place.resolution, operation) for place, operation in self._places]

    @property
    def view(self) -> View | None:
        """What the question shows."""
        return self._plan.view

    @property
    def digest(self) -> str:
        """Hash of the places, which files they are, and what will be done with them."""
        parts: list[str | bytes] = []
        for place, operation in self._places:
            found = place.resolution
            parts += [operation, found.real, found.kind, repr(found.identity)]
        return fingerprint(*parts, *self._plan.binds)

    def bind(self, still: Still) -> None:
        """What an approval rests on is as it was while this says so."""
        self._still = still

    async def run(self, confinement: Confinement) -> Done | Failed:
        """Do it.

        Raises:
            ToolError: when it cannot be done, or is not any more what was approved.
        """
        run = self._plan.run
        if isinstance(run, Confined):
            return await run.run(confinement, self._still)
        if self._still is not None and not self._still():
            raise ToolError(CHANGED)
        return await run()

    def close(self) -> None:
        """Let go of the places."""
        _close(self._places)


def locate_all(workspace: Workspace, *asked: tuple[str, Operation]) -> Places:
    """Resolve several paths; none stays open if one of them cannot be.

    Raises:
        PathError: for the first that cannot be resolved.
    """
    places: list[tuple[Located, Operation]] = []
    with ExitStack() as opened:
        for path, operation in asked:
            place = workspace.locate(path, operation)
            opened.callback(place.close)
            places.append((place, operation))
        opened.pop_all()
    return tuple(places)


async def hold(places: Places, planning: Callable[[], Awaitable[Plan]]) -> HeldAction:
    """Work out the plan for places that are open, and make them an action.

    Raises:
        ToolError: when the plan fails and every place lies in the project; the places are closed.
    """
    try:
        plan = await planning()
    except ToolError as error:
        if all(place.resolution.zone is Zone.PROJECT for place, _ in places):
            _close(places)
            raise
        plan = Plan(_raising(error), binds=(error.message,))
    except BaseException:
        _close(places)
        raise
    return HeldAction(places, plan)


def require_same(workspace: Workspace, places: Places) -> None:
    """Make sure that the paths still lead where they led when they were judged.

    Raises:
        PathError: when one of them leads elsewhere now, or something else stands there.
    """
    for place, operation in places:
        before = place.resolution
        again = workspace.locate(before.asked, operation)
        now = again.resolution
        again.close()
        if (now.real, now.kind, now.identity) != (before.real, before.kind, before.identity):
            raise PathError(f"{before.shown} changed since this call was checked; try again")


def fingerprint(*parts: str | bytes) -> str:
    """Hash of a sequence of texts; no two sequences share one by running together."""
    from hashlib import blake2b

    hasher = blake2b(digest_size=16)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        hasher.update(b"%d:" % len(data))
        hasher.update(data)
    return hasher.hexdigest()


def _raising(error: ToolError) -> Callable[[], Awaitable[Done | Failed]]:
    async def fail() -> Done | Failed:
        raise error

    return fail


def _close(places: Places) -> None:
    for place, _ in places:
        place.close()
