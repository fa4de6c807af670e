"""SessionStore: the folder of all sessions, what is in it, and which one is meant."""

import difflib
import os
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from hame.base.entry import SessionStarted, TitleSet
from hame.base.errors import SessionError
from hame.sessions.digest import Digest, SessionFile, digest_file, read_cwd, scan, shorten
from hame.sessions.history import History
from hame.sessions.journal import FileJournal, claim, load_history

if TYPE_CHECKING:
    from hame.sessions.index import SessionIndex

__all__ = ["SUFFIX", "Hit", "SessionStore", "SessionSummary", "shorten"]

SUFFIX = ".jsonl"
FEW = 200
"""Sessions that are read directly; of more, an index is kept."""
_HIT_LINES = 3


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


class Hit(msgspec.Struct, frozen=True):
    """A session in which what was searched for was said."""

    summary: SessionSummary
    lines: tuple[str, ...]
    """Some lines in which it stands."""


class SessionStore:
    """Sessions as files named by their ids in one private folder."""

    def __init__(
        self,
        directory: Path,
        *,
        index: Path | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        """Use this folder; it is made when the first session is written.

        `index` is the file of a derived index, made when there are many sessions; it may be deleted
        at any time.
        """
        self._directory = directory
        self._index_path = index
        self._now = now

    def create(self, cwd: str, hame_version: str) -> FileJournal:
        """A new session for the project at `cwd` (a real path). Its file comes with the first words."""
        session = self.new_id()
        started = SessionStarted(session=session, cwd=cwd, hame=hame_version)
        return FileJournal.begin(self.path(session), started, now=self._now)

    def resume(self, name: str) -> FileJournal:
        """Open a session by its id, or by a beginning of it that no other has.

        Raises:
            SessionError: if there is none or more than one, or it cannot be opened.
        """
        return FileJournal.reopen(self.path(self.find(name)), now=self._now)

    def read(self, name: str) -> History:
        """Read a session without opening it for writing; it may be open elsewhere.

        Raises:
            SessionError: if there is none or more than one, or it cannot be read.
        """
        return load_history(self.path(self.find(name)))

    async def rename(self, name: str, title: str) -> str:
        """Give a session a name for people; its id.

        Raises:
            SessionError: if there is none or more than one, or it cannot be written.
        """
        with self.resume(name) as journal:
            await journal.append(TitleSet(title=" ".join(title.split())), durable=True)
            return journal.session

    def delete(self, name: str) -> str:
        """Delete a session with what was kept aside of its file; its id.

        Raises:
            SessionError: if there is none or more than one, or it is open, or cannot be deleted.
        """
        path = self.path(self.find(name))
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
            try:
                claim(descriptor, path)
                for each in (path, *path.parent.glob(f"{path.name}.*-*")):
                    each.unlink(missing_ok=True)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise SessionError(
                f"cannot delete session {path.stem}: {error.strerror}",
                hint=f"Check the permissions of {path.parent}.",
            ) from error
        return path.stem

    # ------------------------------------------------------------ looking for sessions

    def latest(self, cwd: str) -> str | None:
        """Id of the session of this project that changed last."""
        return next((file.id for file in self._newest() if read_cwd(file) == cwd), None)

    def list(self, cwd: str | None = None, limit: int = 50) -> list[SessionSummary]:
        """The sessions that changed last, the newest first; of one project, or of all.

        Raises:
            SessionError: if the folder cannot be read.
        """
        found: list[SessionSummary] = []
        for digest in self._digests(cwd):
            if cwd is None or digest.cwd == cwd:
                found.append(_summary(digest))
                if len(found) == limit:
                    break
        return found

    def search(
        self, words: Sequence[str], cwd: str | None = None, limit: int = 50
    ) -> Sequence[Hit]:
        """The sessions in which all these words were said, the newest first.

        Raises:
            SessionError: if the folder cannot be read.
        """
        terms = [word for word in words if word.strip()]
        files = self._newest()
        index = self._index()
        named = index.search(files, terms) if index is not None else None
        meant = set(named) if named is not None else None
        hits: list[Hit] = []
        for file in files:
            if meant is not None and file.id not in meant:
                continue
            hit = _hit(file, terms, cwd, sure=meant is not None)
            if hit is not None:
                hits.append(hit)
                if len(hits) == limit:
                    break
        return hits

    def find(self, name: str) -> str:
        """The id that is meant by an id or the beginning of one.

        Raises:
            SessionError: if there is none or more than one, naming the nearest.
        """
        ids = sorted((file.id for file in self._files()), reverse=True)
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

    def path(self, session: str) -> Path:
        """The file of a session, by its whole id."""
        return self._directory / f"{session}{SUFFIX}"

    def new_id(self) -> str:
        """In UTC, so that ids sort by time through every change of the clocks."""
        stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime(self._now()))
        return f"{stamp}-{secrets.token_hex(3)}"

    # ------------------------------------------------------------ inside

    def _digests(self, cwd: str | None) -> Iterator[Digest]:
        files = self._newest()
        index = self._index() if len(files) > FEW else None
        if index is not None:
            yield from index.digests(files)
            return
        for file in files:
            if cwd is None or read_cwd(file) == cwd:
                yield digest_file(file)

    def _index(self) -> "SessionIndex | None":
        if self._index_path is None:
            return None
        from hame.sessions.index import SessionIndex

        return SessionIndex(self._index_path)

    def _newest(self) -> Sequence[SessionFile]:
        return sorted(self._files(), key=lambda file: (-file.updated, file.path.name))

    def _files(self) -> Sequence[SessionFile]:
        try:
            return scan(self._directory, SUFFIX)
        except OSError as error:
            raise SessionError(
                f"cannot list the sessions in {self._directory}: {error.strerror}",
                hint="Check its permissions.",
            ) from error


def _hit(file: SessionFile, terms: list[str], cwd: str | None, *, sure: bool) -> Hit | None:
    from hame.sessions.words import find_lines, read_words

    if cwd is not None and read_cwd(file) != cwd:
        return None
    if not sure:
        folded = read_words(file.path).casefold()
        if not all(term.casefold() in folded for term in terms):
            return None
    lines = find_lines(file.path, terms, _HIT_LINES)
    return Hit(_summary(digest_file(file)), tuple(lines))


def _summary(digest: Digest) -> SessionSummary:
    return SessionSummary(
        id=digest.id,
        title=digest.name or digest.words,
        cwd=digest.cwd,
        started=digest.started,
        updated=digest.updated,
        size=digest.size,
        damaged=digest.damaged,
    )
