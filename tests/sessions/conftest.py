"""A folder for sessions and the short way to say things into them."""

from pathlib import Path

import pytest

from hame.base.entry import Entry, ModelAnswered, UserSaid
from hame.base.message import Assistant, Text, ToolCall, User
from hame.sessions.journal import FileJournal
from hame.sessions.store import SessionStore


def said(words: str) -> UserSaid:
    return UserSaid(message=User((Text(words),)))


def asked(*ids: str) -> ModelAnswered:
    calls = tuple(ToolCall(each, "read_file", {"path": f"{each}.py"}) for each in ids)
    return ModelAnswered(message=Assistant((Text("I look."), *calls)))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Not there yet."""
    return tmp_path / "state" / "sessions"


@pytest.fixture
def store(folder: Path) -> SessionStore:
    return SessionStore(folder)


@pytest.fixture
def journal(store: SessionStore):
    with store.create("/home/me/project", "0.1.0") as journal:
        yield journal


async def written(store: SessionStore, *entries: Entry, cwd: str = "/p") -> Path:
    """A closed session file with these entries."""
    with store.create(cwd, "0.1.0") as journal:
        for entry in entries:
            await journal.append(entry)
    return journal.path


def reopened(path: Path) -> FileJournal:
    return FileJournal.reopen(path)


def make(folder: Path) -> None:
    folder.mkdir(parents=True, mode=0o755)


def remove(folder: Path) -> None:
    folder.rmdir()


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def kept_aside(path: Path, kind: str) -> list[Path]:
    """Files kept beside a session's: `torn` lines or `damaged` copies."""
    return sorted(path.parent.glob(f"{path.name}.{kind}-*"))
