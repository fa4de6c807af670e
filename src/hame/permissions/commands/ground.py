"""Where a command would run: folders, home, and what its paths lead to."""

import os
from collections.abc import Mapping

import msgspec

from hame.base.path import FileKind, kind_of
from hame.base.zone import Operation, ProjectPaths, Zone, split, zone_of

LINK_LIMIT = 40
"""As many links as Linux follows in one path."""

READABLE_PLACES: tuple[tuple[str, ...], ...] = (
    ("etc",), ("usr",), ("bin",), ("sbin",), ("lib",), ("lib32",), ("lib64",), ("libx32",),
    ("proc", "cpuinfo"), ("proc", "meminfo"), ("proc", "version"), ("proc", "loadavg"),
    ("proc", "uptime"), ("proc", "filesystems"), ("proc", "stat"), ("proc", "mounts"),
    ("system", "library"), ("library", "developer"),
)  # fmt: skip
"""Places of the operating system that everybody reads; what is secret in them is so before."""


class Ground(msgspec.Struct, frozen=True, kw_only=True):
    """Where a command would run."""

    paths: ProjectPaths
    cwd: str = ""
    """Real path of the folder it starts in; empty: the project's root."""
    level: str = "A"
    """How it would be confined: `A`, `B` or `none`."""
    search_path: tuple[str, ...] = ()
    """Folders in which programs are looked for."""
    links: dict[str, str] = {}
    """Links that are taken as being there, besides those on the disk: path and target."""

    @property
    def start(self) -> str:
        """The folder it starts in."""
        return self.cwd or self.paths.root


class Reach(msgspec.Struct, frozen=True):
    """Where a path leads."""

    real: str
    zone: Zone
    kind: FileKind
    unsure: bool = False
    """It goes up (`..`) after a link, or through too many links."""


def reach(text: str, cwd: str, ground: Ground, operation: Operation) -> Reach:
    """Follow a path as the kernel would; what does not exist is taken as it is written."""
    written = ground.paths.place_of(text) if text.startswith("/") else f"{cwd}/{text}"
    parts, unsure = _walk(written, ground.links)
    real = "/" + "/".join(parts)
    plain = "/" + "/".join(split(written))
    zone = zone_of(real, ground.paths, operation, asked=plain)
    return Reach(real, zone, _kind(real), unsure)


def is_readable_system(real: str) -> bool:
    """Whether a place outside the project belongs to what everybody on the machine reads."""
    parts = tuple(part.lower() for part in split(real))
    return any(parts[: len(place)] == place for place in READABLE_PLACES)


def runs_from_project(program: str, ground: Ground) -> bool:
    """Whether the search for a program would find one in the project before the system's."""
    for folder in ground.search_path:
        inside = not folder.startswith("/") or any(
            is_within(folder, root) for root in (ground.paths.root, *ground.paths.added)
        )
        there = f"{folder or '.'}/{program}"
        if inside and os.access(there, os.X_OK):
            return True
        if not inside and os.access(there, os.X_OK):
            return False
    return False


def is_within(folder: str, root: str) -> bool:
    """Whether a folder is the root or lies below it, by its components."""
    above = split(root)
    return split(folder)[: len(above)] == above


def _walk(written: str, links_too: Mapping[str, str]) -> tuple[list[str], bool]:
    """The real components, and whether the path itself goes up after a link.

    Then a shell's `cd` and the kernel go different ways.
    """
    parts: list[str] = []
    left = [(name, True) for name in _names(written)]
    links = 0
    unsure = False
    while left:
        name, asked = left.pop()
        if name == "..":
            unsure = unsure or (asked and links > 0)
            del parts[-1:]
            continue
        place = "/" + "/".join((*parts, name))
        target = links_too.get(place) or _link_target(place)
        if target is None:
            parts.append(name)
            continue
        links += 1
        if links > LINK_LIMIT:
            return [*parts, name, *(name for name, _ in reversed(left))], True
        if target.startswith("/"):
            parts.clear()
        left += [(name, False) for name in _names(target)]
    return parts, unsure


def _names(path: str) -> list[str]:
    return [part for part in reversed(path.split("/")) if part not in {"", "."}]


def _link_target(place: str) -> str | None:
    if "\0" in place:
        return None
    try:
        return os.readlink(place)  # noqa: PTH115 - a Path would tidy what must be read as it is
    except (OSError, ValueError):
        return None


def _kind(real: str) -> FileKind:
    try:
        return kind_of(os.lstat(real).st_mode)
    except (OSError, ValueError):
        return FileKind.MISSING
