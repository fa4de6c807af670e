"""What lies in a folder that a sandbox keeps from being read, or from being changed.

A folder is walked breadth first, to a bound. What was found in a directory is kept until that
directory changes, so that a second look costs one stat per directory. What is written into folders of
installed packages is not looked at: they hold thousands of files that are nobody's secret.
"""

import os
import stat
import time
from collections import Counter, deque
from collections.abc import Iterable

import msgspec

from hame.base.zone import (
    PROTECTED_OF_GIT,
    PROTECTED_OF_PROJECT,
    SECRET_NAMES,
    SECRET_SUFFIXES,
    is_below,
    is_protected,
    is_secret,
    split,
)
from hame.sandbox.credential import holds_credential
from hame.sandbox.gitindex import GitIndex

MOST_FOLDERS = 4000
"""Directories that are looked into; those nearest to the root come first."""
_MOST_SHARED = 100
"""Files with a second name elsewhere that are kept from being written."""
_YOUNG_NS = 50_000_000
"""Times on disk are this coarse: a directory that changed just before it was read is read again."""
_PACKAGES = frozenset({
    "node_modules", "site-packages", "dist-packages", "__pycache__", ".tox", ".nox",
    ".mypy_cache", ".ruff_cache", ".pytest_cache",
})  # fmt: skip

_OF_GIT = tuple("/".join(parts[1:]) for parts in PROTECTED_OF_GIT)
"""Paths in `.git`."""
_MASKED_IN_GIT = frozenset({"hooks", "modules", "worktrees", "info/attributes"})
"""Those that may be there as empty folders without git minding; the others would make it stop."""


class Findings(msgspec.Struct, frozen=True, kw_only=True):
    """What lies below one folder, as absolute paths."""

    root: str
    secrets: tuple[str, ...] = ()
    """Files and folders, as real paths; that of a link is what it leads to."""
    protected: tuple[str, ...] = ()
    """What is there and must not be changed; no links."""
    missing: tuple[str, ...] = ()
    """What is not there, and must not come."""
    links: tuple[str, ...] = ()
    """What must not be changed and is a link, so that nothing can be put over it."""
    shared: tuple[str, ...] = ()
    """Files that have a second name elsewhere: writing to them would be writing there."""


class _Folder(msgspec.Struct, frozen=True):
    """What one directory held when it was read."""

    stamp: tuple[int, ...]
    young: bool
    """It had changed so shortly before it was read that its times may not tell a later change."""
    folders: tuple[str, ...]
    secrets: tuple[str, ...]
    """Perhaps: what is in them is looked at each time."""
    protected: tuple[str, ...]
    links: tuple[str, ...]
    secret_links: tuple[str, ...]
    named_twice: tuple[tuple[str, int, int, int], ...]
    """Path, device, inode, number of names."""
    plain: bool
    """Nothing but folders and files that nobody minds."""


class Survey:
    """Looks at one folder again and again."""

    def __init__(self, root: str, *, home: str = "", most: int = MOST_FOLDERS) -> None:
        """Look below a real absolute path."""
        self._root = root
        self._home = home
        self._most = most
        self._known: dict[str, _Folder] = {}
        self._index = GitIndex()

    def look(self) -> Findings:
        """What is there now. What cannot be read holds nothing that a program could read either."""
        seen = self._walk()
        protected = [path for folder in seen for path in folder.protected]
        links = [path for folder in seen for path in folder.links]
        missing = [
            path
            for name in sorted(PROTECTED_OF_PROJECT)
            if not os.path.lexists(path := f"{self._root}/{name}")
        ]
        repositories = [path for path in protected if path.endswith("/.git")]
        for repository in repositories:
            if stat.S_ISDIR(mode_of(repository)):
                protected.remove(repository)
                _look_into_git(repository, protected, missing, links)
        tops = [repository.rpartition("/")[0] for repository in repositories]
        secrets = [
            path
            for folder in seen
            for path in folder.secrets
            if holds_credential(path) and not self._index.holds(path, tops)
        ]
        secrets += self._targets(link for folder in seen for link in folder.secret_links)
        return Findings(
            root=self._root,
            secrets=tuple(dict.fromkeys(secrets)),
            protected=tuple(protected),
            missing=tuple(missing),
            links=tuple(links),
            shared=_named_elsewhere([each for folder in seen for each in folder.named_twice]),
        )

    def _walk(self) -> list[_Folder]:
        """The folders in which there is anything to be minded."""
        known: dict[str, _Folder] = {}
        before, found, waiting = self._known, list[_Folder](), deque([self._root])
        # What was seen before is seen again, however much has come: else it could be crowded out.
        left = max(self._most - len(before), 0)
        while waiting:
            path = waiting.popleft()
            if path not in before:
                left -= 1
                if left < 0:
                    continue
            try:
                facts = os.lstat(path)
                if not stat.S_ISDIR(facts.st_mode):
                    continue
                stamp = (facts.st_ino, facts.st_mtime_ns, facts.st_ctime_ns)
                folder = before.get(path)
                if folder is None or folder.stamp != stamp or folder.young:
                    folder = _read_folder(path, self._root, stamp)
            except OSError:  # Gone, or not to be read by a program either.
                continue
            known[path] = folder
            waiting += folder.folders
            if not folder.plain:
                found.append(folder)
        self._known = known
        return found

    def _targets(self, links: Iterable[str]) -> list[str]:
        """What links with a secret's name lead to, where that is the user's own and no whole tree."""
        found: list[str] = []
        for link in links:
            target = os.path.realpath(link)
            ours = any(is_below(split(target), top) for top in (self._root, self._home))
            if ours and not any(is_below(split(top), target) for top in (self._root, self._home)):
                found.append(target)
        return [path for path in found if os.path.lexists(path)]


def _read_folder(path: str, root: str, stamp: tuple[int, ...]) -> _Folder:
    """Read a directory.

    Raises:
        OSError: if it cannot be read.
    """
    read_at = time.time_ns()
    inside = path[len(root) :].strip("/")
    above = tuple(inside.split("/")) if inside else ()
    hidden = any(part.startswith(".") for part in above)
    found: dict[str, list[str]] = {
        kind: [] for kind in ("folders", "secrets", "protected", "links", "secret_links")
    }
    twice: list[tuple[str, int, int, int]] = []
    with os.scandir(path) as entries:
        listed = list(entries)
    # A marker such as `pyvenv.cfg` says nothing here: any command, and any repository, can bring one.
    for entry in listed:
        name, place = entry.name, f"{path.rstrip('/')}/{entry.name}"
        marked = (hidden or _is_remarkable(name)) and _mark(above, name, place)
        if marked and entry.is_symlink():
            found["links" if marked == "protected" else "secret_links"].append(place)
        elif marked:
            found[marked].append(place)
        elif entry.is_dir(follow_symlinks=False):
            if name not in _PACKAGES:
                found["folders"].append(place)
        elif entry.is_file(follow_symlinks=False):
            facts = entry.stat(follow_symlinks=False)
            if facts.st_nlink > 1:
                twice.append((place, facts.st_dev, facts.st_ino, facts.st_nlink))
    return _Folder(
        stamp=stamp,
        young=stamp[-1] > read_at - _YOUNG_NS,
        plain=not twice and not any(paths for kind, paths in found.items() if kind != "folders"),
        named_twice=tuple(twice),
        **{kind: tuple(sorted(paths)) for kind, paths in found.items()},
    )


def _is_remarkable(name: str) -> bool:
    """Whether the tables could say anything about a name; they are slow for all names of a tree."""
    lower = name.lower()
    return (
        lower.startswith(".")
        or lower in SECRET_NAMES
        or lower.endswith(SECRET_SUFFIXES)
        or not name.isascii()
    )


def _mark(above: tuple[str, ...], name: str, place: str) -> str:
    """`secrets`, `protected`, or nothing."""
    if is_secret(split(place)):
        return "secrets"
    return "protected" if is_protected((*above, name)) else ""


def _look_into_git(
    repository: str, protected: list[str], missing: list[str], links: list[str]
) -> None:
    """What of a `.git` folder must not be changed."""
    for name in _OF_GIT:
        path = f"{repository}/{name}"
        mode = mode_of(path)
        if stat.S_ISLNK(mode):
            links.append(path)
        elif name in _MASKED_IN_GIT and (_is_empty(path) if mode else mode_of(_above(path))):
            # git takes empty folders away when it tidies up, whoever has made them: one that is to be
            # mounted from must not be counted on.
            missing.append(path)
        elif mode:
            protected.append(path)


def _is_empty(path: str) -> bool:
    try:
        with os.scandir(path) as entries:
            return next(entries, None) is None
    except OSError:
        return False


def _above(path: str) -> str:
    return path.rpartition("/")[0]


def _named_elsewhere(found: list[tuple[str, int, int, int]]) -> tuple[str, ...]:
    """Files of which not all names lie here."""
    here = Counter((device, inode) for _, device, inode, _ in found)
    shared = sorted(path for path, device, inode, names in found if here[device, inode] < names)
    return tuple(shared[:_MOST_SHARED])


def mode_of(path: str) -> int:
    """The mode of what is there, links not followed; 0 where there is nothing."""
    try:
        return os.lstat(path).st_mode
    except OSError:
        return 0
