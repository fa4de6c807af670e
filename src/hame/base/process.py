"""What it takes to start a program, and how it ended."""

from collections.abc import Callable

import msgspec

from hame.base.confinement import Confinement

CHANGED = "what this call names changed after it was approved; nothing was started. Try again"
"""Said where `Launch.still` says no."""


class Launch(msgspec.Struct, frozen=True, kw_only=True):
    """A program to start. It gets its own process group; the whole group dies with it."""

    argv: tuple[str, ...]
    cwd: str
    env: tuple[tuple[str, str], ...] | None = None
    """The whole environment; None: hame's own without provider keys, with pagers off."""
    extra_env: tuple[tuple[str, str], ...] = ()
    """Added to the environment."""
    stdin: bytes | None = None
    """What it reads before end of file; None: an empty, closed stdin."""
    open_stdin: bool = False
    """Keep stdin open for `Process.write`; it closes with the process's handle."""
    pty: bool = False
    """It gets a terminal of its own for input and output; standard error is part of that."""
    output: str | None = None
    """A file that takes what it prints, appended, instead of a pipe: nobody has to read along."""
    merge_stderr: bool = True
    """Standard error comes in one stream with standard output."""
    confinement: Confinement | None = None
    """What it may reach; None: it is a program of hame's own that runs as hame does."""
    keep: bool = False
    """It may live on when hame has ended."""
    still: Callable[[], bool] | None = None
    """Whether what was approved is as it was: asked right before the start, which a no prevents."""
    pass_fds: tuple[int, ...] = ()
    """Descriptors it inherits besides the three of its own."""
    label: str = ""
    """What it is, for logs."""


class Exit(msgspec.Struct, frozen=True, kw_only=True):
    """How a program ended."""

    code: int | None
    """Exit code; None when a signal ended it."""
    signal: int | None = None

    @property
    def ok(self) -> bool:
        """Ended by itself with code 0."""
        return self.code == 0
