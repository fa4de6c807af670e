"""Duplicate: a copy of a project in a folder of its own, and what became of it."""

from collections.abc import Mapping
from pathlib import Path

import anyio.to_thread
import msgspec

from hame.base.ports import Processes
from hame.base.snapshot import FileState
from hame.workspace.duplicates.listing import bytes_of, in_pieces, list_files, state_of, text_of
from hame.workspace.snapshots.contents import contents
from hame.workspace.snapshots.git import Git, GitError
from hame.workspace.snapshots.past import Past
from hame.workspace.snapshots.store import Store


class Original(msgspec.Struct, frozen=True, kw_only=True):
    """What is copied. Nothing of it is written."""

    project: str
    """Real path of its folder."""
    store: Store
    """Its snapshots."""
    past: Past
    """Without a tree and without files: it is copied as it is now."""
    processes: Processes
    home: str
    """The user's home, whose rules for ignored files count."""


class Duplicate:
    """A copy that was made; see `hame.workspace.duplicates.making`."""

    def __init__(self, original: Original, root: str, own: Store) -> None:
        """`own` is a store that goes with the copy."""
        self.original, self.root, self.own = original, root, own
        self.found: Mapping[str, FileState] = {}
        """Its files as it began, by path relative to it."""
        self.linked: list[str] = []
        """Folders in it that are links into the project."""
        self.notices: list[str] = []
        """What is not as in the project, for people."""

    async def states(self) -> dict[str, FileState]:
        """Its files as they are now, by path relative to it; ignored and linked ones left out.

        Raises:
            ToolError: if it cannot be read.
        """
        names = await list_files(self.git, self.own.folder / "none.index")
        below = tuple(f"{folder}/" for folder in self.linked)
        kept = [name for name in names if name not in self.linked and not name.startswith(below)]
        found = await in_pieces(kept, lambda name: state_of(f"{self.root}/{name}"))
        return {name: state for name, state in zip(kept, found, strict=True) if state.exists}

    def left_by_session(self) -> dict[str, FileState]:
        """The files as the session left them that the copy began with, by path relative to it."""
        states = {**self.found, **self.original.past.left}
        return {path: state for path, state in states.items() if state.exists}

    async def read(self, path: str, state: FileState) -> bytes | None:
        """The bytes that a path had in that state; None where nobody holds them any more."""
        for root in (self.root, self.original.project):
            place = f"{root}/{path}"
            if state_of(place).same_as(state):
                return await anyio.to_thread.run_sync(bytes_of, place)
        if not state.blob:
            return None
        try:
            read = await contents(self.original.store.objects, self.held, [state.blob])
        except (GitError, OSError):
            return None
        return read[state.blob]

    @property
    def git(self) -> Git:
        """Git on the copy, by a directory of its own and with the project's rules for ignored files."""
        rules = self.own.folder / "ignored"
        if not rules.exists():
            whole = self.own.git(self.original.project, self.original.processes).directory
            rules.write_text(_rules(self.original, whole.excludes_file), "utf-8", "surrogateescape")
        directory = self.own.git(self.root, self.original.processes).directory
        place = msgspec.structs.replace(
            directory, work_tree=self.root, cwd=self.root, excludes_file=str(rules)
        )
        return Git(self.original.processes, place)

    @property
    def held(self) -> Git:
        """Git on the copy, with the objects of the project's snapshots."""
        objects = self.original.store.objects.folder
        place = msgspec.structs.replace(self.git.directory, objects=objects)
        return Git(self.original.processes, place)


def _rules(original: Original, named: str) -> str:
    """The rules for ignored files that hold for a project and do not lie in it as .gitignore."""
    project, home = Path(original.project), Path(original.home)
    within = [
        folder
        for folder in project.parents
        if any((above / ".git").exists() for above in (folder, *folder.parents))
    ]
    files = [
        Path(named) if named else home / ".config/git/ignore",
        *(folder / ".gitignore" for folder in reversed(within)),
        project / ".git/info/exclude",
    ]
    return "\n".join(map(text_of, files))
