"""Taking steps back: what would be done, and doing it.

Each path is followed back through the steps, from what is there now. Where that is what the step
left, it becomes what the step found; where it is something else, both changes are told apart line by
line, and when they touch, the path is left alone and said.
"""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

import msgspec

from hame.base.errors import PathError, ToolError
from hame.base.snapshot import (
    DIRECTORY,
    EXECUTABLE,
    REGULAR,
    Conflict,
    FileState,
    Move,
    PathChange,
    Planned,
    Step,
    UndoPlan,
)
from hame.workspace.snapshots.disk import NOTHING, look, put, remove
from hame.workspace.snapshots.objects import Objects

Read: TypeAlias = Callable[[Sequence[str]], Awaitable[Mapping[str, bytes]]]
"""Bytes of blobs by their ids."""
Combine: TypeAlias = Callable[[bytes, bytes, bytes], Awaitable[bytes | None]]
"""Base, ours and theirs to both together; None when they touch."""
_AT_ONCE = 200
"""Files whose bytes are in memory at the same time."""


class Ground(msgspec.Struct, frozen=True, kw_only=True):
    """What an undo stands on."""

    objects: Objects
    read: Read
    combine: Combine
    root_of: Callable[[str], str]
    """The folder of the project that a path belongs to; folders above it are never taken away."""
    claimed: Mapping[int, Mapping[str, str]]
    """Step -> paths that another session changed at the same time, and which one that was."""


class _Stuck(Exception):  # noqa: N818 - it is no error, it is one of two ways out
    """A path cannot be followed back; the words say why."""


class _Way(msgspec.Struct, frozen=True):
    """Where following a path back has led."""

    then: FileState
    merged: bool = False
    over: bool = False


async def make_plan(steps: Sequence[Step], ground: Ground, *, over: bool) -> UndoPlan:
    """What taking back these steps would do.

    Raises:
        GitError: when something that was held cannot be read.
    """
    back = sorted(steps, key=lambda step: -step.number)
    trails: dict[str, list[tuple[Step, PathChange]]] = {}
    for step in back:
        for change in step.changes:
            trails.setdefault(change.path, []).append((step, change))
    moves: list[Planned] = []
    conflicts: list[Conflict] = []
    for path, trail in sorted(trails.items()):
        now = _now(path, ground, _states(trail))
        try:
            way = await _follow(path, now, trail, ground, over=over)
            planned = _planned(path, now, way, fresh=not _is_known(now, trail))
        except _Stuck as stuck:
            conflicts.append(Conflict(path, str(stuck)))
        else:
            moves += [planned] if planned else []
    return UndoPlan(
        steps=tuple(step.number for step in back), moves=tuple(moves), conflicts=tuple(conflicts)
    )


def _now(
    path: str, ground: Ground, states: Iterable[FileState], *, keep: bool = False
) -> FileState:
    """What stands at a path; what lies behind a link is not at that path.

    A folder counts only where one of the states is one: trees do not hold folders.
    """
    found = look(path, ground.objects if keep else None)
    folders = found.mode != DIRECTORY or any(state.mode == DIRECTORY for state in states)
    return found if folders else NOTHING


def _states(trail: Sequence[tuple[Step, PathChange]]) -> Iterator[FileState]:
    return (state for _, change in trail for state in (change.before, change.after))


async def _follow(
    path: str,
    now: FileState,
    trail: Sequence[tuple[Step, PathChange]],
    ground: Ground,
    *,
    over: bool,
) -> _Way:
    """The state before the earliest step, and how it was reached.

    Raises:
        _Stuck: when a step's part cannot be told apart; never with `over`.
    """
    state, merged = now, False
    try:
        for step, change in trail:
            _refuse_claimed(path, step, ground)
            if state.same_as(change.after):
                state = change.before
            elif not state.same_as(change.before):
                _now(path, ground, (), keep=not merged)
                state, merged = await _merge(state, change, ground), True
    except _Stuck:
        if not over:
            raise
        return _Way(trail[-1][1].before, over=True)
    return _Way(state, merged=merged)


def _refuse_claimed(path: str, step: Step, ground: Ground) -> None:
    """Leave alone what may be another session's work.

    Raises:
        _Stuck: when another session changed the path while the step ran.
    """
    other = ground.claimed.get(step.number, {}).get(path)
    if other:
        raise _Stuck(f"session {other} changed it at the same time")


def _is_known(now: FileState, trail: Sequence[tuple[Step, PathChange]]) -> bool:
    return any(now.same_as(state) for state in _states(trail))


async def _merge(state: FileState, change: PathChange, ground: Ground) -> FileState:
    """A state without one step's change, and with what was changed since.

    Raises:
        _Stuck: when they touch.
    """
    if not state.exists:
        raise _Stuck("it was deleted since")
    if not change.after.exists:
        raise _Stuck("it was made again since")
    if not change.before.exists:
        raise _Stuck("it was changed since it was made")
    sides = (change.after, state, change.before)
    if any(side.mode not in {REGULAR, EXECUTABLE} or not side.held for side in sides):
        raise _Stuck("it was changed since")
    base, ours, theirs = [side.blob for side in sides]
    data = await ground.read([base, ours, theirs])
    both = await ground.combine(data[base], data[ours], data[theirs])
    if both is None:
        raise _Stuck("it was changed since, in the same lines")
    return FileState(mode=state.mode, blob=ground.objects.put(both), permissions=state.permissions)


def _planned(path: str, now: FileState, way: _Way, *, fresh: bool) -> Planned | None:
    """The move from one state to another; None when they are the same.

    Raises:
        _Stuck: when one of them is not held.
    """
    then = way.then
    if now.same_as(then):
        return None
    if not then.held:
        raise _Stuck("it was too large to be held")
    if not now.held:
        raise _Stuck("it is too large to be held; take it away yourself")
    if not then.exists:
        move = Move.REMOVE
    elif not now.exists:
        move = Move.BRING_BACK
    else:
        move = Move.MERGE if way.merged else Move.RESTORE
    return Planned(path=path, move=move, now=now, then=then, over=way.over, fresh=fresh)


async def make_moves(plan: UndoPlan, ground: Ground) -> tuple[list[PathChange], list[str]]:
    """Do what was planned: what was changed, and what could not be, in words.

    Raises:
        ToolError: if something was changed since the plan was made; nothing is changed then.
        GitError: when something that was held cannot be read; nothing is changed then.
    """
    for planned in plan.moves:
        states = (planned.now, planned.then)
        if not _now(planned.path, ground, states, keep=planned.fresh).same_as(planned.now):
            raise ToolError(
                f"{planned.path} was changed just now", hint="Look at what would be done again."
            )
    gone = [planned for planned in plan.moves if planned.move is Move.REMOVE]
    back = [planned for planned in plan.moves if planned.move is not Move.REMOVE]
    done: list[PathChange] = []
    failed: list[str] = []
    for planned in sorted(gone, key=lambda planned: planned.path.count("/"), reverse=True):
        failed += _attempt(planned, b"", ground, done)
    for start in range(0, len(back), _AT_ONCE):
        some = back[start : start + _AT_ONCE]
        held = await ground.read([planned.then.blob for planned in some])
        for planned in some:
            failed += _attempt(planned, held.get(planned.then.blob, b""), ground, done)
    return done, failed


def _attempt(planned: Planned, data: bytes, ground: Ground, done: list[PathChange]) -> list[str]:
    """Make one move; why it could not be made, if it could not."""
    try:
        if planned.move is Move.REMOVE:
            remove(planned.path, ground.root_of(planned.path))
        else:
            put(planned.path, planned.then, data)
    except PathError as error:
        return [] if planned.now.mode == DIRECTORY else [error.message]
    done.append(PathChange(planned.path, planned.now, planned.then))
    return []
