"""Changing one manifest: which one is meant, what becomes of it, and writing it."""

import posixpath
from collections.abc import Callable
from contextlib import suppress
from functools import partial

import msgspec

from hame.base.edit import TextEdit, apply_edits
from hame.base.errors import PathError, ToolError
from hame.base.outcome import Done, text_content
from hame.base.path import FileKind
from hame.base.ports import FileChange, Located, ToolContext, Workspace
from hame.base.zone import Operation
from hame.tools.action import Plan
from hame.tools.difference import difference
from hame.tools.endings import EvenText
from hame.tools.manifests.table import FORMATS, Format, format_of
from hame.tools.nearness import missing
from hame.tools.problems import new_problems
from hame.tools.seen import SeenTexts


class Change(msgspec.Struct, frozen=True):
    """What is to be made of a manifest's text, and how that is called."""

    make: Callable[[Format, str], str]
    done: str
    """`added httpx>=0.27`"""
    take_up: bool = False
    """Whether the project has to take it up by a command."""


def manifest_in(workspace: Workspace, path: str) -> str:
    """The manifest that is meant by a path: itself, or the first one that a folder has.

    Raises:
        PathError: when a folder has none.
    """
    place = workspace.locate(path or ".", Operation.READ)
    folder = place.resolution.kind is FileKind.DIRECTORY
    place.close()
    if not folder:
        return path
    for name in FORMATS:
        candidate = posixpath.join(path, name) if path not in {"", "."} else name
        with suppress(PathError):
            found = workspace.locate(candidate, Operation.READ)
            found.close()
            if found.resolution.kind is FileKind.FILE:
                return candidate
    raise PathError(f"no manifest in {path or '.'}; looked for {', '.join(FORMATS)}")


async def plan_change(
    place: Located, context: ToolContext, seen: SeenTexts, change: Change
) -> Plan:
    """Work out what becomes of a manifest.

    Raises:
        ToolError: when it is none, or cannot be changed so.
    """
    shown = place.resolution.shown
    if place.resolution.kind is FileKind.MISSING:
        raise await missing(context.workspace, place)
    format_ = format_of(shown)
    if format_ is None:
        raise ToolError(f"{shown} is no manifest that can be changed so; use edit_file")
    file = await seen.read_fresh(context.workspace, place)
    source = EvenText(file.text)
    edit = _one_edit(source, change.make(format_, source.text))
    if edit is None:
        raise ToolError(f"{shown} says that already; nothing was changed")
    after = apply_edits(file.text, [edit])
    view = difference(shown, file.text, after)

    async def write() -> Done:
        changed = await context.workspace.apply([
            FileChange(place=place, before=file, edits=(edit,))
        ])
        seen.remember(context.workspace.was_read(place), after)
        hint = f"; now run {format_.after}" if change.take_up and format_.after else ""
        problems = await new_problems(context, shown, file.text, after)
        text = f"{change.done} in {shown}{hint}\n{view.diff.rstrip()}{problems}"
        return Done(text_content(text), view, tuple(changed))

    return Plan(partial(write), view, (file.digest, after))


def _one_edit(source: EvenText, wanted: str) -> TextEdit | None:
    """The part in which a text differs from what it is to be, in the file's own line endings."""
    before = source.text
    if before == wanted:
        return None
    short = min(len(before), len(wanted))
    head = next((n for n in range(short) if before[n] != wanted[n]), short)
    tail = next((n for n in range(short - head) if before[-1 - n] != wanted[-1 - n]), short - head)
    start, end = source.original_index(head), source.original_index(len(before) - tail)
    return TextEdit(start, end, source.adapt(start, end, wanted[head : len(wanted) - tail]))
