"""What a program that may write a project is kept from changing there.

Raises where a mount could not do that: then the program has to run outside, or not at all.
"""

import os
from collections.abc import Sequence

from hame.base.errors import ToolError
from hame.base.zone import is_below, is_secret, split
from hame.sandbox.layout import Kind, Layout
from hame.sandbox.survey import Findings

_MOST_IN_HOME = 300
_SHOWN = 3
"""Links that are named in an error."""


def writable_places(
    roots: Sequence[str], home: str, search_path: Sequence[str]
) -> tuple[list[str], list[str]]:
    """What of these folders is really made writable, and what in it is kept from being changed.

    Of a whole home only what is not hidden, piece by piece: a start-up file that is not there yet must not
    come, and nothing can stand in its place without changing what the user's shells do.

    Raises:
        ToolError: if one holds a home, is a secret, or is on a file system that takes upper and lower
            case for the same.
    """
    places: list[str] = []
    kept: list[str] = []
    for root in roots:
        if is_secret(split(root)):
            raise ToolError(f"{root} holds secrets; no sandbox makes it writable")
        if _ignores_case(root):
            raise ToolError(
                f"{root} is on a file system that takes upper and lower case for the same; there a "
                "sandbox cannot keep protected files from being changed"
            )
        if home and is_below(split(home), root):
            if split(home) != split(root):
                raise ToolError(f"{root} holds whole homes; no sandbox makes it writable")
            places += _pieces_of(home)
            kept += [folder for folder in search_path if is_below(split(folder), home)]
        else:
            places.append(root)
    return places, kept


def protect(layout: Layout, findings: Findings) -> list[str]:
    """Guard what was found below a folder; what has to be made to stand in the place of what is missing.

    Raises:
        ToolError: if something protected is a link.
    """
    if findings.links:
        names = [path[len(findings.root) + 1 :] for path in findings.links]
        shown = ", ".join(names[:_SHOWN]) + (" and others" if len(names) > _SHOWN else "")
        be = "is a link" if len(names) == 1 else "are links"
        raise ToolError(
            f"{shown} in {findings.root} {be}: a sandbox cannot keep a command from replacing "
            "it, and other programs run what it leads to"
        )
    layout.guard(findings.root, Kind.GUARD, findings.protected)
    layout.put(Kind.GUARD, findings.shared)
    layout.guard(findings.root, Kind.MASK, findings.missing)
    return layout.writable(findings.missing)


def _pieces_of(home: str) -> list[str]:
    try:
        with os.scandir(home) as entries:
            found = [
                entry.path
                for entry in entries
                if not entry.name.startswith(".")
                and (entry.is_dir(follow_symlinks=False) or entry.is_file(follow_symlinks=False))
                and not is_secret(split(entry.path))
            ]
    except OSError:
        return []
    return sorted(found)[:_MOST_IN_HOME]


def _ignores_case(root: str) -> bool:
    """Whether something in a folder is also found under its name in the other case."""
    try:
        with os.scandir(root) as entries:
            entry = next((each for each in entries if each.name.swapcase() != each.name), None)
        if entry is None:
            return False
        other = os.lstat(f"{root}/{entry.name.swapcase()}")
        return other.st_ino == entry.inode()
    except OSError:
        return False
