"""use_tool: a call to a tool that no request names.

It never runs itself: whoever runs calls puts the real call in its place (`ToolSpec.forwards`).
"""

from functools import cache

from hame.base.errors import ToolError
from hame.base.json import JsonObject
from hame.base.ports import Action, ToolContext
from hame.base.tool import Effect, ToolSpec
from hame.tools.description import describe
from hame.tools.phrase import spoken


class UseTool:
    """Stands for another tool."""

    @property
    def spec(self) -> ToolSpec:
        """What it declares."""
        return _spec()

    def summarize(self, arguments: JsonObject) -> str:
        """The tool that is meant."""
        return spoken(arguments, "name")

    async def prepare(self, arguments: JsonObject, context: ToolContext) -> Action:  # noqa: ARG002 - the contract's signature
        """It has nothing to run.

        Raises:
            ToolError: always.
        """
        raise ToolError("use_tool was not put through to the tool it names")


@cache
def _spec() -> ToolSpec:
    return ToolSpec(
        name="use_tool",
        title="Use",
        description=describe(__file__),
        effect=Effect.INTERACT,
        forwards=True,
        raw_schema={
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "args": {"type": "string", "description": "its arguments as a JSON object"},
            },
            "required": ["name"],
            "additionalProperties": False,
        },
    )
