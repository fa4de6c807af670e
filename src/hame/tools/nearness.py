"""What the model may have meant by a path where nothing is."""

import posixpath

from hame.base.errors import PathError, ToolError
from hame.base.ports import Located, Workspace
from hame.base.zone import Operation, Zone

_NAMES = 3


async def missing(workspace: Workspace, place: Located, what: str = "file") -> PathError:
    """The error for a path where nothing is, naming what is nearest to it."""
    found = place.resolution
    names = await _nearest(workspace, found.shown) if found.zone is Zone.PROJECT else []
    hint = f" Nearest: {', '.join(names)}" if names else " Look around with list_dir or find_files."
    return PathError(f"no such {what}: {found.shown}.{hint}")


async def _nearest(workspace: Workspace, shown: str) -> list[str]:
    folder, name = posixpath.split(shown)
    names = await _namesakes(workspace, name)
    for neighbour in await _neighbours(workspace, folder or ".", name):
        if neighbour not in names:
            names.append(neighbour)
    return names[:_NAMES]


async def _namesakes(workspace: Workspace, name: str) -> list[str]:
    """Files of that very name elsewhere in the project."""
    pattern = "".join(f"[{letter}]" if letter in "*?[]{}" else letter for letter in name)
    try:
        root = workspace.locate(".", Operation.LIST)
    except ToolError:
        return []
    try:
        found, _ = await workspace.find_files(f"**/{pattern}", root, _NAMES)
        return list(found)
    except ToolError:
        return []
    finally:
        root.close()


async def _neighbours(workspace: Workspace, folder: str, name: str) -> list[str]:
    """Names in the same directory that are spelt much like it."""
    from difflib import get_close_matches

    try:
        place = workspace.locate(folder, Operation.LIST)
    except ToolError:
        return []
    try:
        entries = await workspace.list_directory(place)
    except ToolError:
        return []
    finally:
        place.close()
    by_fold = {entry.name.casefold(): entry.name for entry in entries}
    close = get_close_matches(name.casefold(), list(by_fold), n=_NAMES, cutoff=0.6)
    return [posixpath.normpath(posixpath.join(folder, by_fold[fold])) for fold in close]
