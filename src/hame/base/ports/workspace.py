"""The project on this machine: its files, what is known of them, and what they were."""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from hame.base.edit import Problem, Symbol, TextEdit
from hame.base.path import DirectoryEntry, FileText, Match, Resolution, TextWindow
from hame.base.snapshot import Attempt, Step, UndoPlan
from hame.base.zone import Operation, ProjectPaths


class Located(Protocol):
    """A path that was resolved once and is held open: the gate judges it, tools act on it.

    Acting goes through the open descriptor of the directory it lies in, so a link that is swapped
    afterwards leads nowhere else. Must be closed.
    """

    @property
    def resolution(self) -> Resolution:
        """Where it leads."""
        ...

    def close(self) -> None:
        """Let go of the descriptor; may be called twice."""
        ...


class SearchQuery(msgspec.Struct, frozen=True, kw_only=True):
    """What to look for in files."""

    pattern: str
    regex: bool = False
    case_sensitive: bool = True
    glob: str | None = None
    """Only files whose path matches."""


class FileChange(msgspec.Struct, frozen=True, kw_only=True):
    """What becomes of one file when several change together.

    `before` is the file as the change was worked out for it; None: there is none yet, and the edits
    are made in the empty text. With `target` the file moves there, where nothing may be; with
    `delete` it goes.
    """

    place: Located
    before: FileText | None
    edits: tuple[TextEdit, ...] = ()
    """Offsets count in `before.text`, whatever the order; no two overlap."""
    target: Located | None = None
    delete: bool = False


class Overlay(Protocol):
    """Texts that are open in an editor, saved or not. Paths are absolute and real."""

    async def read(self, path: str) -> str | None:
        """The text of an open file as its user sees it; None when it is not open."""
        ...

    async def write(self, path: str, text: str) -> None:
        """Change the text of an open file.

        Raises:
            PathError: when the editor refuses.
        """
        ...


class Workspace(Protocol):
    """The project's files. All paths come in as the model wrote them: absolute or relative to the root.

    Methods that take a Located act on exactly that place. They raise PathError with words for the
    model (no such file, is a directory, permission denied, disk full, changed since it was read).
    """

    @property
    def paths(self) -> ProjectPaths:
        """Where the project is."""
        ...

    def locate(self, path: str, operation: Operation) -> Located:
        """Resolve a path component by component, links included, and hold it open.

        Raises:
            PathError: for a path that cannot be resolved (loop, NUL byte, not a directory).
        """
        ...

    async def read_bytes(self, place: Located, limit: int | None = None) -> bytes:
        """A file's bytes, at most `limit`; FIFOs, sockets and devices are refused at once.

        Raises:
            PathError: if it cannot be read.
        """
        ...

    async def read_text(self, place: Located, *, remember: bool = True) -> FileText:
        """A text file, decoded; binary files are refused.

        Remembers that the model saw it, unless told not to: a tool that only checks an edit reads
        the file without showing it.

        Raises:
            PathError: if it cannot be read as text.
        """
        ...

    async def write_text(
        self, place: Located, text: str, like: FileText | None, *, replace: bool
    ) -> None:
        """Write a whole file atomically, in the encoding of `like` (UTF-8 without one).

        With `like`, the file must still have the bytes that `like` was read from. Mode bits are
        kept; missing folders are made. Without `replace` an existing file is an error. The model
        counts as having seen what it wrote.

        Raises:
            PathError: if it cannot be written; no partial file is left.
        """
        ...

    async def read_window(self, place: Located, first: int, count: int, size: int) -> TextWindow:
        """Lines of a text file of any size, from the line `first` (from 1), never the whole file.

        At most `count` lines and about `size` bytes; what is too long in one line is left out.

        Raises:
            PathError: if it cannot be read as text.
        """
        ...

    async def apply(self, changes: Sequence[FileChange]) -> Sequence[str]:
        """Change several files, on disk and where they are open in an editor: all of them or none.

        Returns the paths that changed, as they are shown. The model counts as having seen what it
        wrote.

        Raises:
            PathError: if one of them cannot be changed, or is not as it was; nothing was changed.
        """
        ...

    def was_read(self, place: Located) -> str | None:
        """Digest of the file as the model last saw it; None when it never did."""
        ...

    async def make_directory(self, place: Located) -> None:
        """Make a directory and its missing parents.

        Raises:
            PathError: if something else is there.
        """
        ...

    async def move(self, source: Located, target: Located) -> None:
        """Move a file or directory; never onto something that exists.

        Raises:
            PathError: if it cannot be moved.
        """
        ...

    async def delete(self, place: Located) -> None:
        """Delete a file, or a directory with all that is in it. Links are deleted, not followed.

        Raises:
            PathError: if it cannot be deleted.
        """
        ...

    async def list_directory(self, place: Located) -> Sequence[DirectoryEntry]:
        """The names in a directory, sorted, directories first.

        Raises:
            PathError: if it is not a readable directory.
        """
        ...

    async def find_files(
        self, pattern: str, place: Located, limit: int
    ) -> tuple[Sequence[str], int]:
        """Files below a directory whose path matches a glob: the first `limit`, and how many there are.

        Ignored files are left out; hidden ones are found when the pattern names them; `**/x` matches
        at the top level too. Sorted by path.
        """
        ...

    async def search_text(
        self, query: SearchQuery, place: Located, limit: int
    ) -> tuple[Sequence[Match], int]:
        """Lines that match: the first `limit` in path order, and how many there are.

        Raises:
            ToolError: for an invalid regular expression.
        """
        ...


class Index(Protocol):
    """A read-only view of the project's files and words, for the local model's mask."""

    def files(self) -> Sequence[str]:
        """Paths of the files that are not ignored, relative to the root, sorted."""
        ...

    def directories(self) -> Sequence[str]:
        """Paths of the directories that hold them, `.` first, sorted."""
        ...

    def text(self, path: str) -> str | None:
        """A file's text; None when it is missing, binary or larger than 1 MiB."""
        ...

    def test_command(self) -> str | None:
        """The command that runs the project's tests, as far as its manifests tell."""
        ...


class Structure(Protocol):
    """What source code defines, by its syntax alone."""

    @property
    def missing(self) -> str:
        """What has to be installed for it to work; empty when nothing is missing."""
        ...

    def understands(self, path: str) -> bool:
        """Whether it knows the language of a file, by its name."""
        ...

    async def outline(self, path: str, text: str) -> Sequence[Symbol]:
        """The symbols that a file defines, in its order; none for a language it does not know."""
        ...


class Diagnostics(Protocol):
    """What is wrong with a file."""

    async def check(self, path: str, text: str) -> Sequence[Problem]:
        """The problems of a text that is, or is to be, at that path; none where it cannot tell."""
        ...


class BlobWriter(Protocol):
    """A result that is being kept."""

    @property
    def id(self) -> str:
        """Its id."""
        ...

    def write(self, text: str) -> None:
        """Add to it; what is beyond the store's limit is counted and left out. Does not raise."""
        ...

    def close(self) -> None:
        """It is whole; may be called twice."""
        ...


class Blobs(Protocol):
    """Results that are kept whole; the model names one as `result:ID`."""

    def begin(self) -> BlobWriter | None:
        """Begin one; None where nothing can be kept (disk full)."""
        ...

    def put(self, text: str) -> str | None:
        """Keep a text; its id, None where nothing can be kept."""
        ...

    def path(self, blob: str) -> str | None:
        """The file that holds it; None when there is none of that id."""
        ...


class Snapshots(Protocol):
    """What files were before and after each step of a session, so that it can be undone."""

    async def prepare(self) -> None:
        """Do ahead of the first step what it would wait for; may be cancelled at any moment.

        Never raises: what cannot be done now is done, or said, with the first step.
        """
        ...

    async def begin(self, attempt: Attempt) -> str | None:
        """Hold what there is before a call runs; waits for a capture that is still going.

        Never raises: what cannot be held is said. Returns words for the user where there are any.
        """
        ...

    def end(self, call: str) -> None:
        """The call has ended, however."""
        ...

    async def settle(self) -> Sequence[str]:
        """Capture what ended calls have left, while the model answers; the paths that changed."""
        ...

    async def steps(self) -> Sequence[Step]:
        """The steps that changed something, in order."""
        ...

    async def plan(self, numbers: Sequence[int], *, over: bool = False) -> UndoPlan:
        """What taking back these steps would do; with `over` the conflicts too.

        Raises:
            ToolError: for a step there is none of.
        """
        ...

    async def undo(self, plan: UndoPlan, title: str, record: str, head: str = "") -> Step | None:
        """Do what was planned; itself a step, None when it changes nothing.

        `record` and `head` are the conversation's place after and before.

        Raises:
            ToolError: if something was changed since the plan was made; nothing is changed then.
        """
        ...
