"""delete_path: delete a file, or a directory with everything in it."""

import posixpath
from functools import cache, partial

from hame.base.errors import PathError, ToolError
from hame.base.json import JsonObject
from hame.base.outcome import Done, PathsView, text_content
from hame.base.path import FileKind
from hame.base.ports import Action, Located, ToolContext, Workspace
from hame.base.tool import Argument, ArgumentKind, Effect, ToolSpec
from hame.base.zone import Operation
from hame.tools.action import Places, Plan, hold, locate_all, require_same
from hame.tools.arguments import need_path
from hame.tools.description import describe
from hame.tools.nearness import missing
from hame.tools.phrase import counted, spoken

_COUNTED = 2_000
"""Names that are counted before it only says that there are more."""
_SHOWN = 50


class DeletePath:
    """Deletes a file or a directory."""

    @property
    def spec(self) -> ToolSpec:
        """What it declares."""
        return _spec()

    def summarize(self, arguments: JsonObject) -> str:
        """The path."""
        return spoken(arguments, "path")

    async def prepare(self, arguments: JsonObject, context: ToolContext) -> Action:
        """Count what would go.

        Raises:
            ToolError: when there is nothing, or it is the project itself.
        """
        path = need_path(arguments)
        places = locate_all(context.workspace, (path.rstrip("/") or "/", Operation.DELETE))
        return await hold(places, partial(_plan, places, context))


@cache
def _spec() -> ToolSpec:
    return ToolSpec(
        name="delete_path",
        title="Delete",
        description=describe(__file__),
        effect=Effect.WRITE,
        arguments=(Argument(name="path", kind=ArgumentKind.EXISTING_PATH),),
    )


async def _plan(places: Places, context: ToolContext) -> Plan:
    place = places[0][0]
    found, root = place.resolution, context.workspace.paths.root
    if found.kind is FileKind.MISSING:
        raise await missing(context.workspace, place, "file or directory")
    if root == found.real or root.startswith(found.real.rstrip("/") + "/"):
        raise PathError("the project's own folder cannot be deleted")
    if found.kind is not FileKind.DIRECTORY:
        view = PathsView((found.shown,), title="Delete")
        return Plan(partial(_delete, places, context), view)
    files = await _files_below(context.workspace, place)
    more = len(files) > _COUNTED
    count = f"more than {_COUNTED:,} files" if more else counted(len(files), "file")
    view = PathsView(
        tuple(files[:_SHOWN]),
        title=f"Delete {found.shown}/ ({count})",
        total=None if more else len(files),
    )

    async def delete_all() -> Done:
        if await _files_below(context.workspace, place) != files:
            raise PathError(f"what is in {found.shown}/ changed since this was checked; try again")
        return await _delete(places, context, f"/ and the {count} in it")

    return Plan(delete_all, view, tuple(files))


async def _delete(places: Places, context: ToolContext, what: str = "") -> Done:
    place = places[0][0]
    shown = place.resolution.shown
    require_same(context.workspace, places)
    await context.workspace.delete(place)
    return Done(text_content(f"deleted {shown}{what}"), PathsView((shown,)), (shown,))


async def _files_below(workspace: Workspace, place: Located) -> list[str]:
    """Files in a directory and all below it, ignored ones too; stops just past `_COUNTED`."""
    files: list[str] = []
    waiting = [place.resolution.real]
    while waiting and len(files) <= _COUNTED:
        folder = waiting.pop()
        try:
            inner = workspace.locate(folder, Operation.LIST)
        except ToolError:
            continue
        try:
            entries = await workspace.list_directory(inner)
        except ToolError:
            continue
        finally:
            inner.close()
        for entry in entries:
            path = posixpath.join(folder, entry.name)
            if entry.kind is FileKind.DIRECTORY and entry.link_target is None:
                waiting.append(path)
            else:
                files.append(
                    posixpath.join(place.resolution.shown, path[len(place.resolution.real) + 1 :])
                )
    return files[: _COUNTED + 1]
