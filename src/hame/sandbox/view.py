"""What a confined program sees of the machine, and what of it it may write."""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from hame.base.confinement import Confinement, Reach
from hame.base.errors import ToolError
from hame.base.zone import split
from hame.sandbox.caches import make_cache_folder
from hame.sandbox.layout import REPLACED, Kind, Layout, lies_below
from hame.sandbox.protection import protect, writable_places
from hame.sandbox.secrets import find_secrets
from hame.sandbox.site import Site
from hame.sandbox.survey import Findings, Survey
from hame.sandbox.worktree import Worktree, find_worktree

_MOST_SURVEYS = 32
_SEEN = ("VIRTUAL_ENV", "CONDA_PREFIX")
"""Variables that name folders which have to be seen wherever they are."""
_OF_RUNNING_SYSTEM = ("/run/current-system", "/run/booted-system", "/run/opengl-driver")
"""Where NixOS keeps its programs."""


class View(msgspec.Struct, frozen=True, kw_only=True):
    """What is laid out for one program."""

    layout: Layout
    roots: tuple[str, ...]
    """The folders and files that it may write, the one for temporary files aside."""
    missing: tuple[str, ...]
    """Protected names that are not there, and in whose place an empty folder has to be."""


class Surveyor:
    """Builds views; what was seen of a folder is kept for the next. Not for several threads at once."""

    def __init__(self, site: Site, *, opens_worktrees: bool = False) -> None:
        """Look at nothing yet.

        `opens_worktrees`: of a project that is a linked worktree, its part of the repository may be written,
        by a mechanism that can keep the rest of it as it is.
        """
        self._site = site
        self._opens_worktrees = opens_worktrees
        self._surveys: dict[str, Survey] = {}

    def roots(self, confinement: Confinement) -> tuple[str, ...]:
        """What a program may write, of the project and what was granted."""
        paths = self._site.paths
        project = (paths.root, *paths.added) if confinement.reach is Reach.WRITE else ()
        return tuple(dict.fromkeys((*project, *confinement.writable)))

    def worktrees(self, confinement: Confinement) -> tuple[Worktree, ...]:
        """What a program may write of repositories that its roots are linked worktrees of."""
        if not self._opens_worktrees or confinement.reach is not Reach.WRITE:
            return ()
        return tuple(filter(None, map(find_worktree, self.roots(confinement))))

    def look(self, confinement: Confinement, environment: Mapping[str, str]) -> View:
        """Lay out the machine for a program with this environment.

        Raises:
            ToolError: if something that has to be protected cannot be.
        """
        site, paths, layout = self._site, self._site.paths, Layout()
        roots = self.roots(confinement)
        for root in roots:
            if not os.path.lexists(root):
                raise ToolError(f"{root} cannot be made writable: it does not exist")
        places, kept = writable_places(roots, paths.home, environment.get("PATH", "").split(":"))
        writes = confinement.reach is Reach.WRITE
        layout.put(Kind.WRITE, places)
        layout.put(Kind.WRITE, filter(None, [paths.temporary]))
        if writes and site.caches:
            make_cache_folder(site.caches)
            layout.put(Kind.WRITE, [site.caches])
        layout.put(Kind.SHOW, _existing(self._shown(environment)))
        layout.put(Kind.HIDE, _existing(site.own))
        as_root = os.geteuid() == 0
        layout.put(Kind.HIDE, find_secrets(paths.home, environment, as_root=as_root))
        missing: list[str] = []
        for findings in self._survey(roots):
            layout.put(Kind.HIDE, findings.secrets)
            if findings.root in roots:
                missing += protect(layout, findings)
        for worktree in self.worktrees(confinement):
            layout.put(Kind.WRITE, [worktree.own, *worktree.shared])
            missing += protect(layout, worktree.findings)
        for folder in _existing(kept):
            layout.guard(paths.home, Kind.GUARD, [folder])
        return View(layout=layout, roots=tuple(roots), missing=tuple(missing))

    def _survey(self, roots: Sequence[str]) -> Iterator[Findings]:
        paths = self._site.paths
        everything = dict.fromkeys((*roots, paths.root, *paths.added, *paths.read_only))
        tops = [
            path
            for path in everything
            if os.path.isdir(path) and not any(lies_below(path, other) for other in roots)  # noqa: PTH112
        ]
        known = self._surveys
        self._surveys = {
            top: known.get(top) or Survey(top, home=paths.home) for top in tops[:_MOST_SURVEYS]
        }
        return (survey.look() for survey in self._surveys.values())

    def _shown(self, environment: Mapping[str, str]) -> Iterator[str]:
        """What has to be seen even where it lies in a folder that is another inside."""
        paths = self._site.paths
        yield from (paths.root, *paths.added, *paths.read_only, paths.home, paths.results)
        yield from (sys.prefix, sys.base_prefix, *_OF_RUNNING_SYSTEM)
        yield from (environment.get(variable, "") for variable in _SEEN)
        for folder in environment.get("PATH", "").split(":"):
            if any(lies_below(folder, place) for place in REPLACED):
                yield folder


def _existing(paths: Sequence[str] | Iterator[str]) -> Iterator[str]:
    """Real paths of what is there; the root of the file system is there anyway."""
    for path in paths:
        if path.startswith("/"):
            real = os.path.realpath(path)
            if split(real) and os.path.lexists(real):
                yield real
