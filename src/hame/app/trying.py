"""How the models of local servers call tools: tried once for each model file, said, and kept."""

from collections.abc import Callable

from msgspec.structs import replace

from hame.backends.address import origin_of
from hame.base.model import Endpoint, ModelFacts, Profile, Quirk, ToolSupport, Vendor
from hame.config.tried import Tried, keep_way, read_way
from hame.llm.asking import Line
from hame.llm.client import HttpModel, connect

_ATTEMPTS = 2
"""A server that breaks at a question breaks again; that is an answer, too."""
_FOUND = {
    ToolSupport.NATIVE: "{} calls tools and goes on with what they return.",
    ToolSupport.SCHEMA: "{} calls tools when its answers are held to a JSON schema; so they are.",
    ToolSupport.MASKED: (
        "{} can only take single small steps: it looks, finds, and changes words that you name; it"
        " writes no code. `hame models` shows others."
    ),
    ToolSupport.TEXT: "{} is told of the tools in words; what it prints as a call is run as one.",
}


class Trials:
    """What was found of the models, and the way to find it."""

    def __init__(self, path: str, line: Line) -> None:
        """Take where it is kept, and the way to the servers."""
        self._path = path
        self._line = replace(line, retry=replace(line.retry, attempts=_ATTEMPTS))

    async def settle(
        self,
        facts: ModelFacts,
        endpoint: Endpoint,
        vendor: Vendor,
        tell: Callable[[str], None] | None,
    ) -> ModelFacts:
        """The facts, with the way in which this very model calls tools.

        One that was not tried is tried now; not without `tell`, which says to the user what takes a
        while. Whoever cancels this hangs up, and nothing is kept.
        """
        key = f"{facts.name} {origin_of(endpoint.base_url)} {facts.digest}"
        found = read_way(self._path, key)
        if found is None and tell is not None:
            found = await self._try(facts, endpoint, vendor, tell)
            if found is not None:
                keep_way(self._path, key, found)
        return facts if found is None else _spoken_to(facts, found)

    async def _try(
        self, facts: ModelFacts, endpoint: Endpoint, vendor: Vendor, tell: Callable[[str], None]
    ) -> Tried | None:
        from hame.llm.probe import Way, find_way

        tell(f"trying once how {facts.name} calls tools; a large model takes a while")
        # Printed calls would pass for the server's own.
        bare = replace(facts, quirks=facts.quirks - {Quirk.PRINTS_CALLS})

        def open_as(way: Way) -> HttpModel:
            told = replace(bare, tools=way.tools, constraint=way.constraint)
            return connect(told, endpoint, self._line)

        native = facts.tools is ToolSupport.NATIVE
        way = await find_way(open_as, native=native, constraints=vendor.constraints)
        if way is None:
            return None
        tell(_FOUND[way.tools].format(facts.name))
        return Tried(way.tools, way.constraint)


def _spoken_to(facts: ModelFacts, found: Tried) -> ModelFacts:
    masked = found.tools is ToolSupport.MASKED
    return replace(
        facts,
        tools=found.tools,
        constraint=found.constraint,
        profile=Profile.LEAN if masked else facts.profile,
    )
