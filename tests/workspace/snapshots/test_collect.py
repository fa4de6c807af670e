"""Collecting: what no session needs goes, what one needs stays."""

import fcntl
import os
import time
from pathlib import Path

import pytest

from hame.base.errors import ToolError
from hame.sandbox.unconfined import Unconfined
from hame.workspace.process import LocalProcesses
from hame.workspace.snapshots.collect import collect, is_due
from hame.workspace.snapshots.store import stores
from workspace.snapshots.conftest import Project

DAY = 86_400


def age(folder: Path, days: float) -> None:
    """Make everything in a folder that old."""
    then = time.time() - days * DAY
    for here, names, files in os.walk(folder):
        for name in (*names, *files, "."):
            os.utime(Path(here, name), (then, then), follow_symlinks=False)


def processes() -> LocalProcesses:
    return LocalProcesses(dict(os.environ), Unconfined())


async def test_old_sessions_go_with_their_bytes_and_young_ones_can_still_be_undone(
    project: Project,
) -> None:
    project.put("a.txt", b"a\n")
    old = project.session("old")
    await old.run("head -c 3000000 /dev/urandom > junk; rm junk; echo x > b.txt")
    await old.edit("c.bin", os.urandom(2_000_000))
    await old.undo()
    age(project.store.folder, 40)
    young = project.session("young")
    await young.edit("a.txt", b"b\n")
    done = await collect(project.store, processes())
    assert done.sessions == 1
    assert done.before - done.after > 1_900_000
    assert [folder.name for folder in project.store.sessions()] == ["young"]
    await young.run("rm a.txt; echo m > m.txt")
    again = project.session("young")
    plan, _ = await again.undo()
    assert plan.conflicts == ()
    assert project.state() == {"a.txt": (b"a\n", False)}


async def test_it_is_made_by_itself_when_it_is_due(project: Project) -> None:
    old = project.session("old")
    await old.run("echo x > b.txt")
    age(project.store.folder, 40)
    await project.session("young").run("echo y > c.txt")
    assert [folder.name for folder in project.store.sessions()] == ["young"]


async def test_many_objects_are_packed_and_still_read(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hame.workspace.snapshots.collect._WORTH_PACKING", 10)
    for number in range(30):
        project.put(f"d/f{number}.txt", b"text %d\n" % number * 50)
    before = project.state()
    session = project.session()
    await session.run("true")
    await session.run("rm -rf d")
    age(project.store.folder, 1)
    for _ in range(2):
        await collect(project.store, processes())
    objects = project.store.objects.folder
    assert list(objects.glob("??/*")) == []
    assert len(list((objects / "pack").glob("*.pack"))) == 1
    await session.undo()
    assert project.state() == before


async def test_what_is_young_stays_whatever_it_is(project: Project) -> None:
    project.store.objects.put(b"about to be named")
    session = project.session()
    await session.run("echo > a")
    await collect(project.store, processes())
    name = project.store.objects.put(b"about to be named")
    assert project.store.objects.get(name) == b"about to be named"


async def test_one_collection_at_a_time(project: Project) -> None:
    session = project.session()
    await session.run("echo > a")
    with (project.store.folder / "collecting").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(ToolError, match="another hame"):
            await collect(project.store, processes())


async def test_it_is_due_once_a_week(project: Project) -> None:
    session = project.session()
    await session.run("echo > a")
    now = time.time()
    assert not is_due(project.store, now)
    assert is_due(project.store, now + 8 * DAY)
    await collect(project.store, processes())
    assert not is_due(project.store, now)


async def test_the_store_of_a_project_that_is_gone_goes_with_its_last_session(
    project: Project, home: Path
) -> None:
    session = project.session()
    await session.run("echo > a")
    assert [store.project for store in stores(project.base, str(home))] == [str(project.root)]
    (project.root / "a").unlink()
    project.root.rmdir()
    age(project.store.folder, 40)
    await collect(project.store, processes())
    assert list(stores(project.base, str(home))) == []
