"""Forcing a journal to the disk beside the work that goes on."""

import os
import threading
from pathlib import Path

import pytest

from hame.base.entry import SessionStarted, UserSaid
from hame.base.errors import SessionError
from hame.base.message import Text, User
from hame.sessions.journal import FileJournal, load_history

SAID = UserSaid(message=User((Text("hello"),)))


def begin(tmp_path: Path) -> FileJournal:
    started = SessionStarted(session="s1", cwd="/p", hame="0")
    return FileJournal.begin(tmp_path / "s1.jsonl", started)


async def test_a_sync_that_was_begun_is_over_when_the_journal_is_closed(tmp_path: Path) -> None:
    with begin(tmp_path) as journal:
        await journal.append(SAID)
        journal.sync_soon()
        journal.sync_soon()
        await journal.append(SAID, durable=True)
    assert list(load_history(tmp_path / "s1.jsonl").entries)[-2:] == [SAID, SAID]


async def test_nothing_is_synced_before_anything_was_said(tmp_path: Path) -> None:
    with begin(tmp_path) as journal:
        journal.sync_soon()
    assert not any(os.scandir(tmp_path))


async def test_a_sync_that_failed_is_told_with_the_next_entry_and_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with begin(tmp_path) as journal:
        await journal.append(SAID)

        def broken(descriptor: int) -> None:
            raise OSError(5, "Input/output error")

        with monkeypatch.context() as patched:
            patched.setattr(os, "fsync", broken)
            journal.sync_soon()
            journal.sync_soon()
            assert journal._syncing is not None
            journal._syncing.join()
        with pytest.raises(SessionError):
            await journal.append(SAID)
        await journal.append(SAID)


async def test_a_disk_that_is_slow_holds_up_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()
    synced: list[int] = []

    def slow(descriptor: int) -> None:
        go_on.wait(10)
        synced.append(descriptor)

    with begin(tmp_path) as journal:
        await journal.append(SAID)
        monkeypatch.setattr(os, "fsync", slow)
        for _ in range(3):
            journal.sync_soon()
            await journal.append(SAID)
        assert synced == []
        go_on.set()
    assert len(synced) >= 3
