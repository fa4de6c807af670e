"""Commands that run in the background; pure data."""

import msgspec

from hame.base.process import Exit


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """A command in the background, as it is now."""

    id: str
    command: str
    cwd: str
    pid: int
    started: float
    """Unix time in seconds."""
    printed: int
    """Bytes it has printed so far."""
    exit: Exit | None = None
    """How it ended; None while it runs."""
    kept: bool = False
    """It goes on when the session ends."""
    open_input: bool = True
    """Input can be sent to it."""
    aftermath: tuple[str, ...] = ()
    """What its sandbox put right after it."""
    refused: tuple[str, ...] = ()
    """Machines that it asked for and was not granted."""


class JobOutput(msgspec.Struct, frozen=True, kw_only=True):
    """What a job has printed since it was last read."""

    job: Job
    data: bytes
    skipped: int = 0
    """Bytes before `data` that were printed and are not kept."""
