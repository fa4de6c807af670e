"""edit_file: replace text in one file, all or nothing; every other byte stays."""

from functools import cache, partial
from itertools import pairwise

import msgspec

from hame.base.errors import ArgumentError, PathError, ToolError
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
from hame.tools.endings import EvenText, even
from hame.tools.matching import Span, find_spans, line_of, without_overlaps
from hame.tools.nearness import missing
from hame.tools.phrase import counted, spoken
from hame.tools.seen import SeenTexts

_LINES_NAMED = 10
_TELLING = 8
"""A new text of fewer characters may stand in the file by chance."""

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


class _Edit(msgspec.Struct, frozen=True):
    """One replacement as the model asked for it."""

    old: str
    new: str
    label: str
    """How errors name it: empty for a single one."""


class _Change(msgspec.Struct, frozen=True, order=True):
    """A place in the file's own text and what comes there."""

    start: int
    end: int
    new: str
    label: str


class _Revision(msgspec.Struct, frozen=True):
    """A file before and after all replacements."""

    before: FileText
    after: str
    view: DiffView
    where: str
    """For the model: the line, or how many places."""


class EditFile:
    """Replaces text in a file."""

    def __init__(self, seen: SeenTexts) -> None:
        """Share what the model has seen with the other tools."""
        self._seen = seen

    @property
    def spec(self) -> ToolSpec:
        """What it declares."""
        return _spec()

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
        everywhere = get_bool(arguments, "replace_all") or False
        places = locate_all(context.workspace, (path, Operation.WRITE))
        place = places[0][0]

        async def plan() -> Plan:
            file = await self._read(place, context)
            changes = _place_all(file.text, edits, place.resolution.shown, everywhere=everywhere)
            revision = _revise(file, changes, place.resolution.shown)
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
        content = f"edited {shown} ({revision.where}, +{view.added} -{view.removed})"
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


def _requested(arguments: JsonObject) -> list[_Edit]:
    """The replacements asked for, each with a text to find and another to put in its place.

    Raises:
        ArgumentError: when there is none, or one that cannot change anything.
    """
    listed = get_objects(arguments, "edits")
    sources = [(f"edits[{index}]: ", item) for index, item in enumerate(listed)]
    # Some models fill in every argument: empty texts beside a list of edits mean nothing.
    if not listed or get_string(arguments, "old_string") or get_string(arguments, "new_string"):
        sources.insert(0, ("", arguments))
    edits: list[_Edit] = []
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
        edits.append(_Edit(old, new, label))
    return edits


def _place_all(text: str, edits: list[_Edit], shown: str, *, everywhere: bool) -> list[_Change]:
    """Where each replacement goes, in the order of the file.

    Raises:
        ToolError: when a text is not found, is not unique, or two of them overlap.
    """
    source = EvenText(text)
    found = [(edit, find_spans(source, edit.old)) for edit in edits]
    if all(not spans and _is_done(source, edit) for edit, spans in found):
        raise ToolError(
            f"already done: {shown} holds new_string and not old_string; nothing was changed"
        )
    changes: list[_Change] = []
    for edit, spans in found:
        if not spans:
            raise ToolError(_not_found(source, edit, shown))
        if len(spans) > 1 and not everywhere:
            raise ToolError(_ambiguous(text, edit, spans, shown))
        changes += [
            _Change(span.start, span.end, source.adapt(span.start, span.end, edit.new), edit.label)
            for span in without_overlaps(spans)
        ]
    changes.sort()
    for one, other in pairwise(changes):
        if other.start < one.end:
            line = line_of(text, other.start)
            raise ToolError(
                f"{other.label or one.label}two replacements overlap at line {line} of {shown};"
                " make them one. Nothing was changed."
            )
    return changes


def _is_done(source: EvenText, edit: _Edit) -> bool:
    wanted = even(edit.new)
    return len(wanted.strip()) >= _TELLING and source.text.count(wanted) == 1


def _not_found(source: EvenText, edit: _Edit, shown: str) -> str:
    from hame.tools.mismatch import explain_missing

    words = f"{edit.label}old_string was not found in {shown}."
    explanation = explain_missing(source.original, edit.old)
    new = even(edit.new)
    if new.strip() and new in source.text:
        line = line_of(source.text, source.text.index(new))
        explanation += f" new_string is there already, at line {line}."
    hint = "Nothing was changed. Read the file again and copy the text exactly."
    return f"{words} {explanation.strip()}\n{hint}" if explanation else f"{words} {hint}"


def _ambiguous(text: str, edit: _Edit, spans: list[Span], shown: str) -> str:
    lines = [str(line_of(text, span.start)) for span in spans[:_LINES_NAMED]]
    more = ", ..." if len(spans) > _LINES_NAMED else ""
    return (
        f"{edit.label}old_string occurs {len(spans)} times in {shown} (lines"
        f" {', '.join(lines)}{more}). Add lines around it until it is unique, or set replace_all."
        " Nothing was changed."
    )


def _revise(file: FileText, changes: list[_Change], shown: str) -> _Revision:
    """Put everything in its place."""
    parts: list[str] = []
    done = 0
    for change in changes:
        parts += [file.text[done : change.start], change.new]
        done = change.end
    after = "".join([*parts, file.text[done:]])
    line = line_of(file.text, changes[0].start)
    where = f"line {line}" if len(changes) == 1 else counted(len(changes), "replacement")
    return _Revision(file, after, difference(shown, file.text, after), where)
