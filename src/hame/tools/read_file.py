"""read_file: a text file with line numbers, or a picture."""

import posixpath
from functools import cache, partial

import msgspec

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
from hame.tools.kept import is_kept, path_of
from hame.tools.nearness import missing
from hame.tools.numbered import SIZE, Page, page_of, page_of_window, show, wanted_lines
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
        path = need_path(arguments)
        places = locate_all(context.workspace, (path_of(path, context), Operation.READ))
        name = path if is_kept(path) else places[0][0].resolution.shown
        run = partial(self._read, places[0][0], context, _Asked(name, first or 1, last))

        async def plan() -> Plan:
            return Plan(run, binds=(str(first), str(last)))

        return await hold(places, plan)

    async def _read(self, place: Located, context: ToolContext, asked: "_Asked") -> Done:
        found = place.resolution
        await _require_file(place, context)
        suffix = posixpath.splitext(found.real)[1].lower()
        if suffix in PICTURE_SUFFIXES:
            picture = await read_picture(place, context)
            if picture is not None:
                return picture
        if suffix == ".pdf":
            return await _read_pdf(place, context, asked)
        if found.size > _WHOLE:
            count = wanted_lines(asked.first, asked.last)
            window = await context.workspace.read_window(place, asked.first, count, SIZE)
            return show(asked.name, page_of_window(window), asked.last)
        try:
            file = await context.workspace.read_text(place)
        except PathError:
            other = await _read_otherwise(place, context, asked)
            if other is None:
                raise
            return other
        self._seen.remember(file.digest, file.text)
        if suffix == ".ipynb":
            from hame.tools.notebook import render_notebook

            cells = render_notebook(file.text)
            if cells is not None:
                return asked.show(cells, aside=_NOTEBOOK)
        return asked.show(file.text, aside=await _outline(place, context, asked, file.text))


class _Asked(msgspec.Struct, frozen=True):
    """What is to be read, and what it is called."""

    name: str
    first: int
    last: int | None

    def page(self, text: str) -> Page:
        return page_of(text, self.first, self.last)

    def show(self, text: str, *, aside: str = "") -> Done:
        return show(self.name, self.page(text), self.last, aside=aside)


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


async def _read_otherwise(place: Located, context: ToolContext, asked: _Asked) -> Done | None:
    """A file that is no text: a picture or a PDF under another name; None when it is neither."""
    head = await context.workspace.read_bytes(place, _HEAD)
    if head.startswith(b"%PDF-"):
        return await _read_pdf(place, context, asked)
    return await read_picture(place, context) if identify(head) else None


async def _read_pdf(place: Located, context: ToolContext, asked: _Asked) -> Done:
    from hame.tools.pdf import read_pdf

    return asked.show(await read_pdf(place, context))


async def _outline(place: Located, context: ToolContext, asked: _Asked, text: str) -> str:
    """What a file defines that was asked for as a whole and is too long to be shown so."""
    structure, shown = context.structure, place.resolution.shown
    if asked.first > 1 or asked.last is not None or not asked.page(text).more:
        return ""
    if structure is None or structure.missing or not structure.understands(shown):
        return ""
    from hame.tools.outline import outline_text

    symbols = await structure.outline(shown, text)
    return f"\n[outline of the whole file]\n{outline_text(symbols)}" if symbols else ""
