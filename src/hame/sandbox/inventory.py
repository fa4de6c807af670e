"""What folders of the project hold, looked at again and again at little cost.

A folder is listed anew only when it has changed since (inode, time of change); whoever may write in it can
set back the one time, but not the other. Folders that hold thousands of other people's files are skipped.
"""

import os
import time
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from hame.sandbox.protected import is_protected_name, is_within_protected

DEPTH = 8
"""Levels below a root that are looked at."""
MOST = 3000
"""Folders; what lies beyond is not looked at. The upper levels come first."""
_LARGE = 4000
"""Entries of a folder whose single files are not looked at."""
_UNSURE_NS = 50_000_000
"""A change this short before the last look may not be the last one: clocks of file systems are coarse."""

_SKIPPED = frozenset({
    ".git", "__pycache__", "site-packages", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".tox",
    ".gradle", ".cache",
})  # fmt: skip
_FILLED_BY_GIT = frozenset({"objects", "refs", "logs"})
_MODULES, _MODULE_PROGRAMS = "node_modules", ".bin"
ENVIRONMENT = "pyvenv.cfg"
"""Marks the folder of a Python environment; of these only the programs are looked at."""


class Folder(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a folder held."""

    inode: int
    changed: tuple[int, int]
    """Times of its last change, in nanoseconds."""
    sure: bool
    """A later change would show."""
    folders: tuple[str, ...]
    links: tuple[str, ...]
    files: Mapping[str, int]
    """All that is neither a folder nor a link, and its inode; none where there are too many."""
    inodes: Mapping[str, int]
    """Of folders and links."""

    names: frozenset[str]
    """All that is looked at."""
    protected: tuple[str, ...]
    """Those that are protected, `.git` aside."""
    within: bool
    """It is protected itself, or lies in what is."""
    closed: bool
    """Its user may not list it; nothing is known of what it holds."""

    def is_environment(self) -> bool:
        """Whether it is a Python environment."""
        return ENVIRONMENT in self.files

    def is_repository(self) -> bool:
        """Whether git takes it for a repository, whatever it is called (gitrepository-layout(5))."""
        own = "objects" in self.inodes and "refs" in self.inodes
        return "HEAD" in self.names and (own or "commondir" in self.names)


class Inventory:
    """The folders below some roots."""

    def __init__(self, roots: Sequence[str], *, depth: int = DEPTH, most: int = MOST) -> None:
        """Look at nothing yet."""
        self._roots = tuple(roots)
        self._depth, self._most = depth, most
        self._known: dict[str, Folder] = {}
        self.whole = True
        """Whether the last look saw all there was to see."""

    def look(self) -> Mapping[str, Folder]:
        """All folders by their paths, as they are now."""
        found: dict[str, Folder] = {}
        level = list(self._roots)
        # What was seen before is seen again, however much has come: else it could be crowded out.
        left = max(self._most - len(self._known), 0)
        self.whole = True
        for _ in range(self._depth + 1):
            below: list[str] = []
            for path in level:
                if path not in self._known:
                    left -= 1
                    if left < 0:
                        self.whole = False
                        continue
                folder = self._look_at(path)
                if folder is not None:
                    found[path] = folder
                    below += _worth_a_look(path, folder)
            level = below
        self._known = found
        return found

    def _look_at(self, path: str) -> Folder | None:
        try:
            status = os.lstat(path)
        except OSError:
            return None
        known = self._known.get(path)
        changed = (status.st_mtime_ns, status.st_ctime_ns)
        if known and known.sure and known.inode == status.st_ino and known.changed == changed:
            return known
        return _list(path, status)


def _list(path: str, status: os.stat_result) -> Folder | None:
    folders: list[str] = []
    links: list[str] = []
    inodes: dict[str, int] = {}
    files: dict[str, int] = {}
    now, closed = time.time_ns(), False
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                if entry.is_symlink():
                    links.append(entry.name)
                    inodes[entry.name] = entry.inode()
                elif entry.is_dir(follow_symlinks=False):
                    folders.append(entry.name)
                    inodes[entry.name] = entry.inode()
                elif len(files) <= _LARGE:
                    files[entry.name] = entry.inode()
    except PermissionError:
        closed = True
    except OSError:
        return None
    names = frozenset(files) | frozenset(inodes)
    within = is_within_protected(path)
    return Folder(
        names=names,
        protected=() if within else tuple(name for name in names if is_protected_name(path, name)),
        within=within,
        closed=closed,
        inode=status.st_ino,
        changed=(status.st_mtime_ns, status.st_ctime_ns),
        sure=now - max(status.st_mtime_ns, status.st_ctime_ns) > _UNSURE_NS,
        folders=tuple(folders),
        links=tuple(links),
        files=files if len(files) <= _LARGE else {},
        inodes=inodes,
    )


def _worth_a_look(path: str, folder: Folder) -> Iterator[str]:
    # A command can make any folder look like a repository: what git fills is skipped, and no more.
    skipped = _SKIPPED | _FILLED_BY_GIT if folder.is_repository() else _SKIPPED
    for name in folder.folders:
        if name == _MODULES:
            yield f"{path}/{name}/{_MODULE_PROGRAMS}"
        elif name not in skipped:
            yield f"{path}/{name}"
