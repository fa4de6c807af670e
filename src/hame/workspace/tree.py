"""Directories: making, listing, moving and deleting, all through open directories."""

import contextlib
import errno
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager

from hame.base.errors import PathError
from hame.base.path import DirectoryEntry, FileKind, kind_of
from hame.base.zone import PROTECTED_OF_PROJECT
from hame.workspace.locate import DIRECTORY, Place, shown_name
from hame.workspace.refusal import reason, refusing
from hame.workspace.rename import rename_new

_LIST = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def entered(place: Place) -> Generator[int]:
    """The directory a place lies in, its missing parents made first.

    Parents that were made are taken away again when what they were made for fails.
    """
    made: list[tuple[int, str]] = []
    descriptor = os.dup(place.directory)
    opened = [descriptor]
    try:
        for name in place.missing:
            with contextlib.suppress(FileExistsError):
                os.mkdir(name, dir_fd=descriptor)
                made.append((descriptor, name))
            descriptor = os.open(name, DIRECTORY, dir_fd=descriptor)
            opened.append(descriptor)
        yield descriptor
    except BaseException:
        for above, name in reversed(made):
            with contextlib.suppress(OSError):
                os.rmdir(name, dir_fd=above)
        raise
    finally:
        for each in opened:
            os.close(each)


def make(place: Place) -> None:
    """Make a directory and its missing parents; one that is there already is fine.

    Raises:
        PathError: if something else is there, or it cannot be made.
    """
    with refusing("make", place.shown), entered(place) as directory:
        try:
            os.mkdir(place.leaf, dir_fd=directory)
        except FileExistsError as error:
            found = os.stat(place.leaf, dir_fd=directory, follow_symlinks=False)
            if not stat.S_ISDIR(found.st_mode):
                raise PathError(f"{place.shown} already exists and is not a directory") from error


def move(source: Place, target: Place) -> None:
    """Move a file or a directory to a name that is free.

    Raises:
        PathError: if it cannot be moved; nothing was changed.
    """
    if source.missing or source.resolution.kind is FileKind.MISSING:
        raise PathError(f"no such file or directory: {source.shown}")
    try:
        with entered(target) as directory:
            rename_new(source.leaf, source.directory, target.leaf, directory)
    except OSError as error:
        raise PathError(_why_not_moved(source.shown, target.shown, error)) from error


def _why_not_moved(source: str, target: str, error: OSError) -> str:
    match error.errno:
        case errno.EEXIST | errno.ENOTEMPTY:
            return f"{target} already exists; nothing was moved"
        case errno.EXDEV:
            return (
                f"{target} lies on another file system than {source}; "
                "copy it there with a command and then delete it here"
            )
        case errno.EINVAL:
            return f"{source} cannot be moved into itself ({target})"
        case _:
            return f"cannot move {source} to {target}: {reason(error)}"


def delete(place: Place) -> None:
    """Delete a file, a link itself, or a directory with all that is in it.

    Raises:
        PathError: if it cannot be deleted.
    """
    if place.missing:
        raise PathError(f"no such file or directory: {place.shown}")
    try:
        found = os.stat(place.leaf, dir_fd=place.directory, follow_symlinks=False)
    except FileNotFoundError as error:
        raise PathError(f"no such file or directory: {place.shown}") from error
    with refusing("delete", place.shown):
        if stat.S_ISDIR(found.st_mode):
            _delete_tree(place)
        else:
            os.unlink(place.leaf, dir_fd=place.directory)


def _delete_tree(place: Place) -> None:
    """Depth first, one directory open for each level; a link put in the way is not entered."""
    levels = [(os.dup(place.directory), [place.leaf])]
    try:
        while levels:
            above, folders = levels[-1]
            if folders:
                inside = os.open(folders[-1], _LIST, dir_fd=above)
                within: list[str] = []
                levels.append((inside, within))
                within += _unlink_files(inside)
                continue
            levels.pop()
            os.close(above)
            if levels:
                outer, names = levels[-1]
                os.rmdir(names.pop(), dir_fd=outer)
    finally:
        for descriptor, _ in levels:
            os.close(descriptor)


def _unlink_files(directory: int) -> list[str]:
    """Delete everything in a directory but its directories, which are returned."""
    folders: list[str] = []
    with os.scandir(directory) as entries:
        for entry in list(entries):
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.name)
            else:
                os.unlink(entry.name, dir_fd=directory)
    return folders


def listing(place: Place) -> list[DirectoryEntry]:
    """What is in a directory, sorted by name, directories first.

    What sandboxes put in the place of protected names that are missing is not of the project.

    Raises:
        PathError: if it is not a readable directory.
    """
    if place.missing or place.resolution.kind is FileKind.MISSING:
        raise PathError(f"no such directory: {place.shown}")
    if place.resolution.kind is not FileKind.DIRECTORY:
        raise PathError(f"{place.shown} is not a directory")
    with refusing("list", place.shown):
        descriptor = os.open(place.leaf, _LIST, dir_fd=place.directory)
        try:
            with os.scandir(descriptor) as entries:
                found = [
                    _entry(entry, descriptor)
                    for entry in entries
                    if not _stands_in(entry, descriptor)
                ]
        finally:
            os.close(descriptor)
    found.sort(key=lambda entry: (entry.kind is not FileKind.DIRECTORY, entry.name))
    return found


def _stands_in(entry: os.DirEntry[str], directory: int) -> bool:
    """Whether it is an empty folder with a protected name."""
    if entry.name not in PROTECTED_OF_PROJECT or not entry.is_dir(follow_symlinks=False):
        return False
    try:
        folder = os.open(entry.name, _LIST, dir_fd=directory)
    except OSError:
        return False
    try:
        with os.scandir(folder) as entries:
            return next(entries, None) is None
    finally:
        os.close(folder)


def _entry(entry: os.DirEntry[str], directory: int) -> DirectoryEntry:
    name = shown_name(entry.name)
    try:
        if not entry.is_symlink():
            found = entry.stat(follow_symlinks=False)
            size = found.st_size if stat.S_ISREG(found.st_mode) else 0
            return DirectoryEntry(name=name, kind=kind_of(found.st_mode), size=size)
        target = shown_name(os.readlink(entry.name, dir_fd=directory))
    except OSError:
        return DirectoryEntry(name=name, kind=FileKind.MISSING)
    return DirectoryEntry(name=name, kind=_target_kind(entry), link_target=target)


def _target_kind(link: os.DirEntry[str]) -> FileKind:
    try:
        return kind_of(link.stat().st_mode)
    except OSError:
        return FileKind.MISSING
