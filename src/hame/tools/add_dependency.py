"""add_dependency: a dependency in the project's manifest, all else in it unchanged."""

from functools import cache
from typing import TYPE_CHECKING

from hame.base.errors import ToolError
from hame.base.json import JsonObject, get_bool
from hame.base.ports import Action, ToolContext
from hame.base.tool import Argument, ArgumentKind, Effect, ToolSpec
from hame.base.zone import Operation
from hame.tools.action import hold, locate_all
from hame.tools.arguments import folder_path, need_string
from hame.tools.description import describe
from hame.tools.phrase import spoken
from hame.tools.seen import SeenTexts

if TYPE_CHECKING:
    from hame.tools.manifests.table import Format


class AddDependency:
    """Adds dependencies."""

    def __init__(self, seen: SeenTexts) -> None:
        """Share what the model has seen with the other tools."""
        self._seen = seen

    @property
    def spec(self) -> ToolSpec:
        """What it declares."""
        return _spec()

    def summarize(self, arguments: JsonObject) -> str:
        """The dependency and where it goes."""
        return f"{spoken(arguments, 'dependency')} to {spoken(arguments, 'path', '.')}"

    async def prepare(self, arguments: JsonObject, context: ToolContext) -> Action:
        """Find the manifest and work out what becomes of it.

        Raises:
            ToolError: when there is none, or the dependency cannot be read.
        """
        from hame.tools.manifest_change import Change, manifest_in, plan_change

        asked = need_string(arguments, "dependency")
        dev = get_bool(arguments, "dev") or False
        path = manifest_in(context.workspace, folder_path(arguments))
        places = locate_all(context.workspace, (path, Operation.WRITE))

        def make(format_: "Format", text: str) -> str:
            if format_.read is None or format_.add is None:
                raise ToolError(f"{path} holds no dependencies")
            return format_.add(text, format_.read(asked, dev=dev))

        change = Change(make, f"added {asked.strip()}", take_up=True)
        return await hold(places, lambda: plan_change(places[0][0], context, self._seen, change))


@cache
def _spec() -> ToolSpec:
    return ToolSpec(
        name="add_dependency",
        title="Add dependency",
        description=describe(__file__),
        effect=Effect.WRITE,
        arguments=(
            Argument(name="dependency", kind=ArgumentKind.WORDS),
            Argument(name="path", kind=ArgumentKind.EXISTING_PATH, required=False),
            Argument(name="dev", kind=ArgumentKind.FLAG, type="boolean", required=False),
        ),
        advertised=False,
    )
