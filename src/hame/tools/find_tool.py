"""find_tool: the tools that no request names, by what they do."""

import re
from collections.abc import Iterable
from functools import cache

from hame.base.json import JsonObject, dump, get_string
from hame.base.outcome import Done, TextView, text_content
from hame.base.ports import Action, Tool, ToolContext
from hame.base.tool import Argument, ArgumentKind, Effect, ToolSpec
from hame.tools.action import Plan, hold
from hame.tools.description import describe
from hame.tools.phrase import flatten, spoken

_WHOLE = 5
"""Tools that are described with their arguments; more are only named."""
_WORD = re.compile(r"[a-z0-9]+")


class FindTool:
    """Looks tools up."""

    @property
    def spec(self) -> ToolSpec:
        """What it declares."""
        return _spec()

    def summarize(self, arguments: JsonObject) -> str:
        """The words looked for."""
        return spoken(arguments, "query", "all tools")

    async def prepare(self, arguments: JsonObject, context: ToolContext) -> Action:
        """Nothing to check before it runs.

        Raises:
            ToolError: never.
        """
        query = get_string(arguments, "query") or ""

        async def look() -> Done:
            text = _found(query, context.tools.values())
            return Done(text_content(text), TextView(text, title="tools"))

        async def plan() -> Plan:
            return Plan(look)

        return await hold((), plan)


def _found(query: str, tools: Iterable[Tool]) -> str:
    """The hidden tools that fit best, as they are to be called."""
    specs = [tool.spec for tool in tools if not tool.spec.advertised]
    if not specs:
        return "There are no further tools."
    words = set(_WORD.findall(query.lower()))
    ranked = sorted(specs, key=lambda spec: -_likeness(spec, words))
    fitting = [spec for spec in ranked if _likeness(spec, words)] if words else ranked
    if not fitting:
        names = "\n".join(_short(spec) for spec in ranked)
        return f"No tool is about {query!r}. There are:\n{names}"
    lines = [_long(spec) for spec in fitting[:_WHOLE]]
    lines += [_short(spec) for spec in fitting[_WHOLE:]]
    return "Call these with use_tool:\n" + "\n".join(lines)


def _likeness(spec: ToolSpec, words: set[str]) -> int:
    """How many of the words, or words that begin alike, its name and description hold."""
    name = set(_WORD.findall(spec.name.lower()))
    known = name | set(_WORD.findall(f"{spec.title} {spec.description} {spec.source}".lower()))
    return sum(
        3 * (word in name) + any(each.startswith(word[:5]) for each in known)
        for word in words
        if len(word) > 2
    )


def _long(spec: ToolSpec) -> str:
    return f"{spec.name}: {spec.description}\n  args: {dump(spec.schema())}"


def _short(spec: ToolSpec) -> str:
    return f"{spec.name}: {flatten(spec.description)}"


@cache
def _spec() -> ToolSpec:
    return ToolSpec(
        name="find_tool",
        title="Tools",
        description=describe(__file__),
        effect=Effect.READ,
        arguments=(Argument(name="query", kind=ArgumentKind.WORDS, required=False),),
    )
