"""What is in the project, for those who must choose among it.

The list of files is made once and made again when a directory or an ignore file has changed.
Hidden files, ignored ones, and those that hold secrets are not in it.
"""

import os
import time
from collections.abc import Sequence
from pathlib import Path

from typing_extensions import override

from hame.base.errors import PathError
from hame.base.path import FileKind
from hame.base.ports import Index
from hame.base.zone import Operation, Zone, is_secret
from hame.workspace import reading
from hame.workspace.local import LocalWorkspace
from hame.workspace.locate import DIRECTORY, shown_name
from hame.workspace.search import Scope
from hame.workspace.textcode import decode

TEXT_LIMIT = 1024 * 1024
"""Largest file whose text is given, in bytes."""

_IGNORE_FILES = (".gitignore", ".ignore", ".rgignore")
_LEFT_OUT = frozenset({"__pycache__", "node_modules"})
"""Folders that nobody means, also where no ignore file says so."""
_NOT_ASKED = "?"
_CLOCK_STEP_NS = 50_000_000
"""Changes this close to the time of looking may share a time stamp with it."""


class LocalIndex(Index):
    """The files of a workspace's project."""

    def __init__(self, workspace: LocalWorkspace) -> None:
        """Look at nothing yet."""
        self._workspace = workspace
        self._root = workspace.paths.root
        self._files: tuple[str, ...] = ()
        self._directories: tuple[str, ...] = (".",)
        self._command: str | None = _NOT_ASKED
        self._stamps: dict[str, int] | None = None

    @override
    def files(self) -> Sequence[str]:
        """Paths of the files that are not ignored, relative to the root, sorted."""
        self._refresh()
        return self._files

    @override
    def directories(self) -> Sequence[str]:
        """Paths of the directories that hold them, `.` first, sorted."""
        self._refresh()
        return self._directories

    @override
    def text(self, path: str) -> str | None:
        """A file's text; None when it is missing, binary, secret or larger than 1 MiB."""
        try:
            place = self._workspace.locate(path, Operation.READ)
        except PathError:
            return None
        try:
            found = place.resolution
            if found.kind is not FileKind.FILE or found.size > TEXT_LIMIT:
                return None
            if found.zone not in {Zone.PROJECT, Zone.PROTECTED}:
                return None
            return decode(reading.read(place, TEXT_LIMIT), found.shown).text
        except PathError:
            return None
        finally:
            place.close()

    @override
    def test_command(self) -> str | None:
        """The command that runs the project's tests, as far as its manifests tell."""
        from hame.workspace import manifest

        files = self.files()
        if self._command is _NOT_ASKED:
            self._command = manifest.test_command(files, self.text)
        return self._command

    def _refresh(self) -> None:
        if self._stamps is not None and all(
            _stamp(path) == stamp for path, stamp in self._stamps.items()
        ):
            return
        began = time.time_ns()
        found = self._walk()
        self._files = tuple(sorted(path for path, kind in found if kind is FileKind.FILE))
        holding = {folder for path in self._files for folder in _folders(path)}
        self._directories = (".", *sorted(holding - {"."}))
        self._command = _NOT_ASKED
        every = {path for path, kind in found if kind is FileKind.DIRECTORY}
        stamps = {path: _stamp(path) for path in self._watched({".", *every})}
        recent = any(stamp > began - _CLOCK_STEP_NS for stamp in stamps.values())
        self._stamps = None if recent else stamps

    def _walk(self) -> list[tuple[str, FileKind]]:
        # The walk, and what reads manifests, load much that a first request does not need.
        from hame.workspace.ownsearch import entries

        descriptor = os.open(self._root, DIRECTORY)
        try:
            found = [
                (shown_name(path), kind) for path, kind in entries(Scope(descriptor, self._root))
            ]
        finally:
            os.close(descriptor)
        return [(path, kind) for path, kind in found if not _left_out(path)]

    def _watched(self, folders: set[str]) -> list[str]:
        """What must be as it was for the lists to be right: directories, ignore files, manifests."""
        from hame.workspace import manifest

        names = [f"{folder}/{name}" for folder in folders for name in ("", *_IGNORE_FILES)]
        return [f"{self._root}/{name}" for name in (*names, *manifest.NAMES)]


def _left_out(path: str) -> bool:
    parts = tuple(path.split("/"))
    return not _LEFT_OUT.isdisjoint(parts) or is_secret(parts)


def _folders(path: str) -> list[str]:
    """All directories above a path, `.` among them."""
    *names, _ = path.split("/")
    return [".", *("/".join(names[: depth + 1]) for depth in range(len(names)))]


def _stamp(path: str) -> int:
    """When something changed last; 0 when it is not there."""
    try:
        return Path(path).stat().st_mtime_ns
    except OSError:
        return 0
