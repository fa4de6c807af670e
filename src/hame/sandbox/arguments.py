"""bubblewrap's arguments for one sandbox, in the order in which it does them."""

import os
import stat
from collections.abc import Sequence
from contextlib import suppress

from hame.base.errors import ToolError
from hame.base.zone import split
from hame.sandbox.handles import Handles
from hame.sandbox.layout import REPLACED, Kind, Layout, Mount
from hame.sandbox.namespaces import NO_NETWORK, Bwrap

_TEMPORARY, _RUNNING = REPLACED
_OF_OTHERS = ("CAP_DAC_OVERRIDE", "CAP_CHOWN", "CAP_FOWNER")
"""What root needs for the files of another user."""


def isolation_options(
    bwrap: Bwrap, *, keep: bool, others: bool, in_network: bool = False
) -> list[str]:
    """What sets the program apart from other processes.

    `keep`: it lives on without hame. `others`: root may write files of other users. `in_network`: it is
    started in a network that leads nowhere, and stays in it.
    """
    options = [each for each in bwrap.options if not (in_network and each == NO_NETWORK)]
    if others and bwrap.as_root:
        options += [word for power in _OF_OTHERS for word in ("--cap-add", power)]
    if not keep:
        options.append("--die-with-parent")
    return [*options, "--new-session"]


def mount_options(layout: Layout, bwrap: Bwrap, handles: Handles, temporary: str) -> list[str]:
    """The file system: the machine's to be read, and what differs from it.

    Raises:
        OSError: if a place is not there any more as it was found.
        ToolError: if something is in the way in the folder for temporary files.
    """
    options = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    # bubblewrap's own process inside: through its memory a program could use the rights it still has.
    options += _empty("/proc/1")
    if os.geteuid() == 0:
        # Settings of the whole machine, which root could write although it has no powers left.
        options += ["--ro-bind", "/proc/sys", "/proc/sys"]
    options += ["--tmpfs", _RUNNING]
    options += ["--bind", temporary, _TEMPORARY] if temporary else ["--tmpfs", _TEMPORARY]
    mounts = layout.mounts()
    between = _folders_between(mounts)
    for folder in between:
        options += ["--tmpfs", folder]
    if temporary:
        _make_mount_points(temporary, mounts)
    for mount in mounts:
        options += _mount(mount, bwrap, handles)
    for folder in between:
        options += ["--remount-ro", folder]
    return options


def _mount(mount: Mount, bwrap: Bwrap, handles: Handles) -> list[str]:
    path = mount.path
    match mount.kind:
        case Kind.SHOW:
            return ["--ro-bind", path, path]
        case Kind.WRITE | Kind.PIN:
            if bwrap.by_descriptor:
                return ["--bind-fd", str(handles.hold(path)), path]
            return ["--bind", path, path]
        case Kind.GUARD:
            if bwrap.by_descriptor:
                return ["--ro-bind-fd", str(handles.hold(path)), path]
            return ["--ro-bind", path, path]
        case Kind.MASK:
            # Where nothing could be made, the program cannot make anything either.
            return _empty(path) if _is_folder(path, missing_ok=True) else []
        case Kind.HIDE:
            return _empty(path) if _is_folder(path) else ["--ro-bind", "/dev/null", path]


def _is_folder(path: str, *, missing_ok: bool = False) -> bool:
    """Whether there is a folder.

    Raises:
        FileNotFoundError: if there is nothing, or where nothing should be there is something else.
    """
    try:
        is_folder = stat.S_ISDIR(os.lstat(path).st_mode)
    except FileNotFoundError:
        if missing_ok:
            return False
        raise
    if missing_ok and not is_folder:
        raise FileNotFoundError(path)
    return is_folder


def _empty(path: str) -> list[str]:
    """A folder in which nothing is and nothing can come."""
    return ["--perms", "0555", "--tmpfs", path]


def _folders_between(mounts: Sequence[Mount]) -> list[str]:
    """The folders directly in /tmp that only lead to something that is mounted below them."""
    places = {split(mount.path) for mount in mounts}
    if (_TEMPORARY[1:],) in places:
        return []
    top = _TEMPORARY[1:]
    leading = {parts[:2] for parts in places if parts[0] == top and len(parts) > 2}
    return sorted("/" + "/".join(parts) for parts in leading - places)


def _make_mount_points(temporary: str, mounts: Sequence[Mount]) -> None:
    """Make what mounts in /tmp lie over, where programs may have put something else.

    Raises:
        ToolError: if something is in the way.
    """
    for mount in mounts:
        parts = split(mount.path)
        if parts[:1] != (_TEMPORARY[1:],) or len(parts) < 2:
            continue
        first = f"{temporary}/{parts[1]}"
        is_file = len(parts) == 2 and not stat.S_ISDIR(os.lstat(mount.path).st_mode)
        try:
            with suppress(FileExistsError):  # Sandboxes are put together at the same time.
                _make(first, is_file=is_file)
            found = os.lstat(first).st_mode
        except OSError as error:
            raise ToolError(f"cannot make {first} for the sandbox: {error.strerror}") from error
        if stat.S_ISDIR(found) == is_file or stat.S_ISLNK(found):
            raise ToolError(f"{first} is in the way of {mount.path} in the sandbox; remove it")


def _make(path: str, *, is_file: bool) -> None:
    if is_file:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    else:
        os.mkdir(path, 0o755)  # noqa: PTH102 - links are not followed either way
