"""Level A on macOS: `sandbox-exec` with a generated profile.

Written from published profiles (those of Chromium, Bazel and other agents) and tested as text only: nobody
has run it on a Mac yet, and `Standing.reason` says so.

Of the rules that match, the last one wins. They are about paths, whether or not something is there, so what
is protected but absent is covered too. What lies above a protected place may be neither moved nor removed,
for that would take the place from under its rule. The file system takes upper and lower case for the same.
"""

import os
import re
import threading
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import asynccontextmanager

import anyio.to_thread
import msgspec

from hame.base.confinement import Confinement, Level, Reach, Standing
from hame.base.errors import ToolError
from hame.base.ports import Cell
from hame.base.process import Launch
from hame.base.zone import (
    PROTECTED_PARTS,
    SECRET_ENVIRONMENT_EXCEPTIONS,
    SECRET_NAMES,
    SECRET_PARTS,
    SECRET_SUFFIXES,
    is_below,
    is_secret,
    split,
)
from hame.sandbox.caches import cache_environment
from hame.sandbox.environment import reading_environment, writing_environment
from hame.sandbox.layout import REPLACED, Kind, Layout
from hame.sandbox.private import make_private_folder
from hame.sandbox.site import Site
from hame.sandbox.view import Surveyor

PROGRAM = "/usr/bin/sandbox-exec"

_HEAD = """\
(version 1)
(deny default)
(allow process*)
(allow signal (target same-sandbox))
(allow sysctl-read)
(allow ipc-posix-sem)
(allow pseudo-tty)
(allow mach-lookup
  (global-name "com.apple.system.opendirectoryd.libinfo")
  (global-name "com.apple.system.opendirectoryd.membership")
  (global-name "com.apple.system.logger")
  (global-name "com.apple.system.notification_center")
  (global-name "com.apple.logd")
  (global-name "com.apple.trustd.agent"))
(allow file-read*)
(allow file-ioctl (literal "/dev/null") (literal "/dev/tty") (regex #"^/dev/ttys[0-9]+$"))
"""

_DEVICES = ("/dev/null", "/dev/zero", "/dev/tty", "/dev/ptmx", "/dev/dtracehelper")
_TERMINALS = '(regex #"^/dev/ttys[0-9]+$")'
_UNTESTED = (
    "hame's authors have not run this backend on a Mac; here it is as good as the probes say"
)
_LINKS = ("/tmp", "/var", "/etc")  # noqa: S108 - links into /private on every Mac


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """What goes into a profile; all paths absolute."""

    writable: tuple[str, ...] = ()
    """Folders and files that may be written; what is protected in them is not."""
    pinned: tuple[str, ...] = ()
    """Folders in these that may be neither moved nor removed, for something below is protected."""
    temporary: str = ""
    """The private folder for temporary files."""
    places: tuple[tuple[str, bool], ...] = ()
    """Whether these may be read, from the root downwards; the nearest decides, unless a name does."""
    projects: tuple[str, ...] = ()
    """Folders in which a name is enough to tell a secret, such as `.env` or `server.key`."""
    home: str = ""
    proxy_port: int | None = None
    """The port of hame's own proxy on this machine; None: no network."""

    def text(self) -> str:
        """As `sandbox-exec -p` takes it.

        Raises:
            ToolError: for a path that a profile cannot hold.
        """
        writable = tuple(map(real, self.writable))
        projects = [_any_case(real(path)) for path in self.projects if path]
        homes = [_any_case(real(self.home))] if self.home else []
        own = _subpaths([self.temporary] if self.temporary else [])
        names = [*_secrets([*homes, *projects]), *_secret_files(projects)]
        devices = [*(_literal(path) for path in _DEVICES), _TERMINALS]
        lines = [_HEAD.rstrip()]
        for path, may in self.places:
            lines += _rule(f"{'allow' if may else 'deny'} file-read*", _subpaths([path]))
        named = [path for path, may in self.places if may and is_secret(split(path))]
        lines += _rule("deny file-read*", names)
        lines += _rule("allow file-read*", [*_examples(projects), *_packages(projects)])
        lines += _rule("allow file-read*", _subpaths(named))
        lines += _rule("allow file-write*", [*_subpaths(writable), *devices])
        lines += _rule("deny file-write*", names)
        lines += _rule("allow file-write*", _examples(_any_case(root) for root in writable))
        for root in writable:
            lines += _rule("deny file-write*", [_protected(root)])
            lines += _rule("deny file-write-unlink", [_literal(root), _above_protected(root)])
        lines += _rule("deny file-write-unlink", [_literal(real(path)) for path in self.pinned])
        inside = [path for path, may in self.places if not may and _is_in(real(path), writable)]
        lines += _rule("deny file-write*", _subpaths(inside))
        lines += _rule("allow file-read* file-write*", own)
        lines.append("(deny network*)")
        if self.proxy_port is not None:
            lines.append(f'(allow network-outbound (remote tcp "localhost:{self.proxy_port}"))')
        return "\n".join(lines) + "\n"


class Seatbelt:
    """Confines programs by macOS's own sandbox."""

    def __init__(self, site: Site, program: str = PROGRAM) -> None:
        """Look at nothing yet."""
        self._site = site
        self._program = program
        self._surveyor = Surveyor(site)
        self._turn = threading.Lock()

    async def close(self) -> None:
        """It leaves nothing on disk."""

    async def prepare(self) -> Standing:
        """What it is; level none where there is no such program."""
        if not os.access(self._program, os.X_OK):
            return Standing(level=Level.NONE, reason=f"there is no {self._program}")
        return Standing(level=Level.A, mechanism="Seatbelt (sandbox-exec)", reason=_UNTESTED)

    @asynccontextmanager
    async def confine(self, launch: Launch) -> AsyncGenerator[Cell]:
        """The same program under a profile.

        Raises:
            ToolError: if it cannot be confined as it has to be, or when machines are to be let through.
        """
        confinement = launch.confinement or Confinement()
        if confinement.hosts:
            named = ", ".join(confinement.hosts)
            raise ToolError(f"hame cannot let {named} through the sandbox of macOS yet")
        yield Cell(launch=await anyio.to_thread.run_sync(self._wrap, confinement, launch))

    def _wrap(self, confinement: Confinement, launch: Launch) -> Launch:
        paths, caches = self._site.paths, self._site.caches
        given = dict(launch.env or ())
        if paths.temporary:
            make_private_folder(paths.temporary)
        if confinement.reach is Reach.READ:
            places = (paths.root, *paths.added, paths.temporary, caches, *confinement.writable)
            environment = reading_environment(given, paths.temporary, tuple(filter(None, places)))
        else:
            environment = writing_environment(given, paths.temporary)
            environment |= cache_environment(caches, given, paths.home) if caches else {}
        with self._turn:
            layout = self._surveyor.look(confinement, environment).layout
        profile = profile_of(layout, self._site)
        return msgspec.structs.replace(
            launch,
            argv=(self._program, "-p", profile.text(), *launch.argv),
            env=tuple(environment.items()),
        )


def profile_of(layout: Layout, site: Site) -> Profile:
    """The profile for a layout of the machine."""
    kinds: dict[Kind, list[str]] = {}
    places = [(path, False) for path in (*REPLACED, site.scratch)]
    for mount in layout.mounts():
        kinds.setdefault(mount.kind, []).append(mount.path)
        if mount.kind in {Kind.SHOW, Kind.WRITE, Kind.HIDE}:
            places.append((mount.path, mount.kind is not Kind.HIDE))
    paths = site.paths
    writable = [path for path in kinds.get(Kind.WRITE, []) if path != paths.temporary]
    return Profile(
        writable=tuple(writable),
        pinned=tuple(kinds.get(Kind.PIN, [])),
        temporary=paths.temporary,
        places=tuple(sorted(places, key=lambda place: len(split(place[0])))),
        projects=(paths.root, *paths.added),
        home=paths.home,
    )


def real(path: str) -> str:
    """A path as the kernel sees it: `/tmp` and others are links on a Mac."""
    linked = any(path == link or path.startswith(f"{link}/") for link in _LINKS)
    return f"/private{path}" if linked else path


def _is_in(path: str, folders: Iterable[str]) -> bool:
    return any(is_below(split(path), folder) for folder in folders)


def _rule(head: str, filters: Sequence[str]) -> list[str]:
    return (
        [f"({head}", *(f"  {each}" for each in filters[:-1]), f"  {filters[-1]})"]
        if filters
        else []
    )


def _subpaths(paths: Iterable[str]) -> list[str]:
    return [f"(subpath {_quote(real(path))})" for path in paths if path]


def _secrets(tops: Iterable[str]) -> list[str]:
    """Below these, whatever has a name that says it is a secret, and places of secrets in a home."""
    runs = "|".join("/".join(map(_any_case, parts)) for parts in SECRET_PARTS)
    names = _any_of(sorted(SECRET_NAMES))
    return [f'(regex #"^{top}/((.*/)?{names}|{runs})(/|$)")' for top in tops]


def _secret_files(tops: Iterable[str]) -> list[str]:
    env, ends = _any_case(".env"), _any_of(SECRET_SUFFIXES)
    return [f'(regex #"^{top}/(.*/)?({env}(\\.[^/]*)?|[^/]+{ends})$")' for top in tops]


def _examples(tops: Iterable[str]) -> list[str]:
    """What only sounds like a secret."""
    examples = _any_of(sorted(SECRET_ENVIRONMENT_EXCEPTIONS))
    return [f'(regex #"^{top}/(.*/)?{examples}$")' for top in tops]


def _packages(tops: Iterable[str]) -> list[str]:
    """The certificates of installed packages."""
    packages, end = _any_of(("site-packages", "node_modules")), _any_case(".pem")
    return [f'(regex #"^{top}/(.*/)?{packages}/.*{end}$")' for top in tops]


def _protected(root: str) -> str:
    """What is protected in a folder and below, whether or not it is there; `.git` as a file too."""
    runs = "|".join("/".join(map(_any_case, parts)) for parts in PROTECTED_PARTS)
    return f'(regex #"^{_any_case(root)}/(.*/)?({runs})(/|$)")'


def _above_protected(root: str) -> str:
    """Folders whose names say that something below is protected."""
    parents = sorted({"/".join(run[:end]) for run in PROTECTED_PARTS for end in range(1, len(run))})
    return f'(regex #"^{_any_case(root)}/(.*/)?({"|".join(map(_any_case, parents))})$")'


def _literal(path: str) -> str:
    return f"(literal {_quote(path)})"


def _any_of(names: Iterable[str]) -> str:
    return f"({'|'.join(map(_any_case, names))})"


def _any_case(text: str) -> str:
    """A regular expression for a text in any case; those of a profile have no flag for it."""
    return "".join(
        f"[{letter.lower()}{letter.upper()}]" if letter.isalpha() else re.escape(letter)
        for letter in text
    )


def _quote(path: str) -> str:
    """A string of the profile's language.

    Raises:
        ToolError: for a path that it cannot hold.
    """
    if '"' in path or "\\" in path or not path.isprintable():
        raise ToolError(f"the sandbox of macOS cannot hold the path {path!r}")
    return f'"{path}"'
