"""Searching with ripgrep. Output format: https://docs.rs/grep-printer/latest/grep_printer/struct.JSON.html.

ripgrep opens files by their names: what a command that still runs puts there as a link meanwhile, it
reads, and it runs outside the sandbox. So what it found in a file counts only where the file itself,
entered without any link, holds those lines.
"""

import os
import stat
from base64 import b64decode
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from functools import partial
from typing import BinaryIO

import anyio
import msgspec
from typing_extensions import override

from hame.base.errors import ToolError
from hame.base.ports import Process, Processes, SearchQuery
from hame.base.process import Exit, Launch
from hame.workspace.found import FileLines
from hame.workspace.locate import shown_name
from hame.workspace.reading import open_below
from hame.workspace.search import Engine, Scope

_ALWAYS = ("--no-config", "--no-require-git", "--no-ignore-global", "--no-ignore-messages")
_NO_MATCH = 1
_ERRORS_LIMIT = 4_000
"""Bytes of error messages that are kept."""
_LARGEST_WIDE = 64 * 1024 * 1024
"""Bytes of a file in UTF-16 in which lines are looked for."""


class _Text(msgspec.Struct):
    """Text, or bytes in base64 where they are no UTF-8."""

    text: str | None = None
    bytes: str | None = None

    def decode(self) -> str:
        if self.text is not None:
            return self.text
        return b64decode(self.bytes or "").decode("utf-8", "replace")

    def column(self, matches: list["_Submatch"]) -> int:
        """Where the first match begins, from 1, in characters."""
        start = matches[0].start if matches else 0
        if self.text is not None:
            return (start if self.text.isascii() else len(self.text.encode()[:start].decode())) + 1
        return len(b64decode(self.bytes or "")[:start].decode("utf-8", "replace")) + 1

    def name(self) -> str:
        return self.text if self.text is not None else os.fsdecode(b64decode(self.bytes or ""))


class _Submatch(msgspec.Struct):
    start: int
    """Bytes of the line before it."""


class _Data(msgspec.Struct):
    path: _Text | None = None
    lines: _Text | None = None
    line_number: int | None = None
    binary_offset: int | None = None
    submatches: list[_Submatch] = []


class _Report(msgspec.Struct):
    type: str
    data: _Data


class Ripgrep(Engine):
    """Runs the ripgrep at a path."""

    def __init__(self, program: str, processes: Processes) -> None:
        """Use that program, started by those processes."""
        self._program = program
        self._processes = processes
        self._decoder = msgspec.json.Decoder(_Report)

    @override
    async def files(self, scope: Scope, take: Callable[[str], None]) -> None:
        """Give every file that is not ignored.

        Raises:
            ToolError: when ripgrep cannot be run.
        """
        arguments = ("--files", "--null", *_filters(scope), "./")

        async def read(process: Process) -> None:
            async for name in _pieces(process.output(), b"\0"):
                take(shown_name(os.fsdecode(name.removeprefix(b"./"))))

        await self._run(scope, arguments, read)

    @override
    async def lines(
        self, scope: Scope, query: SearchQuery, limit: int, take: Callable[[FileLines], None]
    ) -> None:
        """Give the lines that match, file by file, the first `limit` of each.

        Raises:
            ToolError: for an invalid regular expression, or when ripgrep cannot be run.
        """
        where = tuple(f"./{name}" for name in scope.names) or ("./",)
        arguments = ("--json", "--no-mmap", *_filters(scope), *_pattern(query), "--", *where)

        async def read(process: Process) -> None:
            lines, name, found = FileLines("", limit), "", dict[int, str]()
            async for line in _pieces(process.output(), b"\n"):
                report = self._decoder.decode(line)
                match report.type, report.data:
                    case "begin", _Data(path=_Text() as path):
                        name, found = path.name().removeprefix("./"), {}
                        lines = FileLines(shown_name(name), limit)
                    case "match", _Data(lines=_Text() as text, line_number=int() as number):
                        bare = _bare(text.decode())
                        if len(found) < max(limit, 1):
                            found[number] = bare
                        lines.add(number, bare, text.column(report.data.submatches))
                    case "end", _Data(binary_offset=None) if _holds(scope, name, found):
                        take(lines)
                    case _:
                        pass

        await self._run(scope, arguments, read)

    async def _run(
        self,
        scope: Scope,
        arguments: tuple[str, ...],
        read: Callable[[Process], Awaitable[None]],
    ) -> None:
        launch = Launch(
            argv=(self._program, *_ALWAYS, *arguments),
            cwd=_entrance(scope),
            env=(),
            merge_stderr=False,
            label="ripgrep",
        )
        errors = bytearray()
        async with self._processes.start(launch) as process:
            async with anyio.create_task_group() as group:
                group.start_soon(_drain, process, errors)
                await read(process)
            ended = await process.wait()
        _judge(ended, errors.decode("utf-8", "replace"))


def _bare(line: str) -> str:
    """A line without its ending, and without the mark that a file may begin with."""
    return line.removeprefix("\ufeff").removesuffix("\n").removesuffix("\r")


def _holds(scope: Scope, path: str, found: Mapping[int, str]) -> bool:
    """Whether the file that is really there has these lines, by their numbers."""
    descriptor = open_below(scope.descriptor, path) if found else None
    if descriptor is None:
        return False
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return False
        left = dict(found)
        for number, line in enumerate(_lines(file), 1):
            if number in left and _bare(line()) != left.pop(number):
                return False
            if not left:
                return True
    return False


def _lines(file: BinaryIO) -> Iterator[Callable[[], str]]:
    """The lines of a file; each is decoded when it is called for."""
    coding = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}.get(file.read(2))
    file.seek(0)
    if coding is None:
        for line in file:
            yield partial(line.decode, "utf-8", "replace")
        return
    for text in file.read(_LARGEST_WIDE).decode(coding, "replace").split("\n"):
        yield partial(str, text)


def _filters(scope: Scope) -> tuple[str, ...]:
    hidden = ("--hidden",) if scope.hidden or scope.names else ()
    return hidden if scope.git or scope.names else (*hidden, "--glob=!.git")


def _pattern(query: SearchQuery) -> tuple[str, ...]:
    how = ("--engine=auto", "--crlf") if query.regex else ("--fixed-strings",)
    case = "--case-sensitive" if query.case_sensitive else "--ignore-case"
    return (*how, case, f"--regexp={query.pattern}")


def _entrance(scope: Scope) -> str:
    """A path by which the child enters the very directory that is held open."""
    entrance = f"/proc/self/fd/{scope.descriptor}"
    return entrance if os.path.lexists(entrance) else scope.real


async def _pieces(chunks: AsyncIterator[bytes], mark: bytes) -> AsyncIterator[bytes]:
    """What stands between the marks."""
    rest: list[bytes] = []
    async for chunk in chunks:
        first, *others = chunk.split(mark)
        rest.append(first)
        for piece in others:
            yield b"".join(rest)
            rest = [piece]


async def _drain(process: Process, errors: bytearray) -> None:
    """Read the messages to their end, so that the program never waits for us; keep the first."""
    async for chunk in process.errors():
        errors += chunk[: _ERRORS_LIMIT - len(errors)]


def _judge(ended: Exit, errors: str) -> None:
    """Tell a pattern that cannot be used from files that could not be read.

    Raises:
        ToolError: for the former, and when ripgrep itself failed.
    """
    if ended.code in {0, _NO_MATCH}:
        return
    if "regex" in errors or "PCRE2" in errors or "pattern" in errors:
        raise ToolError(f"invalid regular expression: {_gist(errors)}")
    if ended.code is None:
        raise ToolError(f"the search was ended by signal {ended.signal}")


def _gist(errors: str) -> str:
    lines = [line.strip() for line in errors.removeprefix("rg: ").splitlines() if line.strip()]
    said = [line.removeprefix("error: ") for line in lines if line.startswith("error: ")]
    return (said or lines or ["it cannot be parsed"])[0]
