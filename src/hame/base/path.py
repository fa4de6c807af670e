"""Places on disk that were resolved once, and what was found there."""

import stat
from enum import StrEnum

import msgspec

from hame.base.zone import Zone


class FileKind(StrEnum):
    """What stands at a path."""

    FILE = "file"
    DIRECTORY = "directory"
    MISSING = "missing"
    FIFO = "fifo"
    SOCKET = "socket"
    DEVICE = "device"


def kind_of(mode: int) -> FileKind:
    """What an `st_mode` stands for; a link counts as a file."""
    match stat.S_IFMT(mode):
        case stat.S_IFDIR:
            return FileKind.DIRECTORY
        case stat.S_IFIFO:
            return FileKind.FIFO
        case stat.S_IFSOCK:
            return FileKind.SOCKET
        case stat.S_IFCHR | stat.S_IFBLK:
            return FileKind.DEVICE
        case _:
            return FileKind.FILE


class Identity(msgspec.Struct, frozen=True):
    """Which file this is, whatever it is called."""

    device: int
    inode: int


class DirectoryEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One name in a directory."""

    name: str
    kind: FileKind
    size: int = 0
    """Bytes."""
    link_target: str | None = None
    """Text of the link when the name is a symbolic link; `kind` is then what it leads to."""


class FileText(msgspec.Struct, frozen=True, kw_only=True):
    """A text file as it was read.

    `text` is decoded, with its line endings as they are and without the byte-order mark.
    """

    text: str
    encoding: str
    bom: bool
    digest: str
    """Hash of the bytes read; a later write may require that they are still the same."""
    on_disk: str | None = None
    """Hash of the bytes on disk when these are others: the file is open in an editor with changes
    that were not saved, which `text` holds. Empty when nothing is on disk."""


class TextWindow(msgspec.Struct, frozen=True, kw_only=True):
    """Some lines of a text file that may be too large to be read whole."""

    first: int
    """Number of the first line, from 1."""
    lines: tuple[str, ...]
    """Without their endings; empty when the file ends before `first`."""
    cut: tuple[int, ...] = ()
    """Per line: characters, or bytes of a very long line, that were left out at its end."""
    more: bool = False
    """Whether the file goes on after them."""


class Match(msgspec.Struct, frozen=True, kw_only=True):
    """One line that a search found."""

    path: str
    """Relative to the project's root."""
    line: int
    """From 1."""
    text: str
    """The line without its ending; of a very long one the part around the match."""
    column: int = 0
    """Where the match begins in `text`, from 1; 0 where that is not known."""


class Resolution(msgspec.Struct, frozen=True, kw_only=True):
    """Where a path really leads."""

    asked: str
    """As it was written."""
    real: str
    """Absolute, every link resolved."""
    shown: str
    """Relative to the project's root where it lies in it, else `real`."""
    zone: Zone
    kind: FileKind
    identity: Identity | None = None
    """None when nothing is there yet."""
    size: int = 0
    links: int = 1
    """How many names the file has; another name may lie outside the project."""
    link_target: str | None = None
    """Text of the link, when the place is the link itself (deleting and moving do not follow it)."""
