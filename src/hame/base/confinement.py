"""What a child process may reach, and what it was kept from.

The gate decides a `Confinement` for every call that runs a program; the sandbox carries it out. No
parameter of a tool makes one: the model can only ask for a command, never for more room to run it in.
"""

from enum import StrEnum
from typing import TypeAlias

import msgspec

from hame.base.hosts import narrow


class Reach(StrEnum):
    """How far the writes of a child process go."""

    READ = "read"
    """A private temporary folder, and nothing else."""
    WRITE = "write"
    """Also the project, the folders the user added and the project's build caches."""
    OUTSIDE = "outside"
    """It is not confined at all: one command that the user approved as such."""


_ORDER = (Reach.READ, Reach.WRITE, Reach.OUTSIDE)


class Confinement(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one child process may reach; nothing beyond reading unless it says so."""

    reach: Reach = Reach.READ
    writable: tuple[str, ...] = ()
    """Further places it may write, as real absolute paths."""
    hosts: tuple[str, ...] = ()
    """Machines it may talk to, as entries of `hame.base.hosts`: `example.org`, `*.example.org`, with a port
    where it is not that of http or https.

    None: no network at all."""

    def narrowed_to(self, limit: "Confinement") -> "Confinement":
        """What both allow: a child of something confined never reaches further than that does."""
        if limit.reach is Reach.OUTSIDE:
            return self
        if self.reach is Reach.OUTSIDE:
            return limit
        return Confinement(
            reach=min(self.reach, limit.reach, key=_ORDER.index),
            writable=tuple(path for path in self.writable if path in limit.writable),
            hosts=narrow(self.hosts, limit.hosts),
        )


class HostDenied(msgspec.Struct, frozen=True, tag_field="kind", tag="host"):
    """A machine that a confined program could not reach."""

    host: str
    """As it would be granted (`hame.base.hosts`); empty when the program did not say which one it wanted."""


class PathDenied(msgspec.Struct, frozen=True, tag_field="kind", tag="path"):
    """A place that a confined program could not write or read."""

    path: str
    """As the program named it, made absolute."""


SandboxDenied: TypeAlias = HostDenied | PathDenied
"""What a confined program was kept from."""


class Level(StrEnum):
    """How well child processes are confined on this machine."""

    A = "A"
    """Namespaces and a filter of system calls (bubblewrap and seccomp; Seatbelt on macOS)."""
    B = "B"
    """Landlock and a filter of system calls: protected files are restored rather than out of reach."""
    NONE = "none"
    """Nothing holds them back."""


class Probe(msgspec.Struct, frozen=True):
    """One thing that was tried inside the sandbox to see whether it holds."""

    name: str
    """What was tried: `write outside`, `read a secret`, `connect`, `write inside`."""
    holds: bool
    detail: str = ""
    """What happened instead, where it does not hold."""


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """How commands are confined here, as it was found by trying."""

    level: Level
    mechanism: str = ""
    """What does it: `bubblewrap 0.8.0 + seccomp`."""
    reason: str = ""
    """Why it is no better; one line."""
    remedy: str = ""
    """What the user can do about that; may have several lines."""
    probes: tuple[Probe, ...] = ()
