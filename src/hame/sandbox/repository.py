"""Repositories of git in the project: where they are, and what in them makes git start programs.

https://git-scm.com/docs/gitrepository-layout
"""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from hame.sandbox.inventory import Folder
from hame.sandbox.keepsake import files_below

_SETTINGS = ("config", "config.worktree", "commondir", "info/attributes")
_OF_WORKTREES = ("gitdir", "commondir", "config.worktree")
_MODULE_DEPTH = 5
_POINTER = re.compile(rb"gitdir: (.+?)\s*")


class Repository(msgspec.Struct, frozen=True, kw_only=True):
    """A repository's own folder, `.git` or another."""

    path: str
    inode: int


def find_repositories(folders: Mapping[str, Folder]) -> dict[str, Repository]:
    """Those of all folders that were looked at, by path; those of their submodules too."""
    found: dict[str, Repository] = {}
    for path, folder in folders.items():
        if ".git" in folder.folders:
            _add(found, f"{path}/.git", folder.inodes[".git"])
        elif folder.is_repository():
            _add(found, path, folder.inode)
    return found


def telling_files(repository: str) -> Iterator[str]:
    """Its files that make git start programs, or look elsewhere; relative, whether or not they exist."""
    yield from _SETTINGS
    hooks = f"{repository}/hooks"
    for path in (hooks,) if Path(hooks).is_symlink() else files_below(hooks):
        yield path[len(repository) + 1 :]
    for name in _names(f"{repository}/worktrees"):
        yield from (f"worktrees/{name}/{each}" for each in _OF_WORKTREES)
    yield from _stray(repository, "modules", _MODULE_DEPTH)


def is_harmless(name: str) -> bool:
    """Whether git never runs or reads this one of the files of a new repository."""
    return name.startswith("hooks/") and name.endswith(".sample")


def pointed_at(path: str) -> str | None:
    """The repository that a `.git` which is a file leads to; None: nowhere."""
    try:
        with Path(path).open("rb") as file:
            found = _POINTER.fullmatch(file.read(4096))
    except OSError:
        return None
    if found is None:
        return None
    try:
        return os.path.realpath(Path(path).parent / os.fsdecode(found[1]))
    except OSError:
        return None


def _add(found: dict[str, Repository], path: str, inode: int) -> None:
    found[path] = Repository(path=path, inode=inode)
    for module in _modules(f"{path}/modules", _MODULE_DEPTH):
        _add(found, module, os.lstat(module).st_ino)


def _modules(path: str, depth: int) -> Iterator[str]:
    """Repositories of submodules, whose names may have slashes."""
    for name in _names(path):
        below = f"{path}/{name}"
        if Path(below).is_symlink():
            continue
        if os.path.lexists(f"{below}/HEAD"):
            yield below
        elif depth > 0:
            yield from _modules(below, depth - 1)


def _stray(repository: str, folder: str, depth: int) -> Iterator[str]:
    """Files where only the repositories of submodules have their place."""
    for name in _names(f"{repository}/{folder}"):
        below = f"{folder}/{name}"
        path = Path(repository, below)
        if path.is_symlink() or not path.is_dir():
            yield below
        elif depth > 0 and not os.path.lexists(path / "HEAD"):
            yield from _stray(repository, below, depth - 1)


def _names(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry in entries]
    except OSError:
        return []
