"""Finding files by glob and lines by text, below a directory that is held open.

ripgrep does it where there is one; else the walk of this room does, with the same results: ignore
files count also outside a git repository, the user's global one does not; hidden files are found
when the pattern names them; links are not followed; binary files are passed over; lines of files
that hold secrets are never shown.
"""

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import msgspec

from hame.base.errors import PathError, ToolError
from hame.base.glob import compile_glob, fixed_folder, names_folder, names_hidden
from hame.base.path import FileKind, Match
from hame.base.ports import SearchQuery
from hame.base.zone import is_secret, split
from hame.workspace.found import FileLines, First
from hame.workspace.locate import DIRECTORY, Place
from hame.workspace.refusal import refusing


class Scope(msgspec.Struct, frozen=True):
    """Where to look: an open directory, the real path it has, and which names in it count."""

    descriptor: int
    real: str
    names: tuple[str, ...] = ()
    """Only this file in it, if one is given."""
    hidden: bool = False
    git: bool = False
    """Look into `.git` too."""


class Engine(Protocol):
    """Something that can walk and search a scope. Paths are relative to it, of any order."""

    async def files(self, scope: Scope, take: Callable[[str], None]) -> None:
        """Give every file that is not ignored."""
        ...

    async def lines(
        self, scope: Scope, query: SearchQuery, limit: int, take: Callable[[FileLines], None]
    ) -> None:
        """Give the lines that match, file by file, the first `limit` of each.

        Raises:
            ToolError: for an invalid regular expression.
        """
        ...


async def find_files(
    engine: Engine, pattern: str, place: Place, limit: int
) -> tuple[list[str], int]:
    """Files below a directory that match a glob: the first `limit` by path, and how many.

    Raises:
        PathError: when the place is not a directory.
        ToolError: for an empty pattern.
    """
    if not pattern.strip():
        raise ToolError("the pattern is empty; **/* finds every file")
    if place.resolution.kind is not FileKind.DIRECTORY:
        raise PathError(f"{place.shown} is not a directory to look in")
    pattern = _below(pattern, place)
    matches = compile_glob(pattern).fullmatch
    found: First[str] = First(limit)
    base = _prefix(place)
    with _scope(place, pattern) as (scope, start):

        def take(path: str) -> None:
            if matches(start + path):
                shown = base + start + path
                found.add((shown, 0), shown)

        await engine.files(scope, take)
    return found.items(), found.total


async def search_text(
    engine: Engine, query: SearchQuery, place: Place, limit: int
) -> tuple[list[Match], int]:
    """Lines that match: the first `limit` by path and line, and how many.

    Raises:
        PathError: when nothing is at the place.
        ToolError: for a query that cannot be searched for.
    """
    _check(query)
    if place.missing or place.resolution.kind is FileKind.MISSING:
        raise PathError(f"no such file or directory: {place.shown}")
    pattern = None if query.glob is None else _below(query.glob, place)
    matches = None if pattern is None else compile_glob(pattern).fullmatch
    above = split(place.resolution.real)
    found: First[Match] = First(limit)
    base = _prefix(place)
    with _scope(place, pattern) as (scope, start):

        def take(lines: FileLines) -> None:
            inside = start + lines.path
            if (matches is None or matches(inside)) and not is_secret((*above, *split(inside))):
                shown = base + inside if scope.names == () else place.shown
                for line in lines.kept:
                    match = Match(path=shown, line=line.number, text=line.text, column=line.column)
                    found.add((shown, line.number), match)
                found.total += lines.total - len(lines.kept)

        await engine.lines(scope, query, limit, take)
    return found.items(), found.total


def _check(query: SearchQuery) -> None:
    if not query.pattern:
        raise ToolError("there is nothing to search for: the pattern is empty")
    if "\n" in query.pattern or "\r" in query.pattern:
        raise ToolError("the search goes line by line; search for one line at a time")
    if "\0" in query.pattern:
        raise ToolError("the pattern holds a NUL byte, which no text has")


def _prefix(place: Place) -> str:
    """What stands before a path relative to the place, to show it."""
    return "" if place.shown == "." else place.shown.rstrip("/") + "/"


def _below(pattern: str, place: Place) -> str:
    """An absolute pattern that begins with the place, made relative to it."""
    above = place.resolution.real.rstrip("/") + "/"
    return pattern.removeprefix(above)


@contextmanager
def _scope(place: Place, pattern: str | None) -> Generator[tuple[Scope, str]]:
    """What to walk, and the path from the place to it.

    A pattern that begins with plain names is looked for there only; the names are entered one by
    one, so that a link among them is not followed.

    Raises:
        PathError: when the place cannot be entered.
    """
    hidden = pattern is not None and names_hidden(pattern)
    git = pattern is not None and names_folder(pattern, ".git")
    real, start = place.resolution.real, ""
    with refusing("search", place.shown):
        if place.resolution.kind is FileKind.DIRECTORY:
            descriptor = os.open(place.leaf, DIRECTORY, dir_fd=place.directory)
            names: tuple[str, ...] = ()
            fixed = fixed_folder(pattern) if pattern is not None else ()
        else:
            descriptor, names, fixed = os.dup(place.directory), (place.leaf,), ()
            real = str(Path(real).parent)
    try:
        for name in fixed:
            below = _enter(descriptor, name)
            if below is None:
                break
            os.close(descriptor)
            descriptor = below
            real, start = f"{real.rstrip('/')}/{name}", f"{start}{name}/"
        yield Scope(descriptor, real, names, hidden, git), start
    finally:
        os.close(descriptor)


def _enter(descriptor: int, name: str) -> int | None:
    try:
        return os.open(name, DIRECTORY, dir_fd=descriptor)
    except OSError:
        return None
