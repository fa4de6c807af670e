"""search_text: lines of the project's files that hold a text or match a regular expression."""

import re
from functools import cache, partial

from hame.base.errors import ArgumentError, PathError
from hame.base.json import JsonObject, get_bool, get_string
from hame.base.outcome import Done, TextView, text_content
from hame.base.path import FileKind, Match
from hame.base.ports import Action, Located, SearchQuery, ToolContext
from hame.base.tool import Argument, ArgumentKind, Effect, MaskForm, ToolSpec
from hame.base.zone import Operation
from hame.tools.action import Plan, hold, locate_all
from hame.tools.arguments import folder_path, need_string
from hame.tools.description import describe
from hame.tools.kept import is_kept, path_of
from hame.tools.nearness import missing
from hame.tools.phrase import counted, flatten, spoken, visible

_LIMIT = 100
_LINE_LENGTH = 300
_BEFORE_MATCH = 100
"""Characters kept before the match in a line that is cut."""
_REGEX_SIGNS = re.compile(r"[|*+?^$\\\[({]")


class SearchText:
    """Searches in files."""

    @property
    def spec(self) -> ToolSpec:
        """What it declares."""
        return _spec()

    def summarize(self, arguments: JsonObject) -> str:
        """The pattern and where it is looked for."""
        where = spoken(arguments, "path", ".")
        glob = get_string(arguments, "glob")
        more = f" ({flatten(glob)})" if glob else ""
        return f'"{spoken(arguments, "pattern")}" in {where}{more}'

    async def prepare(self, arguments: JsonObject, context: ToolContext) -> Action:
        """Resolve the place to look in.

        Raises:
            ArgumentError: when there is nothing to look for.
            PathError: when the place cannot be resolved.
        """
        pattern = need_string(arguments, "pattern")
        if not pattern:
            raise ArgumentError("pattern is empty")
        sensitive = get_bool(arguments, "case_sensitive")
        query = SearchQuery(
            pattern=pattern,
            regex=get_bool(arguments, "regex") or False,
            case_sensitive=True if sensitive is None else sensitive,
            glob=get_string(arguments, "glob") or None,
        )
        if not query.regex and "\n" in pattern:
            raise ArgumentError("pattern must be on one line; search for its first line")
        path = folder_path(arguments)
        places = locate_all(context.workspace, (path_of(path, context), Operation.READ))
        name = path if is_kept(path) else ""

        async def plan() -> Plan:
            run = partial(_search, query, places[0][0], context, name)
            return Plan(run, binds=(repr(query),))

        return await hold(places, plan)


@cache
def _spec() -> ToolSpec:
    return ToolSpec(
        name="search_text",
        title="Search",
        description=describe(__file__),
        effect=Effect.READ,
        arguments=(
            Argument(name="pattern", kind=ArgumentKind.SEARCH_TEXT),
            Argument(name="path", kind=ArgumentKind.EXISTING_PATH, required=False),
            Argument(name="regex", kind=ArgumentKind.FLAG, type="boolean", required=False),
            Argument(
                name="case_sensitive",
                kind=ArgumentKind.FLAG,
                type="boolean",
                required=False,
                description="default true",
            ),
            Argument(
                name="glob",
                kind=ArgumentKind.PATTERN,
                required=False,
                description="only files like *.py",
            ),
        ),
        mask=MaskForm(verb="find", arguments=("pattern",)),
    )


async def _search(query: SearchQuery, place: Located, context: ToolContext, name: str) -> Done:
    """Search; `name` is what a result is called in the place of its file.

    Raises:
        PathError: when nothing that can be searched is there.
    """
    found = place.resolution
    if found.kind is FileKind.MISSING:
        raise await missing(context.workspace, place, "file or directory")
    if found.kind not in {FileKind.FILE, FileKind.DIRECTORY}:
        raise PathError(f"{found.shown} is a {found.kind}; it is not searched")
    matches, total = await context.workspace.search_text(query, place, _LIMIT)
    title = f'"{flatten(query.pattern)}" in {name or found.shown}'
    if not matches:
        hint = await _why_nothing(query, place, context)
        return Done(text_content(f"no match for {title}{hint}"), TextView("", title=title))
    text = "\n".join(
        f"{name or visible(match.path)}:{match.line}: {_excerpt(match)}" for match in matches
    )
    if total > len(matches):
        text += f"\n[{len(matches)} of {total:,} lines; narrow it with path or glob]"
    return Done(text_content(text), TextView(text, title=f"{title} ({counted(total, 'line')})"))


async def _why_nothing(query: SearchQuery, place: Located, context: ToolContext) -> str:
    """What the model could do about an empty result."""
    if query.case_sensitive:
        folded = SearchQuery(
            pattern=query.pattern, regex=query.regex, case_sensitive=False, glob=query.glob
        )
        _, total = await context.workspace.search_text(folded, place, 1)
        if total:
            return f"; {counted(total, 'line')} with case_sensitive false"
    if not query.regex and _REGEX_SIGNS.search(query.pattern):
        return "; it was taken literally, set regex for a regular expression"
    if place.resolution.kind is FileKind.DIRECTORY:
        return " (ignored, hidden, binary and linked files were not searched)"
    return ""


def _excerpt(match: Match) -> str:
    """The line; of a long one the part around the match, with a count of what is left out."""
    text = match.text.strip()
    if len(text) <= _LINE_LENGTH:
        return text
    column = match.column - 1 - (len(match.text) - len(match.text.lstrip()))
    start = max(column - _BEFORE_MATCH, 0)
    part = text[start : start + _LINE_LENGTH]
    left_out = len(text) - len(part)
    return f"{'…' if start else ''}{part}… [{left_out:,} more characters]"
