"""read_file: a text file with line numbers, or a picture."""

import posixpath
from functools import cache, partial

import msgspec

from hame.base.errors import ArgumentError, PathError
from hame.base.json import JsonObject, get_int
from hame.base.message import Image
from hame.base.outcome import Done, TextView, text_content
from hame.base.path import FileKind
from hame.base.ports import Action, Located, ToolContext
from hame.base.tool import Argument, ArgumentKind, Effect, MaskForm, ToolSpec
from hame.base.zone import Operation
from hame.tools.action import Plan, hold, locate_all
from hame.tools.arguments import need_path
from hame.tools.description import describe
from hame.tools.nearness import missing
from hame.tools.phrase import counted, spoken
from hame.tools.picture import PICTURE_SUFFIXES, Picture, identify
from hame.tools.seen import SeenTexts

_LINES = 2_000
_BYTES = 50_000
_LINE_LENGTH = 2_000
_PICTURE_BYTES = 4_500_000
_PICTURE_SIDE = 8_000
"""Pixels; providers refuse more."""


class _Window(msgspec.Struct, frozen=True):
    """The part of a file that is shown."""

    first: int
    last: int
    total: int
    lines: list[str]
    cut: bool
    """Whether a line was too long to be shown whole."""


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
            picture = await _read_picture(place, context)
            if picture is not None:
                return picture
        try:
            file = await context.workspace.read_text(place)
        except PathError as error:
            picture = await _read_picture(place, context)
            if picture is None:
                raise PathError(error.message, hint=error.hint) from error
            return picture
        self._seen.remember(file.digest, file.text)
        return _show(found.shown, file.text, first, last)


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


async def _read_picture(place: Located, context: ToolContext) -> Done | None:
    """The file as a picture; None when it is none.

    Raises:
        PathError: for a picture that no provider takes.
    """
    found = place.resolution
    data = await context.workspace.read_bytes(place, _PICTURE_BYTES + 1)
    picture = identify(data)
    if picture is None:
        return None
    size = _size(max(found.size, len(data)))
    label = f"{picture.media_type}, {picture.width} x {picture.height} pixels, {size}"
    _require_acceptable(picture, len(data), f"{found.shown} ({label})")
    name = posixpath.basename(found.real)
    image = Image(media_type=picture.media_type, data=data, name=name)
    return Done((image,), TextView(label, title=found.shown))


def _require_acceptable(picture: Picture, size: int, label: str) -> None:
    limit = ""
    if size > _PICTURE_BYTES:
        limit = f"{_size(_PICTURE_BYTES)}"
    elif max(picture.width, picture.height) > _PICTURE_SIDE:
        limit = f"{_PICTURE_SIDE:,} pixels a side"
    if limit:
        raise PathError(
            f"{label} is too large to look at: the limit is {limit}. Make a smaller copy with"
            " run_command and read that."
        )


def _show(shown: str, text: str, first: int, last: int | None) -> Done:
    """The lines asked for, numbered.

    Raises:
        PathError: when the file ends before them.
    """
    if not text:
        return Done(text_content(f"{shown} is empty"), TextView("", title=shown))
    window = _window(text, first, last)
    if not window.lines:
        lines = counted(window.total, "line")
        raise PathError(f"{shown} has only {lines}; start_line {first} lies beyond its end")
    numbered = "\n".join(f"{n}\t{line}" for n, line in enumerate(window.lines, window.first))
    note = _note(window, last)
    whole = window.first == 1 and window.last == window.total
    title = shown if whole else f"{shown} (lines {window.first}-{window.last})"
    view = TextView("\n".join(window.lines), title=title)
    return Done(text_content(numbered + note), view)


def _window(text: str, first: int, last: int | None) -> _Window:
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    shown: list[str] = []
    size, cut = 0, False
    for line in lines[first - 1 : min(last or len(lines), first - 1 + _LINES)]:
        bare = line.removesuffix("\r")
        if len(bare) > _LINE_LENGTH:
            bare = f"{bare[:_LINE_LENGTH]}… [{len(bare) - _LINE_LENGTH:,} more characters]"
            cut = True
        size += len(bare.encode("utf-8", "surrogatepass")) + 1
        if shown and size > _BYTES:
            break
        shown.append(bare)
    return _Window(first, first + len(shown) - 1, len(lines), shown, cut)


def _note(window: _Window, asked_last: int | None) -> str:
    """What was left out, and how to get it."""
    notes: list[str] = []
    wanted = min(asked_last or window.total, window.total)
    if window.first > 1 or window.last < window.total:
        more = "" if window.last >= wanted else f"; read on with start_line={window.last + 1}"
        notes.append(f"lines {window.first}-{window.last} of {window.total}{more}")
    if window.cut:
        notes.append(f"lines longer than {_LINE_LENGTH:,} characters were cut")
    return "".join(f"\n[{note}]" for note in notes)


def _size(size: int) -> str:
    if size < 1_000:
        return f"{size} bytes"
    return f"{size / 1_000:.0f} KB" if size < 1_000_000 else f"{size / 1_000_000:.1f} MB"
