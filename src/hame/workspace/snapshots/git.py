"""The `git` program on a store of hame's own: no repository, hook or setting of the user's is used."""

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

import anyio
import anyio.to_thread
import msgspec

from hame.base.confinement import Confinement
from hame.base.errors import ToolError
from hame.base.git import STILL_ENVIRONMENT, still_command
from hame.base.ports import Processes
from hame.base.process import Launch

_SETTINGS = (
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.protectHFS", "false"),
    ("core.protectNTFS", "false"),
    ("core.fileMode", "true"),
    ("core.symlinks", "true"),
    ("core.sharedRepository", "0600"),
    ("core.autocrlf", "false"),
    ("core.looseCompression", "1"),
    ("gc.auto", "0"),
    ("advice.addEmbeddedRepo", "false"),
)
_AT_ONCE = 2_000
"""Files that go into the index at a time: what was done stays done when it is stopped."""
_BULK = 200
"""From so many files on, new objects go into one pack: twenty times faster than a file for each."""


class GitError(ToolError):
    """git could not do it; the message is its own."""


class GitMissingError(GitError):
    """There is no git on this machine."""


class GitDirectory(msgspec.Struct, frozen=True, kw_only=True):
    """A git directory of hame's, and the folder whose files it holds."""

    folder: Path
    objects: Path
    work_tree: str
    """What ignore rules count from: the top of the user's repository, or the folder itself."""
    cwd: str
    """The folder that is captured; paths are relative to it."""
    in_repository: bool = False
    """The folder lies in a repository of the user's."""
    excludes_file: str = ""
    """The user's own ignore file for all projects, when it is not where git looks by itself."""

    @property
    def prefix(self) -> str:
        """The folder as seen from the top; empty when it is the top."""
        return self.cwd[len(self.work_tree.rstrip("/")) + 1 :]


class Git:
    """Runs git on one directory."""

    def __init__(self, processes: Processes, directory: GitDirectory) -> None:
        """Nothing is started before `run`."""
        self._processes = processes
        self.directory = directory

    async def run(
        self,
        *arguments: str,
        stdin: bytes | None = None,
        index: Path | None = None,
        settings: Sequence[tuple[str, str]] = (),
    ) -> bytes:
        """Run git to its end; what it printed.

        Raises:
            GitMissingError: when there is no git.
            GitError: when it failed.
        """
        launch = Launch(
            argv=("git", *arguments),
            cwd=self._place(),
            extra_env=self._environment(index, settings),
            stdin=stdin,
            merge_stderr=False,
            label="snapshot",
        )
        return await run_git(self._processes, launch)

    async def update(self, paths: Sequence[str], index: Path, *flags: str) -> None:
        """Bring the index up to date for these paths; what is gone leaves it.

        Raises:
            GitError: when a file could not be read.
        """
        bulk = (("core.bigFileThreshold", "1"),) if len(paths) >= _BULK else ()
        kinds = flags or ("--add", "--remove", "--replace")
        for start in range(0, len(paths), _AT_ONCE):
            some = paths[start : start + _AT_ONCE]
            listed = b"".join(path.encode("utf-8", "surrogateescape") + b"\0" for path in some)
            await self.run(
                "update-index", "-z", *kinds, "--stdin", stdin=listed, index=index, settings=bulk
            )

    async def merge(self, base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
        """Both changes of a text together; None when they touch, or it is no text.

        Raises:
            GitMissingError: when there is no git.
        """
        with tempfile.TemporaryDirectory() as folder:
            for name, data in (("ours", ours), ("base", base), ("theirs", theirs)):
                await anyio.to_thread.run_sync(Path(folder, name).write_bytes, data)
            try:
                return await self.run(
                    "merge-file", "-p", "-q", *(f"{folder}/{n}" for n in ("ours", "base", "theirs"))
                )
            except GitMissingError:
                raise
            except GitError:
                return None

    def within(self, folder: str) -> "Git":
        """The same store, seen from a folder within this one as if that were all there is."""
        inner = f"{self.directory.cwd}/{folder}".rstrip("/")
        place = msgspec.structs.replace(
            self.directory, work_tree=inner, cwd=inner, in_repository=True
        )
        return Git(self._processes, place)

    async def tracked_though_ignored(self) -> list[str]:
        """Files that the user's own repository tracks although its rules ignore them; only read.

        This is the one call in which the repository's own settings count, once for each session.

        Raises:
            GitMissingError: when there is no git.
        """
        if not self.directory.in_repository:
            return []
        flags = ("ls-files", "-z", "-i", "-c", "--exclude-standard")
        launch = Launch(
            argv=still_command(*flags),
            cwd=self.directory.cwd,
            extra_env=STILL_ENVIRONMENT,
            merge_stderr=False,
            confinement=Confinement(),
            label="snapshot",
        )
        try:
            return split(await run_git(self._processes, launch))
        except GitMissingError:
            raise
        except GitError:
            return []  # No repository after all, or one that git does not trust.

    def _place(self) -> str:
        """Where git is started: in the folder, or where it may be read from when that is gone."""
        place = self.directory
        return place.cwd if Path(place.cwd).is_dir() else str(place.folder)

    def _environment(
        self, index: Path | None, more: Sequence[tuple[str, str]]
    ) -> tuple[tuple[str, str], ...]:
        place = self.directory
        named = (
            *_SETTINGS,
            *((("core.excludesFile", place.excludes_file),) if place.excludes_file else ()),
            *more,
        )
        settings = [
            pair
            for number, (name, value) in enumerate(named)
            for pair in (
                (f"GIT_CONFIG_KEY_{number}", name),
                (f"GIT_CONFIG_VALUE_{number}", value),
            )
        ]
        return (
            ("GIT_DIR", str(place.folder)),
            ("GIT_WORK_TREE", place.work_tree),
            ("GIT_OBJECT_DIRECTORY", str(place.objects)),
            ("GIT_ALTERNATE_OBJECT_DIRECTORIES", ""),
            ("GIT_INDEX_FILE", str(index or place.folder / "no-index")),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_SYSTEM", "/dev/null"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CONFIG_COUNT", str(len(named))),
            ("GIT_LITERAL_PATHSPECS", "1"),
            ("GIT_ALLOW_PROTOCOL", "none"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("LC_ALL", "C"),
            *settings,
        )


def split(printed: bytes) -> list[str]:
    """The names in a list that NUL bytes end."""
    return [os.fsdecode(name) for name in printed.split(b"\0") if name]


async def run_git(processes: Processes, launch: Launch) -> bytes:
    """Run a git command to its end; what it printed.

    Raises:
        GitMissingError: when there is no git.
        GitError: when it failed.
    """
    complaint: list[bytes] = []
    printed: list[bytes] = []
    try:
        async with processes.start(launch) as process:

            async def listen() -> None:
                async for chunk in process.errors():
                    complaint[:] = [b"".join([*complaint, chunk])[-2_000:]]

            async with anyio.create_task_group() as group:
                group.start_soon(listen)
                printed += [chunk async for chunk in process.output()]
            ended = await process.wait()
    except ToolError as error:
        if "no such program" in error.message:
            raise GitMissingError("git is not installed") from error
        raise GitError(error.message) from error
    if not ended.ok:
        words = b"".join(complaint).decode("utf-8", "replace").strip()
        raise GitError(f"git {launch.argv[1]} failed: {words or ended}")
    return b"".join(printed)
