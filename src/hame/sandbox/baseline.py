"""What protected files held before a command that could not be kept from writing them; and putting it back."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from hame.sandbox.gitconfig import only_tracks, read_config
from hame.sandbox.inventory import Folder
from hame.sandbox.keepsake import Keeper, Kept, files_below, move_back, put_back
from hame.sandbox.leavings import Ground
from hame.sandbox.repository import Repository, is_harmless, telling_files


class Held(msgspec.Struct, frozen=True, kw_only=True):
    """A repository, and its files that make git start programs, by their paths in it."""

    repository: Repository
    files: Mapping[str, Kept]


class Baseline(msgspec.Struct, frozen=True, kw_only=True):
    """What is put back."""

    held: Mapping[str, Held]
    """By the path of the repository."""
    entries: Mapping[str, Mapping[str, Kept]]
    """By the path of any other protected entry of a folder: the files that it is, or that lie in it."""


def keep(
    folders: Mapping[str, Folder],
    repositories: Mapping[str, Repository],
    known: Mapping[str, Kept],
) -> Baseline:
    """Take what is protected into memory; what is `known` already and has not changed is not read again."""
    keeper = Keeper()

    def all_of(paths: Iterator[str]) -> dict[str, Kept]:
        found = ((path, keeper.keep(path, known.get(path))) for path in paths)
        return {path: kept for path, kept in found if kept is not None}

    held: dict[str, Held] = {}
    for path, repository in repositories.items():
        files = all_of(f"{path}/{name}" for name in telling_files(path))
        inside = {name[len(path) + 1 :]: kept for name, kept in files.items()}
        held[path] = Held(repository=repository, files=inside)
    entries = {
        entry: all_of(files_below(entry)) for entry in _entries(folders) if entry not in held
    }
    return Baseline(held=held, entries=entries)


def known_files(baseline: Baseline) -> dict[str, Kept]:
    """All that a baseline holds, by path."""
    found: dict[str, Kept] = {}
    for path, held in baseline.held.items():
        found |= {f"{path}/{name}": kept for name, kept in held.files.items()}
    for files in baseline.entries.values():
        found |= files
    return found


class Restoration:
    """Puts back what a command has changed."""

    def __init__(self, ground: Ground, baseline: Baseline) -> None:
        """Nothing is touched yet."""
        self._ground = ground
        self._baseline = baseline
        self._keeper = Keeper()
        self.settled: set[str] = set()
        """Repositories that are as they were, where they are now."""

    def run(self, repositories: Mapping[str, Repository]) -> None:
        """Go through all of it; `repositories` are those there are now."""
        by_inode = {each.inode: each for each in repositories.values()}
        for path, held in self._baseline.held.items():
            place = self._place_of(held.repository, repositories.get(path), by_inode)
            if place is not None:
                self._settle(held.files, place)
                for name in telling_files(place):
                    new = name not in held.files and not is_harmless(name)
                    if new and os.path.lexists(f"{place}/{name}"):
                        self._ground.set_aside(_whole(place, name))
                self.settled.add(place)
        for entry, files in self._baseline.entries.items():
            if Path(entry).parent.is_dir():
                self._settle(files)
                for path in [path for path in files_below(entry) if path not in files]:
                    self._ground.set_aside(path)

    def _place_of(
        self, was: Repository, now: Repository | None, by_inode: Mapping[int, Repository]
    ) -> str | None:
        """Where a repository is now; None: it is gone, with the folder it was in."""
        root = self._ground.root_of(was.path)
        if root is None or (now is not None and now.inode == was.inode):
            return was.path
        moved = by_inode.get(was.inode)
        replaced = os.path.lexists(was.path)
        if moved is None:
            return was.path if replaced or was.path.rpartition("/")[0] == root else None
        if not replaced:
            return moved.path
        try:
            move_back(root, moved.path, was.path, self._ground.aside)
        except OSError as error:
            self._ground.account.failed(was.path, error.strerror or str(error))
        else:
            self._ground.account.put_back(was.path)
        return was.path

    def _settle(self, files: Mapping[str, Kept], place: str = "") -> None:
        for name, kept in files.items():
            path = f"{place}/{name}" if place else name
            now = self._keeper.keep(path, kept)
            if kept.equals(now) or (name == "config" and _only_tracks(kept, now)):
                continue
            root = self._ground.root_of(path)
            if root is None:
                continue
            try:
                put_back(root, path, kept, self._ground.aside)
            except OSError as error:
                self._ground.account.failed(path, error.strerror or str(error))
            else:
                self._ground.account.put_back(path)


def _entries(folders: Mapping[str, Folder]) -> Iterator[str]:
    for path, folder in folders.items():
        for name in folder.protected:
            yield f"{path}/{name}"
        if ".git" in folder.names:
            yield f"{path}/.git"  # Where it is a file or a link; a folder is a repository.


def _whole(repository: str, name: str) -> str:
    """What has to go for a file that is new: of a worktree all that is told of it."""
    parts = name.split("/")
    return f"{repository}/{'/'.join(parts[:2] if parts[0] == 'worktrees' else parts)}"


def _only_tracks(before: Kept, after: Kept | None) -> bool:
    if after is None or before.mode != after.mode or before.data is None or after.data is None:
        return False
    try:
        return only_tracks(read_config(before.data.decode()), read_config(after.data.decode()))
    except ValueError:
        return False
