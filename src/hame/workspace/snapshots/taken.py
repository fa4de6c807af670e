"""Captures of folders before a step, as they are written down, and what came of them."""

from collections.abc import Sequence

import msgspec

from hame.base.snapshot import Attempt, PathChange
from hame.workspace.snapshots.capture import Capture, Capturer
from hame.workspace.snapshots.disk import NOTHING
from hame.workspace.snapshots.log import Began
from hame.workspace.snapshots.treediff import tree_diff


class Taken(msgspec.Struct, frozen=True):
    """A folder that is captured, and its state before a step."""

    capturer: Capturer
    before: Capture


def began_line(number: int, attempt: Attempt, trees: Sequence[Taken], at: float) -> Began:
    """What is written down when a step begins that may change anything."""
    left = {
        f"{tree.capturer.root}/{path}": state
        for tree in trees
        for path, state in tree.before.left.items()
    }
    return Began(
        number=number,
        tool=attempt.tool,
        title=attempt.title,
        record=attempt.record,
        at=at,
        before=left,
        trees={tree.capturer.root: tree.before.tree for tree in trees},
        forced={tree.capturer.root: tree.before.forced for tree in trees if tree.before.forced},
    )


def captured_by(began: Began, root: str) -> Capture:
    """What a step that has begun held of a folder."""
    left = {
        path[len(root) + 1 :]: state
        for path, state in began.before.items()
        if path.startswith(root + "/")
    }
    return Capture(tree=began.trees[root], left=left, forced=began.forced.get(root, ()))


async def changes_between(capturer: Capturer, before: Capture, after: Capture) -> list[PathChange]:
    """What is not the same in two captures of a folder."""
    found = await tree_diff(capturer.git, before.tree, after.tree)
    for path in before.left.keys() | after.left.keys():
        old, new = found.get(path, (NOTHING, NOTHING))
        found[path] = before.left.get(path, old), after.left.get(path, new)
    return [
        PathChange(f"{capturer.root}/{path}", *map(capturer.with_permissions(path), states))
        for path, states in sorted(found.items())
        if not states[0].same_as(states[1])
    ]
