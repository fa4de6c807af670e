"""How well commands will probably be confined, said before anything is tried.

What was found the last time is kept, with what it depended on; where any of that has changed, or nothing
was kept, a look at what is installed has to do. Imported at every start, so it imports next to nothing.
"""

import os
import sys
from contextlib import suppress

import msgspec

from hame.base.confinement import Level
from hame.base.settings import SandboxChoice
from hame.base.zone import is_below, split
from hame.sandbox.private import make_private_folder
from hame.sandbox.site import Site
from hame.version import __version__

SEATBELT = "/usr/bin/sandbox-exec"
_FIRST_WITH_LANDLOCK = (5, 13)
"""Linux; some distributions have brought a newer Landlock to such a kernel."""
_SECURITY_MODULES = "/sys/kernel/security/lsm"
_BOOT = "/proc/sys/kernel/random/boot_id"
_MOST = 4096
"""Bytes of the file; anything larger is not ours."""


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What was found."""

    ground: str
    """All that it depends on."""
    level: Level


def expected_level(site: Site, choice: SandboxChoice) -> Level:
    """What was found the last time, if nothing has changed; else what it looks like."""
    if choice is SandboxChoice.NONE:
        return Level.NONE
    kept = _read(_file(site))
    if kept is not None and kept.ground == _ground(site, choice):
        return kept.level
    if sys.platform == "darwin":
        return Level.A if os.path.lexists(SEATBELT) else Level.NONE
    if choice is not SandboxChoice.LANDLOCK and find_bubblewrap(site):
        return Level.A
    if choice is not SandboxChoice.BUBBLEWRAP and _may_have_landlock():
        return Level.B
    return Level.NONE


def remember_level(site: Site, choice: SandboxChoice, level: Level) -> None:
    """Keep what was found; where that cannot be, it is expected again the next time."""
    verdict = msgspec.json.encode(Verdict(ground=_ground(site, choice), level=level))
    path = _file(site)
    draft = f"{path}.{os.getpid()}"
    with suppress(OSError):
        make_private_folder(site.scratch)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(draft, flags, 0o600)
        try:
            os.write(descriptor, verdict)
        finally:
            os.close(descriptor)
        os.replace(draft, path)  # noqa: PTH105


def find_bubblewrap(site: Site) -> str:
    """Where bubblewrap is, outside of what commands may write; empty: nowhere."""
    paths = site.paths
    unsafe = [path for path in (paths.root, *paths.added, paths.temporary, site.caches) if path]
    for folder in site.search_path.split(":"):
        path = os.path.realpath(f"{folder}/bwrap")
        if not folder.startswith("/") or any(is_below(split(path), place) for place in unsafe):
            continue
        if os.access(path, os.X_OK):
            return path
    return ""


def _ground(site: Site, choice: SandboxChoice) -> str:
    """This start of this machine, its kernel, its bubblewrap, its user, this hame and its user's choice."""
    system = os.uname()
    bubblewrap = find_bubblewrap(site)
    identity = ""
    with suppress(OSError):
        status = os.stat(bubblewrap)  # noqa: PTH116
        identity = f"{status.st_ino} {status.st_size} {status.st_mtime_ns} {status.st_mode}"
    parts = (
        _text(_BOOT),
        system.release,
        system.machine,
        str(os.geteuid()),
        bubblewrap,
        identity,
        __version__,
        choice.value,
    )
    return "\n".join(parts)


def _may_have_landlock() -> bool:
    release = os.uname().release.split(".")
    numbers = tuple(int(part) for part in release[:2] if part.isdigit())
    known = _text(_SECURITY_MODULES)
    return numbers >= _FIRST_WITH_LANDLOCK and (not known or "landlock" in known.split(","))


def _file(site: Site) -> str:
    return f"{site.scratch}/verdict.json"


def _read(path: str) -> Verdict | None:
    with suppress(OSError, msgspec.DecodeError):
        return msgspec.json.decode(_text(path, strict=True), type=Verdict)
    return None


def _text(path: str, *, strict: bool = False) -> str:
    """The beginning of a small file; nothing where it cannot be read.

    Raises:
        OSError: if it cannot be read and that matters.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        if strict:
            raise
        return ""
    try:
        return os.read(descriptor, _MOST).decode(errors="replace").strip()
    finally:
        os.close(descriptor)
