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
_USAGE = b'"usage"'
_STARTED = b'"session_started"'
_BEGUN, _ENDED = b'"user_said"', b'"run_finished"'
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
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    known = set[tuple[object, ...]]()
    for entry in entries:
        name = entry.name.removesuffix(SUFFIX)
        wanted = entry.name.endswith(SUFFIX) and (not session or name == session)
        if wanted and entry.stat().st_mtime >= since:
            read = _read(Path(entry.path), name, known)
            yield from (spent for spent in read if spent.at >= since)


def read_seconds(folder: str, since: float) -> float:
    """Seconds that the runs of all sessions took from that time on; one that broke off counts not."""
    total = 0.0
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return total
    known = set[tuple[object, ...]]()
    for entry in entries:
        if entry.name.endswith(SUFFIX) and entry.stat().st_mtime >= since:
            total += _seconds(Path(entry.path), since, known)
    return total


def _seconds(path: Path, since: float, known: set[tuple[object, ...]]) -> float:
    total, began = 0.0, None
    try:
        with path.open("rb") as file:
            for line in file:
                read = _decode(line) if _BEGUN in line or _ENDED in line else None
                if read is None:
                    continue
                if read.entry.type == "user_said" and not read.entry.steering:
                    began = read.at
                elif read.entry.type == "run_finished" and began is not None:
                    took = max(read.at - max(began, since), 0.0)
                    total += 0.0 if read.key in known else took
                    known.add(read.key)
                    began = None
    except OSError:
        pass
    return total


def _read(path: Path, session: str, known: set[tuple[object, ...]]) -> Iterator[Spent]:
    cwd, run, step, model = "", 1, 0, ""
    try:
        file = path.open("rb")
    except OSError:
        return
    with file:
        for line in file:
            if _USAGE not in line and _STARTED not in line:
                continue
            read = _decode(line)
            if read is None:
                continue
            kind = read.entry.type
            if kind == "session_started":
                cwd = read.entry.cwd
            elif kind == "run_finished":
                run, step = run + 1, 0
            elif (used := _used(read.entry)) is not None:
                # A summary is made by the model that answered last.
                step, model = step + 1, _model(read.entry) or model
                if read.key in known:
                    continue
                known.add(read.key)
                yield Spent(
                    session=session,
                    cwd=cwd,
                    at=read.at,
                    run=run,
                    step=step,
                    model=model if kind == _SUMMARY else _model(read.entry),
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
