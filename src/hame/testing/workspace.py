"""MemoryWorkspace: a project that touches no disk."""

import copy
import hashlib
from collections.abc import Mapping, Sequence

import msgspec

from hame.base.edit import apply_edits
from hame.base.errors import PathError, ToolError
from hame.base.path import DirectoryEntry, FileKind, FileText, Match, TextWindow
from hame.base.ports import FileChange, Located, SearchQuery
from hame.base.zone import Operation, ProjectPaths, split
from hame.testing.memory import search, textcode
from hame.testing.memory.places import MemoryPlace, locate
from hame.testing.memory.tree import Parts, Tree


class MemoryWorkspace:
    """Implements `hame.base.ports.Workspace` in memory; it knows no links and no rights."""

    def __init__(
        self, files: Mapping[str, str | bytes] | None = None, *, root: str = "/project"
    ) -> None:
        """Begin with these files, by their paths below the root."""
        self._paths = ProjectPaths(root=root, home="/home/user", results="/home/user/results")
        self._root = split(root)
        self._tree = Tree()
        self._tree.make_folders(self._root)
        self._tree.make_folders(split(self._paths.home))
        self._seen: dict[Parts, str] = {}
        for path, content in (files or {}).items():
            self.put(path, content)

    @property
    def paths(self) -> ProjectPaths:
        """Where the project is."""
        return self._paths

    def put(self, path: str, content: str | bytes) -> None:
        """A file with its folders, as if the user had written it; the path is below the root."""
        data = content.encode() if isinstance(content, str) else content
        self._tree.put((*self._root, *split(path)), data)

    def get(self, path: str) -> bytes | None:
        """A file's bytes; None when it is not there. The path is below the root."""
        return self._tree.data((*self._root, *split(path)))

    def locate(self, path: str, operation: Operation) -> Located:
        """Resolve a path.

        Raises:
            PathError: for a path that cannot be resolved.
        """
        return locate(self._tree, self._paths, path, operation)

    async def read_bytes(self, place: Located, limit: int | None = None) -> bytes:
        """A file's bytes, at most `limit`.

        Raises:
            PathError: if it is no file.
        """
        return self._data(place)[:limit]

    async def read_text(self, place: Located, *, remember: bool = True) -> FileText:
        """A text file, decoded.

        Raises:
            PathError: if it is no file, or binary.
        """
        data = self._data(place)
        text, encoding, bom = textcode.decode(data, place.resolution.shown)
        digest = _digest(data)
        if remember:
            self._seen[_parts(place)] = digest
        return FileText(text=text, encoding=encoding, bom=bom, digest=digest)

    async def write_text(
        self, place: Located, text: str, like: FileText | None, *, replace: bool
    ) -> None:
        """Write a whole file, in the encoding of `like`.

        Raises:
            PathError: if it exists and is not to be replaced, changed since `like`, or is no file.
        """
        parts, shown = _parts(place), place.resolution.shown
        encoding, bom = (like.encoding, like.bom) if like else ("utf-8", False)
        data = textcode.encode(text, encoding, shown, bom=bom)
        before = self._tree.data(parts)
        if self._tree.kind(parts) is FileKind.DIRECTORY:
            raise PathError(f"{shown} is a directory")
        if before is not None and not replace:
            raise PathError(f"{shown} already exists")
        if like is not None and (before is None or _digest(before) != like.digest):
            raise PathError(f"{shown} was changed since it was read; nothing was written")
        self._refuse_files_above(parts, shown)
        self._tree.put(parts, data)
        self._seen[parts] = _digest(data)

    async def read_window(self, place: Located, first: int, count: int, size: int) -> TextWindow:
        """Some lines of a text file; `size` bytes of them at about the most.

        Raises:
            PathError: if it is no file, or binary.
        """
        text, _, _ = textcode.decode(self._data(place), place.resolution.shown)
        rest = text.removesuffix("\n").split("\n")[first - 1 :] if text else []
        lines: list[str] = []
        for line in rest[:count]:
            if size <= 0:
                break
            lines.append(line.removesuffix("\r"))
            size -= len(line.encode()) + 1
        cut = tuple(0 for _ in lines)
        return TextWindow(first=first, lines=tuple(lines), cut=cut, more=len(rest) > len(lines))

    async def apply(self, changes: Sequence[FileChange]) -> Sequence[str]:
        """Change several files: all of them or none.

        Raises:
            PathError: if one of them cannot be changed, or is not as it was; nothing was changed.
        """
        tree, seen = copy.deepcopy(self._tree), dict(self._seen)
        changed: list[str] = []
        try:
            for change in changes:
                changed += await self._apply_one(change)
        except PathError:
            self._tree, self._seen = tree, seen
            raise
        return changed

    async def _apply_one(self, change: FileChange) -> list[str]:
        place, before = change.place, change.before
        shown = place.resolution.shown
        if before is not None and _digest(self._data(place)) != before.digest:
            raise PathError(f"{shown} was changed since it was read; nothing was written")
        if change.delete:
            await self.delete(place)
            return [shown]
        edited = bool(change.edits) or before is None
        if edited:
            try:
                text = apply_edits(before.text if before else "", change.edits)
            except ValueError as error:
                raise PathError(f"cannot change {shown}: {error}") from error
            await self.write_text(place, text, before, replace=before is not None)
        if change.target is None:
            return [shown] if edited else []
        await self.move(place, change.target)
        return [shown, change.target.resolution.shown]

    def was_read(self, place: Located) -> str | None:
        """Digest of the file as the model last saw it."""
        return self._seen.get(_parts(place))

    async def make_directory(self, place: Located) -> None:
        """Make a directory and its missing parents.

        Raises:
            PathError: if a file is there.
        """
        parts, shown = _parts(place), place.resolution.shown
        self._refuse_files_above((*parts, ""), shown)
        self._tree.make_folders(parts)

    async def move(self, source: Located, target: Located) -> None:
        """Move a file or directory.

        Raises:
            PathError: if it is not there, or something is where it should go.
        """
        here, there = self._changing(source), _parts(target)
        if self._tree.kind(there) is not FileKind.MISSING:
            raise PathError(f"{target.resolution.shown} already exists; nothing was moved")
        if there[: len(here)] == here:
            raise PathError(f"{source.resolution.shown} cannot be moved into itself")
        self._refuse_files_above(there, target.resolution.shown)
        self._tree.move(here, there)
        for each in self._seen_below(here):
            self._seen[there + each[len(here) :]] = self._seen.pop(each)

    async def delete(self, place: Located) -> None:
        """Delete a file, or a directory with all that is in it.

        Raises:
            PathError: if it is not there, or holds the project.
        """
        parts = self._changing(place)
        self._tree.delete(parts)
        for each in self._seen_below(parts):
            del self._seen[each]

    async def list_directory(self, place: Located) -> Sequence[DirectoryEntry]:
        """The names in a directory, directories first.

        Raises:
            PathError: if it is not a directory.
        """
        parts = _parts(place)
        self._refuse_no_folder(place)
        entries = [
            DirectoryEntry(name=each[-1], kind=self._tree.kind(each), size=len(node.data or b""))
            for each, node in self._tree.children(parts)
        ]
        return sorted(entries, key=lambda entry: (entry.kind is FileKind.FILE, entry.name))

    async def find_files(
        self, pattern: str, place: Located, limit: int
    ) -> tuple[Sequence[str], int]:
        """Files below a directory whose path matches: the first `limit`, and how many.

        Raises:
            ToolError: for an empty pattern.
            PathError: when the place is not a directory.
        """
        if not pattern.strip():
            raise ToolError("the pattern is empty; **/* finds every file")
        self._refuse_no_folder(place)
        found = search.files_matching(self._tree, self._root, _parts(place), pattern)
        return [self._shown(file) for file in found[:limit]], len(found)

    async def search_text(
        self, query: SearchQuery, place: Located, limit: int
    ) -> tuple[Sequence[Match], int]:
        """Lines that match: the first `limit`, and how many.

        Raises:
            ToolError: for what cannot be searched for.
            PathError: when nothing is there.
        """
        parts = _parts(place)
        kind = self._tree.kind(parts)
        if kind is FileKind.MISSING:
            raise PathError(f"no such file or directory: {place.resolution.shown}")
        files = [parts]
        if kind is FileKind.DIRECTORY:
            files = search.files_matching(self._tree, self._root, parts, query.glob)
        found = list(search.lines_matching(self._tree, files, query))
        shown = [
            msgspec.structs.replace(line, path=self._shown(split(line.path)))
            for line in found[:limit]
        ]
        return shown, len(found)

    def _data(self, place: Located) -> bytes:
        parts = _parts(place)
        data = self._tree.data(parts)
        if data is None:
            if self._tree.kind(parts) is FileKind.DIRECTORY:
                raise PathError(f"{place.resolution.shown} is not a file but a directory")
            raise PathError(f"no such file: {place.resolution.shown}")
        return data

    def _changing(self, place: Located) -> Parts:
        # Something that is to be moved or deleted.
        parts, shown = _parts(place), place.resolution.shown
        if self._root[: len(parts)] == parts:
            raise PathError(f"{shown} holds the project and stays where it is")
        if self._tree.kind(parts) is FileKind.MISSING:
            raise PathError(f"no such file or directory: {shown}")
        return parts

    def _refuse_no_folder(self, place: Located) -> None:
        kind = self._tree.kind(_parts(place))
        if kind is FileKind.MISSING:
            raise PathError(f"no such directory: {place.resolution.shown}")
        if kind is FileKind.FILE:
            raise PathError(f"{place.resolution.shown} is not a directory")

    def _refuse_files_above(self, parts: Parts, shown: str) -> None:
        if any(self._tree.data(parts[:end]) is not None for end in range(len(parts))):
            raise PathError(f"{shown}: a file is in the way of the directory")

    def _seen_below(self, parts: Parts) -> list[Parts]:
        return [each for each in self._seen if each[: len(parts)] == parts]

    def _shown(self, parts: Parts) -> str:
        inside = parts[: len(self._root)] == self._root
        return "/".join(parts[len(self._root) :]) if inside else "/" + "/".join(parts)


def _parts(place: Located) -> Parts:
    if not isinstance(place, MemoryPlace):
        raise TypeError("this place was located by another workspace")
    return place.parts


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
