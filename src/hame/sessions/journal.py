"""FileJournal: a session's history in one append-only JSONL file with one writer.

Each line is one `hame.base.entry.Record`. A line goes to the system in one write on an O_APPEND
descriptor before `append` returns, so it survives a kill of the process; a durable one is forced to
the disk too. The file comes into being with the first word said: a session in which nothing was said
leaves nothing behind. Where no file may be made, the session goes on in memory, which is said. Nothing that was written is ever changed; only a torn last line is cut off,
and kept aside. Of a large session only the latest entries are in memory; the others are read again
from the file when they are asked for.
"""

import errno
import os
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from types import TracebackType
from typing import Never, Self

import anyio
import anyio.to_thread

from hame.base.entry import (
    VERSION,
    Entry,
    ModeChosen,
    ModelChosen,
    NoteAdded,
    OutcomesLost,
    Record,
    Rewound,
    SessionStarted,
    TitleSet,
)
from hame.base.errors import SessionError
from hame.base.json import dump_bytes
from hame.sessions.history import History, read_history, unsettled_calls
from hame.sessions.keep import keep_damaged, keep_tail, make_private_folder, sync_folder
from hame.sessions.lock import holder, try_lock
from hame.sessions.pages import Pages, StoredEntries, StoredIds
from hame.sessions.tree import CODES, Tree

_PRELUDE = (SessionStarted, ModelChosen, ModeChosen, NoteAdded, TitleSet)
"""What is chosen before anything is said; held back until then."""

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_FORBIDDEN = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})
_NO_FOLDER = frozenset({errno.ENOTDIR, errno.EEXIST, errno.ELOOP, errno.ENAMETOOLONG})
"""What stands where the folder of all sessions would be is none."""
_GONE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ESTALE})


class FileJournal:
    """Implements `hame.base.ports.Journal`. Made by `begin` or `reopen`; to be closed."""

    def __init__(self, path: Path, now: Callable[[], float]) -> None:
        """Use `begin` or `reopen` instead."""
        self.path = path
        self.notices: tuple[str, ...] = ()
        """What people have to know of it: what was repaired or left out, that it is not kept."""
        self.kept = True
        """It is in a file, or will be; otherwise it is gone with this process."""
        self._now = now
        self._show(Pages(path, Tree()), -1)
        self._head: str | None = None
        self._number = 0
        self._descriptor: int | None = None
        self._syncing: Thread | None = None
        self._sync_error: SessionError | None = None
        self._size = 0
        self._held: list[bytes] = []
        """Lines that are to be written before the next one."""
        self._line_open = False
        """Part of a line is at the end of the file and could not be cut off."""
        self._folder_synced = True
        self._closed = False

    @classmethod
    def begin(
        cls, path: Path, started: SessionStarted, *, now: Callable[[], float] = time.time
    ) -> Self:
        """A new session; `path` must not exist and is made when something is said."""
        journal = cls(path, now)
        journal._put(started)
        return journal

    @classmethod
    def reopen(cls, path: Path, *, now: Callable[[], float] = time.time) -> Self:
        """Open a session to go on with it.

        A torn last line is cut off and kept beside the file, as is a copy of a damaged file. Calls
        that were open when its last writer died are settled by an `OutcomesLost` entry.

        Raises:
            SessionError: if it is gone, may not be written, is open elsewhere, or is newer than this
                hame.
        """
        journal = cls(path, now)
        try:
            with _explained("open", path):
                journal._resume()
        except BaseException:
            journal.close()
            raise
        return journal

    @property
    def session(self) -> str:
        """The session's id."""
        return self.path.stem

    @property
    def entries(self) -> Sequence[Entry]:
        """The active branch from the root: one sequence that grows, not to be changed."""
        return self._entries

    @property
    def ids(self) -> Sequence[str]:
        """The ids of the entries' records, in the same order."""
        return self._ids

    @property
    def labels(self) -> Mapping[str, str]:
        """The records that have a name for people, by it, branches that were left included.

        Raises:
            SessionError: if they cannot be read any more.
        """
        return self._pages.labels()

    async def move(self, record: str) -> None:
        """Make the branch that ends in that record the active one; nothing is forgotten.

        Raises:
            SessionError: if there is no such record, or it could not be written down.
        """
        place = self._pages.tree.find(record)
        if place < 0:
            raise SessionError(f"session {self.session} has no record {record}")
        before = self._entries, self._ids, self._head
        left = self._ids[-1] if self._ids else ""
        self._show(self._pages, place)
        self._head = record
        try:
            self._put(Rewound(left=left))
        except SessionError:
            self._entries, self._ids, self._head = before
            raise

    async def append(self, entry: Entry, *, durable: bool = False) -> Record:
        """Write an entry at the end of the active branch.

        Raises:
            SessionError: if it could not be written; the entry is then not part of the session, and
                writing may be tried again once the cause is gone.
        """
        if self._sync_error is not None:
            error, self._sync_error = self._sync_error, None
            raise error
        record = self._put(entry)
        if durable and self._descriptor is not None:
            # What is in the file is in the file: a stop must not make it look as if it were not.
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(self._sync)
        return record

    def sync_soon(self) -> None:
        """Begin to force what was written to the disk; `close` waits for it."""
        if self._descriptor is not None:
            self._syncing = Thread(target=self._sync_aside, args=(self._syncing,))
            self._syncing.start()

    def close(self) -> None:
        """Let go of the file; may be called twice."""
        self._closed = True
        if self._syncing is not None:
            self._syncing.join()
            self._syncing = None
        self._pages.close()
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> Self:
        """Use it as a context that closes it."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it."""
        self.close()

    def _put(self, entry: Entry) -> Record:
        if self._closed:
            raise SessionError(f"session {self.session} is closed")
        record = Record(
            id=str(self._number + 1), parent=self._head, at=round(self._now(), 3), entry=entry
        )
        try:
            line = dump_bytes(record) + b"\n"
        except RecursionError as error:
            raise SessionError("an entry is nested too deeply to be written") from error
        offset = -1
        if self._descriptor is None and isinstance(entry, _PRELUDE) and self.kept:
            self._held.append(line)
        elif self.kept:
            offset = self._write(line)
        tree = self._pages.tree
        place = tree.add(
            record.id, record.parent, CODES[type(entry)], offset=offset, size=len(line)
        )
        self._pages.hold(place, entry)
        self._entries.append(place)
        self._number += 1
        self._head = record.id
        return record

    def _show(self, pages: Pages, head: int) -> None:
        """Make the branch that ends at that place the active one."""
        branch = pages.tree.branch(head)
        self._pages = pages
        self._entries, self._ids = StoredEntries(pages, branch), StoredIds(pages, branch)

    def _write(self, line: bytes) -> int:
        """Write a line, and before it what was held back; where it begins.

        Raises:
            SessionError: if it could not be written.
        """
        with _explained("write", self.path), self._or_in_memory():
            descriptor = self._open_new() if self._descriptor is None else self._descriptor
            data = b"".join((b"\n" if self._line_open else b"", *self._held, line))
            self._write_whole(descriptor, data)
            _refuse_deleted(descriptor)
        if not self.kept:
            return -1
        if self._held:
            self._pages.tree.begin_at(self._size - len(line) - sum(map(len, self._held)))
            self._held.clear()
        return self._size - len(line)

    @contextmanager
    def _or_in_memory(self) -> Generator[None]:
        """A new session is of use also where no file may be made for it: it goes on in memory.

        Raises:
            OSError: if a file that is there cannot be written, or for another reason.
        """
        try:
            yield
        except OSError as error:
            if self._size or not (error.errno in _FORBIDDEN or _has_no_folder(self.path, error)):
                raise
            self._keep_nothing(error)

    def _keep_nothing(self, error: OSError) -> None:
        self.kept = False
        why, _ = _remedy(self.path, error)
        self.notices += (f"this session is not kept: {why} ({self.path.parent})",)
        self._held.clear()
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
            with suppress(OSError):
                self.path.unlink()

    def _open_new(self) -> int:
        make_private_folder(self.path.parent)
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        descriptor = os.open(self.path, flags, 0o600)
        self._descriptor = descriptor
        self._folder_synced = False
        claim(descriptor, self.path)
        return descriptor

    def _write_whole(self, descriptor: int, data: bytes) -> None:
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(descriptor, rest) :]
        except OSError:
            self._cut_back(descriptor)
            raise
        self._size += len(data)
        self._line_open = False

    def _cut_back(self, descriptor: int) -> None:
        """Take away the part of a line that fitted before the disk was full."""
        try:
            os.ftruncate(descriptor, self._size)
        except OSError:
            self._line_open = True

    def _sync(self) -> None:
        with _explained("write", self.path):
            if self._descriptor is not None:
                os.fsync(self._descriptor)
            if not self._folder_synced:
                sync_folder(self.path.parent)
                self._folder_synced = True

    def _sync_aside(self, before: Thread | None) -> None:
        if before is not None:
            before.join()
        try:
            self._sync()
        except SessionError as error:
            self._sync_error = error

    def _resume(self) -> None:
        """Take the file over: lock it, read it, repair its end, settle what was left open."""
        descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC)
        self._descriptor = descriptor
        claim(descriptor, self.path)
        self._take_whole(descriptor)
        lost = unsettled_calls(self._entries)
        if lost:
            self._put(OutcomesLost(calls=lost))

    def _take_whole(self, descriptor: int) -> None:
        history = read_history(self.path)
        _refuse_newer(history, self.path)
        self._pages, self._head = history.pages, history.head
        self._entries, self._ids = history.entries, history.ids
        self._number = history.last_number
        self.notices = history.notices
        self._repair(descriptor, history)

    def _repair(self, descriptor: int, history: History) -> None:
        """Make the end of the file a place where a line can begin; keep aside what is cut off."""
        if history.damaged:
            kept = keep_damaged(self.path, history.damage_end)
            self.notices += (f"{self.path.name}: the file as it was is kept as {kept.name}",)
        if history.torn:
            kept = keep_tail(self.path, history.whole)
            os.ftruncate(descriptor, history.whole)
            self.notices += (
                f"{self.path.name}: the last line was torn; it is kept as {kept.name}",
            )
        self._size = history.whole
        self._line_open = history.unterminated


def load_history(path: Path) -> History:
    """Read a session without writing to it, also while another process writes.

    Raises:
        SessionError: if it cannot be read.
    """
    with _explained("read", path):
        return read_history(path)


def claim(descriptor: int, path: Path) -> None:
    """Become the one writer of a session.

    Raises:
        SessionError: if another process is.
    """
    if not try_lock(descriptor):
        _refuse_open(path, holder(descriptor))


def hold_early(path: Path) -> int:
    """Become the one writer of a session that is opened later; the descriptor, to be closed just before.

    Raises:
        SessionError: if another process is the writer, or the file cannot be read.
    """
    with _explained("open", path):
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            claim(descriptor, path)
        except BaseException:
            os.close(descriptor)
            raise
    return descriptor


def _refuse_open(path: Path, pid: int | None) -> Never:
    """Say who has a session open.

    Raises:
        SessionError: always.
    """
    who = f"another hame (pid {pid})" if pid else "another hame"
    raise SessionError(
        f"session {path.stem} is open in {who}",
        hint=f"Close it there, or go on with a copy: hame sessions fork {path.stem}",
    )


def _refuse_newer(history: History, path: Path) -> None:
    # What this version writes may not be what the newer one expects after its own records.
    if history.version > VERSION:
        raise SessionError(
            f"session {path.stem} was written by a newer hame (format {history.version}, this one"
            f" writes {VERSION})",
            hint="Update hame to go on with it; it can still be read and exported.",
        )


def _refuse_deleted(descriptor: int) -> None:
    """See that an open file has a name still; where that cannot be told, it has one.

    What was written is written: not being able to look must not make it look as if it were not.

    Raises:
        FileNotFoundError: if it has none any more.
    """
    try:
        gone = os.fstat(descriptor).st_nlink == 0
    except OSError:
        return
    if gone:
        raise FileNotFoundError(errno.ENOENT, "deleted while it was open")


@contextmanager
def _explained(verb: str, path: Path) -> Generator[None]:
    """Say a failure of the system inside so that a person can do something about it.

    Raises:
        SessionError: in place of an OSError.
    """
    try:
        yield
    except OSError as error:
        why, hint = _remedy(path, error)
        raise SessionError(f"cannot {verb} session {path.stem}: {why}", hint=hint) from error


def _has_no_folder(path: Path, error: OSError) -> bool:
    return error.errno in _NO_FOLDER and not path.parent.is_dir()


def _remedy(path: Path, error: OSError) -> tuple[str, str]:
    if error.errno in _FULL:
        return "the disk is full", "Free some space and go on: nothing written so far is lost."
    if error.errno in _FORBIDDEN:
        return "it may not be written here", f"Check the permissions of {path.parent}."
    if _has_no_folder(path, error):
        return "there can be no folder of sessions", f"See what is at {path.parent}."
    if error.errno in _GONE:
        return "its file is gone", "It was moved or deleted; start a new session."
    return error.strerror or str(error), f"Check the disk that holds {path.parent}."
