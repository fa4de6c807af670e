"""SessionStore: the folder of all sessions, what is in it, and which one is meant."""

import difflib
import os
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from stat import S_ISREG
from typing import BinaryIO

import msgspec

from hame.base.entry import Record, SessionStarted, TitleSet, UserSaid
from hame.base.errors import SessionError
from hame.sessions.history import History
from hame.sessions.journal import FileJournal, load_history

SUFFIX = ".jsonl"
TITLE_LENGTH = 80
"""Characters of a title that is made from what the user said."""
_HEAD_LINES = 30
"""Lines in which the first words of the user are looked for."""
_TITLE_MARK = b'"type":"title_set"'
_TITLE_LEAD = 512
"""Bytes that are more than what stands before the mark on a record's line."""
_BLOCK = 1 << 18
"""Bytes read at a time when a file is searched from its end."""

_RECORDS = msgspec.json.Decoder(Record)


class SessionSummary(msgspec.Struct, frozen=True, kw_only=True):
    """One session as a list shows it."""

    id: str
    title: str
    """The name it was given, else the first words of the user."""
    cwd: str
    """Real path of its project."""
    started: float
    """Unix time in seconds."""
    updated: float
    """Unix time of the last change, in seconds."""
    size: int
    """Bytes of its file."""
    damaged: bool = False
    """Its beginning cannot be read."""


class SessionStore:
    """Sessions as files named by their ids in one private folder."""

    def __init__(self, directory: Path, *, now: Callable[[], float] = time.time) -> None:
        """Use this folder; it is made when the first session is written."""
        self._directory = directory
        self._now = now

    def create(self, cwd: str, hame_version: str) -> FileJournal:
        """A new session for the project at `cwd` (a real path). Its file comes with the first words."""
        session = self._new_id()
        started = SessionStarted(session=session, cwd=cwd, hame=hame_version)
        return FileJournal.begin(self._path(session), started, now=self._now)

    def resume(self, name: str) -> FileJournal:
        """Open a session by its id, or by a beginning of it that no other has.

        Raises:
            SessionError: if there is none or more than one, or it cannot be opened.
        """
        return FileJournal.reopen(self._path(self.find(name)), now=self._now)

    def read(self, name: str) -> History:
        """Read a session without opening it for writing; it may be open elsewhere.

        Raises:
            SessionError: if there is none or more than one, or it cannot be read.
        """
        return load_history(self._path(self.find(name)))

    def latest(self, cwd: str) -> str | None:
        """Id of the session of this project that changed last."""
        found = self.list(cwd, limit=1)
        return found[0].id if found else None

    def list(self, cwd: str | None = None, limit: int = 50) -> list[SessionSummary]:
        """The sessions that changed last, the newest first; of one project, or of all.

        Raises:
            SessionError: if the folder cannot be read.
        """
        found: list[SessionSummary] = []
        for file in sorted(self._files(), key=lambda file: (-file.updated, file.path.name)):
            summary = _summarize(file, cwd)
            if summary is not None:
                found.append(summary)
                if len(found) == limit:
                    break
        return found

    def find(self, name: str) -> str:
        """The id that is meant by an id or the beginning of one.

        Raises:
            SessionError: if there is none or more than one, naming the nearest.
        """
        ids = sorted((file.path.stem for file in self._files()), reverse=True)
        if name in ids:
            return name
        meant = [each for each in ids if name and each.startswith(name)]
        if len(meant) == 1:
            return meant[0]
        if meant:
            shown = ", ".join(meant[:5]) + (", ..." if len(meant) > 5 else "")
            raise SessionError(
                f"{len(meant)} sessions begin with {name}: {shown}", hint="Give more of the id."
            )
        near = difflib.get_close_matches(name, ids, n=3, cutoff=0.5) or ids[:3]
        hint = f"The nearest: {', '.join(near)}." if near else "There are no sessions yet."
        raise SessionError(f"there is no session {name}", hint=hint)

    def _path(self, session: str) -> Path:
        return self._directory / f"{session}{SUFFIX}"

    def _new_id(self) -> str:
        """In UTC, so that ids sort by time through every change of the clocks."""
        stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime(self._now()))
        return f"{stamp}-{secrets.token_hex(3)}"

    def _files(self) -> "Iterator[_File]":
        try:
            entries = list(os.scandir(self._directory))
        except FileNotFoundError:
            return
        except OSError as error:
            raise SessionError(
                f"cannot list the sessions in {self._directory}: {error.strerror}",
                hint="Check its permissions.",
            ) from error
        for entry in entries:
            if not entry.name.endswith(SUFFIX):
                continue
            # A file that goes away meanwhile is no session; an empty one holds nothing yet.
            with suppress(FileNotFoundError):
                stat = entry.stat(follow_symlinks=False)
                if S_ISREG(stat.st_mode) and stat.st_size:
                    yield _File(Path(entry.path), stat.st_mtime, stat.st_size)


class _File(msgspec.Struct, frozen=True):
    path: Path
    updated: float
    size: int


class _Head(msgspec.Struct):
    """What the first lines of a file tell."""

    started: SessionStarted | None = None
    at: float | None = None
    words: str = ""


def _summarize(file: _File, cwd: str | None) -> SessionSummary | None:
    """What is to be said of a file; None for a session of another project than is wanted."""
    head, title = _Head(), None
    with suppress(OSError), file.path.open("rb") as source:
        _read_head(source.readline, head)
        if cwd is None or (head.started and head.started.cwd == cwd):
            title = _last_title(source, file.size)
    started = head.started
    if cwd is not None and (started is None or started.cwd != cwd):
        return None
    return SessionSummary(
        id=file.path.stem,
        title=title or (started.title if started else "") or head.words,
        cwd=started.cwd if started else "",
        started=head.at if head.at is not None else file.updated,
        updated=file.updated,
        size=file.size,
        damaged=started is None,
    )


def _read_head(readline: Callable[[], bytes], head: _Head) -> None:
    for _ in range(_HEAD_LINES):
        line = readline()
        if not line:
            return
        match _decode(line):
            case Record(at=at, entry=SessionStarted() as started) if head.started is None:
                head.started, head.at = started, at
            case Record(entry=UserSaid(message=message)):
                head.words = shorten(message.words)
                return
            case _:
                continue


def _last_title(source: BinaryIO, size: int) -> str | None:
    """The name that was set last; searched from the end, without decoding the rest."""
    end = size
    while end > 0:
        start = max(0, end - _BLOCK)
        source.seek(start)
        data = source.read(end - start + len(_TITLE_MARK) - 1)
        mark = data.rfind(_TITLE_MARK)
        while mark >= 0:
            title = _title_at(source, start + mark)
            if title is not None:
                return title
            mark = data.rfind(_TITLE_MARK, 0, mark)
        end = start
    return None


def _title_at(source: BinaryIO, mark: int) -> str | None:
    """The title of the record whose type stands at `mark`; the mark may also be somebody's words."""
    source.seek(max(0, mark - _TITLE_LEAD))
    before = source.read(min(mark, _TITLE_LEAD))
    record = _decode(before[before.rfind(b"\n") + 1 :] + source.readline())
    return record.entry.title if record and isinstance(record.entry, TitleSet) else None


def _decode(line: bytes) -> Record | None:
    try:
        return _RECORDS.decode(line.strip(b"\0 \t\r\n"))
    except (ValueError, RecursionError):
        return None


def shorten(words: str) -> str:
    """A title of one line from what was said."""
    line = " ".join(words.split())
    return line if len(line) <= TITLE_LENGTH else line[: TITLE_LENGTH - 1].rstrip() + "…"
