"""Resolving a path on the disk, once, and holding the result open.

The walk does what the kernel does (path_resolution(7)), one component at a time on directory
descriptors, but judges every step: links are read and followed here, so where the path leads is
known exactly, and nothing that is swapped afterwards can lead elsewhere.
"""

import os
import re
import stat
from collections import deque

import msgspec
from typing_extensions import override

from hame.base.errors import PathError
from hame.base.path import FileKind, Identity, Resolution, kind_of
from hame.base.ports import Located
from hame.base.zone import Operation, ProjectPaths, Zone, is_below, split, zone_of
from hame.workspace.drives import from_windows
from hame.workspace.refusal import reason

LINK_LIMIT = 40
"""As many links as Linux follows in one path."""
NAME_LIMIT = 255
"""Bytes of a name (NAME_MAX of the usual file systems)."""
PATH_LIMIT = 4096
"""Bytes of a path (PATH_MAX)."""

_O_PATH = getattr(os, "O_PATH", os.O_RDONLY)
DIRECTORY = _O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
"""Opens a directory as a place to act from, even one that may not be listed; never a link."""

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_PROCESS_LINKS = frozenset({"self", "thread-self", "mounts", "net"})
"""Links directly in /proc that are ordinary text."""


class Place(Located):
    """A resolved path: the open directory it lies in, and its name there.

    `missing` are the directories between that directory and the name that do not exist yet.
    """

    def __init__(
        self, resolution: Resolution, descriptor: int, leaf: str, missing: tuple[str, ...]
    ) -> None:
        """Take over the descriptor."""
        self._resolution = resolution
        self._descriptor: int | None = descriptor
        self.leaf = leaf
        self.missing = missing

    @property
    @override
    def resolution(self) -> Resolution:
        """Where it leads."""
        return self._resolution

    @property
    def shown(self) -> str:
        """The path for eyes."""
        return self._resolution.shown

    @property
    def directory(self) -> int:
        """Descriptor of the deepest directory that existed.

        Raises:
            PathError: when the place was closed.
        """
        if self._descriptor is None:
            raise PathError(f"{self.shown} was let go of already; locate it again")
        return self._descriptor

    @override
    def close(self) -> None:
        """Let go of the directory; may be called twice."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)

    def __del__(self) -> None:
        """A place that was forgotten does not keep its descriptor."""
        self.close()


def held(place: Located) -> Place:
    """The place as this room made it.

    Raises:
        TypeError: for a place of another workspace.
    """
    if not isinstance(place, Place):
        raise TypeError("this place was located by another workspace")
    return place


def locate(asked: str, operation: Operation, paths: ProjectPaths) -> Place:
    """Resolve a path as it was written: absolute, below `~`, or relative to the project's root.

    Raises:
        PathError: when it cannot be resolved.
    """
    text = _absolute(asked, operation, paths)
    walk = _Walk(asked, operation)
    try:
        end = walk.run(text)
    except OSError as error:
        walk.close()
        raise PathError(f"cannot use {shown_name(asked)}: {reason(error)}") from error
    except PathError:
        walk.close()
        raise
    written = "/" + "/".join(split(text))
    zone = zone_of(end.real, paths, operation, asked=written)
    return Place(_resolution(asked, end, zone, paths), end.descriptor, end.leaf, end.missing)


def shown_name(name: str) -> str:
    r"""A name for eyes and JSON: bytes that are no UTF-8 become `\xff`."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _absolute(asked: str, operation: Operation, paths: ProjectPaths) -> str:
    """The text to walk: `~` expanded, relative paths put below the root. Nothing is normalised.

    Raises:
        PathError: for a text that is no path.
    """
    if not asked:
        raise PathError("the path is empty; use . for the project's folder")
    if "\0" in asked:
        raise PathError("the path holds a NUL byte")
    try:
        size = len(asked.encode())
    except UnicodeEncodeError as error:
        raise PathError("the path holds characters that are not valid Unicode") from error
    if size > PATH_LIMIT:
        raise PathError(f"the path is too long ({size} bytes; the limit is {PATH_LIMIT})")
    if _SCHEME.match(asked):
        raise PathError(f"{asked} is a URL, not a path; give the path alone")
    if asked == "~" or asked.startswith("~/"):
        if not paths.home:
            raise PathError("~ cannot be used here: the home folder is not known")
        return f"{paths.home}/{asked[2:]}"
    if paths.drives:
        asked = from_windows(asked, paths.drives)
    if asked.startswith("~"):
        raise PathError(f"{asked}: ~ with a name is not expanded; write ./{asked} for such a file")
    if not asked.startswith("/"):
        return f"{paths.root}/{asked}"
    place = paths.place_of(asked)
    looks = operation in {Operation.READ, Operation.LIST}
    # The user may speak of a file of the machine's own /tmp.
    return asked if looks and place != asked and not os.path.lexists(place) else place


class _End(msgspec.Struct, frozen=True):
    """Where a walk ended."""

    parts: tuple[str, ...]
    """Components of the real path, missing ones included."""
    descriptor: int
    leaf: str
    missing: tuple[str, ...]
    found: os.stat_result | None
    link_target: str | None

    @property
    def real(self) -> str:
        """The real path."""
        return "/" + "/".join(self.parts)


class _Walk:
    """One walk. Holds one directory open at a time."""

    def __init__(self, asked: str, operation: Operation) -> None:
        """Begin at the root of the file system."""
        self._asked = shown_name(asked)
        self._keep_link = operation is Operation.DELETE
        self._descriptor = os.open("/", DIRECTORY)
        self._parts: list[str] = []
        self._passed = [_identity(os.fstat(self._descriptor))]
        self._left: deque[str] = deque()
        self._must_be_directory = False
        self._links = 0

    def close(self) -> None:
        """Let go, when the walk did not reach an end."""
        os.close(self._descriptor)

    def run(self, text: str) -> _End:
        """Walk to the end of the path."""
        self._push(text)
        while self._left:
            name = self._left.popleft()
            if name == "..":
                self._go_up()
                continue
            end = self._step(name)
            if end is not None:
                return end
        return self._stand_here()

    def _push(self, text: str) -> None:
        """Put a path's components before those that are left."""
        names = text.split("/")
        if not self._left and names[-1] in {"", ".", ".."}:
            self._must_be_directory = True
        self._left.extendleft(name for name in reversed(names) if name not in {"", "."})

    def _step(self, name: str) -> _End | None:
        """Take one component; the end of the walk, if this is it.

        Raises:
            PathError: when it cannot be passed.
        """
        _check_length(name)
        last = not self._left
        try:
            found = os.stat(name, dir_fd=self._descriptor, follow_symlinks=False)
        except FileNotFoundError:
            return self._nothing_here(name)
        if stat.S_ISLNK(found.st_mode):
            target = os.readlink(name, dir_fd=self._descriptor)
            if last and self._keep_link and not self._must_be_directory:
                return self._end(name, found, shown_name(target))
            self._follow(name, target)
            return None
        if last:
            if self._must_be_directory and not stat.S_ISDIR(found.st_mode):
                raise PathError(f"{self._asked} is not a directory")
            return self._end(name, found)
        if not stat.S_ISDIR(found.st_mode):
            raise PathError(f"{self._asked}: {shown_name(name)} is not a directory")
        self._go_down(name)
        return None

    def _end(self, name: str, found: os.stat_result, link_target: str | None = None) -> _End:
        parts = (*self._parts, name)
        return _End(parts, self._descriptor, name, (), found, link_target)

    def _follow(self, name: str, target: str) -> None:
        self._links += 1
        if self._links > LINK_LIMIT:
            raise PathError(f"{self._asked}: too many symbolic links, perhaps a loop")
        if self._parts[:1] == ["proc"] and not (len(self._parts) == 1 and name in _PROCESS_LINKS):
            raise PathError(f"{self._asked}: links of running processes are not followed")
        self._push(target)
        if target.startswith("/"):
            self._go_to_root()

    def _go_down(self, name: str) -> None:
        self._enter(os.open(name, DIRECTORY, dir_fd=self._descriptor))
        self._parts.append(name)
        self._passed.append(_identity(os.fstat(self._descriptor)))

    def _go_up(self) -> None:
        """Back to the directory this one was entered from, which must still hold it.

        Raises:
            PathError: when this directory was moved away meanwhile.
        """
        if not self._parts:
            return
        self._enter(os.open("..", DIRECTORY, dir_fd=self._descriptor))
        self._parts.pop()
        self._passed.pop()
        if _identity(os.fstat(self._descriptor)) != self._passed[-1]:
            raise PathError(f"{self._asked}: a directory was moved meanwhile; try again")

    def _go_to_root(self) -> None:
        self._enter(os.open("/", DIRECTORY))
        self._parts.clear()
        del self._passed[1:]

    def _enter(self, descriptor: int) -> None:
        os.close(self._descriptor)
        self._descriptor = descriptor

    def _nothing_here(self, name: str) -> _End:
        """The rest of the path does not exist: it may be made.

        Raises:
            PathError: when it leads up again, so that its end cannot be known.
        """
        rest = (name, *self._left)
        if ".." in rest:
            raise PathError(f"{self._asked}: no such directory: {shown_name(name)}")
        for part in rest:
            _check_length(part)
        return _End((*self._parts, *rest), self._descriptor, rest[-1], rest[:-1], None, None)

    def _stand_here(self) -> _End:
        """The path ended on a directory that was entered: hold the one it lies in.

        Raises:
            PathError: when it was moved away meanwhile.
        """
        here = os.fstat(self._descriptor)
        if not self._parts:
            return _End((), self._descriptor, ".", (), here, None)
        name = self._parts[-1]
        self._go_up()
        found = os.stat(name, dir_fd=self._descriptor, follow_symlinks=False)
        if _identity(found) != _identity(here):
            raise PathError(f"{self._asked}: a directory was moved meanwhile; try again")
        return self._end(name, found)


def _identity(found: os.stat_result) -> Identity:
    return Identity(found.st_dev, found.st_ino)


def _check_length(name: str) -> None:
    if len(os.fsencode(name)) > NAME_LIMIT:
        raise PathError(f"a name in the path is too long (the limit is {NAME_LIMIT} bytes)")


def _resolution(asked: str, end: _End, zone: Zone, paths: ProjectPaths) -> Resolution:
    found = end.found
    return Resolution(
        asked=asked,
        real=shown_name(end.real),
        shown=shown_name(_relative(end.parts, paths.root) or paths.name_of(end.real)),
        zone=zone,
        kind=FileKind.MISSING if found is None else kind_of(found.st_mode),
        identity=None if found is None else _identity(found),
        size=0 if found is None else found.st_size,
        links=found.st_nlink if found is not None and stat.S_ISREG(found.st_mode) else 1,
        link_target=end.link_target,
    )


def _relative(parts: tuple[str, ...], root: str) -> str | None:
    """The path below the root, `.` for the root itself; None when it is not in it."""
    if not is_below(parts, root):
        return None
    return "/".join(parts[len(split(root)) :]) or "."
