"""rename_path: give a file or directory another name in the same folder."""

import posixpath
from functools import cache, partial

from hame.base.errors import ArgumentError
from hame.base.json import JsonObject
from hame.base.ports import Action, ToolContext
from hame.base.tool import Argument, ArgumentKind, Effect, ToolSpec
from hame.base.zone import Operation
from hame.tools.action import hold, locate_all
from hame.tools.arguments import need_path, need_string
from hame.tools.description import describe
from hame.tools.phrase import spoken
from hame.tools.relocation import plan_relocation


class RenamePath:
    """Renames a file or directory."""

    @property
    def spec(self) -> ToolSpec:
        """What it declares."""
        return _spec()

    def summarize(self, arguments: JsonObject) -> str:
        """The old path and the new name."""
        return f"{spoken(arguments, 'path')} to {spoken(arguments, 'new_name')}"

    async def prepare(self, arguments: JsonObject, context: ToolContext) -> Action:
        """Make sure that the one is there and the other is not.

        Raises:
            ArgumentError: when the new name is a path.
            PathError: when the one is not there or the other is.
        """
        path = need_path(arguments).rstrip("/") or "/"
        name = need_string(arguments, "new_name").rstrip("/")
        if name in {"", ".", ".."} or "/" in name:
            raise ArgumentError("new_name must be a bare name; use move_path for another folder")
        folder, old_name = posixpath.split(path)
        if old_name in {"", ".", ".."}:
            raise ArgumentError(f"path must end in the name to be changed, not {old_name or '/'}")
        places = locate_all(
            context.workspace,
            (path, Operation.DELETE),
            (posixpath.join(folder, name), Operation.CREATE),
        )
        return await hold(places, partial(plan_relocation, places, context, "renamed"))


@cache
def _spec() -> ToolSpec:
    return ToolSpec(
        name="rename_path",
        title="Rename",
        description=describe(__file__),
        effect=Effect.WRITE,
        arguments=(
            Argument(name="path", kind=ArgumentKind.EXISTING_PATH),
            Argument(name="new_name", kind=ArgumentKind.NEW_PATH),
        ),
    )
