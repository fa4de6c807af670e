"""create_file: write a file that is not there yet."""

from functools import cache, partial

from hame.base.errors import PathError
from hame.base.json import JsonObject
from hame.base.path import FileKind
from hame.base.ports import Action, ToolContext
from hame.base.tool import Argument, ArgumentKind, Effect, MaskForm, ToolSpec
from hame.base.zone import Operation
from hame.tools.action import Plan, hold, locate_all
from hame.tools.arguments import need_path, need_string
from hame.tools.description import describe
from hame.tools.difference import difference
from hame.tools.phrase import spoken
from hame.tools.seen import SeenTexts
from hame.tools.whole_file import write_whole


class CreateFile:
    """Creates a file."""

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
        """Make sure that nothing is there.

        Raises:
            ToolError: when something is.
        """
        path, content = need_path(arguments), need_string(arguments, "content")
        places = locate_all(context.workspace, (path, Operation.CREATE))
        place = places[0][0]

        async def plan() -> Plan:
            found = place.resolution
            if found.kind is FileKind.FILE:
                raise PathError(
                    f"{found.shown} exists. Change it with edit_file, or replace it with write_file."
                )
            if found.kind is not FileKind.MISSING:
                raise PathError(f"{found.shown} exists and is a {found.kind}")
            view = difference(found.shown, "", content, created=True)
            run = partial(write_whole, place, context, self._seen, content, like=None)
            return Plan(run, view, (content,))

        return await hold(places, plan)


@cache
def _spec() -> ToolSpec:
    return ToolSpec(
        name="create_file",
        title="Create",
        description=describe(__file__),
        effect=Effect.WRITE,
        arguments=(
            Argument(name="path", kind=ArgumentKind.NEW_PATH),
            Argument(name="content", kind=ArgumentKind.NEW_TEXT),
        ),
        mask=MaskForm(verb="write", arguments=("path", "content"), separators=(": ",)),
    )
