"""What was used, read from the journals: one record for each answer, without reading what was said.

An answer that stands in several sessions, as after a fork or an import, was paid for once and counts once:
in the first of them by name, which is the oldest.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from hame.base.message import Origin
from hame.base.model import Usage
from hame.sessions.store import SUFFIX

_ANSWERS = frozenset({"model_answered", "answer_abandoned", "answer_interrupted"})
_MARKS = (b'"usage"', b'"session_started"', b'"user_said"', b'"run_finished"')
_SUMMARY = "history_compacted"


class Spent(msgspec.Struct, frozen=True, kw_only=True):
    """One answer's usage."""

    session: str
    cwd: str
    at: float
    """Unix time in seconds."""
    run: int
    """Number of the run within its session, from 1."""
    step: int
    """Number of the answer within its run, from 1; one that broke counts too."""
    model: str
    """`backend/model`; empty where the answer does not say."""
    usage: Usage


class Took(msgspec.Struct, frozen=True, kw_only=True):
    """A run that ended, and its time."""

    session: str
    at: float
    """When it ended, Unix time in seconds."""
    seconds: float


class _Message(msgspec.Struct, frozen=True):
    origin: Origin | None = None
    usage: Usage | None = None


class _Entry(msgspec.Struct, frozen=True):
    type: str
    message: _Message | None = None
    cwd: str = ""
    usage: Usage | None = None
    steering: bool = False


class _Line(msgspec.Struct, frozen=True):
    at: float
    entry: _Entry
    id: str = ""

    @property
    def key(self) -> tuple[object, ...]:
        """The same in every copy of the record, and in no other."""
        message = self.entry.message
        return self.id, self.at, self.entry.type, self.entry.usage, message and message.usage


_LINES = msgspec.json.Decoder(_Line)


def read_spent(folder: str, *, since: float = 0.0, session: str = "") -> Iterator[Spent]:
    """The answers of all sessions in a folder, or of one, from that time on.

    What cannot be read is passed over: it is counted nowhere else either.
    """
    return (found for found in Ledger(folder, since, session).read_on() if isinstance(found, Spent))


class Ledger:
    """What the sessions in a folder use from a time on; it is read on as their files grow."""

    def __init__(self, folder: str, since: float = 0.0, session: str = "") -> None:
        """Of all sessions, or of one."""
        self._folder, self._since, self._session = folder, since, session
        self._files: dict[str, _File] = {}
        self._known: set[tuple[object, ...]] = set()

    def read_on(self) -> Iterator[Spent | Took]:
        """What has come since it was last read; what cannot be read is passed over."""
        try:
            entries = sorted(os.scandir(self._folder), key=lambda entry: entry.name)
        except OSError:
            return
        for entry in entries:
            name = entry.name.removesuffix(SUFFIX)
            if entry.name.endswith(SUFFIX) and (not self._session or name == self._session):
                yield from self._read(entry, name)

    def _read(self, entry: os.DirEntry[str], name: str) -> Iterator[Spent | Took]:
        file = self._files.get(name)
        try:
            found = entry.stat()
        except OSError:
            return
        if file is None and found.st_mtime >= self._since:
            file = self._files[name] = _File(Path(entry.path), name)
        if file is not None and found.st_size != file.read_to:
            yield from file.read_on(self._since, self._known)


class _File:
    """One session's file and how far it was read."""

    def __init__(self, path: Path, session: str) -> None:
        self._path, self._session = path, session
        self.read_to = 0
        """Bytes."""
        self._cwd, self._run, self._step, self._model = "", 1, 0, ""
        self._began: float | None = None

    def read_on(self, since: float, known: set[tuple[object, ...]]) -> Iterator[Spent | Took]:
        """What of it has not been read and is in no other file."""
        try:
            file = self._path.open("rb")
        except OSError:
            return
        with file:
            file.seek(self.read_to)
            for line in file:
                wanted = any(mark in line for mark in _MARKS)
                read = _decode(line) if wanted else None
                if read is None and not line.endswith(b"\n"):
                    return  # It is being written just now, or torn.
                self.read_to += len(line)
                found = self._take(read, since) if read is not None else None
                if read is None or found is None or read.key in known:
                    continue
                known.add(read.key)
                if found.at >= since:
                    yield found

    def _take(self, read: _Line, since: float) -> Spent | Took | None:
        match read.entry.type:
            case "session_started":
                self._cwd = read.entry.cwd
                return None
            case "user_said":
                if not read.entry.steering:
                    self._began = read.at
                return None
            case "run_finished":
                self._run, self._step = self._run + 1, 0
                began, self._began = self._began, None
                took = max(read.at - max(began, since), 0.0) if began is not None else 0.0
                return Took(session=self._session, at=read.at, seconds=took)
            case kind:
                used = _used(read.entry)
                return self._spent(read, used, kind) if used is not None else None

    def _spent(self, read: _Line, used: Usage, kind: str) -> Spent:
        # A summary is made by the model that answered last.
        self._step, self._model = self._step + 1, _model(read.entry) or self._model
        return Spent(
            session=self._session,
            cwd=self._cwd,
            at=read.at,
            run=self._run,
            step=self._step,
            model=self._model if kind == _SUMMARY else _model(read.entry),
            usage=used,
        )


def _used(entry: _Entry) -> Usage | None:
    """What an answer, or a summary, used."""
    if entry.type == _SUMMARY:
        return entry.usage
    return entry.message.usage if entry.type in _ANSWERS and entry.message is not None else None


def _model(entry: _Entry) -> str:
    origin = entry.message.origin if entry.message is not None else None
    return f"{origin.backend}/{origin.model}" if origin is not None else ""


def _decode(line: bytes) -> _Line | None:
    try:
        return _LINES.decode(line.strip(b"\0 \t\r\n"))
    except (msgspec.DecodeError, RecursionError):
        return None
