"""apply_patch: a patch over any number of files, all of it or nothing."""

from functools import cache, partial

import msgspec

from hame.base.errors import ArgumentError
from hame.base.json import JsonObject, get_string
from hame.base.ports import Action, ToolContext
from hame.base.tool import Argument, ArgumentKind, Effect, ToolSpec
from hame.tools.action import Plan, hold, locate_all
from hame.tools.arguments import need_string
from hame.tools.description import describe
from hame.tools.phrase import flatten, visible
from hame.tools.seen import SeenTexts


class ApplyPatch:
    """Applies patches."""

    def __init__(self, seen: SeenTexts, *, advertised: bool = False) -> None:
        """Share what the model has seen; `advertised`: whether every request names this tool."""
        self._seen = seen
        self._spec = msgspec.structs.replace(_spec(), advertised=advertised)

    @property
    def spec(self) -> ToolSpec:
        """What it declares."""
        return self._spec

    def summarize(self, arguments: JsonObject) -> str:
        """The paths."""
        from hame.tools.patch_text import parse_patch

        try:
            files = parse_patch(get_string(arguments, "input") or "")
        except ArgumentError:
            return "a patch"
        return flatten(", ".join(visible(file.path) for file in files))

    async def prepare(self, arguments: JsonObject, context: ToolContext) -> Action:
        """Read the patch, find the place of every part, and work out the difference.

        Raises:
            ToolError: when the patch cannot be read, or a part of it has no place.
        """
        from hame.tools.patch_text import parse_patch
        from hame.tools.patching import bound, joined_view, merged, operations, revise, write

        files = merged(parse_patch(need_string(arguments, "input")))
        places = locate_all(context.workspace, *operations(files))

        async def plan() -> Plan:
            revisions = await revise(files, places, context, self._seen)
            binds = tuple(part for each in revisions for part in bound(each))
            run = partial(write, revisions, context, self._seen)
            return Plan(run, joined_view(revisions), binds)

        return await hold(places, plan)


@cache
def _spec() -> ToolSpec:
    return ToolSpec(
        name="apply_patch",
        title="Patch",
        description=describe(__file__),
        effect=Effect.WRITE,
        arguments=(Argument(name="input", kind=ArgumentKind.NEW_TEXT),),
    )
