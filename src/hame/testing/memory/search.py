"""Finding files by glob and lines by text in a tree."""

import re
from collections.abc import Iterator

from hame.base.errors import ToolError
from hame.base.glob import compile_glob, names_folder, names_hidden
from hame.base.path import FileKind, Match
from hame.base.ports import SearchQuery
from hame.base.zone import is_secret
from hame.testing.memory.ignoring import ignored
from hame.testing.memory.textcode import searched
from hame.testing.memory.tree import Parts, Tree


def files_matching(tree: Tree, root: Parts, folder: Parts, pattern: str | None) -> list[Parts]:
    """Files below a folder that are not ignored and match, by path."""
    is_ignored = ignored(tree, root)
    matches = compile_glob(pattern).fullmatch if pattern is not None else None
    hidden = pattern is not None and names_hidden(pattern)
    git = pattern is not None and names_folder(pattern, ".git")
    found: list[Parts] = []
    for file in tree.below(folder):
        inside = file[len(folder) :]
        if tree.kind(file) is not FileKind.FILE or is_ignored(file):
            continue
        if not hidden and any(name.startswith(".") for name in inside):
            continue
        if not git and ".git" in inside:
            continue
        if matches is None or matches("/".join(inside)):
            found.append(file)
    return sorted(found, key="/".join)


def lines_matching(tree: Tree, files: list[Parts], query: SearchQuery) -> Iterator[Match]:
    """Lines of these files that match; `path` is absolute. Secret and binary files are passed over.

    Raises:
        ToolError: for what cannot be searched for.
    """
    search = _compile(query).search
    for file in files:
        text = searched(tree.data(file) or b"")
        if text is None or is_secret(file):
            continue
        lines = text.split("\n")
        if not lines[-1]:
            lines.pop()
        for number, line in enumerate(lines, 1):
            bare = line.removesuffix("\r")
            if found := search(bare):
                path = "/" + "/".join(file)
                yield Match(path=path, line=number, text=bare, column=found.start() + 1)


def _compile(query: SearchQuery) -> re.Pattern[str]:
    if not query.pattern:
        raise ToolError("there is nothing to search for: the pattern is empty")
    if not {"\n", "\r", "\0"}.isdisjoint(query.pattern):
        raise ToolError("lines are searched one by one: the pattern holds the end of one")
    pattern = query.pattern if query.regex else re.escape(query.pattern)
    try:
        return re.compile(pattern, re.NOFLAG if query.case_sensitive else re.IGNORECASE)
    except re.error as error:
        raise ToolError(f"invalid regular expression: {error}") from error
