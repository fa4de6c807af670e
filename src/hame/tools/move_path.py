"""move_path: move a file or directory; into the destination if that is a directory."""

import posixpath
from functools import cache, partial

from hame.base.json import JsonObject
from hame.base.path import FileKind
from hame.base.ports import Action, ToolContext, Workspace
from hame.base.tool import Argument, ArgumentKind, Effect, ToolSpec
from hame.base.zone import Operation
from hame.tools.action import hold, locate_all
from hame.tools.arguments import need_path
from hame.tools.description import describe
from hame.tools.phrase import spoken
from hame.tools.relocation import plan_relocation


class MovePath:
    """Moves a file or directory."""

    @property
    def spec(self) -> ToolSpec:
        """What it declares."""
        return _spec()

    def summarize(self, arguments: JsonObject) -> str:
        """From where to where."""
        return f"{spoken(arguments, 'path')} to {spoken(arguments, 'destination')}"

    async def prepare(self, arguments: JsonObject, context: ToolContext) -> Action:
        """Make sure that the one is there and nothing is in the way.

        Raises:
            ToolError: otherwise.
        """
        path = need_path(arguments).rstrip("/") or "/"
        destination = need_path(arguments, "destination")
        target = _inside(context.workspace, destination, posixpath.basename(path))
        places = locate_all(context.workspace, (path, Operation.DELETE), (target, Operation.CREATE))
        return await hold(places, partial(plan_relocation, places, context, "moved"))


@cache
def _spec() -> ToolSpec:
    return ToolSpec(
        name="move_path",
        title="Move",
        description=describe(__file__),
        effect=Effect.WRITE,
        arguments=(
            Argument(name="path", kind=ArgumentKind.EXISTING_PATH),
            Argument(name="destination", kind=ArgumentKind.NEW_PATH),
        ),
    )


def _inside(workspace: Workspace, destination: str, name: str) -> str:
    """The new path: in the destination if that is, or is written as, a directory."""
    place = workspace.locate(destination, Operation.LIST)
    kind = place.resolution.kind
    place.close()
    if kind is FileKind.DIRECTORY or destination.endswith("/"):
        return posixpath.join(destination, name)
    return destination
