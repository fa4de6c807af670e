"""What a linked worktree has outside of itself: git-worktree(1), gitrepository-layout(5).

Its `.git` is a file that leads to a folder of its own in the repository it belongs to. A commit writes there,
and objects, refs and logs of the repository; what makes git start programs is beside them and stays as it is.
"""

import os
import stat
from collections.abc import Iterator

import msgspec

from hame.base.zone import is_below, split
from hame.sandbox.gitconfig import read_config
from hame.sandbox.regular import read_regular
from hame.sandbox.repository import pointed_at
from hame.sandbox.survey import Findings, mode_of

_LIMIT = 1 << 20
_SHARED = ("objects", "refs", "logs")
"""What all worktrees of a repository write."""
_LEADING = ("commondir", "gitdir")
"""Files that say where git finds the rest."""
_SETTINGS = "config.worktree"
_SUBMODULES = "modules"


class Worktree(msgspec.Struct, frozen=True, kw_only=True):
    """A linked worktree's part of a repository; all paths are real and absolute."""

    own: str
    """Its own folder: `.git/worktrees/NAME` of the repository."""
    shared: tuple[str, ...]
    """Folders that every worktree writes."""
    guarded: tuple[str, ...]
    """What is in its own folder and must not be changed."""
    missing: tuple[str, ...]
    """What is not there, and must not come."""

    @property
    def findings(self) -> Findings:
        """What a sandbox keeps from being changed in its own folder."""
        return Findings(root=self.own, protected=self.guarded, missing=self.missing)


def find_worktree(root: str) -> Worktree | None:
    """The part of the repository that a project writes which is a linked worktree.

    None if it is none, if the repository does not know it as one, if either belongs to somebody else, or if
    git would read settings there that are not there yet.
    """
    pointer = f"{root}/.git"
    if not stat.S_ISREG(mode_of(pointer)) or (own := pointed_at(pointer)) is None:
        return None
    parent, name = os.path.split(own)
    common = parent.removesuffix("/worktrees")
    known = common != parent and bool(name) and _leads(f"{own}/commondir", own, common)
    # Any file can lead anywhere; what counts is that the repository names this very folder as its own.
    if not known or not _leads(f"{own}/gitdir", own, os.path.realpath(pointer)):
        return None
    if is_below(split(common), root) or not all(map(_is_mine, (root, own, common))):
        return None
    there = set(_present(own))
    if _SETTINGS not in there and _reads_settings(f"{common}/config"):
        return None
    return Worktree(
        own=own,
        shared=tuple(path for each in _SHARED if stat.S_ISDIR(mode_of(path := f"{common}/{each}"))),
        guarded=tuple(f"{own}/{each}" for each in sorted(there)),
        missing=() if _SUBMODULES in there else (f"{own}/{_SUBMODULES}",),
    )


def _present(own: str) -> Iterator[str]:
    return (
        each for each in (*_LEADING, _SETTINGS, _SUBMODULES) if os.path.lexists(f"{own}/{each}")
    )


def _leads(file: str, folder: str, place: str) -> bool:
    """Whether a file of git's names a place, from the folder it lies in."""
    data = read_regular(file, _LIMIT)
    if not data or b"\0" in data:
        return False
    return os.path.realpath(os.path.join(folder, os.fsdecode(data.rstrip(b"\r\n")))) == place  # noqa: PTH118


def _reads_settings(config: str) -> bool:
    """Whether git reads a file of settings for each worktree (git-config(1), `extensions.*`)."""
    text = (read_regular(config, _LIMIT) or b"").decode(errors="replace")
    return any(
        (each.section, each.name, each.key) == ("extensions", None, "worktreeconfig")
        for each in read_config(text)
    )


def _is_mine(path: str) -> bool:
    return os.lstat(path).st_uid == os.geteuid()
