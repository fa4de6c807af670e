"""Capturing all files of a folder: what has changed since the last time, brought into a tree.

The list of what has changed comes from one `git ls-files` over hame's own index, as fast as `git
status`; only when it names something is anything hashed. Files of the user's that git tracks though
they are ignored count as not ignored, and so do the files of nested repositories and submodules.
"""

import os
import stat
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import anyio
import anyio.to_thread
import msgspec

from hame.base.snapshot import EXECUTABLE, REGULAR, FileState
from hame.workspace.private import write_private
from hame.workspace.snapshots.disk import LARGEST, mark_of
from hame.workspace.snapshots.git import Git, GitError, split
from hame.workspace.snapshots.ignored import small_ignored
from hame.workspace.snapshots.treediff import file_mode

EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
"""git's id of a tree without files."""
_MOST_FILES = 50_000
_MOST_BYTES = 512 * 1024 * 1024
"""New files and bytes that one capture takes in; the rest stays out and is said."""
_DEEPEST = 3
"""Repositories within repositories that are looked into."""
_IN_THREAD = 500
"""From so many paths on they are looked at in a thread."""
_PLAIN_BITS = frozenset({0o644, 0o755, 0o664, 0o775})


class Capture(msgspec.Struct, frozen=True, kw_only=True):
    """All files of a folder at one moment."""

    tree: str
    left: dict[str, FileState] = {}
    """Files that are too large to be held, by path relative to the folder."""
    forced: tuple[str, ...] = ()
    """Ignored files that the tree holds because they were asked for."""
    not_held: tuple[str, ...] = ()
    """Ignored places that were asked for and are too large."""
    beyond: int = 0
    """Files that did not fit within the limits."""


class _Sifted(msgspec.Struct):
    """What is to be done with the paths that are not as the index says."""

    take: list[str] = []
    gone: list[str] = []
    left: dict[str, FileState] = {}
    beyond: int = 0


class _LinkFinder:
    """Tells paths that are reached through a link from others."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._seen: dict[str, bool] = {"": False}

    def above(self, path: str) -> bool:
        """Whether a folder above it is a link."""
        folder = path.rpartition("/")[0]
        if folder not in self._seen:
            here = Path(self._root, folder).is_symlink()
            self._seen[folder] = here or self.above(folder)
        return self._seen[folder]


class Capturer:
    """Captures one folder into one session's index."""

    def __init__(self, git: Git, index: Path) -> None:
        """Nothing is done before `take`."""
        self._git = git
        self._index = index
        self._tree = ""
        self._left: dict[str, FileState] = {}
        self._beyond = 0
        self._busy = anyio.Lock()
        self.permissions: dict[str, int] = {}
        """Unusual permission bits by path relative to the folder, as far as they were seen."""

    @property
    def git(self) -> Git:
        """Git on this folder."""
        return self._git

    @property
    def root(self) -> str:
        """The folder."""
        return self._git.directory.cwd

    @property
    def held(self) -> int:
        """How many files the index holds (gitformat-index(5): a number in its header)."""
        try:
            with self._index.open("rb") as file:
                header = file.read(12)
        except OSError:
            return 0
        return int.from_bytes(header[8:12], "big")

    async def take(
        self,
        *,
        again: bool = True,
        ignored: bool = False,
        forced: Iterable[str] = (),
        prefixes: Sequence[str] = (),
    ) -> Capture:
        """Capture the folder.

        Args:
            again: Look at the disk, though a capture was taken before.
            ignored: Take small ignored files in, too.
            forced: Ignored files that are looked at again, whether they still exist or not.
            prefixes: Ignored files below these paths (relative) are taken in first.

        Raises:
            GitError: if it cannot be done.
        """
        async with self._busy:
            if self._look("") is None:
                self._tree = ""
                return Capture(tree=EMPTY_TREE)
            if again or not self._tree:
                self._beyond = await self._bring_up_to_date()
            if not self._tree:
                self._tree = (await self._git.run("write-tree", index=self._index)).decode().strip()
            found = Capture(tree=self._tree, left=dict(self._left), beyond=self._beyond)
            wanted, left_out = tuple(forced), ()
            if ignored:
                wanted, left_out = await small_ignored(self._git, self._index, prefixes)
            return (
                await self._with_ignored(found, wanted, left_out) if wanted or left_out else found
            )

    async def files(self) -> list[str]:
        """All files of the folder that a capture would take, by path relative to it.

        Raises:
            GitError: if git cannot tell.
        """
        return (await self._changed())[1]

    def with_permissions(self, path: str) -> Callable[[FileState], FileState]:
        """Add to a state what is known of the permission bits of that path."""
        bits = self.permissions.get(path)

        def known(state: FileState) -> FileState:
            if bits is None or state.mode not in {REGULAR, EXECUTABLE}:
                return state
            return msgspec.structs.replace(state, permissions=bits)

        return known

    async def _bring_up_to_date(self) -> int:
        """Make the index what is on disk; how many files did not fit."""
        changed, others = await self._changed()
        sifted = await self._sifted(changed, others)
        self._left = sifted.left
        if sifted.gone or sifted.take:
            self._remove_lock()
            self._tree = ""
            await self._git.update(sifted.gone, self._index, "--force-remove")
            await self._git.update(sifted.take, self._index)
        return sifted.beyond

    async def _changed(self) -> tuple[list[str], list[str]]:
        """Paths in the index that are not as it says, and paths that it does not have."""
        if self._index.exists():
            listed = await self._listed("-t", "-m", "-d", "-o", index=self._index)
            others: list[str] = []
        else:
            listed = await self._listed("-t", "-o", index=self._index)
            others = await self._git.tracked_though_ignored()
        changed: list[str] = []
        for line in listed:
            path = line[2:]
            if path.endswith("/"):
                others += await self._nested(path)
            else:
                (others if line[0] == "?" else changed).append(path)
        return list(dict.fromkeys(changed)), list(dict.fromkeys(others))

    async def _listed(self, *flags: str, index: Path | None) -> list[str]:
        printed = await self._git.run("ls-files", "-z", *flags, "--exclude-standard", index=index)
        return split(printed)

    async def _nested(self, folder: str, depth: int = 1) -> list[str]:
        """The files of a repository within the folder, which git lists as one name."""
        inner = self._git.within(folder)
        try:
            printed = await inner.run("ls-files", "-z", "-o", "--exclude-standard")
        except GitError:
            return []
        files: list[str] = []
        for path in split(printed):
            if not path.endswith("/"):
                files.append(folder + path)
            elif depth < _DEEPEST:
                files += await self._nested(folder + path, depth + 1)
        return files

    async def _sifted(self, changed: list[str], others: list[str]) -> "_Sifted":
        if len(changed) + len(others) < _IN_THREAD:
            return self._sift(changed, others)
        return await anyio.to_thread.run_sync(self._sift, changed, others)

    def _sift(self, changed: list[str], others: list[str]) -> "_Sifted":
        """Tell what can be taken in from what is gone, too large, unreadable or one too many."""
        sifted = _Sifted()
        room, links = _MOST_BYTES, _LinkFinder(self.root)
        known = set(changed)
        for path in (*changed, *others):
            found = self._look(path)
            if found is None or not (stat.S_ISREG(found.st_mode) or stat.S_ISLNK(found.st_mode)):
                if path in known:
                    sifted.gone.append(path)
            elif path in known and links.above(path):
                sifted.gone.append(path)
            elif found.st_size > LARGEST:
                sifted.left[path] = FileState(mode=file_mode(found.st_mode), mark=mark_of(found))
            elif not stat.S_ISLNK(found.st_mode) and not os.access(f"{self.root}/{path}", os.R_OK):
                continue
            elif path not in known and (found.st_size > room or len(sifted.take) >= _MOST_FILES):
                sifted.beyond += 1
            else:
                room -= found.st_size
                sifted.take.append(path)
                self._note_permissions(path, found)
        return sifted

    def _look(self, path: str) -> os.stat_result | None:
        try:
            return os.lstat(f"{self.root}/{path}")
        except OSError:
            return None

    def _note_permissions(self, path: str, found: os.stat_result) -> None:
        bits = stat.S_IMODE(found.st_mode)
        if bits in _PLAIN_BITS or stat.S_ISLNK(found.st_mode):
            self.permissions.pop(path, None)
        else:
            self.permissions[path] = bits

    async def _with_ignored(
        self, found: Capture, wanted: tuple[str, ...], left_out: tuple[str, ...]
    ) -> Capture:
        """The same tree with ignored files in it; the session's own index stays without them."""
        aside = self._index.with_suffix(".aside")
        await anyio.to_thread.run_sync(_copy, self._index, aside)
        try:
            await self._git.update(wanted, aside)
            tree = (await self._git.run("write-tree", index=aside)).decode().strip()
        finally:
            aside.unlink(missing_ok=True)
        return msgspec.structs.replace(found, tree=tree, forced=wanted, not_held=left_out)

    def _remove_lock(self) -> None:
        """A lock that is there was left by a git that was killed: nobody else uses this index."""
        self._index.with_name(self._index.name + ".lock").unlink(missing_ok=True)


def _copy(source: Path, target: Path) -> None:
    if source.exists():
        target.unlink(missing_ok=True)  # Left by a hame that was killed.
        write_private(target, source.read_bytes())
