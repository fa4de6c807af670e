"""How the models of local servers call tools: tried once for each model file, said, and kept."""

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from hame.base.model import Constraint, Endpoint, ModelFacts, Profile, Quirk, ToolSupport
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
        self.again = False
        """The next model is tried whatever was found before."""

    def known(self, facts: ModelFacts, place: str = "") -> ModelFacts | None:
        """The facts, with how this very model was found to call tools; None when it was not tried yet.

        `place` is the origin of its server; empty for a model file.
        """
        found = None if self.again else read_way(self._path, _key(facts, place))
        return _spoken_to(facts, found) if found is not None else None

    async def make(
        self,
        facts: ModelFacts,
        endpoint: Endpoint,
        constraints: Sequence[Constraint],
        tell: Callable[[str], None],
        *,
        place: str = "",
    ) -> ModelFacts:
        """The same after trying it; `tell` says to the user what takes a while, and what came of it.

        Whoever cancels this hangs up, and nothing is kept; nor is it where the server could not be asked.
        """
        from hame.llm.probe import Way, find_way

        self.again = False
        tell(f"trying once how {facts.name} calls tools; a large model takes a while")
        # Printed calls would pass for the server's own.
        bare = replace(facts, quirks=facts.quirks - {Quirk.PRINTS_CALLS})

        def open_as(way: Way) -> HttpModel:
            told = replace(bare, tools=way.tools, constraint=way.constraint)
            return connect(told, endpoint, self._line)

        native = facts.tools is ToolSupport.NATIVE
        way = await find_way(open_as, native=native, constraints=constraints)
        if way is None:
            tell(f"{facts.name} could not be tried: its server refused, or did not answer")
            return facts
        tell(_FOUND[way.tools].format(facts.name))
        found = Tried(way.tools, way.constraint)
        keep_way(self._path, _key(facts, place), found)
        return _spoken_to(facts, found)


def _key(facts: ModelFacts, place: str) -> str:
    """A file is known by what is in it, wherever it lies."""
    return f"{facts.name} {place} {facts.digest}" if place else facts.digest


def _spoken_to(facts: ModelFacts, found: Tried) -> ModelFacts:
    masked = found.tools is ToolSupport.MASKED
    return replace(
        facts,
        tools=found.tools,
        tools_told=True,
        constraint=found.constraint,
        profile=Profile.LEAN if masked else facts.profile,
    )
