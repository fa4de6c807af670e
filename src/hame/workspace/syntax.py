"""What source code defines, and where it cannot be parsed: by ast-grep's grammars (extra `code`).

An unknown language makes the library abort with a panic, so only those of a fixed table are asked.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

import anyio.to_thread
from typing_extensions import override

from hame.base.edit import Problem, Symbol
from hame.base.ports import Diagnostics, Structure
from hame.workspace.definitions import (
    BODIES,
    FUNCTION_VALUES,
    KINDS,
    NAME_KINDS,
    language_of,
)

if TYPE_CHECKING:
    from ast_grep_py import SgNode

_LIMIT = 1_000_000
"""Characters; larger files are generated or data, and are not parsed."""
_SHOWN = 60
_MANY = 50
"""Problems that are told of one file; after so many the rest follows from them."""


class Syntax(Structure, Diagnostics):
    """Reads code by its grammar. Parses in a worker thread."""

    @property
    @override
    def missing(self) -> str:
        """What has to be installed for it to work; empty when nothing is missing."""
        return "" if _installed() else "the extra `code` (pip install 'hame[code]')"

    @override
    def understands(self, path: str) -> bool:
        """Whether it knows what definitions look like in a file of that name."""
        return _installed() and language_of(path) in KINDS

    @override
    async def outline(self, path: str, text: str) -> Sequence[Symbol]:
        """The symbols that a file defines, in its order; none for a language it does not know."""
        language = language_of(path)
        if not _installed() or language not in KINDS or len(text) > _LIMIT:
            return ()
        return await anyio.to_thread.run_sync(_outline, language, text)

    @override
    async def check(self, path: str, text: str) -> Sequence[Problem]:
        """Where the text cannot be parsed; none for a language it does not know."""
        language = language_of(path)
        if not _installed() or language is None or len(text) > _LIMIT:
            return ()
        return await anyio.to_thread.run_sync(_problems, language, text)


@cache
def _installed() -> bool:
    return find_spec("ast_grep_py") is not None


def _root(language: str, text: str) -> "SgNode":
    from ast_grep_py import SgRoot

    return SgRoot(text, language).root()


# ---------------------------------------------------------------- symbols


def _outline(language: str, text: str) -> list[Symbol]:
    kinds = KINDS[language]
    nodes = _root(language, text).find_all(any=[{"kind": kind} for kind in kinds])
    lines = text.split("\n")
    above: list[tuple[int, str]] = []
    """End and name of the symbols that the next one may lie in."""
    symbols: list[Symbol] = []
    for node in sorted(nodes, key=lambda node: node.range().start.index):
        name = _name(node)
        if name is None:
            continue
        place = node.range()
        while above and above[-1][0] <= place.start.index:
            above.pop()
        start = place.start.line
        symbols.append(
            Symbol(
                name=name,
                kind=_kind(kinds[node.kind()], [symbol for _, symbol in above], symbols),
                line=start + 1,
                end_line=place.end.line + 1,
                depth=len(above),
                inside=".".join(outer for _, outer in above),
                signature=lines[start].strip(),
            )
        )
        above.append((place.end.index, name))
    return symbols


def _kind(kind: str, above: Sequence[str], symbols: Sequence[Symbol]) -> str:
    """A function that lies in a type is a method."""
    if kind != "function" or not above:
        return kind
    outer = next((each for each in reversed(symbols) if each.name == above[-1]), None)
    return "method" if outer and outer.kind in _TYPES else kind


_TYPES = frozenset({"class", "struct", "interface", "trait", "impl", "object", "protocol", "enum"})


def _name(node: "SgNode") -> str | None:
    """The name of a definition; None for what defines nothing after all."""
    kind = node.kind()
    if kind in BODIES and node.field("body") is None:
        return None
    if kind == "variable_declarator":
        value = node.field("value")
        if value is None or value.kind() not in FUNCTION_VALUES:
            return None
    named = node.field("name") or node.field("type" if kind == "impl_item" else "declarator")
    if named is None:
        named = next((child for child in node.children() if child.kind() in NAME_KINDS), None)
    while named is not None and (inner := named.field("declarator")) is not None:
        named = inner
    return None if named is None else named.text()


# ---------------------------------------------------------------- problems


def _problems(language: str, text: str) -> list[Problem]:
    root = _root(language, text)
    found = [*_unexpected(root), *_missing(root)]
    found.sort(key=lambda problem: (problem.line, problem.column))
    return found[:_MANY]


def _unexpected(root: "SgNode") -> Iterator[Problem]:
    """What fits nowhere; not what lies in something that does not fit."""
    last = -1
    for node in root.find_all(kind="ERROR"):
        place = node.range()
        if place.end.index <= last:
            continue
        last = place.end.index
        shown = node.text().strip().split("\n")[0][:_SHOWN]
        what = f"cannot be parsed at `{shown}`" if shown else "cannot be parsed here"
        yield Problem(line=place.start.line + 1, column=place.start.column + 1, message=what)


def _missing(root: "SgNode") -> Iterator[Problem]:
    """What the grammar had to add: leaves without characters."""
    for node in root.find_all(regex="^$"):
        if node.is_leaf() and node.kind().strip():
            place = node.range().start
            kind = node.kind().replace("_", " ")
            what = f"a {kind}" if node.is_named() else f"`{node.kind()}`"
            message = f"{what} is missing"
            yield Problem(line=place.line + 1, column=place.column + 1, message=message)
