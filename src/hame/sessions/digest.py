"""Digest: what a list says of a session, read from as little of its file as possible."""

import os
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import msgspec

from hame.base.entry import Record, SessionStarted, TitleSet, UserSaid
from hame.sessions.lines import next_line

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


class SessionFile(msgspec.Struct, frozen=True):
    """A session's file as its folder lists it."""

    path: Path
    updated: float
    """Unix time of the last change, in seconds."""
    size: int

    @property
    def id(self) -> str:
        """The session's id."""
        return self.path.stem


class Digest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What there is to say of a session."""

    id: str
    name: str
    """The name it was given; empty without one."""
    words: str
    """The first words of the user."""
    cwd: str
    """Real path of its project; empty when the beginning cannot be read."""
    started: float
    updated: float
    size: int
    damaged: bool = False


def digest_file(file: SessionFile, known: Digest | None = None) -> Digest:
    """What there is to say of a file; `known` is what was said of it when it was smaller."""
    head, name = _Head(), None
    with suppress(OSError), file.path.open("rb") as source:
        _read_head(source, head)
        grown = known if known is not None and _is_same(head, known, file) else None
        name = _last_title(source, grown.size if grown else 0, file.size)
        name = name or (grown.name if grown else None)
    started = head.started
    return Digest(
        id=file.id,
        name=name or (started.title if started else ""),
        words=head.words,
        cwd=started.cwd if started else "",
        started=head.at if head.at is not None else file.updated,
        updated=file.updated,
        size=file.size,
        damaged=started is None,
    )


def _is_same(head: "_Head", known: Digest, file: SessionFile) -> bool:
    """Whether a file is the one that was known, and has only grown."""
    same = head.started is not None and head.started.cwd == known.cwd
    return same and head.at == known.started and known.size <= file.size


def read_cwd(file: SessionFile) -> str | None:
    """The project of a session, from the first lines of its file; None when they cannot be read."""
    head = _Head()
    with suppress(OSError), file.path.open("rb") as source:
        _read_head(source, head)
    return head.started.cwd if head.started else None


def shorten(words: str) -> str:
    """A title of one line from what was said."""
    line = " ".join(words.split())
    return line if len(line) <= TITLE_LENGTH else line[: TITLE_LENGTH - 1].rstrip() + "…"


class _Head(msgspec.Struct):
    """What the first lines of a file tell."""

    started: SessionStarted | None = None
    at: float | None = None
    words: str = ""


def _read_head(source: BinaryIO, head: _Head) -> None:
    for _ in range(_HEAD_LINES):
        line, size, _ = next_line(source)
        if not size:
            return
        match _decode(line):
            case Record(at=at, entry=SessionStarted() as started) if head.started is None:
                head.started, head.at = started, at
            case Record(entry=UserSaid(message=message)):
                head.words = shorten(message.words)
                return
            case _:
                continue


def _last_title(source: BinaryIO, begin: int, size: int) -> str | None:
    """The name that was set last; searched from the end to `begin`, without decoding the rest."""
    end = size
    while end > begin:
        start = max(begin, end - _BLOCK)
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


def scan(directory: Path, suffix: str) -> list[SessionFile]:
    """The session files in a folder; a file that goes away meanwhile or is empty is none.

    Raises:
        OSError: if the folder cannot be read; one that is not there holds none.
    """
    from stat import S_ISREG

    found: list[SessionFile] = []
    try:
        entries = list(os.scandir(directory))
    except FileNotFoundError:
        return []
    for entry in entries:
        if not entry.name.endswith(suffix):
            continue
        with suppress(FileNotFoundError):
            stat = entry.stat(follow_symlinks=False)
            if S_ISREG(stat.st_mode) and stat.st_size:
                found.append(SessionFile(Path(entry.path), stat.st_mtime, stat.st_size))
    return found
