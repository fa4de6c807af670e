"""edit_module_config: one value in a manifest, all else in it unchanged."""

from functools import cache
from typing import TYPE_CHECKING

from hame.base.errors import ToolError
from hame.base.json import JsonObject, get_string
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


class EditModuleConfig:
    """Sets values of manifests."""

    def __init__(self, seen: SeenTexts) -> None:
        """Share what the model has seen with the other tools."""
        self._seen = seen

    @property
    def spec(self) -> ToolSpec:
        """What it declares."""
        return _spec()

    def summarize(self, arguments: JsonObject) -> str:
        """The key, its value, and the file."""
        value = spoken(arguments, "value", "(removed)")
        return f"{spoken(arguments, 'key')} = {value} in {spoken(arguments, 'path', '.')}"

    async def prepare(self, arguments: JsonObject, context: ToolContext) -> Action:
        """Find the manifest and work out what becomes of it.

        Raises:
            ToolError: when there is none, or it has no such key.
        """
        from hame.tools.manifest_change import Change, manifest_in, plan_change
        from hame.tools.manifests.keys import Setting

        key = need_string(arguments, "key").strip()
        text = get_string(arguments, "value")
        setting = None if text is None else Setting(text)
        if setting is not None and setting.value is None:
            raise ToolError("null cannot be set; leave value out to remove the key")
        path = manifest_in(context.workspace, folder_path(arguments))
        places = locate_all(context.workspace, (path, Operation.WRITE))

        def make(format_: "Format", before: str) -> str:
            if format_.set is None:
                raise ToolError(f"{path} holds no values that can be set; use edit_file")
            return format_.set(before, key, setting)

        change = Change(make, f"removed {key}" if text is None else f"set {key}")
        return await hold(places, lambda: plan_change(places[0][0], context, self._seen, change))


@cache
def _spec() -> ToolSpec:
    return ToolSpec(
        name="edit_module_config",
        title="Configure",
        description=describe(__file__),
        effect=Effect.WRITE,
        arguments=(
            Argument(name="key", kind=ArgumentKind.WORDS),
            Argument(name="value", kind=ArgumentKind.NEW_TEXT, required=False),
            Argument(name="path", kind=ArgumentKind.EXISTING_PATH, required=False),
        ),
        advertised=False,
    )
