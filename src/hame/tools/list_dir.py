"""list_dir: the names in one directory."""

from collections.abc import Sequence
from functools import cache, partial

from hame.base.errors import PathError
from hame.base.json import JsonObject
from hame.base.outcome import Done, PathsView, text_content
from hame.base.path import DirectoryEntry, FileKind
from hame.base.ports import Action, Located, ToolContext
from hame.base.tool import Effect, MaskForm, ToolSpec
from hame.base.zone import Operation
from hame.tools.action import Plan, hold, locate_all
from hame.tools.arguments import folder_argument, folder_path
from hame.tools.description import describe
from hame.tools.nearness import missing
from hame.tools.phrase import spoken, visible

_LIMIT = 500


class ListDir:
    """Lists a directory."""

    @property
    def spec(self) -> ToolSpec:
        """What it declares."""
        return _spec()

    def summarize(self, arguments: JsonObject) -> str:
        """The directory."""
        return spoken(arguments, "path", ".")

    async def prepare(self, arguments: JsonObject, context: ToolContext) -> Action:
        """Resolve the path.

        Raises:
            ToolError: when it cannot be resolved.
        """
        places = locate_all(context.workspace, (folder_path(arguments), Operation.LIST))

        async def plan() -> Plan:
            return Plan(partial(_list, places[0][0], context))

        return await hold(places, plan)


@cache
def _spec() -> ToolSpec:
    return ToolSpec(
        name="list_dir",
        title="List",
        description=describe(__file__),
        effect=Effect.READ,
        arguments=(folder_argument(),),
        mask=MaskForm(verb="list", arguments=("path",)),
    )


async def _list(place: Located, context: ToolContext) -> Done:
    found = place.resolution
    if found.kind is FileKind.MISSING:
        raise await missing(context.workspace, place, "directory")
    if found.kind is not FileKind.DIRECTORY:
        raise PathError(f"{found.shown} is a {found.kind}, not a directory; use read_file")
    entries = await context.workspace.list_directory(place)
    names = tuple(_line(entry) for entry in entries[:_LIMIT])
    view = PathsView(names, title=found.shown, total=len(entries))
    return Done(text_content(_content(found.shown, names, entries)), view)


def _content(shown: str, names: Sequence[str], entries: Sequence[DirectoryEntry]) -> str:
    if not entries:
        return f"{shown} is an empty directory"
    text = "\n".join(names)
    if len(entries) > len(names):
        text += f"\n[{len(names)} of {len(entries):,} names; use find_files for the others]"
    return text


def _line(entry: DirectoryEntry) -> str:
    """`src/`, `notes.md`, `current -> releases/7/`, `queue (fifo)`."""
    name = visible(entry.name)
    if entry.link_target is not None:
        name += f" -> {visible(entry.link_target)}"
    match entry.kind:
        case FileKind.DIRECTORY:
            return name.rstrip("/") + "/"
        case FileKind.FILE:
            return name
        case FileKind.MISSING:
            return f"{name} (leads nowhere)"
        case FileKind.FIFO | FileKind.SOCKET | FileKind.DEVICE:
            return f"{name} ({entry.kind})"
