"""A command line as hame has read it: simple commands after quote removal, and what is redirected."""

from enum import StrEnum

import msgspec


class Word(msgspec.Struct, frozen=True):
    """One argument, as the program gets it, but for what the shell expands when it runs."""

    text: str
    """After quote removal; the pattern itself where there is one."""
    glob: bool = False
    """Holds an unquoted `*`, `?` or `[`."""
    tilde: bool = False
    """Begins with an unquoted `~`: the user's home."""

    @property
    def literal(self) -> bool:
        """Whether the shell passes it on as it stands."""
        return not self.glob and not self.tilde


class Flow(StrEnum):
    """What a redirection does to the world."""

    NOTHING = "nothing"
    """To /dev/null, or to another descriptor."""
    READ = "read"
    WRITE = "write"


class Redirect(msgspec.Struct, frozen=True):
    """A redirection and where it leads."""

    flow: Flow
    target: Word


class Line(msgspec.Struct, frozen=True):
    """A whole line. Which command a redirection belongs to does not matter for any verdict."""

    commands: tuple[tuple[Word, ...], ...]
    redirects: tuple[Redirect, ...] = ()


class UnreadableError(Exception):
    """The line holds something that is not read for certain; the reason is for the user."""
