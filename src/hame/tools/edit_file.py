"""edit_file: replace text in one file, all or nothing; every other byte stays."""

from functools import cache, partial

import msgspec

from hame.base.edit import apply_edits
from hame.base.errors import ArgumentError, PathError
from hame.base.json import JsonObject, get_bool, get_objects, get_string
from hame.base.outcome import DiffView, Done, text_content
from hame.base.path import FileKind, FileText
from hame.base.ports import Action, Located, ToolContext
from hame.base.tool import Argument, ArgumentKind, Effect, MaskForm, ToolSpec
from hame.base.zone import Operation
from hame.tools.action import Plan, hold, locate_all
from hame.tools.arguments import need_path
from hame.tools.description import describe
from hame.tools.difference import difference
from hame.tools.endings import even
from hame.tools.matching.exact import line_of
from hame.tools.nearness import missing
from hame.tools.phrase import counted, spoken
from hame.tools.placement import Replacement, inexact_note, place_all
from hame.tools.problems import new_problems
from hame.tools.seen import SeenTexts

_OLD = Argument(name="old_string", kind=ArgumentKind.OLD_TEXT, required=False)
_NEW = Argument(name="new_string", kind=ArgumentKind.NEW_TEXT, required=False)
_EDITS = Argument(
    name="edits",
    kind=ArgumentKind.ITEMS,
    type="array",
    required=False,
    items=(
        Argument(name="old_string", kind=ArgumentKind.OLD_TEXT),
        Argument(name="new_string", kind=ArgumentKind.NEW_TEXT),
    ),
)


class _Revision(msgspec.Struct, frozen=True):
    """A file before and after all replacements."""

    before: FileText
    after: str
    view: DiffView
    where: str
    """For the model: the line, or how many places."""
    note: str
    """For the model: what was not exact, and what came of it."""


class EditFile:
    """Replaces text in a file."""

    def __init__(self, seen: SeenTexts, *, advertised: bool = True) -> None:
        """Share what the model has seen; `advertised`: whether every request names this tool."""
        self._seen = seen
        self._spec = msgspec.structs.replace(_spec(), advertised=advertised)

    @property
    def spec(self) -> ToolSpec:
        """What it declares."""
        return self._spec

    def summarize(self, arguments: JsonObject) -> str:
        """The path, and how many replacements when there are several."""
        edits = len(get_objects(arguments, "edits"))
        more = f" ({counted(edits, 'replacement')})" if edits > 1 else ""
        return spoken(arguments, "path") + more

    async def prepare(self, arguments: JsonObject, context: ToolContext) -> Action:
        """Match every replacement and work out the difference.

        Raises:
            ToolError: when the file or a text in it is not as the model thinks.
        """
        path = need_path(arguments)
        edits = _requested(arguments)
        places = locate_all(context.workspace, (path, Operation.WRITE))
        place = places[0][0]

        async def plan() -> Plan:
            file = await self._read(place, context)
            revision = _revise(file, edits, place.resolution.shown)
            run = partial(self._write, place, context, revision)
            return Plan(run, revision.view, (file.digest, revision.after))

        return await hold(places, plan)

    async def _read(self, place: Located, context: ToolContext) -> FileText:
        found = place.resolution
        if found.kind is FileKind.MISSING:
            raise await missing(context.workspace, place)
        if found.kind is not FileKind.FILE:
            raise PathError(f"{found.shown} is a {found.kind}, not a file that can be edited")
        return await self._seen.read_fresh(context.workspace, place)

    async def _write(self, place: Located, context: ToolContext, revision: _Revision) -> Done:
        workspace, shown = context.workspace, place.resolution.shown
        await workspace.write_text(place, revision.after, revision.before, replace=True)
        self._seen.remember(workspace.was_read(place), revision.after)
        view = revision.view
        problems = await new_problems(context, shown, revision.before.text, revision.after)
        counts = f"{revision.where}, +{view.added} -{view.removed}"
        content = f"edited {shown} ({counts}){revision.note}{problems}"
        return Done(text_content(content), view, (shown,))


@cache
def _spec() -> ToolSpec:
    return ToolSpec(
        name="edit_file",
        title="Edit",
        description=describe(__file__),
        effect=Effect.WRITE,
        arguments=(
            Argument(name="path", kind=ArgumentKind.EXISTING_FILE),
            _OLD,
            _NEW,
            Argument(name="replace_all", kind=ArgumentKind.FLAG, type="boolean", required=False),
            _EDITS,
        ),
        mask=MaskForm(
            verb="edit",
            arguments=("path", "old_string", "new_string"),
            separators=(": ", " -> "),
        ),
    )


def _requested(arguments: JsonObject) -> list[Replacement]:
    """The replacements asked for, each with a text to find and another to put in its place.

    Raises:
        ArgumentError: when there is none, or one that cannot change anything.
    """
    listed = get_objects(arguments, "edits")
    sources = [(f"edits[{index}]: ", item) for index, item in enumerate(listed)]
    # Some models fill in every argument: empty texts beside a list of edits mean nothing.
    if not listed or get_string(arguments, "old_string") or get_string(arguments, "new_string"):
        sources.insert(0, ("", arguments))
    everywhere = get_bool(arguments, "replace_all") or False
    edits: list[Replacement] = []
    for label, source in sources:
        old, new = get_string(source, "old_string"), get_string(source, "new_string")
        if old is None:
            raise ArgumentError(f"{label}old_string is missing: the text to replace")
        if new is None:
            raise ArgumentError(f'{label}new_string is missing; "" deletes old_string')
        if not old:
            raise ArgumentError(
                f"{label}old_string is empty. To insert, repeat a line in both old_string and"
                " new_string; to write a whole file use write_file."
            )
        if even(old) == even(new):
            reason = "" if old == new else " (line endings are kept as they are in the file)"
            raise ArgumentError(f"{label}old_string and new_string are the same{reason}")
        edits.append(Replacement(old, new, label, everywhere))
    return edits


def _revise(file: FileText, wanted: list[Replacement], shown: str) -> _Revision:
    """Put everything in its place.

    Raises:
        ToolError: when a text is not found, is not unique, or two of them overlap.
    """
    placed = place_all(file.text, wanted, shown)
    after = apply_edits(file.text, placed.edits)
    line = line_of(file.text, placed.edits[0].start)
    count = len(placed.edits)
    where = f"line {line}" if count == 1 else counted(count, "replacement")
    view = difference(shown, file.text, after)
    return _Revision(file, after, view, where, inexact_note(placed.notes, view))
