"""SessionIndex: what was read of each session file, so that lists and searches need not read it again.

A derived SQLite file: it may be deleted at any time, and whatever is wrong with it, it is made anew or
done without. A session file only grows, so what was read of it once stays true, and only what came
since is read.
"""

import os
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing, suppress
from pathlib import Path

import msgspec

from hame.sessions.digest import Digest, SessionFile, digest_file
from hame.sessions.keep import make_private_folder

_VERSION = 1
"""Raised when the tables or what is in them change; older files are thrown away."""
_BUSY_S = 1.0
_TABLES = """
CREATE TABLE IF NOT EXISTS digest (
    id TEXT PRIMARY KEY, data BLOB
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS words (id TEXT PRIMARY KEY, folded TEXT);
"""
_DIGESTS = msgspec.msgpack.Decoder(Digest)
_ENCODER = msgspec.msgpack.Encoder()


class SessionIndex:
    """Digests of session files, kept in one SQLite file."""

    def __init__(self, path: Path) -> None:
        """Use this file; it is made when it is first needed."""
        self._path = path

    def digests(self, files: Sequence[SessionFile]) -> list[Digest]:
        """What there is to say of each of these files, in their order."""
        known = self._load()
        found: list[Digest] = []
        changed: list[Digest] = []
        for file in files:
            old = known.get(file.id)
            if old is not None and (old.size, old.updated) == (file.size, file.updated):
                found.append(old)
                continue
            digest = digest_file(file, old)
            found.append(digest)
            changed.append(digest)
        gone = known.keys() - {file.id for file in files}
        if changed or gone:
            self._save(changed, gone)
        return found

    def search(self, files: Sequence[SessionFile], terms: Sequence[str]) -> list[str] | None:
        """Ids of the files in whose words all these terms occur; None where there is no index.

        Terms are compared without regard to case.
        """
        self.digests(files)
        try:
            with closing(self._open()) as store:
                self._read_words(store, files)
                where = " AND ".join("instr(folded, ?)" for _ in terms) or "1"
                query = f"SELECT id FROM words WHERE {where}"  # noqa: S608 - only `?` is put in
                rows = store.execute(query, [term.casefold() for term in terms])
                return [row[0] for row in rows]
        except (sqlite3.Error, OSError):
            return None

    # ------------------------------------------------------------ inside

    def _load(self) -> dict[str, Digest]:
        try:
            with closing(self._open()) as store:
                rows = store.execute("SELECT id, data FROM digest")
                return {row[0]: _DIGESTS.decode(row[1]) for row in rows}
        except (sqlite3.Error, OSError, msgspec.MsgspecError):
            self._throw_away()
            return {}

    def _save(self, changed: Sequence[Digest], gone: Iterable[str]) -> None:
        # A list that cannot be kept is made again the next time.
        with suppress(sqlite3.Error, OSError), closing(self._open()) as store, store:
            store.executemany(
                "INSERT OR REPLACE INTO digest VALUES (?, ?)",
                [(digest.id, _ENCODER.encode(digest)) for digest in changed],
            )
            for table in ("digest", "words"):
                names = [(name,) for name in gone]
                store.executemany(f"DELETE FROM {table} WHERE id = ?", names)  # noqa: S608 - ours

    def _read_words(self, store: sqlite3.Connection, files: Sequence[SessionFile]) -> None:
        """Bring the words up to date: of files that have changed they are read anew."""
        from hame.sessions.words import read_words

        store.execute("CREATE TABLE IF NOT EXISTS read (id TEXT PRIMARY KEY, size INTEGER)")
        read: dict[str, int] = dict(store.execute("SELECT id, size FROM read"))
        with store:
            for file in files:
                if read.get(file.id) != file.size:
                    words = read_words(file.path).casefold()
                    store.execute("INSERT OR REPLACE INTO words VALUES (?, ?)", (file.id, words))
                    store.execute("INSERT OR REPLACE INTO read VALUES (?, ?)", (file.id, file.size))

    def _open(self) -> sqlite3.Connection:
        make_private_folder(self._path.parent)
        # Made here, since SQLite would follow a link and leave the rights to the umask; what it puts
        # beside the file has the file's rights (sqlite.org/tempfiles.html).
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        os.close(os.open(self._path, flags, 0o600))
        store = sqlite3.connect(self._path, timeout=_BUSY_S)
        try:
            (version,) = store.execute("PRAGMA user_version").fetchone()
            if version not in {0, _VERSION}:
                raise sqlite3.DatabaseError("of another version")
            store.executescript(_TABLES)
            store.execute(f"PRAGMA user_version = {_VERSION}")
        except sqlite3.Error:
            store.close()
            raise
        return store

    def _throw_away(self) -> None:
        for path in (self._path, self._path.with_name(f"{self._path.name}-journal")):
            with suppress(OSError):
                path.unlink()
