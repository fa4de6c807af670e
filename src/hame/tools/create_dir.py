"""create_dir: make a directory and its missing parents."""

from functools import cache, partial

from hame.base.errors import PathError
from hame.base.json import JsonObject
from hame.base.outcome import Done, PathsView, text_content
from hame.base.path import FileKind
from hame.base.ports import Action, Located, ToolContext
from hame.base.tool import Argument, ArgumentKind, Effect, ToolSpec
from hame.base.zone import Operation
from hame.tools.action import Plan, hold, locate_all
from hame.tools.arguments import need_path
from hame.tools.description import describe
from hame.tools.phrase import spoken


class CreateDir:
    """Makes a directory."""

    @property
    def spec(self) -> ToolSpec:
        """What it declares."""
        return _spec()

    def summarize(self, arguments: JsonObject) -> str:
        """The path."""
        return spoken(arguments, "path")

    async def prepare(self, arguments: JsonObject, context: ToolContext) -> Action:
        """Make sure that nothing else is there.

        Raises:
            ToolError: when a file is.
        """
        places = locate_all(context.workspace, (need_path(arguments), Operation.CREATE))
        place = places[0][0]

        async def plan() -> Plan:
            found = place.resolution
            if found.kind not in {FileKind.MISSING, FileKind.DIRECTORY}:
                raise PathError(f"{found.shown} exists and is a {found.kind}")
            view = PathsView((found.shown + "/",), title="New folder")
            return Plan(partial(_make, place, context), view)

        return await hold(places, plan)


@cache
def _spec() -> ToolSpec:
    return ToolSpec(
        name="create_dir",
        title="Create folder",
        description=describe(__file__),
        effect=Effect.WRITE,
        arguments=(Argument(name="path", kind=ArgumentKind.NEW_PATH),),
    )


async def _make(place: Located, context: ToolContext) -> Done:
    shown = place.resolution.shown
    if place.resolution.kind is FileKind.DIRECTORY:
        return Done(text_content(f"{shown}/ exists already"))
    await context.workspace.make_directory(place)
    return Done(text_content(f"created {shown}/"), PathsView((shown + "/",)), (shown,))
