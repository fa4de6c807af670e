"""What a layout of the machine is in rules of Landlock, which can only add.

A folder with a hidden place below it is allowed entry by entry; one that may be written is allowed as a whole,
with what is hidden or protected in it, since there a new file must be readable and writable too.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TypeAlias

from hame.base.zone import is_below, split
from hame.sandbox import ruleset
from hame.sandbox.layout import REPLACED, Kind, Layout
from hame.sandbox.openings import Opening, open_all_but
from hame.sandbox.ruleset import IOCTL_DEV, LOOK, READ_DIR, READ_FILE, WRITE_FILE
from hame.sandbox.site import Site

Rule: TypeAlias = tuple[int, tuple[Opening, ...]]
"""Rights, and the places that they are for."""

USE_DEVICE = READ_FILE | WRITE_FILE | IOCTL_DEV
_DEVICES = tuple(f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom", "tty"))
_SHARED_MEMORY = "/dev/shm"  # noqa: S108 - where programs have their semaphores
_CLOSED = (*REPLACED, "/dev")
"""What a program needs of devices is allowed by name; the rest belongs to others."""


def rules_of(layout: Layout, site: Site, *, writes: bool, version: int) -> tuple[Rule, ...]:
    """The rules for this layout; `writes`: for a program that may write the project."""
    kinds: dict[Kind, list[str]] = {}
    for mount in layout.mounts():
        kinds.setdefault(mount.kind, []).append(mount.path)
    writable, hidden = kinds.get(Kind.WRITE, []), kinds.get(Kind.HIDE, [])
    own = [*site.own, site.scratch]
    # In a folder that is written as a whole only hame's own places can still be left out.
    out_of_reach = [
        place
        for place in hidden
        if any(_lies_in(place, mine) for mine in own) or not _in_any(place, writable)
    ]
    closed = {*_CLOSED, *out_of_reach, site.scratch}
    change = ruleset.change(version) | LOOK
    rules: list[Rule] = [
        (READ_DIR, opened(["/"])),
        (LOOK, tuple(open_all_but(closed))),
        (USE_DEVICE, opened(_DEVICES)),
    ]
    rules += [(LOOK, _inside(place, closed)) for place in kinds.get(Kind.SHOW, [])]
    rules += [(change, _inside(place, closed)) for place in writable]
    if writes:
        rules.append((change, opened([_SHARED_MEMORY])))
    return tuple(rule for rule in rules if rule[1])


def opened(paths: Iterable[str]) -> tuple[Opening, ...]:
    """Places with their inodes: one that was made anew is another."""
    found: list[Opening] = []
    for path in paths:
        try:
            found.append((path, os.lstat(path).st_ino))
        except OSError:
            continue
    return tuple(found)


def _inside(place: str, closed: Iterable[str]) -> tuple[Opening, ...]:
    """A place, wherever it lies, but for what is closed below it."""
    if not Path(place).is_dir():
        return opened([place])
    return tuple(open_all_but({each for each in closed if _lies_below(each, place)}, place))


def _lies_in(path: str, folder: str) -> bool:
    return bool(folder) and is_below(split(path), folder)


def _lies_below(path: str, folder: str) -> bool:
    return path != folder and _lies_in(path, folder)


def _in_any(path: str, folders: Iterable[str]) -> bool:
    return any(_lies_in(path, folder) for folder in folders)
