"""Every n-th call to the system fails: the session opens, and what was acknowledged is in it."""

import errno
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from hame.base.entry import Entry, ModelAnswered, OutcomesLost, SessionStarted
from hame.base.errors import SessionError
from hame.sessions import journal as module
from hame.sessions.journal import FileJournal, load_history
from sessions.conftest import asked, said

CALLS = ("write", "fsync", "ftruncate", "open", "fstat")


class FaultyDisk:
    """The system calls a journal makes; one of them, or all from one on, fail."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, code: int, *, for_good: bool) -> None:
        self.fail_at, self.code, self.for_good = 0, code, for_good
        self.count = 0
        self.half = False
        for name in CALLS:
            monkeypatch.setattr(module.os, name, self.wrap(name, getattr(os, name)))

    def wrap(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **more: Any) -> Any:
            self.count += 1
            late = self.for_good and self.count > self.fail_at > 0
            if self.count == self.fail_at or late:
                if name == "write" and self.half and len(arguments[1]) > 1:
                    real(arguments[0], bytes(arguments[1])[: len(arguments[1]) // 2])
                raise OSError(self.code, os.strerror(self.code))
            # What a disk does with a sync that works is not what is tested.
            return None if name == "fsync" else real(*arguments, **more)

        return call


SCRIPT: list[Entry] = [
    said("one"), asked("c1"), said("two"), *(said(f"words {n} " * 40) for n in range(8)), said("end"),
]  # fmt: skip


async def play(path: Path) -> list[Entry]:
    """Write the script, going on after every error; what was acknowledged."""
    acknowledged: list[Entry] = []
    hints: list[str] = []
    journal = FileJournal.begin(path, SessionStarted(session=path.stem, cwd="/p", hame="1"))
    try:
        for number, entry in enumerate(SCRIPT):
            try:
                await journal.append(entry, durable=number % 3 == 0)
            except SessionError as error:
                hints.append(error.hint)
            else:
                acknowledged.append(entry)
    finally:
        journal.close()
    assert all(hints)
    return acknowledged


def contains_in_order(entries: Sequence[Entry], wanted: Sequence[Entry]) -> bool:
    rest = iter(entries)
    return all(any(entry == each for entry in rest) for each in wanted)


@pytest.mark.parametrize("for_good", [False, True], ids=["once", "for good"])
@pytest.mark.parametrize("half", [False, True], ids=["whole", "half written"])
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO], ids=["full", "broken"])
async def test_whatever_call_fails_nothing_acknowledged_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, half: bool, for_good: bool
) -> None:
    rounds = 0
    while True:
        rounds += 1
        path = tmp_path / f"s{rounds}.jsonl"
        with monkeypatch.context() as patch:
            disk = FaultyDisk(patch, code, for_good=for_good)
            disk.fail_at, disk.half = rounds, half
            acknowledged = await play(path)
        if path.exists():
            with FileJournal.reopen(path) as journal:
                held = [e for e in journal.entries if not isinstance(e, OutcomesLost)]
                assert contains_in_order(held, acknowledged)
                await journal.append(said("on"))
            assert load_history(path).entries[-1] == said("on")
        else:
            assert acknowledged == []
        if disk.count < rounds:
            break
    assert acknowledged == SCRIPT
    assert rounds > 30


async def test_a_failure_is_heard_of_before_anything_else_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = FileJournal.begin(
        tmp_path / "s.jsonl", SessionStarted(session="s", cwd="/p", hame="1")
    )
    with journal:
        await journal.append(said("one"))
        with monkeypatch.context() as patch:
            disk = FaultyDisk(patch, errno.ENOSPC, for_good=True)
            disk.fail_at = 1
            with pytest.raises(SessionError, match="the disk is full"):
                await journal.append(ModelAnswered(message=asked("c1").message), durable=True)
        assert not any(isinstance(entry, ModelAnswered) for entry in journal.entries)
