"""The lock on a session file and who holds it."""

import os
from pathlib import Path

import pytest

from hame.sessions.lock import holder, try_lock


@pytest.fixture
def descriptor(tmp_path: Path):
    descriptor = os.open(tmp_path / "file", os.O_RDWR | os.O_CREAT)
    yield descriptor
    os.close(descriptor)


def test_the_holder_of_a_lock_is_known(descriptor: int) -> None:
    assert try_lock(descriptor)
    assert holder(descriptor) == os.getpid()


def test_nobody_holds_a_file_that_is_not_locked(descriptor: int) -> None:
    assert holder(descriptor) is None


def test_where_the_system_does_not_tell_nobody_is_known(descriptor: int, tmp_path: Path) -> None:
    assert holder(descriptor, tmp_path / "no such table") is None


@pytest.mark.parametrize(
    "table",
    [
        "1: FLOCK ADVISORY WRITE 11 0:1:{inode} 0 EOF\n2: FLOCK ADVISORY WRITE 12 0:2:{inode} 0 EOF",
        "1: POSIX  ADVISORY  WRITE 11 00:01:{inode} 0 EOF\n",
        "1: FLOCK  ADVISORY  WRITE 0 00:01:{inode} 0 EOF\n",
        "1: FLOCK  ADVISORY  WRITE -1 00:01:{inode} 0 EOF\n",
        "rubbish\n",
    ],
)
def test_a_table_that_is_not_plain_names_nobody(
    descriptor: int, tmp_path: Path, table: str
) -> None:
    path = tmp_path / "locks"
    path.write_text(table.format(inode=os.fstat(descriptor).st_ino), encoding="ascii")
    assert holder(descriptor, path) is None
