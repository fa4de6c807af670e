"""Making a copy of a project: as it is now, or as a session found it.

What the project ignores is not copied. Folders of installed packages can be linked, where nothing can
write through the link; the rest is left out and named.
"""

import os
import shutil
import stat
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import anyio.to_thread

from hame.base.errors import PathError, ToolError
from hame.base.snapshot import DIRECTORY, FileState
from hame.workspace.duplicates.duplicate import Duplicate, Original
from hame.workspace.duplicates.listing import (
    in_pieces,
    list_files,
    list_ignored,
    size_of,
    some,
    text_of,
)
from hame.workspace.snapshots.contents import contents
from hame.workspace.snapshots.disk import LARGEST, READ, entered, look, put, remove
from hame.workspace.snapshots.git import GitError, split
from hame.workspace.snapshots.store import Store

MOST_FILES, MOST_BYTES = 100_000, 1 << 30
"""Of a copy."""
MOST_GIT_BYTES = 512 * 1024 * 1024
"""Of a repository that is copied with it."""
PACKAGES = frozenset({"node_modules", ".venv", "venv"})
"""Folders of installed packages."""
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_APPEND = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC


async def duplicate(original: Original, root: Path, own: Path, *, link: bool) -> Duplicate:
    """Copy a project into `root`, an empty folder; `own` is one for what goes with the copy.

    `link` says that nothing can write through a link, so that packages may be linked.

    Raises:
        ToolError: if it is too large or cannot be copied.
    """
    real = os.path.realpath(root)  # noqa: ASYNC240 - one look
    store = Store(own, real, original.home)
    maker = _Maker(Duplicate(original, real, store), link=link)
    try:
        store.make()
        await maker.make()
    except OSError as error:
        raise ToolError(f"{original.project} cannot be copied: {error}") from error
    return maker.made


class _Maker:
    """Fills one copy."""

    def __init__(self, made: Duplicate, *, link: bool) -> None:
        self.made = made
        self._link = link
        self._project, self._root = made.original.project, made.root
        self._past = made.original.past

    async def make(self) -> None:
        here = os.path.isdir(self._project)  # noqa: PTH112, ASYNC240 - one look
        if not here and not self._past.tree:
            raise ToolError(f"{self._project} is gone, and no snapshot holds what was in it")
        if self._past.tree:
            await self._check_out(self._past.tree)
        if here:
            await self._copy_files()
        await self._put_back(self._past.found)
        if here:
            await self._copy_repository()
            await self._leave_out()
        self.made.found = await self.made.states()

    async def _check_out(self, tree: str) -> None:
        """Write what a snapshot holds of the project.

        Raises:
            ToolError: if it is too large or not there any more.
        """
        original, git = self.made.original, self.made.held
        index = self.made.own.folder / "tree.index"
        inner = self.made.own.git(self._project, original.processes).directory.prefix
        await git.run("read-tree", f"{tree}:{inner}" if inner else tree, index=index)
        listed = split(await git.run("ls-files", "-z", index=index))
        if len(listed) > MOST_FILES:
            raise ToolError(f"{len(listed):,} files are more than a copy takes ({MOST_FILES:,})")
        await git.run("checkout-index", "-a", "-f", "-q", index=index)

    async def _copy_files(self) -> None:
        """Copy the project's files; beside a snapshot only those that it cannot hold."""
        original = self.made.original
        git = self.made.own.git(self._project, original.processes)
        names = await list_files(git, self.made.own.folder / "none.index")
        if self._past.tree:
            names = [
                name
                for name in names
                if size_of(f"{self._project}/{name}") > LARGEST
                and name not in self._past.left
                and not look(f"{self._root}/{name}").exists
            ]
            if names:
                self.made.notices.append(
                    f"as they are now, being too large to be held: {some(names)}"
                )
        self._refuse_too_large(names)
        await in_pieces(names, self._copy)

    async def _put_back(self, states: Mapping[str, FileState]) -> None:
        """What the session had changed is as it found it."""
        missing: list[str] = []
        for path, state in states.items():
            place = f"{self._root}/{path}"
            try:
                if not state.exists:
                    remove(place, self._root)
                elif state.mode == DIRECTORY:
                    put(place, state, b"")
                elif state.held:
                    objects = self.made.original.store.objects
                    read = await contents(objects, self.made.held, [state.blob])
                    put(place, state, read[state.blob])
                else:
                    missing.append(path)
            except (GitError, PathError, OSError):
                missing.append(path)
        if missing:
            self.made.notices.append(f"not as the session found them: {some(missing)}")

    async def _copy_repository(self) -> None:
        """Git's own folder, so that commands find a repository; its history is that of now."""
        git = Path(self._project) / ".git"
        why = await anyio.to_thread.run_sync(_why_not_copied, git)
        if why:
            self.made.notices.append(f"without its git repository, which {why}")
            return
        names = await anyio.to_thread.run_sync(_below, git)
        if not names:
            return
        await in_pieces([str(name.relative_to(git.parent)) for name in names], self._copy)
        for folder in ("refs", "objects"):  # They may be empty, and make it a repository.
            os.makedirs(f"{self._root}/.git/{folder}", exist_ok=True)  # noqa: PTH103 - in async

    async def _leave_out(self) -> None:
        """Link folders of packages, and say what of the ignored files is not there."""
        made = self.made
        ignored = await list_ignored(made.own.git(self._project, made.original.processes))
        if self._link:
            packages = [name for name in ignored if name.rpartition("/")[2] in PACKAGES]
            await in_pieces(packages, self._link_folder)
        if made.linked:
            made.notices.append(f"linked, and not to be written: {some(made.linked)}")
            await anyio.to_thread.run_sync(self._ignore_links)
            made.notices += await in_pieces(made.linked[:1], self._warn_of_editable)
        # Before a command that destroys, small ones are held too.
        held = await in_pieces(ignored, lambda name: os.path.lexists(f"{self._root}/{name}"))
        rest = [name for name, there in zip(ignored, held, strict=True) if not there]
        if rest:
            made.notices.append(f"ignored, so left out: {some(rest)}")
        made.notices = list(filter(None, made.notices))

    def _link_folder(self, name: str) -> None:
        source, place = Path(self._project, name), Path(self._root, name)
        if source.is_dir() and not source.is_symlink() and not os.path.lexists(place):
            with suppress(PathError), entered(str(place), make=True) as folder:
                os.symlink(source, place.name, dir_fd=folder)
                self.made.linked.append(name)

    def _ignore_links(self) -> None:
        """A rule for a folder does not hold for a link of its name.

        Where the file for such rules is a link, there are none: it leads out of the copy.
        """
        if not Path(self._root, ".git").is_dir():
            return
        rules = f"{self._root}/.git/info/exclude"
        with suppress(PathError, OSError), entered(rules, make=True) as folder:
            descriptor = os.open("exclude", _APPEND, 0o666, dir_fd=folder)
            with os.fdopen(descriptor, "a", encoding="utf-8", errors="surrogateescape") as file:
                file.writelines(f"/{name}\n" for name in self.made.linked if "\n" not in name)

    def _warn_of_editable(self, name: str) -> str:
        """Packages that are installed as links lead to the project, not to the copy."""
        for path in Path(self._root, name).glob("lib/python*/site-packages/*.pth"):
            if self._project in text_of(path):
                return (
                    f"{path.stem} in {name} is installed from the project itself: what imports it"
                    " sees the project, not the copy"
                )
        return ""

    def _refuse_too_large(self, names: Sequence[str]) -> None:
        """Refuse before anything is copied.

        Raises:
            ToolError: if the files are too many or too large.
        """
        size = sum(size_of(f"{self._project}/{name}") for name in names)
        if len(names) > MOST_FILES or size > MOST_BYTES:
            raise ToolError(
                f"{self._project} has {len(names):,} files of {size / 1e6:,.0f} MB, more than a copy"
                f" takes ({MOST_FILES:,} files, {MOST_BYTES / 1e6:,.0f} MB)",
                hint="What is in .gitignore is not copied.",
            )

    def _copy(self, name: str) -> None:
        source, target = f"{self._project}/{name}", f"{self._root}/{name}"
        leaf = name.rpartition("/")[2]
        try:
            with entered(source) as here:
                found = os.stat(leaf, dir_fd=here, follow_symlinks=False)
                if stat.S_ISLNK(found.st_mode):
                    link = self._turned(Path(os.readlink(leaf, dir_fd=here)))
                    with entered(target, make=True) as there:
                        os.symlink(link, leaf, dir_fd=there)
                elif stat.S_ISREG(found.st_mode):
                    with os.fdopen(os.open(leaf, READ, dir_fd=here), "rb") as file:
                        _write_like(file, target)
        except PathError:
            self.made.notices.append(f"behind links, so left out: {some([name])}")
        except FileNotFoundError:
            return  # It went away meanwhile.
        except PermissionError:
            self.made.notices.append(f"not readable, so left out: {some([name])}")

    def _turned(self, link: Path) -> Path:
        """A link into the project leads into the copy."""
        project = Path(self._project)
        return Path(self._root, link.relative_to(project)) if link.is_relative_to(project) else link


def _write_like(file: BinaryIO, target: str) -> None:
    """Make a new file with the bytes, the mode and the times of an open one.

    Raises:
        PathError: if a link leads to where it is to be.
        OSError: if something is there, or it cannot be written.
    """
    found = os.fstat(file.fileno())
    with entered(target, make=True) as folder:
        descriptor = os.open(target.rpartition("/")[2], _NEW, 0o600, dir_fd=folder)
    with os.fdopen(descriptor, "wb") as copy:
        shutil.copyfileobj(file, copy)
        copy.flush()
        os.fchmod(descriptor, stat.S_IMODE(found.st_mode))
        os.utime(descriptor, ns=(found.st_atime_ns, found.st_mtime_ns))


def _why_not_copied(git: Path) -> str:
    """Why a repository is not copied; empty where it is, or where there is none."""
    if git.is_symlink():
        return "is a link"
    if git.is_file():
        return "lies in another folder"
    if "worktree" in text_of(git / "config"):
        return "names the folder of its files"
    if sum(size_of(str(name)) for name in _below(git)) > MOST_GIT_BYTES:
        return "is too large"
    return ""


def _below(folder: Path) -> list[Path]:
    """All files below a folder; locks are left out."""
    found: list[Path] = []
    for here, _, names in os.walk(folder):
        found += [Path(here, name) for name in names if not name.endswith(".lock")]
    return found
