"""What hame offers the user when a command failed because of its sandbox: the narrowest grant first."""

import os
from collections.abc import Sequence

import msgspec

from hame.base.confinement import Confinement, HostDenied, Level, PathDenied, Reach
from hame.base.ports import Shortfall
from hame.base.question import Choice
from hame.base.settings import Mode
from hame.base.zone import Operation, ProjectPaths, Zone, split, zone_of
from hame.permissions.decision import Decision
from hame.permissions.extent import with_others
from hame.permissions.policy import Matter
from hame.permissions.rule import Rule, Scope


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """What may be granted to one command that ran into its sandbox."""

    title: str
    """What it was kept from."""
    once: Confinement | None
    """The narrowest grant that helps; None: only running outside does."""
    grant: str = ""
    """What `session` and `always` cover, in words."""
    rules: tuple[Rule, ...] = ()
    """What they come to; none where they are not offered."""
    free: bool = False
    """The mode grants it without a question."""

    @property
    def choices(self) -> tuple[str, ...]:
        """The answers that may be given, the narrowest first; what lasts is the question's to add."""
        return (*((Choice.ONCE,) if self.once else ()), Choice.OUTSIDE, Choice.NO)


def offer_for(short: Shortfall, matter: Matter, paths: ProjectPaths) -> Offer | None:
    """The offer for what a command was kept from; None where there is nothing to offer."""
    if matter.level is Level.NONE or short.given.reach is Reach.OUTSIDE:
        return None
    places = [each.path for each in short.denied if isinstance(each, PathDenied)]
    if any(zone_of(path, paths, Operation.WRITE) is Zone.SECRET for path in places):
        return None
    hosts = [each.host for each in short.denied if isinstance(each, HostDenied)]
    return _for_hosts(hosts, short, matter) if hosts else _for_places(places, short, matter, paths)


def _for_hosts(hosts: Sequence[str], short: Shortfall, matter: Matter) -> Offer:
    given = short.given
    wanted = dict.fromkeys(more for host in hosts if host for more in with_others(host))
    new = [host for host in wanted if host not in given.hosts]
    if not new or matter.level is not Level.A:
        named = ", ".join(host for host in hosts if host)
        return Offer(title=f"It has no network{f' and wanted {named}' if named else ''}", once=None)
    reach = Reach.WRITE if given.reach is Reach.READ else given.reach
    shown = ", ".join(new)
    return Offer(
        title=f"It wants to talk to {shown}",
        once=msgspec.structs.replace(given, reach=reach, hosts=(*given.hosts, *new)),
        grant=f"every command talking to {shown}",
        rules=tuple(
            Rule(decision=Decision.ALLOW, tool=matter.spec.name, host=host, scope=Scope.PROJECT)
            for host in new
        ),
    )


def _for_places(
    places: Sequence[str], short: Shortfall, matter: Matter, paths: ProjectPaths
) -> Offer | None:
    if not places:
        return None
    given, title = short.given, f"It wants to write {', '.join(places)}"
    zones = {zone_of(path, paths, Operation.WRITE) for path in places}
    if given.reach is Reach.READ and zones == {Zone.PROJECT}:
        wider = msgspec.structs.replace(given, reach=Reach.WRITE)
        return Offer(title=title, once=wider, free=matter.mode is Mode.AUTO)
    roots = [_nearest(path) for path in places]
    if zones != {Zone.OUTSIDE} or any(_is_too_much(root, paths) for root in roots):
        return Offer(title=title, once=None)
    new = tuple(root for root in dict.fromkeys(roots) if root not in given.writable)
    if not new:
        return Offer(title=title, once=None)
    wider = msgspec.structs.replace(given, reach=Reach.WRITE, writable=(*given.writable, *new))
    below = [root for root, path in zip(roots, places, strict=True) if root != path]
    what = f" (all of {', '.join(dict.fromkeys(below))}, since it does not exist yet)"
    return Offer(title=title + (what if below else ""), once=wider)


def _nearest(path: str) -> str:
    """The place itself, with its links resolved, or the nearest folder that exists."""
    real = os.path.realpath(path)
    while not os.path.lexists(real):
        real = real.rpartition("/")[0] or "/"
    return real


def _is_too_much(root: str, paths: ProjectPaths) -> bool:
    """A whole home, a folder that holds the project or a home, and a repository are no narrow grants."""
    parts = split(root)
    if ".git" in parts:
        return True
    inside = (paths.home, paths.root, paths.config, *paths.added)
    return len(parts) < 2 or any(split(place)[: len(parts)] == parts for place in inside if place)
