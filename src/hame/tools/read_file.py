"""read_file: a text file with line numbers, or a picture."""

import posixpath
from functools import cache, partial

from hame.base.errors import ArgumentError, PathError
from hame.base.json import JsonObject, get_int
from hame.base.outcome import Done
from hame.base.path import FileKind
from hame.base.picture import PICTURE_SUFFIXES, identify
from hame.base.ports import Action, Located, ToolContext
from hame.base.tool import Argument, ArgumentKind, Effect, MaskForm, ToolSpec
from hame.base.zone import Operation
from hame.tools.action import Plan, hold, locate_all
from hame.tools.arguments import need_path
from hame.tools.description import describe
from hame.tools.nearness import missing
from hame.tools.numbered import SIZE, page_of, page_of_window, show, wanted_lines
from hame.tools.phrase import spoken
from hame.tools.picture_file import read_picture
from hame.tools.seen import SeenTexts

_WHOLE = 16_000_000
"""Bytes of a text file above which only the lines asked for are read."""
_HEAD = 1_000_000
"""Bytes in which a picture says what it is."""
_NOTEBOOK = "\n[cells and outputs as text; in the file they are JSON, and edit_file works on that]"


class ReadFile:
    """Reads a file."""

    def __init__(self, seen: SeenTexts) -> None:
        """Share what the model has seen with the other tools."""
        self._seen = seen

    @property
    def spec(self) -> ToolSpec:
        """What it declares."""
        return _spec()

    def summarize(self, arguments: JsonObject) -> str:
        """The path, and the lines when a range was asked for."""
        first, last = get_int(arguments, "start_line"), get_int(arguments, "end_line")
        path = spoken(arguments, "path")
        if first is None and last is None:
            return path
        return f"{path} (lines {first or 1}-{'' if last is None else last})"

    async def prepare(self, arguments: JsonObject, context: ToolContext) -> Action:
        """Resolve the path; nothing is read before the gate has spoken.

        Raises:
            ArgumentError: when the range is none.
            PathError: when the path cannot be resolved.
        """
        first, last = get_int(arguments, "start_line"), get_int(arguments, "end_line")
        if first is not None and first < 1:
            raise ArgumentError("start_line counts from 1")
        if last is not None and last < (first or 1):
            raise ArgumentError(f"end_line {last} lies before start_line {first or 1}")
        places = locate_all(context.workspace, (need_path(arguments), Operation.READ))
        run = partial(self._read, places[0][0], context, first or 1, last)

        async def plan() -> Plan:
            return Plan(run, binds=(str(first), str(last)))

        return await hold(places, plan)

    async def _read(
        self, place: Located, context: ToolContext, first: int, last: int | None
    ) -> Done:
        found = place.resolution
        await _require_file(place, context)
        suffix = posixpath.splitext(found.real)[1].lower()
        if suffix in PICTURE_SUFFIXES:
            picture = await read_picture(place, context)
            if picture is not None:
                return picture
        if suffix == ".pdf":
            return await _read_pdf(place, context, first, last)
        if found.size > _WHOLE:
            window = await context.workspace.read_window(
                place, first, wanted_lines(first, last), SIZE
            )
            return show(found.shown, page_of_window(window), last)
        try:
            file = await context.workspace.read_text(place)
        except PathError:
            other = await _read_otherwise(place, context, first, last)
            if other is None:
                raise
            return other
        self._seen.remember(file.digest, file.text)
        if suffix == ".ipynb":
            from hame.tools.notebook import render_notebook

            cells = render_notebook(file.text)
            if cells is not None:
                return show(found.shown, page_of(cells, first, last), last, aside=_NOTEBOOK)
        page = page_of(file.text, first, last)
        whole_asked = first == 1 and last is None
        aside = await _outline(place, context, file.text) if page.more and whole_asked else ""
        return show(found.shown, page, last, aside=aside)


@cache
def _spec() -> ToolSpec:
    return ToolSpec(
        name="read_file",
        title="Read",
        description=describe(__file__),
        effect=Effect.READ,
        arguments=(
            Argument(name="path", kind=ArgumentKind.EXISTING_FILE),
            Argument(name="start_line", kind=ArgumentKind.NUMBER, type="integer", required=False),
            Argument(name="end_line", kind=ArgumentKind.NUMBER, type="integer", required=False),
        ),
        mask=MaskForm(verb="read", arguments=("path",)),
    )


async def _require_file(place: Located, context: ToolContext) -> None:
    found = place.resolution
    match found.kind:
        case FileKind.FILE:
            return
        case FileKind.MISSING:
            raise await missing(context.workspace, place)
        case FileKind.DIRECTORY:
            raise PathError(f"{found.shown} is a directory; use list_dir")
        case FileKind.FIFO | FileKind.SOCKET | FileKind.DEVICE:
            raise PathError(f"{found.shown} is a {found.kind}, not a file; it is not read")


async def _read_otherwise(
    place: Located, context: ToolContext, first: int, last: int | None
) -> Done | None:
    """A file that is no text: a picture or a PDF under another name; None when it is neither."""
    head = await context.workspace.read_bytes(place, _HEAD)
    if head.startswith(b"%PDF-"):
        return await _read_pdf(place, context, first, last)
    return await read_picture(place, context) if identify(head) else None


async def _read_pdf(place: Located, context: ToolContext, first: int, last: int | None) -> Done:
    from hame.tools.pdf import read_pdf

    text = await read_pdf(place, context)
    return show(place.resolution.shown, page_of(text, first, last), last)


async def _outline(place: Located, context: ToolContext, text: str) -> str:
    """What a file that was not shown whole defines."""
    structure = context.structure
    shown = place.resolution.shown
    if structure is None or structure.missing or not structure.understands(shown):
        return ""
    from hame.tools.outline import outline_text

    symbols = await structure.outline(shown, text)
    return f"\n[outline of the whole file]\n{outline_text(symbols)}" if symbols else ""
