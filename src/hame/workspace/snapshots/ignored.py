"""Ignored files that are small enough to be held: settings, local databases, not `node_modules`."""

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import anyio.to_thread
import msgspec

from hame.workspace.snapshots.git import Git, split

_LARGEST = 5 * 1024 * 1024
_MOST_BYTES = 50 * 1024 * 1024
_MOST_FILES = 2_000
"""Together; a folder that does not fit is left out as a whole."""


class _Budget(msgspec.Struct):
    files: int = _MOST_FILES
    size: int = _MOST_BYTES


async def small_ignored(
    git: Git, index: Path, first: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Ignored files that fit, and the places that do not; paths are relative to the folder.

    Those below the paths in `first` are taken before others.

    Raises:
        GitError: if they cannot be listed.
    """
    printed = await git.run(
        "ls-files", "-z", "-o", "-i", "--directory", "--exclude-standard", index=index
    )
    places = split(printed)
    root = git.directory.cwd
    return await anyio.to_thread.run_sync(_choose, root, sorted(places, key=_order(first)))


def _order(first: Sequence[str]) -> Callable[[str], tuple[bool, bool]]:
    def key(place: str) -> tuple[bool, bool]:
        named = any(place.startswith(path) or path.startswith(place) for path in first)
        return not named, place.endswith("/")

    return key


def _choose(root: str, places: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    budget = _Budget()
    taken: list[str] = []
    left: list[str] = []
    for place in places:
        found = _fitting(root, place, budget)
        if found is None:
            left.append(place)
        else:
            taken += found
    return tuple(taken), tuple(left)


def _fitting(root: str, place: str, budget: _Budget) -> list[str] | None:
    """The files of a place, when they all fit into what is left; they are then counted."""
    files: list[str] = []
    size = 0
    for path in _files(root, place):
        try:
            found = os.lstat(f"{root}/{path}")
        except OSError:
            continue
        if not (stat.S_ISREG(found.st_mode) or stat.S_ISLNK(found.st_mode)):
            continue
        files.append(path)
        size += found.st_size
        if found.st_size > _LARGEST or size > budget.size or len(files) > budget.files:
            return None
    budget.files -= len(files)
    budget.size -= size
    return files


def _files(root: str, place: str) -> Iterator[str]:
    if not place.endswith("/"):
        yield place
        return
    for folder, folders, names in os.walk(f"{root}/{place.rstrip('/')}"):
        linked = [name for name in folders if Path(folder, name).is_symlink()]
        folders[:] = [name for name in folders if name != ".git"]
        for name in (*names, *linked):
            yield f"{folder}/{name}"[len(root) + 1 :]
