"""The undo list of one session: a file of JSON lines, one when a step begins and one when it ends."""

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias, cast

import msgspec

from hame.base.snapshot import FileState, PathChange, Step
from hame.workspace.private import make_private_folder


class Began(msgspec.Struct, frozen=True, kw_only=True, tag="began", omit_defaults=True):
    """A call was about to run."""

    number: int
    tool: str
    title: str
    record: str
    at: float
    paths: tuple[str, ...] = ()
    """What it declared to change; the states before are in `before`."""
    before: dict[str, FileState] = {}
    """States of single paths: of all declared ones, or of those a tree does not hold."""
    trees: dict[str, str] = {}
    """Folder -> tree of it, for a call that may change anything."""
    forced: dict[str, tuple[str, ...]] = {}
    """Folder -> ignored files in it that its tree holds."""


class Ended(msgspec.Struct, frozen=True, kw_only=True, tag="ended", omit_defaults=True):
    """It has ended, and this is what it changed."""

    number: int
    at: float
    changes: tuple[PathChange, ...] = ()
    trees: dict[str, str] = {}


class Undid(msgspec.Struct, frozen=True, kw_only=True, tag="undid", omit_defaults=True):
    """An undo was made; it is a step like any other."""

    number: int
    title: str
    record: str
    at: float
    changes: tuple[PathChange, ...] = ()
    reverts: tuple[int, ...] = ()
    head: str = ""
    failed: tuple[str, ...] = ()
    """What could not be done, in words."""


Line: TypeAlias = Began | Ended | Undid

_DECODER = msgspec.json.Decoder(Line)
_ENCODER = msgspec.json.Encoder()
_RAW = "\0"
"""Stands before a path that is no UTF-8, whose bytes follow as Latin-1; no path holds it itself."""


class StepLog:
    """One session's list. Only its own session writes it; others may read it meanwhile."""

    def __init__(self, path: Path) -> None:
        """Read what is there; the file is made with the first line."""
        self._path = path
        self._open: dict[int, Began] = {}
        self._steps: list[Step] = []
        self._number = 0
        self._size = 0
        self.refresh()

    def refresh(self) -> None:
        """Read what another process of the same session has added (`hame undo`)."""
        with contextlib.suppress(FileNotFoundError), self._path.open("rb") as file:
            file.seek(self._size)
            for line in file:
                if not line.endswith(b"\n"):
                    break
                self._size += len(line)
                with contextlib.suppress(msgspec.DecodeError):
                    self._take(_decode(line))

    @property
    def next_number(self) -> int:
        """The number of the step to come."""
        return self._number + 1

    @property
    def unended(self) -> Mapping[int, Began]:
        """Calls that have begun and whose end is not on record."""
        return self._open

    def steps(self) -> list[Step]:
        """The steps that changed something, in order, those marked that have been undone."""
        undone: dict[int, bool] = {}
        by_number = {step.number: step for step in self._steps}

        def turn(number: int, *, away: bool) -> None:
            undone[number] = away
            for other in by_number[number].reverts if number in by_number else ():
                turn(other, away=not away)

        for step in self._steps:
            for number in step.reverts:
                turn(number, away=True)
        return [
            msgspec.structs.replace(step, undone=undone.get(step.number, False))
            for step in self._steps
        ]

    def write(self, line: Line) -> None:
        """Add a line.

        Raises:
            OSError: if it cannot be written.
        """
        data = _encode(line) + b"\n"
        make_private_folder(self._path.parent)
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        descriptor = os.open(self._path, flags, 0o600)
        try:
            # Half a line that a kill or a full disk has left must not swallow this one.
            size = os.fstat(descriptor).st_size
            torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
            _write_all(descriptor, b"\n" + data if torn else data)
        finally:
            os.close(descriptor)
        self.refresh()

    def _take(self, line: Line) -> None:
        self._number = max(self._number, line.number)
        match line:
            case Began():
                self._open[line.number] = line
            case Ended():
                began = self._open.pop(line.number, None)
                if began is not None and line.changes:
                    self._steps.append(_step(began, line))
            case Undid():
                self._steps.append(
                    Step(
                        number=line.number,
                        tool="undo",
                        title=line.title,
                        record=line.record,
                        began=line.at,
                        ended=line.at,
                        changes=line.changes,
                        reverts=line.reverts,
                        head=line.head,
                        failed=line.failed,
                    )
                )


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _step(began: Began, ended: Ended) -> Step:
    return Step(
        number=began.number,
        tool=began.tool,
        title=began.title,
        record=began.record,
        began=began.at,
        ended=ended.at,
        changes=ended.changes,
        exact=not began.trees,
    )


def read_lines(path: Path) -> Iterator[Line]:
    """The lines of a list; those that are not whole are left out."""
    with contextlib.suppress(FileNotFoundError), path.open("rb") as file:
        for line in file:
            with contextlib.suppress(msgspec.DecodeError):
                yield _decode(line)


def _encode(line: Line) -> bytes:
    try:
        return _ENCODER.encode(line)
    except UnicodeEncodeError:
        return _ENCODER.encode(_mapped(msgspec.to_builtins(line), _hide))


def _decode(line: bytes) -> Line:
    if b"\\u0000" not in line:
        return _DECODER.decode(line)
    return msgspec.convert(_mapped(msgspec.json.decode(line), _reveal), Line)


def _mapped(value: object, turn: Callable[[str], str]) -> object:
    """The same value with every text in it turned."""
    if isinstance(value, str):
        return turn(value)
    if isinstance(value, list | tuple):
        return [_mapped(item, turn) for item in cast("Sequence[object]", value)]
    if isinstance(value, dict):
        members = cast("dict[str, object]", value)
        return {turn(name): _mapped(member, turn) for name, member in members.items()}
    return value


def _hide(text: str) -> str:
    raw = os.fsencode(text)
    return text if text.isascii() or _is_utf8(raw) else _RAW + raw.decode("latin-1")


def _reveal(text: str) -> str:
    return os.fsdecode(text[1:].encode("latin-1")) if text.startswith(_RAW) else text


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True
