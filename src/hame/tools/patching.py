"""What a patch makes of the files it names: worked out first, then written together."""

from collections.abc import Sequence

import msgspec

from hame.base.edit import TextEdit, apply_edits
from hame.base.errors import ArgumentError, PathError, ToolError
from hame.base.outcome import DiffView, Done, text_content
from hame.base.path import FileKind, FileText
from hame.base.ports import FileChange, Located, ToolContext
from hame.base.zone import Operation
from hame.tools.action import Places
from hame.tools.difference import difference
from hame.tools.nearness import missing
from hame.tools.patch_place import place_hunks
from hame.tools.patch_text import FilePatch, Hunk, Kind
from hame.tools.phrase import counted
from hame.tools.placement import inexact_note
from hame.tools.problems import new_problems
from hame.tools.seen import SeenTexts


class Revision(msgspec.Struct, frozen=True):
    """One file before and after."""

    change: FileChange
    before: str
    after: str
    view: DiffView
    line: str
    """For the model: what became of it."""
    notes: tuple[str, ...] = ()


def operations(files: Sequence[FilePatch]) -> list[tuple[str, Operation]]:
    """The places that a patch touches, in its order, and what it does there."""
    return [each for file in files for each in _operations(file)]


async def revise(
    files: Sequence[FilePatch], places: Places, context: ToolContext, seen: SeenTexts
) -> list[Revision]:
    """Work out what becomes of every file.

    Raises:
        ToolError: when a part has no place, or a file is not as the patch says.
    """
    revisions: list[Revision] = []
    left = iter(place for place, _ in places)
    for file in files:
        place = next(left)
        target = next(left) if file.target is not None else None
        match file.kind:
            case Kind.ADD:
                revisions.append(_add(place, file.content))
            case Kind.DELETE:
                revisions.append(_delete(place, await _read(place, context, seen)))
            case Kind.UPDATE:
                before = await _read(place, context, seen)
                revisions.append(_update(place, target, before, file.hunks))
    return revisions


async def write(revisions: Sequence[Revision], context: ToolContext, seen: SeenTexts) -> Done:
    """Make all changes, or none.

    Raises:
        PathError: when one of them cannot be made.
    """
    workspace = context.workspace
    changed = await workspace.apply([revision.change for revision in revisions])
    problems: list[str] = []
    for revision in revisions:
        if revision.change.delete:
            continue
        place = revision.change.target or revision.change.place
        seen.remember(workspace.was_read(place), revision.after)
        shown = place.resolution.shown
        problems.append(await new_problems(context, shown, revision.before, revision.after))
    view = joined_view(revisions)
    notes = tuple(note for revision in revisions for note in revision.notes)
    head = f"patched {counted(len(revisions), 'file')}:"
    lines = [head, *(revision.line for revision in revisions)]
    text = "\n".join(lines) + inexact_note(notes, view) + "".join(problems)
    return Done(text_content(text), view, tuple(changed))


async def _read(place: Located, context: ToolContext, seen: SeenTexts) -> FileText:
    found = place.resolution
    if found.kind is FileKind.MISSING:
        raise await missing(context.workspace, place)
    if found.link_target is not None:
        raise PathError(f"{found.shown} is a link; name the file that it leads to")
    if found.kind is not FileKind.FILE:
        raise PathError(f"{found.shown} is a {found.kind}, not a file that can be patched")
    return await seen.read_fresh(context.workspace, place)


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


def merged(files: Sequence[FilePatch]) -> list[FilePatch]:
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


def _add(place: Located, content: str) -> Revision:
    found = place.resolution
    if found.kind is not FileKind.MISSING:
        raise PathError(
            f"{found.shown} exists, so it cannot be added; use `*** Update File:`. Nothing was"
            " changed."
        )
    change = FileChange(place=place, before=None, edits=(TextEdit(0, 0, content),))
    view = difference(found.shown, "", content, created=True)
    return Revision(change, "", content, view, f"A {found.shown} (+{view.added})")


def _delete(place: Located, before: FileText) -> Revision:
    shown = place.resolution.shown
    view = msgspec.structs.replace(difference(shown, before.text, ""), deleted=True)
    change = FileChange(place=place, before=before, delete=True)
    return Revision(change, before.text, "", view, f"D {shown}")


def _update(
    place: Located, target: Located | None, before: FileText, hunks: Sequence[Hunk]
) -> Revision:
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
    return Revision(
        change, before.text, after, view, f"{moved} (+{view.added} -{view.removed})", placed.notes
    )


def bound(revision: Revision) -> tuple[str, ...]:
    """What an approval is bound to."""
    before = revision.change.before
    return (before.digest if before else "", revision.line, revision.after)


def joined_view(revisions: Sequence[Revision]) -> DiffView:
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
