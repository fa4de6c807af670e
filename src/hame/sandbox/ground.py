"""What a sandbox lets a program do with a place; worked out afterwards, for a program that failed."""

from collections.abc import Sequence
from enum import StrEnum

import msgspec

from hame.base.confinement import Confinement, Level, Reach
from hame.base.zone import is_below, is_protected, is_secret, split
from hame.sandbox.site import Site
from hame.sandbox.worktree import find_worktree

_RUNNING = "/run"
"""Another folder inside, at level A."""


class Right(StrEnum):
    """How far a program may go with one place."""

    NONE = "none"
    """It does not see it."""
    READ = "read"
    WRITE = "write"


class Ground(msgspec.Struct, frozen=True, kw_only=True):
    """The places that differ for a program, as real absolute paths.

    Each stands for all that lies in it; of several that hold a place, the innermost counts. What is named
    nowhere may be read.
    """

    writable: tuple[str, ...]
    hidden: tuple[str, ...] = ()
    """Not to be seen, or others inside."""
    seen: tuple[str, ...] = ()
    """To be read, although they lie in what is hidden or replaced."""
    projects: tuple[str, ...] = ()
    """In which names that make other programs run something are protected, unless they were granted."""
    hides_secrets: bool = False
    """Whether what has a secret's name is hidden, wherever it is."""
    sockets: bool = True
    """Whether it has any, at least for its own loopback."""
    home: str = ""
    """What `~` stands for."""
    cwd: str = "/"
    """Where the program ran."""

    def right_to(self, path: str) -> Right:
        """What may be done with a place, given absolute and with every link resolved."""
        if self.hides_secrets and is_secret(split(path)):
            return Right.NONE
        depth = _depth(path, self.writable)
        if depth and depth >= max(_depth(path, self.hidden), _depth(path, self.seen)):
            granted = any(self.protects(place) for place in _holding(path, self.writable))
            return Right.READ if self.protects(path) and not granted else Right.WRITE
        return Right.NONE if self.hides(path) else Right.READ

    def hides(self, path: str) -> bool:
        """Whether what is at a place outside is not what is there inside."""
        if self.hides_secrets and is_secret(split(path)):
            return True
        depth = _depth(path, self.hidden)
        written = [place for place in self.writable if place not in self.hidden]
        return depth > max(_depth(path, self.seen), _depth(path, written))

    def protects(self, path: str) -> bool:
        """Whether a place of a project is protected, or a repository: it can be neither moved nor removed."""
        parts = split(path)
        tops = [split(top) for top in self.projects if is_below(parts, top)]
        return any(is_protected(parts[len(top) :]) for top in tops)


def _holding(path: str, places: Sequence[str]) -> list[str]:
    """Those of these places that hold a path."""
    parts = split(path)
    return [place for place in places if is_below(parts, place)]


def _depth(path: str, places: Sequence[str]) -> int:
    """How deep the innermost of these places lies that holds a path; 0: none does."""
    return max((len(split(place)) for place in _holding(path, places)), default=0)


def ground_for(site: Site, level: Level, confinement: Confinement, cwd: str) -> Ground:
    """What a sandbox of a session lets a program do that was confined like this."""
    paths = site.paths
    projects = (paths.root, *paths.added)
    written = (*projects, site.caches) if confinement.reach is Reach.WRITE else ()
    if written and level is Level.A:
        worktrees = filter(None, map(find_worktree, projects))
        written = (*written, *(path for each in worktrees for path in (each.own, *each.shared)))
    temporary = (paths.temporary, paths.temporary_alias)
    replaced = (_RUNNING, paths.temporary_alias) if level is Level.A else ()
    return Ground(
        writable=_present((*confinement.writable, *written, *temporary)),
        hidden=_present((*site.own, *replaced)),
        seen=_present((*projects, *paths.read_only, paths.results)),
        projects=projects,
        hides_secrets=True,
        sockets=level is Level.A,
        home=paths.home,
        cwd=cwd,
    )


def _present(places: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(place for place in places if place)
