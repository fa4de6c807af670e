"""The project's folder on this machine as a Workspace."""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import anyio.to_thread
import msgspec
from typing_extensions import override

from hame.base.errors import ConfigError, PathError
from hame.base.path import DirectoryEntry, FileText, Match, TextWindow
from hame.base.ports import FileChange, Located, Overlay, SearchQuery, Workspace
from hame.base.zone import Operation, ProjectPaths, is_below, split
from hame.workspace import reading, search, tree, writing
from hame.workspace.buffers import Buffers, Written
from hame.workspace.drives import find_drives
from hame.workspace.locate import Place, held, locate
from hame.workspace.search import Engine
from hame.workspace.textcode import digest_of, encode

if TYPE_CHECKING:
    from hame.workspace.batch import Step


class LocalWorkspace(Workspace):
    """Files of a project, acted on through places that are held open."""

    def __init__(self, paths: ProjectPaths, engine: Engine) -> None:
        """Serve a project; its paths must be real ones."""
        self._paths = paths
        self._engine = engine
        self._buffers = Buffers(None)
        self._seen: dict[str, str] = {}

    def attach(self, overlay: Overlay | None) -> None:
        """Read, match and edit from now on what is open in this editor, saved or not."""
        self._buffers = Buffers(overlay)

    @property
    @override
    def paths(self) -> ProjectPaths:
        """Where the project is."""
        return self._paths

    def share_temporary(self, folder: str, alias: str) -> None:
        """Count the private folder of commands as the project's; `alias` is what they call it.

        The folder need not be there yet. Called before anything was located.
        """
        real = os.path.realpath(folder)
        self._paths = msgspec.structs.replace(self._paths, temporary=real, temporary_alias=alias)

    @override
    def locate(self, path: str, operation: Operation) -> Place:
        """Resolve a path component by component, links included, and hold it open.

        A link at the very end is not followed for deleting.

        Raises:
            PathError: for a path that cannot be resolved.
        """
        return locate(path, operation, self._paths)

    @override
    async def read_bytes(self, place: Located, limit: int | None = None) -> bytes:
        """A file's bytes, at most `limit`.

        Raises:
            PathError: if it cannot be read.
        """
        return await anyio.to_thread.run_sync(reading.read, held(place), limit)

    @override
    async def read_text(self, place: Located, *, remember: bool = True) -> FileText:
        """A text file, decoded.

        Raises:
            PathError: if it cannot be read as text.
        """
        here = held(place)
        file = await self._buffers.read(here)
        if remember:
            self._seen[here.resolution.real] = file.digest
        return file

    @override
    async def read_window(self, place: Located, first: int, count: int, size: int) -> TextWindow:
        """Lines of a text file of any size, never the whole file.

        Raises:
            PathError: if it cannot be read as text.
        """
        from hame.workspace.window import read_window

        here = held(place)
        return await anyio.to_thread.run_sync(read_window, here, first, count, size)

    @override
    async def write_text(
        self, place: Located, text: str, like: FileText | None, *, replace: bool
    ) -> None:
        """Write a whole file atomically, in the encoding of `like` (UTF-8 without one).

        Raises:
            PathError: if it cannot be written; no partial file is left.
        """
        here = held(place)
        data = encode(text, like, here.shown)
        if like is not None:
            await self._buffers.require(here, like)
        if await self._buffers.is_open(here):
            from hame.workspace.batch import Step

            before = like or (await self._buffers.read(here) if replace else None)
            step = Step(place=here, before=before, data=data)
            await self._together([step], {here.resolution.real: Written(text, digest_of(data))})
        else:
            await anyio.to_thread.run_sync(lambda: writing.write(here, data, like, replace=replace))
        self._seen[here.resolution.real] = digest_of(data)

    @override
    async def apply(self, changes: Sequence[FileChange]) -> Sequence[str]:
        """Change several files, on disk and where they are open in an editor: all or none.

        Raises:
            PathError: if one of them cannot be changed, or is not as it was; nothing was changed.
        """
        from hame.workspace.steps import plan_step

        plans = [plan_step(change) for change in changes]
        for plan in plans:
            if plan.step.before is not None:
                await self._buffers.require(plan.step.place, plan.step.before)
        written = {
            plan.step.place.resolution.real: Written(plan.text, digest_of(plan.step.data))
            for plan in plans
            if plan.text is not None and plan.step.data is not None and plan.step.target is None
        }
        await self._together([plan.step for plan in plans], written)
        for plan in plans:
            self._note(plan.step)
        return [shown for plan in plans for shown in plan.shown]

    async def _together(self, steps: "list[Step]", files: Mapping[str, Written]) -> None:
        """Commit steps on disk, then show the editor what became of the files it has open.

        Raises:
            PathError: when either refuses; both are as they were.
        """
        from hame.workspace.batch import Batch

        batch = Batch(steps)
        await anyio.to_thread.run_sync(batch.commit)
        try:
            await self._buffers.write(files)
        except BaseException:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(batch.roll_back)
            raise
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(batch.finish)

    def _note(self, step: "Step") -> None:
        """Remember what the model has now seen of a file."""
        real = step.place.resolution.real
        if step.delete or step.target is not None:
            self._carry(real, step.target.resolution.real if step.target else None)
        if step.data is not None:
            self._seen[(step.target or step.place).resolution.real] = digest_of(step.data)

    @override
    def was_read(self, place: Located) -> str | None:
        """Digest of the file as the model last saw it; None when it never did."""
        return self._seen.get(place.resolution.real)

    @override
    async def make_directory(self, place: Located) -> None:
        """Make a directory and its missing parents.

        Raises:
            PathError: if something else is there.
        """
        await anyio.to_thread.run_sync(tree.make, held(place))

    @override
    async def move(self, source: Located, target: Located) -> None:
        """Move a file or directory; never onto something that exists.

        Raises:
            PathError: if it cannot be moved.
        """
        self._refuse_root(source, "moved")
        await anyio.to_thread.run_sync(tree.move, held(source), held(target))
        self._carry(source.resolution.real, target.resolution.real)

    @override
    async def delete(self, place: Located) -> None:
        """Delete a file, or a directory with all that is in it. Links are deleted, not followed.

        Raises:
            PathError: if it cannot be deleted.
        """
        self._refuse_root(place, "deleted")
        await anyio.to_thread.run_sync(tree.delete, held(place))
        self._carry(place.resolution.real, None)

    @override
    async def list_directory(self, place: Located) -> Sequence[DirectoryEntry]:
        """The names in a directory, sorted, directories first.

        Raises:
            PathError: if it is not a readable directory.
        """
        return await anyio.to_thread.run_sync(tree.listing, held(place))

    @override
    async def find_files(
        self, pattern: str, place: Located, limit: int
    ) -> tuple[Sequence[str], int]:
        """Files below a directory whose path matches a glob: the first `limit`, and how many.

        Raises:
            ToolError: for an empty pattern, or a place that is no directory.
        """
        return await search.find_files(self._engine, pattern, held(place), limit)

    @override
    async def search_text(
        self, query: SearchQuery, place: Located, limit: int
    ) -> tuple[Sequence[Match], int]:
        """Lines that match: the first `limit` in path order, and how many.

        Raises:
            ToolError: for an invalid regular expression.
        """
        return await search.search_text(self._engine, query, held(place), limit)

    def _refuse_root(self, place: Located, done: str) -> None:
        """Keep the folders that hold everything.

        Raises:
            PathError: for the project's folder, an added one, or one that holds them.
        """
        parts = split(place.resolution.real)
        for root in (self._paths.root, *self._paths.added):
            if split(root)[: len(parts)] == parts:
                raise PathError(f"{place.resolution.shown} holds the project and is not {done}")

    def _carry(self, source: str, target: str | None) -> None:
        """What was seen of a file, or of those in a directory, follows its new name."""
        for path in [path for path in self._seen if is_below(split(path), source)]:
            digest = self._seen.pop(path)
            if target is not None:
                self._seen[target + path[len(source) :]] = digest


def open_workspace(
    root: str,
    *,
    added: Sequence[str] = (),
    home: str,
    results: str = "",
    config: str = "",
    rg: str | None = None,
    drives: str | None = None,
) -> LocalWorkspace:
    """Open a project.

    Args:
        root: the project's folder.
        added: folders that count as part of it.
        home: what `~` stands for.
        results: folder of results that were kept whole.
        config: hame's own configuration.
        rg: the ripgrep to search with; None: the one installed beside Python, if there is one;
            empty: none, the search is done here.
        drives: the folder in which Windows' drives are mounted; None: as it is on this machine.

    Raises:
        ConfigError: for a folder that is not there.
    """
    paths = ProjectPaths(
        root=_real_folder(root),
        added=tuple(_real_folder(folder) for folder in added),
        home=home,
        results=os.path.realpath(results) if results else "",
        config=os.path.realpath(config) if config else "",
        drives=find_drives() if drives is None else drives,
    )
    return LocalWorkspace(paths, _engine(rg))


def _engine(rg: str | None) -> Engine:
    program = bundled_ripgrep() if rg is None else rg
    if not program:
        from hame.workspace.ownsearch import OwnSearch

        return OwnSearch()
    from hame.workspace.process import LocalProcesses
    from hame.workspace.ripgrep import Ripgrep

    return Ripgrep(program, LocalProcesses({}))


def bundled_ripgrep() -> str:
    """The ripgrep that was installed together with hame; empty when there is none."""
    program = Path(sys.executable).parent / "rg"
    return str(program) if os.access(program, os.X_OK) else ""


def _real_folder(folder: str) -> str:
    real = Path(os.path.realpath(folder))
    if not real.is_dir():
        raise ConfigError(f"there is no folder {folder}", hint="Name a folder that exists.")
    return str(real)
