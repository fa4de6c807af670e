"""What lies in git's own folders and leads git elsewhere: its user's git would follow it, outside any sandbox.

git writes through links: where `logs/HEAD` is one, each commit adds a line to what it leads to. A file
`commondir` lets it take its settings and hooks from another folder, `config.worktree` holds settings of its
own (gitrepository-layout(5)). None of them can have something empty in their place while they are missing,
since git would stop; so what has come is looked for afterwards.
"""

import os
import stat
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from hame.base.zone import is_below, is_protected, is_secret, split
from hame.sandbox.regular import read_regular

DEPTH = 12
MOST = 5000
"""Folders of one repository; the upper levels come first."""
_LARGEST_TODO = 1 << 20
_UNSURE_NS = 50_000_000
"""A change this short before the last look may not be the last one: clocks of file systems are coarse."""

_MUST_NOT_COME = ("commondir", "config.worktree")
_OF_OTHERS = frozenset({"modules", "hooks"})
"""Kept from being changed; repositories of submodules are looked at by themselves."""
_OBJECTS = "/objects"
_NAMED = frozenset({"info", "pack"})
"""The only folders of objects in which there are names."""


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """A link, or a file that leads elsewhere."""

    repository: str
    """The folder of git's that holds it."""
    inode: int
    target: str
    """What a link says; empty for a file."""


def programs_to_come(repositories: Iterable[str]) -> Mapping[str, str]:
    """What a rebase that was not ended would run when it goes on, by the file that says so.

    A command may leave one behind, so it stays; who goes on with it should know (git-rebase(1), `exec`).
    """
    found: dict[str, str] = {}
    for path in (f"{repository}/rebase-merge/git-rebase-todo" for repository in repositories):
        text = (read_regular(path, _LARGEST_TODO) or b"").decode(errors="replace")
        lines = (line.split(maxsplit=1) for line in text.splitlines())
        programs = [words[1] for words in lines if len(words) > 1 and words[0] in {"exec", "x"}]
        if programs:
            found[path] = "; ".join(programs)
    return found


class _Folder(msgspec.Struct, frozen=True, gc=False):
    stamp: tuple[int, int, int]
    sure: bool
    """A later change would show."""
    folders: tuple[str, ...]
    links: tuple[tuple[str, int, str], ...]
    """Name, inode, what it says."""


class Innards:
    """Looks into git's folders again and again, at the cost of one stat for each that did not change."""

    def __init__(self) -> None:
        """Look at nothing yet."""
        self._known: dict[str, _Folder] = {}

    def look(self, repositories: Iterable[str]) -> Mapping[str, Found]:
        """What leads elsewhere, by its path, in these folders of git's."""
        seen: dict[str, _Folder] = {}
        found: dict[str, Found] = {}
        for repository in repositories:
            for name in _MUST_NOT_COME:
                path = f"{repository}/{name}"
                status = _status(path)
                if status is not None:
                    found[path] = Found(repository=repository, inode=status.st_ino, target="")
            for path, folder in self._walk(repository, seen):
                for name, inode, target in folder.links:
                    place = f"{path}/{name}"
                    found[place] = Found(repository=repository, inode=inode, target=target)
        self._known = seen
        return found

    def _walk(self, top: str, seen: dict[str, _Folder]) -> Iterator[tuple[str, _Folder]]:
        waiting, left = deque([(top, 0)]), MOST
        while waiting and left > 0:
            path, depth = waiting.popleft()
            folder = self._look_at(path)
            if folder is None:
                continue
            left -= 1
            seen[path] = folder
            yield path, folder
            if depth < DEPTH:
                names = _worth_a_look(path, folder, depth)
                waiting += [(f"{path}/{name}", depth + 1) for name in names]

    def _look_at(self, path: str) -> _Folder | None:
        status = _status(path)
        if status is None or not stat.S_ISDIR(status.st_mode):
            return None
        stamp = (status.st_ino, status.st_mtime_ns, status.st_ctime_ns)
        known = self._known.get(path)
        if known is not None and known.sure and known.stamp == stamp:
            return known
        return _read(path, stamp)


def leads_away(path: str, found: Found, places: Iterable[str]) -> bool:
    """Whether what was found must not stay: a link may only lead to what git itself writes there.

    `places` are the folders that commands write.
    """
    if not found.target:
        return True
    try:
        real = split(os.path.realpath(path))
    except OSError:
        return True
    inside = next((real[len(split(place)) :] for place in places if is_below(real, place)), None)
    return inside is None or is_protected(inside) or is_secret(real)


def _worth_a_look(path: str, folder: _Folder, depth: int) -> Iterable[str]:
    if depth <= 1 and path.endswith(_OBJECTS):
        return (name for name in folder.folders if name in _NAMED)
    if depth == 0:
        return (name for name in folder.folders if name not in _OF_OTHERS)
    return folder.folders


def _read(path: str, stamp: tuple[int, int, int]) -> _Folder | None:
    now = time.time_ns()
    folders: list[str] = []
    links: list[tuple[str, int, str]] = []
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                if entry.is_symlink():
                    links.append((entry.name, entry.inode(), os.readlink(entry.path)))  # noqa: PTH115 - a Path would tidy it
                elif entry.is_dir(follow_symlinks=False):
                    folders.append(entry.name)
    except OSError:
        return None
    sure = now - max(stamp[1:]) > _UNSURE_NS
    return _Folder(stamp, sure, tuple(folders), tuple(links))


def _status(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except OSError:
        return None
