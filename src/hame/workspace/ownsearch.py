"""Searching without ripgrep: a walk that knows ignore files, and Python's regular expressions."""

import os
import re
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import anyio.from_thread
import anyio.to_thread
from typing_extensions import override

from hame.base.errors import ToolError
from hame.base.path import FileKind, kind_of
from hame.base.ports import SearchQuery
from hame.workspace.dialect import compile_regex
from hame.workspace.found import FileLines
from hame.workspace.locate import shown_name
from hame.workspace.reading import open_below
from hame.workspace.search import Engine, Scope

FILE_LIMIT = 64 * 1024 * 1024
"""Files larger than this, in bytes, are passed over."""

_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))


class OwnSearch(Engine):
    """Walks and reads in a worker thread; stops at the next file when it is cancelled."""

    @override
    async def files(self, scope: Scope, take: Callable[[str], None]) -> None:
        """Give every file that is not ignored."""

        def walk_all() -> None:
            for path in walk(scope):
                anyio.from_thread.check_cancelled()
                take(shown_name(path))

        await anyio.to_thread.run_sync(walk_all)

    @override
    async def lines(
        self, scope: Scope, query: SearchQuery, limit: int, take: Callable[[FileLines], None]
    ) -> None:
        """Give the lines that match, file by file, the first `limit` of each.

        Raises:
            ToolError: for an invalid regular expression.
        """
        search = _compile(query).search

        def search_all() -> None:
            for path in scope.names or walk(scope):
                anyio.from_thread.check_cancelled()
                data = _contents(scope.descriptor, path)
                lines = FileLines(shown_name(path), limit)
                for number, line in _lines(data) if data is not None else ():
                    if found := search(line):
                        column = len(_readable(line[: found.start()])) + 1
                        lines.add(number, _readable(line), column)
                take(lines)

        await anyio.to_thread.run_sync(search_all)


def walk(scope: Scope) -> Iterator[str]:
    """Files below a scope that are not ignored, as paths relative to it."""
    return (path for path, kind in entries(scope) if kind is FileKind.FILE)


def entries(scope: Scope) -> Iterator[tuple[str, FileKind]]:
    """All that is below a scope and not ignored: paths relative to it; links left out."""
    from ignore import WalkBuilder

    builder = (
        WalkBuilder(Path(scope.real))
        .hidden(not scope.hidden)
        .add_custom_ignore_filename(".rgignore")
    )
    no = False
    skip = len(scope.real.rstrip("/")) + 1
    for entry in builder.require_git(no).git_global(no).build():
        path = os.fspath(entry.path())
        inside = path[skip:]
        if inside and (scope.git or ".git" not in inside.split("/")):
            yield inside, _kind(path)


def _kind(path: str) -> FileKind:
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return FileKind.MISSING
    return FileKind.MISSING if stat.S_ISLNK(mode) else kind_of(mode)


def _compile(query: SearchQuery) -> re.Pattern[str]:
    try:
        if query.regex:
            return compile_regex(query.pattern, case_sensitive=query.case_sensitive)
        flags = re.NOFLAG if query.case_sensitive else re.IGNORECASE
        return re.compile(re.escape(query.pattern), flags)
    except re.error as error:
        raise ToolError(f"invalid regular expression: {error}") from error


def _contents(descriptor: int, path: str) -> bytes | None:
    """A file's bytes; None when it cannot be read."""
    file = open_below(descriptor, path)
    if file is None:
        return None
    with os.fdopen(file, "rb") as reader:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode) or found.st_size > FILE_LIMIT:
            return None
        try:
            return reader.read(FILE_LIMIT)
        except OSError:
            return None


def _lines(data: bytes) -> Iterator[tuple[int, str]]:
    """Numbered lines without their endings; nothing for a binary file."""
    text = _text(data)
    if text is None:
        return
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    for number, line in enumerate(lines, 1):
        yield number, line.removesuffix("\r")


def _text(data: bytes) -> str | None:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace")
    return None if b"\0" in data else data.decode("utf-8", "surrogateescape")


def _readable(line: str) -> str:
    return line.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
