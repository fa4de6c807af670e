"""find_symbol: where something is defined, by the syntax of the files that hold its name."""

from collections.abc import Sequence
from functools import cache, partial

import msgspec

from hame.base.edit import Symbol
from hame.base.errors import ArgumentError, PathError, ToolError
from hame.base.json import JsonObject
from hame.base.outcome import Done, TextView, text_content
from hame.base.path import FileKind
from hame.base.ports import Action, Located, SearchQuery, Structure, ToolContext
from hame.base.tool import Argument, ArgumentKind, Effect, ToolSpec
from hame.base.zone import Operation, Zone
from hame.tools.action import Plan, hold, locate_all
from hame.tools.arguments import folder_argument, folder_path, need_string
from hame.tools.description import describe
from hame.tools.nearness import missing
from hame.tools.phrase import flatten, spoken, visible

_LINES = 5_000
_FILES = 200
_SHOWN = 50
_SIGNATURE = 120


class _Wanted(msgspec.Struct, frozen=True):
    """The name that is looked for, and those it should lie in."""

    name: str
    inside: tuple[str, ...]

    def rank(self, symbol: Symbol) -> int | None:
        """How well a symbol fits, the smaller the better; None when it does not."""
        around = tuple(symbol.inside.split("."))
        if self.inside and around[-len(self.inside) :] != self.inside:
            return None
        last = symbol.name.rpartition("::")[2]
        for rank, (one, other) in enumerate((
            (last, self.name),
            (last.casefold(), self.name.casefold()),
        )):
            if one == other:
                return rank
        if last.casefold().startswith(self.name.casefold()):
            return 2
        return 3 if self.name.casefold() in last.casefold() else None


class FindSymbol:
    """Finds definitions."""

    @property
    def spec(self) -> ToolSpec:
        """What it declares."""
        return _spec()

    def summarize(self, arguments: JsonObject) -> str:
        """The name and where it is looked for."""
        return f"{spoken(arguments, 'query')} in {spoken(arguments, 'path', '.')}"

    async def prepare(self, arguments: JsonObject, context: ToolContext) -> Action:
        """Resolve the place to look in.

        Raises:
            ToolError: when there is no name, or what reads code is not installed.
        """
        wanted = _wanted(need_string(arguments, "query"))
        structure = context.structure
        if structure is None or structure.missing:
            what = structure.missing if structure else "something that reads source code"
            raise ToolError(f"find_symbol needs {what}; search_text finds the name meanwhile")
        places = locate_all(context.workspace, (folder_path(arguments), Operation.READ))

        async def plan() -> Plan:
            run = partial(_find, wanted, places[0][0], structure, context)
            return Plan(run, binds=(repr(wanted),))

        return await hold(places, plan)


@cache
def _spec() -> ToolSpec:
    return ToolSpec(
        name="find_symbol",
        title="Find symbol",
        description=describe(__file__),
        effect=Effect.READ,
        arguments=(Argument(name="query", kind=ArgumentKind.SEARCH_TEXT), folder_argument()),
        advertised=False,
    )


def _wanted(asked: str) -> _Wanted:
    """The parts of a name.

    Raises:
        ArgumentError: when there is none.
    """
    parts = [
        part for part in asked.strip().removesuffix("()").replace("::", ".").split(".") if part
    ]
    if not parts:
        raise ArgumentError("query is empty; give the name of a class, function or type")
    return _Wanted(parts[-1], tuple(parts[:-1]))


async def _find(
    wanted: _Wanted, place: Located, structure: Structure, context: ToolContext
) -> Done:
    if place.resolution.kind is FileKind.MISSING:
        raise await missing(context.workspace, place, "file or directory")
    query = SearchQuery(pattern=wanted.name, case_sensitive=False)
    matches, total = await context.workspace.search_text(query, place, _LINES)
    paths = [path for path in dict.fromkeys(m.path for m in matches) if structure.understands(path)]
    found: list[tuple[int, str, Symbol]] = []
    for path in paths[:_FILES]:
        for symbol in await _symbols(path, structure, context):
            rank = wanted.rank(symbol)
            if rank is not None:
                found.append((rank, path, symbol))
    found.sort(key=lambda each: (each[0], each[1], each[2].line))
    limited = total > len(matches) or len(paths) > _FILES
    return _show(wanted, place.resolution.shown, found, limited=limited)


async def _symbols(path: str, structure: Structure, context: ToolContext) -> Sequence[Symbol]:
    """What a file of the project defines; nothing when it cannot be read."""
    try:
        place = context.workspace.locate(path, Operation.READ)
    except PathError:
        return ()
    try:
        if place.resolution.zone is Zone.SECRET:
            return ()
        file = await context.workspace.read_text(place, remember=False)
    except PathError:
        return ()
    finally:
        place.close()
    return await structure.outline(path, file.text)


def _show(
    wanted: _Wanted, shown: str, found: Sequence[tuple[int, str, Symbol]], *, limited: bool
) -> Done:
    name = ".".join((*wanted.inside, wanted.name))
    title = f"{name} in {shown}"
    lines = [
        f"{visible(path)}:{symbol.line}: {symbol.kind} {flatten(symbol.signature, _SIGNATURE)}"
        + (f" (in {symbol.inside})" if symbol.inside else "")
        for _, path, symbol in found[:_SHOWN]
    ]
    if not lines:
        text = f"nothing called {name} is defined in {shown}, as far as its files can be read"
        return Done(text_content(text), TextView("", title=title))
    if len(found) > _SHOWN:
        lines.append(f"[{_SHOWN} of {len(found)} definitions]")
    if limited:
        lines.append("[the name is too common to look into every file; narrow it with path]")
    text = "\n".join(lines)
    return Done(text_content(text), TextView(text, title=title))
