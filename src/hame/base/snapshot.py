"""What files were before and after each call that may change them, and what an undo would do; pure data."""

from enum import StrEnum

import msgspec

REGULAR = 0o100644
EXECUTABLE = 0o100755
LINK = 0o120000
DIRECTORY = 0o040000


class FileState(msgspec.Struct, frozen=True, omit_defaults=True):
    """What stands at a path, as far as an undo has to know it. Without a mode: nothing.

    Two states are the same thing when `same_as` says so: permission bits beyond executable do not
    count.
    """

    mode: int = 0
    """As git has it: one of the constants above; 0 when nothing is there."""
    blob: str = ""
    """Id of the bytes (of a link: of its target's name) in the store; empty when they are not held."""
    mark: str = ""
    """For what is too large to be held: tells whether it is still the same."""
    permissions: int | None = None
    """Permission bits to be given back, where they are known."""

    @property
    def exists(self) -> bool:
        """Whether anything is there."""
        return self.mode != 0

    @property
    def held(self) -> bool:
        """Whether it could be put back."""
        return not self.mark

    def same_as(self, other: "FileState") -> bool:
        """Whether both are the same thing with the same bytes."""
        return (self.mode, self.blob, self.mark) == (other.mode, other.blob, other.mark)


class PathChange(msgspec.Struct, frozen=True, array_like=True):
    """What one step made of one path; the path is absolute."""

    path: str
    before: FileState
    after: FileState


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """A call that is about to run and may change files."""

    call: str
    tool: str
    title: str
    """One line: what it does."""
    record: str
    """Id of the journal's last record: the place in the conversation where it stands."""
    paths: tuple[str, ...] = ()
    """Real paths it has declared that it changes. None: it may change anything."""
    deletes: bool = False
    """It takes some of these paths away."""
    command: str = ""
    """The command line, for a call that runs one."""


class Step(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One step of a session's undo list: a call that changed files, or an undo."""

    number: int
    """From 1 within the session."""
    tool: str
    title: str
    record: str
    """Where in the conversation it stands."""
    began: float
    """Unix time in seconds."""
    ended: float
    changes: tuple[PathChange, ...]
    exact: bool = True
    """It changed only what it had declared. Otherwise: all that changed while it ran."""
    reverts: tuple[int, ...] = ()
    """For an undo: the steps whose changes it took back."""
    head: str = ""
    """For an undo that took back a part of the conversation: id of the last record before."""
    failed: tuple[str, ...] = ()
    """For an undo: what could not be done, in words."""
    undone: bool = False
    """Its changes have been taken back by a later step that holds."""


class Move(StrEnum):
    """What an undo does with one path."""

    RESTORE = "restore"
    """Gives a file the bytes it had."""
    BRING_BACK = "bring back"
    """Makes a file again that is gone."""
    REMOVE = "remove"
    """Takes away what was made."""
    MERGE = "merge"
    """Takes the step's part of the changes back and keeps what was changed since."""


class Planned(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One path of an undo."""

    path: str
    move: Move
    now: FileState
    """As it was when the plan was made."""
    then: FileState
    """As it will be."""
    over: bool = False
    """Something that was changed since is given up."""
    fresh: bool = False
    """What is there now is in no step, and not held yet."""


class Conflict(msgspec.Struct, frozen=True):
    """A path that an undo leaves as it is, and why."""

    path: str
    why: str


class UndoPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What an undo would do; nothing has been done yet."""

    steps: tuple[int, ...]
    """Those whose changes it takes back, the latest first."""
    moves: tuple[Planned, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
