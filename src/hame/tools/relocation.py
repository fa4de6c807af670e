"""Moving a file or directory to a place where nothing is; shared by renaming and moving."""

from hame.base.errors import PathError
from hame.base.outcome import Done, PathsView, text_content
from hame.base.path import FileKind
from hame.base.ports import ToolContext
from hame.tools.action import Places, Plan, require_same
from hame.tools.nearness import missing


async def plan_relocation(places: Places, context: ToolContext, done: str) -> Plan:
    """A move from the first place to the second; `done` is the verb of the result.

    Raises:
        PathError: when there is nothing to move, something in the way, or a folder would be moved
            into itself.
    """
    source, target = (place.resolution for place, _ in places)
    if source.kind is FileKind.MISSING:
        raise await missing(context.workspace, places[0][0], "file or directory")
    root = context.workspace.paths.root
    if root == source.real or root.startswith(source.real.rstrip("/") + "/"):
        raise PathError("the project's own folder cannot be moved")
    if target.real.startswith(source.real + "/"):
        raise PathError(f"{source.shown} cannot be moved into itself")
    if target.real == source.real:
        raise PathError(f"{source.shown} is there already; nothing was changed")
    if target.kind is not FileKind.MISSING:
        raise PathError(
            f"{target.shown} exists, and nothing is overwritten. Choose another name, or delete it"
            " first."
        )

    async def relocate() -> Done:
        require_same(context.workspace, places)
        await context.workspace.move(places[0][0], places[1][0])
        content = text_content(f"{done} {source.shown} to {target.shown}")
        return Done(content, view, (source.shown, target.shown))

    view = PathsView((source.shown, target.shown), title="From, to")
    return Plan(relocate, view)
