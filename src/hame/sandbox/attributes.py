"""A second filter of system calls, for what Landlock does not speak of where nothing else hides it.

Landlock decides who opens, makes and removes files; whoever owns a file can still change its mode, its owner,
its times and its extended attributes, anywhere. And without namespaces the other programs of the user share
System V and POSIX message queues, semaphores and memory with a confined one, which could also change their
resource limits.
"""

import errno
import os
from enum import StrEnum
from functools import cache

from hame.sandbox.bpf import (
    ALLOW,
    ANY_BIT,
    ARGUMENT,
    EQUAL,
    LOAD,
    NUMBER,
    REFUSE,
    UNKNOWN,
    Block,
    answer,
    assemble,
    fail,
    for_call,
    refuse_bits,
)


class Strictness(StrEnum):
    """How much of it is refused."""

    READ = "read"
    """No attribute of any file changes."""
    WRITE = "write"
    """Modes change, but not to set-user-id, and times do; files are not given away."""


_MARKS = 0o6000
"""Set-user-id and set-group-id (inode(7))."""
_NOBODY = 0xFFFFFFFF
"""-1: the owner, or the group, stays (chown(2))."""

_CALLS: dict[str, dict[str, int]] = {
    "x86_64": {
        "open": 2, "openat": 257, "creat": 85, "mknod": 133, "mknodat": 259, "openat2": 437, "ioctl": 16, "prlimit64": 302,
        "chmod": 90, "fchmod": 91, "fchmodat": 268, "fchmodat2": 452,
        "chown": 92, "fchown": 93, "lchown": 94, "fchownat": 260,
        "utime": 132, "utimes": 235, "futimesat": 261, "utimensat": 280,
        "setxattr": 188, "lsetxattr": 189, "fsetxattr": 190, "setxattrat": 463,
        "removexattr": 197, "lremovexattr": 198, "fremovexattr": 199, "removexattrat": 466,
        "file_setattr": 469,
        "shmget": 29, "shmat": 30, "shmctl": 31, "semget": 64, "semop": 65, "semctl": 66,
        "semtimedop": 220, "msgget": 68, "msgsnd": 69, "msgrcv": 70, "msgctl": 71,
        "mq_open": 240, "mq_unlink": 241,
    },
    "aarch64": {
        "openat": 56, "mknodat": 33, "openat2": 437, "ioctl": 29,
        "prlimit64": 261, "fchmod": 52, "fchmodat": 53, "fchmodat2": 452,
        "fchown": 55, "fchownat": 54, "utimensat": 88,
        "setxattr": 5, "lsetxattr": 6, "fsetxattr": 7, "setxattrat": 463,
        "removexattr": 14, "lremovexattr": 15, "fremovexattr": 16, "removexattrat": 466,
        "file_setattr": 469,
        "shmget": 194, "shmat": 196, "shmctl": 195, "semget": 190, "semop": 193, "semctl": 191,
        "semtimedop": 192, "msgget": 186, "msgsnd": 189, "msgrcv": 188, "msgctl": 187,
        "mq_open": 180, "mq_unlink": 181,
    },
}  # fmt: skip

_CREATING = {"open": 2, "openat": 3, "creat": 1, "mknod": 1, "mknodat": 2}
"""Calls that make files, and which argument is the mode."""
_MODE = {"chmod": 1, "fchmod": 1, "fchmodat": 2, "fchmodat2": 2}
_OWNER = {"chown": 1, "fchown": 1, "lchown": 1, "fchownat": 2}
"""Which argument is the owner; the group comes after it."""
_TIMES = ("utime", "utimes", "futimesat", "utimensat")
_EXTENDED = (
    "setxattr", "lsetxattr", "fsetxattr", "setxattrat", "removexattr", "lremovexattr",
    "fremovexattr", "removexattrat", "file_setattr",
)  # fmt: skip
_SHARED = (
    "shmget", "shmat", "shmctl", "semget", "semop", "semctl", "semtimedop", "msgget", "msgsnd",
    "msgrcv", "msgctl", "mq_open", "mq_unlink",
)  # fmt: skip
_FLAGS = (0x40086602, 0x40046602, 0x401C5820)
"""FS_IOC_SETFLAGS, FS_IOC32_SETFLAGS and FS_IOC_FSSETXATTR (linux/fs.h): immutable, append-only, ..."""
_MAKES_FILE = 0x40
"""O_CREAT; the kernel ignores the mode without it, and what stands there may be anything."""


@cache
def attribute_filter(
    strictness: Strictness, user: int, group: int, machine: str | None = None
) -> bytes:
    """The filter for programs that this user runs; `hame.sandbox.seccomp.program` comes beside it.

    Raises:
        OSError: ENOSYS for a processor whose numbers are not known here.
    """
    name = machine or os.uname().machine
    calls = _CALLS.get({"arm64": "aarch64", "amd64": "x86_64"}.get(name, name))
    if calls is None:
        raise OSError(errno.ENOSYS, f"no filter of attributes is known for {name}")
    reads = strictness is Strictness.READ
    blocks = {call: [answer(REFUSE)] for call in _SHARED}
    blocks |= {call: [fail(errno.EOPNOTSUPP)] for call in _EXTENDED}
    blocks |= {
        call: [answer(REFUSE)] if reads else refuse_bits(at, _MARKS) for call, at in _MODE.items()
    }
    blocks |= {
        call: [answer(REFUSE)] if reads else _own(at, user, group) for call, at in _OWNER.items()
    }
    blocks |= {call: [answer(REFUSE if reads else ALLOW)] for call in _TIMES}
    blocks |= {call: _making(call, at) for call, at in _CREATING.items()}
    # Its mode lies in memory, which a filter cannot read; programs then fall back to openat.
    blocks["openat2"] = [answer(UNKNOWN)]
    blocks["ioctl"] = _flags()
    blocks["prlimit64"] = [
        (LOAD, 0, 0, ARGUMENT[0]),
        (EQUAL, 0, 1, 0),
        answer(ALLOW),
        answer(REFUSE),
    ]
    lines: Block = [(LOAD, 0, 0, NUMBER)]
    for call, number in calls.items():
        lines += for_call(number, blocks.get(call, [answer(ALLOW)]))
    return assemble([*lines, answer(ALLOW)])


def _own(at: int, user: int, group: int) -> Block:
    """Owner and group stay, or become the user's own: what copies attributes goes on."""
    return [
        (LOAD, 0, 0, ARGUMENT[at]),
        (EQUAL, 2, 0, _NOBODY),
        (EQUAL, 1, 0, user),
        answer(REFUSE),
        (LOAD, 0, 0, ARGUMENT[at + 1]),
        (EQUAL, 2, 0, _NOBODY),
        (EQUAL, 1, 0, group),
        answer(REFUSE),
        answer(ALLOW),
    ]


def _making(call: str, at: int) -> Block:
    mode = refuse_bits(at, _MARKS)
    if not call.startswith("open"):
        return mode
    return [(LOAD, 0, 0, ARGUMENT[at - 1]), (ANY_BIT, 1, 0, _MAKES_FILE), answer(ALLOW), *mode]


def _flags() -> Block:
    block: Block = [(LOAD, 0, 0, ARGUMENT[1])]
    for request in _FLAGS:
        block += [(EQUAL, 0, 1, request), answer(REFUSE)]
    return [*block, answer(ALLOW)]
