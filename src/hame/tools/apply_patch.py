"""apply_patch: a patch over any number of files, all of it or nothing."""

from collections.abc import Sequence
from functools import cache, partial

import msgspec

from hame.base.edit import TextEdit, apply_edits
from hame.base.errors import ArgumentError, PathError, ToolError
from hame.base.json import JsonObject, get_string
from hame.base.outcome import DiffView, Done, text_content
from hame.base.path import FileKind, FileText
from hame.base.ports import Action, FileChange, Located, ToolContext
from hame.base.tool import Argument, ArgumentKind, Effect, ToolSpec
from hame.base.zone import Operation
from hame.tools.action import Places, Plan, hold, locate_all
from hame.tools.arguments import need_string
from hame.tools.description import describe
from hame.tools.difference import difference
from hame.tools.nearness import missing
from hame.tools.patch_place import place_hunks
from hame.tools.patch_text import FilePatch, Hunk, Kind, parse_patch
from hame.tools.phrase import counted, flatten, visible
from hame.tools.placement import inexact_note
from hame.tools.problems import new_problems
from hame.tools.seen import SeenTexts


class _Revision(msgspec.Struct, frozen=True):
    """One file before and after."""

    change: FileChange
    before: str
    after: str
    view: DiffView
    line: str
    """For the model: what became of it."""
    notes: tuple[str, ...] = ()


class ApplyPatch:
    """Applies patches."""

    def __init__(self, seen: SeenTexts, *, advertised: bool = False) -> None:
        """Share what the model has seen; `advertised`: whether every request names this tool."""
        self._seen = seen
        self._spec = msgspec.structs.replace(_spec(), advertised=advertised)

    @property
    def spec(self) -> ToolSpec:
        """What it declares."""
        return self._spec

    def summarize(self, arguments: JsonObject) -> str:
        """The paths."""
        try:
            files = parse_patch(get_string(arguments, "input") or "")
        except ArgumentError:
            return "a patch"
        return flatten(", ".join(visible(file.path) for file in files))

    async def prepare(self, arguments: JsonObject, context: ToolContext) -> Action:
        """Read the patch, find the place of every part, and work out the difference.

        Raises:
            ToolError: when the patch cannot be read, or a part of it has no place.
        """
        files = _merged(parse_patch(need_string(arguments, "input")))
        asked = [each for file in files for each in _operations(file)]
        places = locate_all(context.workspace, *asked)

        async def plan() -> Plan:
            revisions = await self._revise(files, places, context)
            binds = [part for each in revisions for part in _bound(each)]
            return Plan(partial(self._apply, revisions, context), _view(revisions), tuple(binds))

        return await hold(places, plan)

    async def _revise(
        self, files: Sequence[FilePatch], places: Places, context: ToolContext
    ) -> list[_Revision]:
        revisions: list[_Revision] = []
        left = iter(place for place, _ in places)
        for file in files:
            place = next(left)
            target = next(left) if file.target is not None else None
            match file.kind:
                case Kind.ADD:
                    revisions.append(_add(place, file.content))
                case Kind.DELETE:
                    before = await self._read(place, context)
                    revisions.append(_delete(place, before))
                case Kind.UPDATE:
                    before = await self._read(place, context)
                    revisions.append(_update(place, target, before, file.hunks))
        return revisions

    async def _read(self, place: Located, context: ToolContext) -> FileText:
        found = place.resolution
        if found.kind is FileKind.MISSING:
            raise await missing(context.workspace, place)
        if found.link_target is not None:
            raise PathError(f"{found.shown} is a link; name the file that it leads to")
        if found.kind is not FileKind.FILE:
            raise PathError(f"{found.shown} is a {found.kind}, not a file that can be patched")
        return await self._seen.read_fresh(context.workspace, place)

    async def _apply(self, revisions: Sequence[_Revision], context: ToolContext) -> Done:
        workspace = context.workspace
        changed = await workspace.apply([revision.change for revision in revisions])
        problems: list[str] = []
        for revision in revisions:
            if revision.change.delete:
                continue
            place = revision.change.target or revision.change.place
            self._seen.remember(workspace.was_read(place), revision.after)
            shown = place.resolution.shown
            problems.append(await new_problems(context, shown, revision.before, revision.after))
        view = _view(revisions)
        notes = tuple(note for revision in revisions for note in revision.notes)
        head = f"patched {counted(len(revisions), 'file')}:"
        lines = [head, *(revision.line for revision in revisions)]
        text = "\n".join(lines) + inexact_note(notes, view) + "".join(problems)
        return Done(text_content(text), view, tuple(changed))


@cache
def _spec() -> ToolSpec:
    return ToolSpec(
        name="apply_patch",
        title="Patch",
        description=describe(__file__),
        effect=Effect.WRITE,
        arguments=(Argument(name="input", kind=ArgumentKind.NEW_TEXT),),
    )


def _operations(file: FilePatch) -> list[tuple[str, Operation]]:
    match file.kind:
        case Kind.ADD:
            return [(file.path, Operation.CREATE)]
        case Kind.DELETE:
            return [(file.path, Operation.DELETE)]
        case Kind.UPDATE if file.target is not None:
            return [(file.path, Operation.DELETE), (file.target, Operation.CREATE)]
        case Kind.UPDATE:
            return [(file.path, Operation.WRITE)]


def _merged(files: Sequence[FilePatch]) -> list[FilePatch]:
    """The files, each once: parts of one file that come apart belong together.

    Raises:
        ArgumentError: when a file is to be two things at once.
    """
    by_path: dict[str, FilePatch] = {}
    for file in files:
        other = by_path.get(file.path)
        if other is None:
            by_path[file.path] = file
        elif other.kind is file.kind is Kind.UPDATE and file.target is None:
            start = len(other.hunks)
            more = tuple(
                msgspec.structs.replace(hunk, label=f"hunk {start + index}")
                for index, hunk in enumerate(file.hunks, 1)
            )
            by_path[file.path] = msgspec.structs.replace(other, hunks=other.hunks + more)
        else:
            raise ArgumentError(f"the patch names {file.path} twice. Nothing was changed")
    return list(by_path.values())


def _add(place: Located, content: str) -> _Revision:
    found = place.resolution
    if found.kind is not FileKind.MISSING:
        raise PathError(
            f"{found.shown} exists, so it cannot be added; use `*** Update File:`. Nothing was"
            " changed."
        )
    change = FileChange(place=place, before=None, edits=(TextEdit(0, 0, content),))
    view = difference(found.shown, "", content, created=True)
    return _Revision(change, "", content, view, f"A {found.shown} (+{view.added})")


def _delete(place: Located, before: FileText) -> _Revision:
    shown = place.resolution.shown
    view = msgspec.structs.replace(difference(shown, before.text, ""), deleted=True)
    change = FileChange(place=place, before=before, delete=True)
    return _Revision(change, before.text, "", view, f"D {shown}")


def _update(
    place: Located, target: Located | None, before: FileText, hunks: Sequence[Hunk]
) -> _Revision:
    shown = place.resolution.shown
    if target is not None and target.resolution.kind is not FileKind.MISSING:
        raise PathError(f"{target.resolution.shown} exists, and nothing is overwritten")
    placed = place_hunks(before.text, hunks, shown)
    after = apply_edits(before.text, placed.edits)
    if after == before.text and target is None:
        raise ToolError(f"the patch changes nothing in {shown}; it may be applied already")
    goal = target.resolution.shown if target is not None else shown
    view = difference(goal, before.text, after)
    change = FileChange(place=place, before=before, edits=placed.edits, target=target)
    moved = f"R {shown} -> {goal}" if target is not None else f"M {shown}"
    return _Revision(
        change, before.text, after, view, f"{moved} (+{view.added} -{view.removed})", placed.notes
    )


def _bound(revision: _Revision) -> tuple[str, ...]:
    before = revision.change.before
    return (before.digest if before else "", revision.line, revision.after)


def _view(revisions: Sequence[_Revision]) -> DiffView:
    """All differences as one."""
    views = [revision.view for revision in revisions]
    more = f" and {counted(len(views) - 1, 'other')}" if len(views) > 1 else ""
    return DiffView(
        path=views[0].path + more,
        diff="".join(view.diff for view in views),
        added=sum(view.added for view in views),
        removed=sum(view.removed for view in views),
        created=all(view.created for view in views),
        deleted=all(view.deleted for view in views),
    )
