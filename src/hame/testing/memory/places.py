"""Paths as a model writes them, resolved in a tree."""

import re

from hame.base.errors import PathError
from hame.base.path import FileKind, Resolution
from hame.base.zone import Operation, ProjectPaths, split, zone_of
from hame.testing.memory.tree import Parts, Tree

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_NAME_LIMIT = 255
"""Bytes of a name."""


class MemoryPlace:
    """Implements `hame.base.ports.Located`: a resolved path."""

    def __init__(self, resolution: Resolution, parts: Parts) -> None:
        """Hold the place."""
        self._resolution = resolution
        self._parts = parts
        self._closed = False

    @property
    def resolution(self) -> Resolution:
        """Where it leads."""
        return self._resolution

    @property
    def parts(self) -> Parts:
        """Its components from the root.

        Raises:
            PathError: when it was closed.
        """
        if self._closed:
            raise PathError(f"{self._resolution.shown} was let go of already; locate it again")
        return self._parts

    def close(self) -> None:
        """Let go; may be called twice."""
        self._closed = True


def locate(tree: Tree, paths: ProjectPaths, asked: str, operation: Operation) -> MemoryPlace:
    """Resolve a path: absolute, below `~`, or relative to the project's root.

    Raises:
        PathError: when it cannot be resolved.
    """
    text = _absolute(asked, paths)
    parts = _walk(tree, asked, text)
    real = "/" + "/".join(parts)
    root = split(paths.root)
    inside = parts[: len(root)] == root
    data = tree.data(parts)
    resolution = Resolution(
        asked=asked,
        real=real,
        shown="/".join(parts[len(root) :]) or "." if inside else real,
        zone=zone_of(real, paths, operation, asked="/" + "/".join(split(text))),
        kind=tree.kind(parts),
        identity=tree.identity(parts),
        size=len(data or b""),
    )
    return MemoryPlace(resolution, parts)


def _absolute(asked: str, paths: ProjectPaths) -> str:
    if not asked:
        raise PathError("the path is empty; use . for the project's folder")
    if "\0" in asked:
        raise PathError("the path holds a NUL byte")
    if any("\ud800" <= letter <= "\udfff" for letter in asked):
        raise PathError("the path holds characters that are not valid Unicode")
    if _SCHEME.match(asked):
        raise PathError(f"{asked} is a URL, not a path; give the path alone")
    if asked == "~" or asked.startswith("~/"):
        return paths.home + asked[1:]
    if asked.startswith("~"):
        raise PathError(f"{asked}: ~ with a name is not expanded; write ./{asked} for such a file")
    return asked if asked.startswith("/") else f"{paths.root}/{asked}"


def _walk(tree: Tree, asked: str, text: str) -> Parts:
    parts: list[str] = []
    for name in text.split("/"):
        kind = tree.kind(tuple(parts))
        if kind is FileKind.FILE:
            raise PathError(f"{asked}: {parts[-1]} is not a directory")
        if name == "..":
            if kind is FileKind.MISSING:
                raise PathError(f"{asked}: no such directory: {parts[-1]}")
            del parts[-1:]
        elif name not in {"", "."}:
            if len(name.encode()) > _NAME_LIMIT:
                raise PathError(f"a name in the path is too long (at most {_NAME_LIMIT} bytes)")
            parts.append(name)
    return tuple(parts)
