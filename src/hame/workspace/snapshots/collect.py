"""Taking away what no kept session needs, and packing the rest.

What is needed: the bytes that the steps of kept sessions name, and the files in their indexes. Objects
younger than an hour stay whatever they are: another session may just be about to name them.
"""

import contextlib
import fcntl
import os
import shutil
import time
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from hame.base.errors import ToolError
from hame.base.ports import Processes
from hame.workspace.snapshots.git import Git, GitError
from hame.workspace.snapshots.log import Began, Ended, Line, Undid, read_lines
from hame.workspace.snapshots.store import Store

KEEP_DAYS = 30.0
_LOCK = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
_DAY_S = 86_400.0
_YOUNG_S = 3_600.0
_WORTH_PACKING = 2_000
"""Objects in files of their own from which on they are packed."""


class Collected(msgspec.Struct, frozen=True, kw_only=True):
    """What a collection did with one project's store."""

    project: str
    sessions: int
    """How many were forgotten."""
    before: int
    """Bytes."""
    after: int


async def collect(
    store: Store,
    processes: Processes,
    *,
    keep_days: float = KEEP_DAYS,
    spare: str = "",
    now: float | None = None,
) -> Collected:
    """Collect one store. `spare` is a session that is kept whatever its age.

    Raises:
        ToolError: while another process collects it.
        GitError: when there is no git, or it failed; nothing that is needed is gone.
    """
    moment = time.time() if now is None else now
    with _alone(store):
        before = _size(store.folder)
        old = [
            folder
            for folder in store.sessions()
            if folder.name != spare and _changed(folder) < moment - keep_days * _DAY_S
        ]
        for folder in old:
            shutil.rmtree(folder, ignore_errors=True)
        if not store.sessions() and not _is_there(store.project):
            shutil.rmtree(store.folder, ignore_errors=True)
        elif (store.folder / "objects").is_dir():
            await _collect_objects(store, processes, moment)
        return Collected(
            project=store.project, sessions=len(old), before=before, after=_size(store.folder)
        )


async def _collect_objects(store: Store, processes: Processes, moment: float) -> None:
    git = store.git(_some_folder(store), processes)
    needed = await _with_all_below(git, {*_named(store), *await _indexed(store, git)})
    loose = dict(_loose(store.objects.folder))
    packs = list((store.objects.folder / "pack").glob("*.pack"))
    if len(loose) >= _WORTH_PACKING or packs:
        listed = "".join(f"{name}\n" for name in sorted(needed)).encode()
        target = str(store.objects.folder / "pack" / "pack")
        (store.objects.folder / "pack").mkdir(mode=0o700, exist_ok=True)
        made = (await git.run("pack-objects", "-q", target, stdin=listed)).decode().split()
        for pack in packs:
            if not any(name in pack.name for name in made) and _is_old(pack, moment):
                for each in pack.parent.glob(f"{pack.stem}.*"):
                    each.unlink(missing_ok=True)
        needed.clear()  # All of them are in the new pack.
    for path in (store.objects.folder / "pack").glob("tmp_*"):
        if _is_old(path, moment):  # Left by a git that was stopped.
            path.unlink(missing_ok=True)
    for name, path in loose.items():
        # Looked at again right before: what is wanted anew has just become young.
        if name not in needed and _is_old(path, moment):
            path.unlink(missing_ok=True)


def _named(store: Store) -> Iterator[str]:
    """The objects that the steps of all sessions name."""
    for folder in store.sessions():
        last: dict[str, str] = {}
        for line in read_lines(folder / "log.jsonl"):
            yield from _blobs_of(line)
            if isinstance(line, Began | Ended):
                last |= line.trees
            if isinstance(line, Began):
                yield from line.trees.values()
        yield from last.values()


def _blobs_of(line: Line) -> Iterator[str]:
    match line:
        case Began(before=before):
            states = list(before.values())
        case Ended(changes=changes) | Undid(changes=changes):
            states = [state for each in changes for state in (each.before, each.after)]
    yield from (state.blob for state in states if state.blob)


async def _indexed(store: Store, git: Git) -> set[str]:
    found: set[str] = set()
    for folder in store.sessions():
        for index in folder.glob("*.index"):
            with contextlib.suppress(GitError):
                printed = await git.run("ls-files", "-s", "-z", index=index)
                found |= {row.split(b" ")[1].decode() for row in printed.split(b"\0") if row}
    return found


async def _with_all_below(git: Git, names: Iterable[str]) -> set[str]:
    """The objects, and all that the trees among them hold; those that are gone are left out."""
    asked = "".join(f"{name}\n" for name in names).encode()
    checked = (await git.run("cat-file", "--batch-check", stdin=asked)).decode().splitlines()
    there = [row.split(" ") for row in checked]
    trees = [row[0] for row in there if row[1:2] == ["tree"]]
    found = {row[0] for row in there if row[1:2] in (["tree"], ["blob"])}
    if trees:
        listed = "".join(f"{name}\n" for name in trees).encode()
        printed = await git.run(
            "rev-list", "--objects", "--stdin", "--missing=allow-any", stdin=listed
        )
        found |= {row.split(" ")[0] for row in printed.decode("utf-8", "replace").splitlines()}
    return found


def _loose(folder: Path) -> Iterator[tuple[str, Path]]:
    for inner in folder.iterdir():
        if len(inner.name) == 2:
            for path in inner.iterdir():
                yield inner.name + path.name, path


def _some_folder(store: Store) -> str:
    """A folder that git can be started in: the project, or where it was once."""
    return store.project if _is_there(store.project) else str(store.folder)


def _is_there(folder: str) -> bool:
    return Path(folder).is_dir()


def _is_old(path: Path, moment: float) -> bool:
    try:
        return path.stat().st_mtime < moment - _YOUNG_S
    except OSError:
        return False


def _changed(folder: Path) -> float:
    """When a session was active last."""
    times = [folder.stat().st_mtime]
    for path in folder.iterdir():
        with contextlib.suppress(OSError):
            times.append(path.stat().st_mtime)
    return max(times)


def _size(folder: Path) -> int:
    total = 0
    for here, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += Path(here, name).lstat().st_size
    return total


@contextmanager
def _alone(store: Store) -> Generator[None]:
    """The right to collect a store; the lock goes with the process.

    Raises:
        ToolError: when somebody else has it.
    """
    descriptor = os.open(store.folder / "collecting", _LOCK, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise ToolError("another hame is collecting these snapshots") from error
        yield
        with contextlib.suppress(OSError):
            os.utime(descriptor)
    finally:
        os.close(descriptor)


def is_due(store: Store, now: float) -> bool:
    """Whether a store was not collected for a week."""
    try:
        return (store.folder / "collecting").stat().st_mtime < now - 7 * _DAY_S
    except OSError:
        try:
            return (store.folder / "project").stat().st_mtime < now - 7 * _DAY_S
        except OSError:
            return False
