"""What protected files held before a command that could not be kept from writing them; and putting it back."""

import os
from collections.abc import Iterable, Iterator, Mapping
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


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """Any other protected entry of a folder."""

    folder: int
    """Inode of the folder."""
    files: Mapping[str, Kept]
    """The file that it is, or those that lie in it; by their paths from the folder."""


class Baseline(msgspec.Struct, frozen=True, kw_only=True):
    """What is put back."""

    held: Mapping[str, Held]
    """By the path of the repository."""
    entries: Mapping[str, Entry]
    """By its path."""


def keep(
    folders: Mapping[str, Folder],
    repositories: Mapping[str, Repository],
    known: Mapping[str, Kept],
) -> Baseline:
    """Take what is protected into memory; what is `known` already and has not changed is not read again."""
    keeper = Keeper()

    def all_of(folder: str, names: Iterable[str]) -> dict[str, Kept]:
        paths = ((name, f"{folder}/{name}") for name in names)
        found = ((name, keeper.keep(path, known.get(path))) for name, path in paths)
        return {name: kept for name, kept in found if kept is not None}

    held = {
        path: Held(repository=repository, files=all_of(path, telling_files(path)))
        for path, repository in repositories.items()
    }
    entries: dict[str, Entry] = {}
    for folder, name in _entries(folders):
        if (entry := f"{folder}/{name}") not in held:
            files = all_of(folder, _names_below(folder, name))
            entries[entry] = Entry(folder=folders[folder].inode, files=files)
    return Baseline(held=held, entries=entries)


def known_files(baseline: Baseline) -> dict[str, Kept]:
    """All that a baseline holds, by path."""
    found: dict[str, Kept] = {}
    for path, held in baseline.held.items():
        found |= {f"{path}/{name}": kept for name, kept in held.files.items()}
    for path, entry in baseline.entries.items():
        folder = path.rpartition("/")[0]
        found |= {f"{folder}/{name}": kept for name, kept in entry.files.items()}
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

    def run(self, folders: Mapping[str, Folder], repositories: Mapping[str, Repository]) -> None:
        """Go through all of it; `folders` and `repositories` are those there are now."""
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
        moved = {folder.inode: path for path, folder in folders.items()}
        for path, entry in self._baseline.entries.items():
            folder, _, name = path.rpartition("/")
            # What was moved away with its folder, and what stands there in its place.
            for place in {folder, moved.get(entry.folder, folder)}:
                if Path(place).is_dir():
                    self._settle_entry(place, name, entry)

    def _settle_entry(self, folder: str, name: str, entry: Entry) -> None:
        self._settle(entry.files, folder)
        for new in _names_below(folder, name):
            if new not in entry.files:
                self._ground.set_aside(f"{folder}/{new}")

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

    def _settle(self, files: Mapping[str, Kept], place: str) -> None:
        for name, kept in files.items():
            path = f"{place}/{name}"
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


def _entries(folders: Mapping[str, Folder]) -> Iterator[tuple[str, str]]:
    for path, folder in folders.items():
        yield from ((path, name) for name in folder.protected)
        if ".git" in folder.names:
            yield path, ".git"  # Where it is a file or a link; a folder is a repository.


def _names_below(folder: str, name: str) -> list[str]:
    """An entry of a folder that is a file, or the files that lie in it."""
    return [path[len(folder) + 1 :] for path in files_below(f"{folder}/{name}")]


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
