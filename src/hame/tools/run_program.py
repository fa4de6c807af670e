"""run_program: build this project's program and run it with an input that ends."""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

import msgspec

from hame.base.confinement import Confinement
from hame.base.errors import ArgumentError, PathError, ToolError
from hame.base.json import JsonObject, get_list, get_number, get_string
from hame.base.outcome import CommandView, Done, Failed
from hame.base.path import FileKind
from hame.base.ports import Action, ToolContext
from hame.base.process import Launch
from hame.base.tool import Argument, ArgumentKind, Effect, ToolSpec
from hame.base.zone import Operation, Zone
from hame.tools.action import Confined, Places, Plan, Still, hold, locate_all, require_same
from hame.tools.description import describe
from hame.tools.heredoc import with_input
from hame.tools.phrase import flatten, spoken

if TYPE_CHECKING:
    from hame.tools.program import Program

_LONGEST_S = 600.0
_BUILD_S = 600.0
_FILES = 20_000
_TEXT = 400_000
_UNKNOWN = (
    "Nothing in this project says how it is run (no Makefile, package.json, Cargo.toml, go.mod, "
    "Java or Python entry point). Name a file as entry, or use run_command."
)


class RunProgram:
    """Builds and runs the project's program."""

    @property
    def spec(self) -> ToolSpec:
        """What it declares."""
        return _spec()

    def summarize(self, arguments: JsonObject) -> str:
        """The entry and the arguments."""
        given = [word for word in get_list(arguments, "args") if isinstance(word, str)]
        return flatten(" ".join([spoken(arguments, "entry", "the program"), *given]))

    async def prepare(self, arguments: JsonObject, context: ToolContext) -> Action:
        """Find out how it is run; the commands are the gate's to judge.

        Raises:
            ArgumentError: for a time limit that is none.
            ToolError: when nothing tells how.
        """
        given = [word for word in get_list(arguments, "args") if isinstance(word, str)]
        asked = get_number(arguments, "timeout_s")
        if asked is not None and not asked > 0:
            raise ArgumentError("timeout_s must be more than 0")
        places = locate_all(context.workspace, (".", Operation.LIST))
        stdin = (get_string(arguments, "stdin") or "").encode()

        async def plan() -> Plan:
            program = await _find(places, context, get_string(arguments, "entry"))
            run = _Run(
                program=program,
                command=program.with_arguments(given),
                stdin=stdin,
                limit=min(asked or context.command_timeout_s, _LONGEST_S),
                places=places,
                context=context,
            )
            ran = with_input(run.command, stdin.decode()) if stdin else run.command
            shown = f"{program.build} && {ran}" if program.build else ran
            return Plan(Confined(run.start), CommandView(shown), (shown, str(run.limit)))

        return await hold(places, plan)


class _Run(msgspec.Struct, frozen=True, kw_only=True):
    """One build and run."""

    program: "Program"
    command: str
    stdin: bytes
    limit: float
    """Seconds."""
    places: Places
    context: ToolContext

    async def start(self, confinement: Confinement, still: Still | None) -> Done | Failed:
        """Build, and when that went well, run."""
        from hame.tools.foreground import run_to_end

        require_same(self.context.workspace, self.places)
        kind = self.program.kind
        if self.program.build is not None:
            launch = self._launch(self.program.build, b"", confinement, still)
            built = await run_to_end(launch, self.context, _BUILD_S)
            if built.exit is None or not built.exit.ok:
                notes = [f"the build of this {kind} program failed, so it was not run"]
                return built.outcome(self.program.build, notes)
            still = None  # What the build makes is what is to be run.
        launch = self._launch(self.command, self.stdin, confinement, still)
        ran = await run_to_end(launch, self.context, self.limit)
        return ran.outcome(self.command, [f"{kind} program, run as: {self.command}"])

    def _launch(
        self, command: str, stdin: bytes, confinement: Confinement, still: Still | None
    ) -> Launch:
        from hame.tools.foreground import shell

        root = self.places[0][0].resolution.real
        return Launch(
            argv=(shell(self.context.workspace.paths.root), "-c", command),
            cwd=root,
            stdin=stdin,
            confinement=confinement,
            still=still,
            label="run_program",
        )


async def _find(places: Places, context: ToolContext, entry: str | None) -> "Program":
    """How this project is run.

    Raises:
        ToolError: when nothing tells.
    """
    from hame.tools.program import find_program

    files, _ = await context.workspace.find_files("**/*", places[0][0], _FILES)
    texts: dict[str, str | None] = {}
    for path in _worth_reading(files):
        texts[path] = await _text(path, context)
    program = find_program(files, texts.get, entry)
    if program is None:
        raise ToolError(_UNKNOWN)
    return program


def _worth_reading(files: Sequence[str]) -> list[str]:
    names = {"GNUmakefile", "makefile", "Makefile", "package.json", "pyproject.toml"}
    java = [path for path in files if path.endswith(".java")]
    return [*names.intersection(files), *java[:200], ".venv/pyvenv.cfg", "venv/pyvenv.cfg"]


async def _text(path: str, context: ToolContext) -> str | None:
    try:
        place = context.workspace.locate(path, Operation.READ)
    except PathError:
        return None
    try:
        if place.resolution.kind is not FileKind.FILE or place.resolution.zone is not Zone.PROJECT:
            return None
        data = await context.workspace.read_bytes(place, _TEXT)
        return data.decode("utf-8", "replace")
    except ToolError:
        return None
    finally:
        place.close()


@cache
def _spec() -> ToolSpec:
    return ToolSpec(
        name="run_program",
        title="Run program",
        description=describe(__file__),
        effect=Effect.RUN,
        advertised=False,
        arguments=(
            Argument(
                name="entry",
                kind=ArgumentKind.WORDS,
                required=False,
                description="file, script, target or binary, where there are several",
            ),
            Argument(name="args", kind=ArgumentKind.ITEMS, type="array", required=False),
            Argument(name="stdin", kind=ArgumentKind.WORDS, required=False),
            Argument(
                name="timeout_s",
                kind=ArgumentKind.NUMBER,
                type="number",
                required=False,
                description="of the run, at most 600",
            ),
        ),
    )
