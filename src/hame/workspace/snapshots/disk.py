"""What stands at a path on disk, and putting something else there.

Links are never followed: a link is what it is, and nothing is put into a folder that is reached
through one.
"""

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from hame.base.errors import PathError
from hame.base.snapshot import DIRECTORY, EXECUTABLE, LINK, REGULAR, FileState
from hame.workspace.draft import aside_name, drafted
from hame.workspace.refusal import reason
from hame.workspace.snapshots.objects import Objects, blob_id

LARGEST = 16 * 1024 * 1024
"""Bytes of a file that is held; a larger one is only told apart."""
NOTHING = FileState()
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def look(path: str, objects: Objects | None = None) -> FileState:
    """What stands at a path; with `objects` its bytes are kept there.

    Raises:
        OSError: if it cannot be read, or its bytes cannot be kept.
    """
    try:
        found = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return NOTHING
    keep = objects.put if objects is not None else blob_id
    if stat.S_ISLNK(found.st_mode):
        return FileState(mode=LINK, blob=keep(os.fsencode(Path(path).readlink())))
    if stat.S_ISDIR(found.st_mode):
        return FileState(mode=DIRECTORY)
    if not stat.S_ISREG(found.st_mode):
        return FileState(mode=REGULAR, mark=f"special {stat.S_IFMT(found.st_mode):o}")
    mode = EXECUTABLE if found.st_mode & stat.S_IXUSR else REGULAR
    if found.st_size > LARGEST:
        return FileState(mode=mode, mark=mark_of(found))
    descriptor = os.open(path, _READ)
    with os.fdopen(descriptor, "rb") as file:
        data = file.read(LARGEST + 1)
    return FileState(mode=mode, blob=keep(data), permissions=stat.S_IMODE(found.st_mode))


def mark_of(found: os.stat_result) -> str:
    """What tells a large file from a later state of it."""
    return f"{found.st_size} {found.st_mtime_ns} {found.st_ino}"


def remove(path: str, root: str) -> None:
    """Take away what stands at a path, and the folders above it that are empty then, below `root`.

    A folder goes only when it is empty.

    Raises:
        PathError: if it cannot be taken away.
    """
    try:
        found = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return
    refuse_links_above(path, root)
    try:
        if stat.S_ISDIR(found.st_mode):
            Path(path).rmdir()
        else:
            Path(path).unlink()
    except OSError as error:
        raise PathError(f"{path} cannot be taken away: {reason(error)}") from error
    with contextlib.suppress(OSError):
        for folder in folders_between(path, root):
            folder.rmdir()


def put(path: str, state: FileState, data: bytes, root: str) -> None:
    """Make what stands at a path be this; all of it or nothing.

    Raises:
        PathError: if it cannot be put there; what was there is as it was.
    """
    refuse_links_above(path, root)
    place = Path(path)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        if state.mode == DIRECTORY:
            place.mkdir(exist_ok=True)
            return
        if place.is_dir() and not place.is_symlink():
            place.rmdir()
        folder = os.open(place.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            if state.mode == LINK:
                _put_link(place.name, os.fsdecode(data), folder)
            else:
                _put_file(place, state, data, folder)
        finally:
            os.close(folder)
    except OSError as error:
        raise PathError(f"{path} cannot be put back: {reason(error)}") from error


def _put_link(name: str, target: str, folder: int) -> None:
    aside = aside_name()
    os.symlink(target, aside, dir_fd=folder)
    try:
        os.rename(aside, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        os.unlink(aside, dir_fd=folder)
        raise


def _put_file(place: Path, state: FileState, data: bytes, folder: int) -> None:
    permissions = _permissions(place, state)
    wanted = 0o777 if state.mode == EXECUTABLE else 0o666
    with drafted(folder, wanted) as draft:
        with os.fdopen(draft.descriptor, "wb") as file:
            file.write(data)
            if permissions is not None:
                os.fchmod(file.fileno(), permissions)
            file.flush()
            os.fsync(file.fileno())
        os.rename(draft.name, place.name, src_dir_fd=folder, dst_dir_fd=folder)


def _permissions(place: Path, state: FileState) -> int | None:
    """The bits to give: those that are known, else those of the file that is replaced."""
    if state.permissions is not None:
        return state.permissions
    try:
        found = place.lstat()
    except OSError:
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    bits = stat.S_IMODE(found.st_mode)
    if state.mode == EXECUTABLE:
        return bits | ((bits & 0o444) >> 2)
    return bits & ~0o111


def refuse_links_above(path: str, root: str) -> None:
    """Make sure that no folder between `root` and a path is a link.

    Raises:
        PathError: if one is.
    """
    for folder in folders_between(path, root):
        if folder.is_symlink():
            raise PathError(f"{path} is not touched: {folder} is a link now")


def folders_between(path: str, root: str) -> Iterator[Path]:
    """The folders that hold a path, up to `root` and without it, the innermost first."""
    for folder in Path(path).parents:
        if not str(folder).startswith(root.rstrip("/") + "/"):
            return
        yield folder
