"""The files of a folder that are not ignored, and doing something with each of them."""

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

import anyio.to_thread

from hame.base.snapshot import FileState
from hame.workspace.locate import DIRECTORY
from hame.workspace.ownsearch import walk
from hame.workspace.search import Scope
from hame.workspace.snapshots.capture import Capturer
from hame.workspace.snapshots.disk import look
from hame.workspace.snapshots.git import Git, GitError, GitMissingError, split

_AT_ONCE = 200
"""Files in one go, before one looks whether it is to go on."""
_NAMED = 8
_In = TypeVar("_In")
_Out = TypeVar("_Out")


async def list_files(git: Git, index: Path) -> list[str]:
    """The files of a folder that are not ignored, by path relative to it; `index` is not there.

    Raises:
        GitError: if git cannot tell.
    """
    try:
        return await Capturer(git, index).files()
    except GitMissingError:
        return await anyio.to_thread.run_sync(_walk, git.directory.cwd)


async def list_ignored(git: Git) -> list[str]:
    """What is ignored in a folder, by path relative to it; of a folder that is, only its own name."""
    flags = ("-o", "-i", "--directory", "--exclude-standard")
    try:
        printed = await git.run("ls-files", "-z", *flags)
    except GitError:
        return []
    return [name.rstrip("/") for name in split(printed)]


async def in_pieces(items: Sequence[_In], do: Callable[[_In], _Out]) -> list[_Out]:
    """Do something with each, in a thread, so that it can be stopped on the way."""

    def do_some(some: Iterable[_In]) -> list[_Out]:
        return [do(item) for item in some]

    done: list[_Out] = []
    for start in range(0, len(items), _AT_ONCE):
        done += await anyio.to_thread.run_sync(do_some, items[start : start + _AT_ONCE])
    return done


def state_of(path: str) -> FileState:
    """What stands at a path; nothing where that cannot be read."""
    try:
        return look(path)
    except OSError:
        return FileState()


def bytes_of(path: str) -> bytes | None:
    """What a file holds, or the name that a link leads to."""
    place = Path(path)
    try:
        return os.fsencode(place.readlink()) if place.is_symlink() else place.read_bytes()
    except OSError:
        return None


def size_of(path: str) -> int:
    """Bytes of a file; 0 where there is none."""
    try:
        return os.lstat(path).st_size
    except OSError:
        return 0


def text_of(path: Path) -> str:
    """The text of a file; empty where there is none."""
    try:
        return path.read_text("utf-8", "surrogateescape")
    except OSError:
        return ""


def some(names: Sequence[str]) -> str:
    """Some of the names, and how many there are besides."""
    more = len(names) - _NAMED
    shown = [os.fsencode(name).decode("utf-8", "replace") for name in names[:_NAMED]]
    return ", ".join(shown) + (f" and {more:,} more" if more > 0 else "")


def _walk(root: str) -> list[str]:
    """The files of a folder without git."""
    descriptor = os.open(root, DIRECTORY)
    try:
        return list(walk(Scope(descriptor, root, hidden=True)))
    finally:
        os.close(descriptor)
