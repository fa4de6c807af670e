"""write_file: write a whole file; one that exists must have been read as it is now."""

from functools import cache, partial

from hame.base.errors import PathError
from hame.base.json import JsonObject
from hame.base.outcome import Done, Failed, text_content
from hame.base.path import FileKind
from hame.base.ports import Action, Located, ToolContext
from hame.base.tool import Argument, ArgumentKind, Effect, ToolSpec
from hame.base.zone import Operation
from hame.tools.action import Plan, hold, locate_all
from hame.tools.arguments import need_path, need_string
from hame.tools.description import describe
from hame.tools.difference import difference
from hame.tools.endings import only_crlf
from hame.tools.phrase import spoken
from hame.tools.seen import SeenTexts
from hame.tools.whole_file import write_whole


class WriteFile:
    """Writes a whole file."""

    def __init__(self, seen: SeenTexts) -> None:
        """Share what the model has seen with the other tools."""
        self._seen = seen

    @property
    def spec(self) -> ToolSpec:
        """What it declares."""
        return _spec()

    def summarize(self, arguments: JsonObject) -> str:
        """The path."""
        return spoken(arguments, "path")

    async def prepare(self, arguments: JsonObject, context: ToolContext) -> Action:
        """Compare the file as it is with what it is to be.

        Raises:
            ToolError: when it was not read, changed since, or is no file.
        """
        path, content = need_path(arguments), need_string(arguments, "content")
        places = locate_all(context.workspace, (path, Operation.WRITE))
        place = places[0][0]

        async def plan() -> Plan:
            found = place.resolution
            if found.kind is FileKind.MISSING:
                view = difference(found.shown, "", content, created=True)
                return Plan(
                    partial(write_whole, place, context, self._seen, content, like=None),
                    view,
                    (content,),
                )
            if found.kind is not FileKind.FILE:
                raise PathError(f"{found.shown} is a {found.kind}, not a file")
            return await self._plan_overwrite(place, context, content)

        return await hold(places, plan)

    async def _plan_overwrite(self, place: Located, context: ToolContext, content: str) -> Plan:
        workspace, shown = context.workspace, place.resolution.shown
        if workspace.was_read(place) is None and place.resolution.size > 0:
            data = content.encode("utf-8", "surrogatepass")
            if await workspace.read_bytes(place, len(data) + 1) == data:
                return Plan(partial(_unchanged, shown), None, (data,))
            raise PathError(
                f"{shown} exists and was not read. Read it first, or change it with edit_file."
            )
        file = await self._seen.read_fresh(workspace, place)
        if only_crlf(file.text) and "\r" not in content:
            content = content.replace("\n", "\r\n")
        if content == file.text:
            return Plan(partial(_unchanged, shown), None, (file.digest,))
        view = difference(shown, file.text, content)
        run = partial(write_whole, place, context, self._seen, content, like=file)
        return Plan(run, view, (file.digest, content))


@cache
def _spec() -> ToolSpec:
    return ToolSpec(
        name="write_file",
        title="Write",
        description=describe(__file__),
        effect=Effect.WRITE,
        arguments=(
            Argument(name="path", kind=ArgumentKind.NEW_PATH),
            Argument(name="content", kind=ArgumentKind.NEW_TEXT),
        ),
    )


async def _unchanged(shown: str) -> Done | Failed:
    return Done(text_content(f"unchanged: {shown} has that content already"))
