"""What was used, read from the journals: one record for each answer, without reading what was said."""

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


class _Line(msgspec.Struct, frozen=True):
    at: float
    entry: _Entry


_LINES = msgspec.json.Decoder(_Line)


def read_spent(folder: str, *, since: float = 0.0, session: str = "") -> Iterator[Spent]:
    """The answers of all sessions in a folder, or of one, from that time on.

    What cannot be read is passed over: it is counted nowhere else either.
    """
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        name = entry.name.removesuffix(SUFFIX)
        wanted = entry.name.endswith(SUFFIX) and (not session or name == session)
        if wanted and entry.stat().st_mtime >= since:
            yield from (spent for spent in _read(Path(entry.path), name) if spent.at >= since)


def _read(path: Path, session: str) -> Iterator[Spent]:
    cwd, run, step = "", 1, 0
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
            kind, message = read.entry.type, read.entry.message
            if kind == "session_started":
                cwd = read.entry.cwd
            elif kind == "run_finished":
                run, step = run + 1, 0
            elif kind in _ANSWERS and message is not None and message.usage is not None:
                step += 1
                origin = message.origin
                yield Spent(
                    session=session,
                    cwd=cwd,
                    at=read.at,
                    run=run,
                    step=step,
                    model=f"{origin.backend}/{origin.model}" if origin is not None else "",
                    usage=message.usage,
                )


def _decode(line: bytes) -> _Line | None:
    try:
        return _LINES.decode(line.strip(b"\0 \t\r\n"))
    except (msgspec.DecodeError, RecursionError):
        return None
