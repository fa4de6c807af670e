"""The difference of two trees, as states of paths."""

import stat
from collections.abc import Iterator

from hame.base.snapshot import EXECUTABLE, REGULAR, FileState
from hame.workspace.snapshots.git import Git

_NONE = "0" * 40


def file_mode(mode: int) -> int:
    """The mode that git gives a regular file of this mode."""
    return EXECUTABLE if mode & stat.S_IXUSR else REGULAR


async def tree_diff(git: Git, before: str, after: str) -> dict[str, tuple[FileState, FileState]]:
    """Paths, relative to the folder, that are not the same in two trees.

    Raises:
        GitError: if a tree is not there.
    """
    if before == after:
        return {}
    prefix = git.directory.prefix
    relative = (f"--relative={prefix}/",) if prefix else ()
    printed = await git.run(
        "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", *relative, before, after
    )
    return dict(_changes(printed.split(b"\0")))


def _changes(fields: list[bytes]) -> Iterator[tuple[str, tuple[FileState, FileState]]]:
    """Pairs of `:OLDMODE NEWMODE OLDID NEWID STATUS` and a path (git-diff-tree(1))."""
    for head, path in zip(fields[::2], fields[1::2], strict=False):
        old_mode, new_mode, old, new, _ = head.decode("ascii")[1:].split(" ")
        states = _state(old_mode, old), _state(new_mode, new)
        yield path.decode("utf-8", "surrogateescape"), states


def _state(mode: str, name: str) -> FileState:
    return FileState() if name == _NONE else FileState(mode=int(mode, 8), blob=name)
