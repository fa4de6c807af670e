"""What stands at a path on disk, and putting something else there.

Links are never followed: a link is what it is, and nothing is looked at, put or taken away in a folder
that is reached through one. Paths are real ones. Folders are entered one by one and held open, since a
command that still runs may put a link in the place of one at any moment.
"""

import contextlib
import os
import stat
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

from hame.base.errors import PathError
from hame.base.snapshot import DIRECTORY, EXECUTABLE, LINK, REGULAR, FileState
from hame.workspace.draft import aside_name, drafted
from hame.workspace.locate import DIRECTORY as PLACE
from hame.workspace.refusal import reason
from hame.workspace.snapshots.objects import Objects, blob_id

LARGEST = 16 * 1024 * 1024
"""Bytes of a file that is held; a larger one is only told apart."""
NOTHING = FileState()
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""Opens what was found to be a file; neither a link nor a pipe in its place."""


@contextmanager
def entered(path: str, *, make: bool = False) -> Generator[int]:
    """The open folder that a path lies in; `make` makes the missing ones.

    Raises:
        PathError: if it is reached through a link.
        OSError: if it cannot be entered.
    """
    here, folder = "", os.open("/", PLACE)
    try:
        for name in filter(None, path.split("/")[:-1]):
            here = f"{here}/{name}"
            below = _enter(folder, name, path, here, make=make)
            os.close(folder)
            folder = below
        yield folder
    finally:
        os.close(folder)


def _enter(folder: int, name: str, path: str, here: str, *, make: bool) -> int:
    if make:
        with contextlib.suppress(FileExistsError, PermissionError):  # It may be there already.
            os.mkdir(name, dir_fd=folder)
    try:
        return os.open(name, PLACE, dir_fd=folder)
    except OSError:
        if stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            raise PathError(f"{path} is not touched: {here} is a link now") from None
        raise


def look(path: str, objects: Objects | None = None) -> FileState:
    """What stands at a path; with `objects` its bytes are kept there.

    What lies behind a link is not at that path.

    Raises:
        OSError: if it cannot be read, or its bytes cannot be kept.
    """
    try:
        with entered(path) as folder:
            return _look(path.rpartition("/")[2], folder, objects)
    except (FileNotFoundError, NotADirectoryError, PathError):
        return NOTHING


def _look(name: str, folder: int, objects: Objects | None) -> FileState:
    found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    keep = objects.put if objects is not None else blob_id
    if stat.S_ISLNK(found.st_mode):
        return FileState(mode=LINK, blob=keep(os.fsencode(os.readlink(name, dir_fd=folder))))
    if stat.S_ISDIR(found.st_mode):
        return FileState(mode=DIRECTORY)
    if not stat.S_ISREG(found.st_mode):
        return FileState(mode=REGULAR, mark=f"special {stat.S_IFMT(found.st_mode):o}")
    mode = EXECUTABLE if found.st_mode & stat.S_IXUSR else REGULAR
    if found.st_size > LARGEST:
        return FileState(mode=mode, mark=mark_of(found))
    with os.fdopen(os.open(name, READ, dir_fd=folder), "rb") as file:
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
    name = path.rpartition("/")[2]
    try:
        with entered(path) as folder:
            if _is_folder(name, folder):
                os.rmdir(name, dir_fd=folder)
            else:
                os.unlink(name, dir_fd=folder)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise PathError(f"{path} cannot be taken away: {reason(error)}") from error
    with contextlib.suppress(OSError, PathError):
        for above in folders_between(path, root):
            with entered(str(above)) as folder:
                os.rmdir(above.name, dir_fd=folder)


def put(path: str, state: FileState, data: bytes) -> None:
    """Make what stands at a path be this; all of it or nothing.

    Raises:
        PathError: if it cannot be put there; what was there is as it was.
    """
    name = path.rpartition("/")[2]
    try:
        with entered(path, make=True) as folder:
            if _is_folder(name, folder):
                if state.mode == DIRECTORY:
                    return
                os.rmdir(name, dir_fd=folder)
            if state.mode == DIRECTORY:
                os.mkdir(name, dir_fd=folder)
            elif state.mode == LINK:
                _put_link(name, os.fsdecode(data), folder)
            else:
                _put_file(name, state, data, folder)
    except OSError as error:
        raise PathError(f"{path} cannot be put back: {reason(error)}") from error


def _is_folder(name: str, folder: int) -> bool:
    try:
        return stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return False


def _put_link(name: str, target: str, folder: int) -> None:
    aside = aside_name()
    os.symlink(target, aside, dir_fd=folder)
    try:
        os.rename(aside, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        os.unlink(aside, dir_fd=folder)
        raise


def _put_file(name: str, state: FileState, data: bytes, folder: int) -> None:
    permissions = _permissions(name, folder, state)
    wanted = 0o777 if state.mode == EXECUTABLE else 0o666
    with drafted(folder, wanted) as draft:
        with os.fdopen(draft.descriptor, "wb") as file:
            file.write(data)
            if permissions is not None:
                os.fchmod(file.fileno(), permissions)
            file.flush()
            os.fsync(file.fileno())
        os.rename(draft.name, name, src_dir_fd=folder, dst_dir_fd=folder)


def _permissions(name: str, folder: int, state: FileState) -> int | None:
    """The bits to give: those that are known, else those of the file that is replaced."""
    if state.permissions is not None:
        return state.permissions
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    bits = stat.S_IMODE(found.st_mode)
    if state.mode == EXECUTABLE:
        return bits | ((bits & 0o444) >> 2)
    return bits & ~0o111


def folders_between(path: str, root: str) -> Iterator[Path]:
    """The folders that hold a path, up to `root` and without it, the innermost first."""
    for folder in Path(path).parents:
        if not str(folder).startswith(root.rstrip("/") + "/"):
            return
        yield folder
