"""remember: a note for later sessions, in the project's AGENTS.md or in the user's own file."""

from collections.abc import Callable, Sequence
from functools import cache

from msgspec.structs import replace

from hame.base.confinement import Confinement
from hame.base.errors import ArgumentError, PathError, ToolError
from hame.base.json import JsonObject, get_string
from hame.base.outcome import Done, Failed, View, text_content
from hame.base.path import FileKind, FileText
from hame.base.ports import Action, Located, Target, ToolContext
from hame.base.tool import Argument, ArgumentKind, Effect, ToolSpec
from hame.base.zone import Operation, Zone
from hame.tools.action import Plan, hold, locate_all
from hame.tools.arguments import need_string
from hame.tools.description import describe
from hame.tools.difference import difference
from hame.tools.phrase import spoken

_LONGEST = 500
_PROJECT, _USER = "project", "user"
_FILES = ("AGENTS.md", "CLAUDE.md")
_HEADING = "## Notes"


class Remember:
    """Adds a note."""

    @property
    def spec(self) -> ToolSpec:
        """What it declares."""
        return _spec()

    def summarize(self, arguments: JsonObject) -> str:
        """The note."""
        return spoken(arguments, "note")

    async def prepare(self, arguments: JsonObject, context: ToolContext) -> Action:
        """Work out the file with the note in it.

        Raises:
            ArgumentError: for a note that is none.
            ToolError: where there is no file for it.
        """
        note = " ".join(need_string(arguments, "note").split())
        if not note:
            raise ArgumentError("note is empty")
        if len(note) > _LONGEST:
            raise ArgumentError(f"a note has at most {_LONGEST} characters; say it shorter")
        path = _file(get_string(arguments, "for") or _PROJECT, context)
        places = locate_all(context.workspace, (path, Operation.WRITE))
        place = places[0][0]

        async def plan() -> Plan:
            before = await _text(place, context)
            after = _with_note(before.text if before else "", note)
            shown = place.resolution.shown
            view = difference(shown, before.text if before else "", after, created=before is None)

            async def write() -> Done:
                await context.workspace.write_text(place, after, before, replace=True)
                return Done(text_content(f"Noted in {shown}."), view, changed=(shown,))

            return Plan(write, view, (before.digest if before else "", after))

        action = await hold(places, plan)
        return _AskedAlways(action) if path == context.user_notes else action


class _AskedAlways:
    """A change of the user's own file: it lies among hame's settings, which a model never writes.

    This one note may be written there when the user has seen it, in whatever mode.
    """

    def __init__(self, inner: Action) -> None:
        self._inner = inner

    @property
    def targets(self) -> Sequence[Target]:
        return [
            replace(target, resolution=replace(target.resolution, zone=Zone.OUTSIDE))
            for target in self._inner.targets
        ]

    @property
    def view(self) -> View | None:
        return self._inner.view

    @property
    def digest(self) -> str:
        return self._inner.digest

    def bind(self, still: Callable[[], bool]) -> None:
        self._inner.bind(still)

    async def run(self, confinement: Confinement) -> Done | Failed:
        return await self._inner.run(confinement)

    def close(self) -> None:
        self._inner.close()


def _file(scope: str, context: ToolContext) -> str:
    """The file that is meant.

    Raises:
        ToolError: when there is no place for notes of the user's.
    """
    if scope == _PROJECT:
        for name in _FILES:
            place = context.workspace.locate(name, Operation.READ)
            place.close()
            if place.resolution.kind is FileKind.FILE:
                return name
        return _FILES[0]
    if not context.user_notes:
        raise ToolError("there is no file for the user's own notes here; note it for the project")
    return context.user_notes


async def _text(place: Located, context: ToolContext) -> FileText | None:
    """What the file holds; None when there is none.

    Raises:
        PathError: when something else is there.
    """
    match place.resolution.kind:
        case FileKind.MISSING:
            return None
        case FileKind.FILE:
            return await context.workspace.read_text(place, remember=False)
        case kind:
            raise PathError(f"{place.resolution.shown} is a {kind}, not a file")


def _with_note(text: str, note: str) -> str:
    """The text with a line more under the heading of notes; one that is there already stays alone.

    Everything else, line endings too, stays as it is.
    """
    end = "\r\n" if "\r\n" in text else "\n"
    whole = text.splitlines(keepends=True)
    lines = [line.rstrip("\r\n") for line in whole]
    new = f"- {note}"
    if new in lines:
        return text
    if _HEADING not in lines:
        gap = "" if not text else end if text.endswith("\n") else end + end
        return f"{text}{gap}{_HEADING}{end}{end}{new}{end}"
    heading = at = lines.index(_HEADING)
    for number in range(heading + 1, len(lines)):
        if lines[number].startswith("#"):
            break
        if lines[number].strip():
            at = number
    before = "".join(whole[: at + 1])
    if not before.endswith("\n"):
        before += end
    gap = end if at == heading else ""
    return f"{before}{gap}{new}{end}{''.join(whole[at + 1 :])}"


@cache
def _spec() -> ToolSpec:
    return ToolSpec(
        name="remember",
        title="Remember",
        description=describe(__file__),
        effect=Effect.WRITE,
        advertised=False,
        arguments=(
            Argument(name="note", kind=ArgumentKind.WORDS, description="one sentence"),
            Argument(
                name="for",
                kind=ArgumentKind.CHOICE,
                choices=(_PROJECT, _USER),
                required=False,
                description="project (the default): AGENTS.md; user: all their projects",
            ),
        ),
    )
