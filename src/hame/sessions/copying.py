"""Copies of sessions: forks, and what comes from an export or another machine.

A copy is a file of its own from the beginning: written aside, forced to the disk, then put in its place
under its name, so that a copy that failed leaves nothing behind.
"""

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

import msgspec
from msgspec.structs import replace

from hame.base.entry import VERSION, Record, SessionStarted
from hame.base.errors import SessionError
from hame.base.json import dump_bytes
from hame.sessions.branch import Branch
from hame.sessions.keep import make_private_folder, sync_folder

FORMAT = "hame-session"
MOST_BYTES = 1 << 30
"""Of a file that is imported."""
_RECORDS = msgspec.json.Decoder(Record)


class Exported(msgspec.Struct, frozen=True, kw_only=True):
    """A session as one JSON object."""

    format: str
    version: int
    session: str
    records: list[Record]


def fork(branch: Branch, path: Path) -> Path:
    """Write a session of its own that begins as this branch does.

    Raises:
        SessionError: if it could not be written, or the branch has no beginning.
    """
    if not branch.records:
        raise SessionError(f"session {branch.session} holds nothing that could be copied")
    first = branch.records[0]
    if not isinstance(first.entry, SessionStarted):
        raise SessionError(f"session {branch.session} has no beginning that could be copied")
    started = replace(first.entry, session=path.stem, forked_from=branch.session)
    rest = islice(branch.records, 1, None)
    return write_session(path, _chained(chain([replace(first, entry=started)], rest)))


def read_import(path: Path) -> list[Record]:
    """The records of a session that was exported as JSON, or of a journal from elsewhere.

    Raises:
        SessionError: if it is neither, saying what is wrong.
    """
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            # A device never ends, and a pipe that nobody writes to never begins.
            raise SessionError(f"{path} is no file", hint="Import a file of its own.")
        if found.st_size > MOST_BYTES:
            raise SessionError(f"{path} is larger than a session that can be imported")
        data = path.read_bytes()
    except OSError as error:
        raise SessionError(f"cannot read {path}: {error.strerror}") from error
    records = _exported(data) or _journal(data)
    if not records or not isinstance(records[0].entry, SessionStarted):
        raise SessionError(
            f"{path} is not a session of hame",
            hint="Import a file made by: hame sessions export --format json, or a .jsonl journal.",
        )
    if max(record.v for record in records) > VERSION:
        raise SessionError(f"{path} was written by a newer hame", hint="Update hame to import it.")
    return records


def import_session(records: Sequence[Record], path: Path, cwd: str = "") -> Path:
    """Write imported records as a session of its own; with `cwd` it belongs to that project.

    Raises:
        SessionError: if it could not be written.
    """
    first = records[0]
    assert isinstance(first.entry, SessionStarted)
    where = cwd or first.entry.cwd
    started = replace(first.entry, session=path.stem, cwd=where, imported=True)
    return write_session(path, [replace(first, entry=started, parent=None), *records[1:]])


def write_session(path: Path, records: Iterable[Record]) -> Path:
    """Write a whole session file that was not there.

    Raises:
        SessionError: if it could not be written.
    """
    aside = path.with_name(f".{path.name}.new")
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        make_private_folder(path.parent)
        with os.fdopen(os.open(aside, flags, 0o600), "wb") as file:
            for record in records:
                file.write(dump_bytes(record) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        os.link(aside, path)
        sync_folder(path.parent)
    except OSError as error:
        raise SessionError(
            f"cannot write session {path.stem}: {error.strerror}",
            hint=f"Check the disk and the permissions of {path.parent}.",
        ) from error
    finally:
        aside.unlink(missing_ok=True)
    return path


def _chained(records: Iterable[Record]) -> Iterator[Record]:
    """Each record right after the one before it, as on a branch without side branches."""
    parent: str | None = None
    for each in records:
        yield replace(each, parent=parent)
        parent = each.id


def _exported(data: bytes) -> list[Record] | None:
    try:
        found = msgspec.json.decode(data, type=Exported)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None
    return found.records if found.format == FORMAT else None


def _journal(data: bytes) -> list[Record]:
    records: list[Record] = []
    for line in data.splitlines():
        if not line.strip(b"\0 \t"):
            continue
        try:
            records.append(_RECORDS.decode(line.strip(b"\0 \t")))
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            if not records:
                return []
    return records
