"""find_files: files whose path matches a glob."""

from functools import cache, partial

from hame.base.errors import ArgumentError, PathError
from hame.base.json import JsonObject
from hame.base.outcome import Done, PathsView, text_content
from hame.base.path import FileKind
from hame.base.ports import Action, Located, ToolContext
from hame.base.tool import Argument, ArgumentKind, Effect, ToolSpec
from hame.base.zone import Operation
from hame.tools.action import Plan, hold, locate_all
from hame.tools.arguments import folder_argument, folder_path, need_string
from hame.tools.description import describe
from hame.tools.nearness import missing
from hame.tools.phrase import spoken, visible

_LIMIT = 200


class FindFiles:
    """Finds files by name."""

    @property
    def spec(self) -> ToolSpec:
        """What it declares."""
        return _spec()

    def summarize(self, arguments: JsonObject) -> str:
        """The pattern and the directory."""
        return f"{spoken(arguments, 'pattern')} in {spoken(arguments, 'path', '.')}"

    async def prepare(self, arguments: JsonObject, context: ToolContext) -> Action:
        """Resolve the directory.

        Raises:
            ArgumentError: when there is no pattern.
            PathError: when the directory cannot be resolved.
        """
        pattern = need_string(arguments, "pattern").strip()
        if not pattern:
            raise ArgumentError("pattern is empty; `**/*` finds every file")
        places = locate_all(context.workspace, (folder_path(arguments), Operation.LIST))

        async def plan() -> Plan:
            return Plan(partial(_find, pattern, places[0][0], context), binds=(pattern,))

        return await hold(places, plan)


@cache
def _spec() -> ToolSpec:
    return ToolSpec(
        name="find_files",
        title="Find files",
        description=describe(__file__),
        effect=Effect.READ,
        arguments=(
            Argument(name="pattern", kind=ArgumentKind.PATTERN),
            folder_argument(),
        ),
    )


async def _find(pattern: str, place: Located, context: ToolContext) -> Done:
    found = place.resolution
    if found.kind is FileKind.MISSING:
        raise await missing(context.workspace, place, "directory")
    if found.kind is not FileKind.DIRECTORY:
        raise PathError(f"{found.shown} is a {found.kind}; path must be a directory")
    glob = _glob(pattern, found.real)
    paths, total = await context.workspace.find_files(glob, place, _LIMIT)
    view = PathsView(tuple(paths), title=f"{pattern} in {found.shown}", total=total)
    if not paths:
        return Done(
            text_content(
                f"no file matches {pattern} in {found.shown} (ignored files are left out, linked"
                " folders are not entered, hidden files are found when the pattern names them)"
            ),
            view,
        )
    text = "\n".join(map(visible, paths))
    if total > len(paths):
        text += f"\n[{len(paths)} of {total:,} files; narrow the pattern or the path]"
    return Done(text_content(text), view)


def _glob(pattern: str, folder: str) -> str:
    """The pattern relative to the folder; one without a slash matches at any depth."""
    pattern = pattern.removeprefix(folder.rstrip("/") + "/").removeprefix("./")
    if pattern.endswith("/"):
        pattern += "**"
    return pattern if "/" in pattern else f"**/{pattern}"
