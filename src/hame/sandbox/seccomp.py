"""A filter of system calls for confined programs, as a classic BPF program.

It refuses what a file system and a network namespace cannot hold back: sockets (a socket with a path
reaches past both), new namespaces, mounts, tracing other processes, the kernel's keys, BPF, performance
counters, io_uring (it opens sockets past any filter), handles that open files without a path, and
typing into somebody else's terminal. Threads, child processes and pairs of sockets go on working.

The kernel's interface: https://docs.kernel.org/userspace-api/seccomp_filter.html and seccomp(2).
Numbers are those of the kernel's tables `arch/x86/entry/syscalls/syscall_64.tbl` and
`include/uapi/asm-generic/unistd.h`.
"""

import errno
import os
from enum import StrEnum
from functools import cache

import msgspec

from hame.sandbox.bpf import (
    ALLOW,
    ARCHITECTURE,
    ARGUMENT,
    AT_LEAST,
    EQUAL,
    KILL,
    LOAD,
    MASK,
    NUMBER,
    REFUSE,
    UNKNOWN,
    Block,
    answer,
    assemble,
    for_call,
    refuse_bits,
)


class Sockets(StrEnum):
    """Which sockets a confined program may open; connected pairs of them are always allowed."""

    NONE = "none"
    """None at all."""
    STREAM = "stream"
    """TCP only: where something else says which ports it may reach (Landlock)."""
    LOOPBACK = "loopback"
    """TCP and UDP, and what lists network interfaces: inside a network namespace of its own."""
    RELAY = "relay"
    """Also local sockets with a path: for hame's own relay, which forbids them to what it starts."""


_X32 = 0x40000000
"""Set in the numbers of x86-64's second table, which a filter for the first would not know."""

_NEW_NAMESPACE = 0x7E020000
"""All CLONE_NEW* flags but that for time (linux/sched.h)."""
_NEW_TIME = 0x80
"""CLONE_NEWTIME; for clone(2) these bits are the signal at the end."""
_TERMINAL_TRICKS = (0x5412, 0x541C)
"""TIOCSTI types into a terminal, TIOCLINUX pastes into the console. The kernel looks at 32 bits."""

# sys/socket.h, linux/netlink.h, netinet/in.h
_UNIX, _INET, _INET6, _NETLINK = 1, 2, 10, 16
_STREAM, _DATAGRAM, _SEQUENCED = 1, 2, 5
_TYPE = 0xF
_TCP, _UDP, _ROUTE = 6, 17, 0


class _Machine(msgspec.Struct, frozen=True):
    """A processor's numbers."""

    architecture: int
    """AUDIT_ARCH_* (linux/audit.h)."""
    calls: dict[str, int]
    second_table: bool = False


_SAME: dict[str, int] = {
    "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427,
    "open_tree": 428, "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432,
    "fspick": 433, "clone3": 435, "pidfd_getfd": 438, "process_madvise": 440,
    "mount_setattr": 442, "quotactl_fd": 443, "open_tree_attr": 467,
}  # fmt: skip
"""Calls that were added after all processors began to share their numbers."""

_MACHINES: dict[str, _Machine] = {
    "x86_64": _Machine(
        architecture=0xC000003E,
        second_table=True,
        calls=_SAME
        | {
            "socket": 41, "socketpair": 53, "clone": 56, "ioctl": 16, "unshare": 272,
            "setns": 308, "mount": 165, "umount2": 166, "pivot_root": 155, "chroot": 161,
            "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "kcmp": 312,
            "add_key": 248, "request_key": 249, "keyctl": 250, "bpf": 321,
            "perf_event_open": 298, "userfaultfd": 323, "open_by_handle_at": 304,
            "kexec_load": 246, "kexec_file_load": 320, "init_module": 175, "finit_module": 313,
            "delete_module": 176, "syslog": 103, "acct": 163, "swapon": 167, "swapoff": 168,
            "reboot": 169, "quotactl": 179, "fanotify_init": 300, "iopl": 172, "ioperm": 173,
        },
    ),
    "aarch64": _Machine(
        architecture=0xC00000B7,
        calls=_SAME
        | {
            "socket": 198, "socketpair": 199, "clone": 220, "ioctl": 29, "unshare": 97,
            "setns": 268, "mount": 40, "umount2": 39, "pivot_root": 41, "chroot": 51,
            "ptrace": 117, "process_vm_readv": 270, "process_vm_writev": 271, "kcmp": 272,
            "add_key": 217, "request_key": 218, "keyctl": 219, "bpf": 280,
            "perf_event_open": 241, "userfaultfd": 282, "open_by_handle_at": 265,
            "kexec_load": 104, "kexec_file_load": 294, "init_module": 105, "finit_module": 273,
            "delete_module": 106, "syslog": 116, "acct": 89, "swapon": 224, "swapoff": 225,
            "reboot": 142, "quotactl": 60, "fanotify_init": 262,
        },
    ),
}  # fmt: skip

_JUDGED = frozenset({"socket", "socketpair", "clone", "clone3", "ioctl", "unshare"})
"""Calls that are not refused whatever their arguments."""


@cache
def program(sockets: Sockets = Sockets.NONE, machine: str | None = None) -> bytes:
    """The filter for this machine, or for the one that is named as uname(2) names it.

    Raises:
        OSError: ENOSYS for a processor whose numbers are not known here.
    """
    name = machine or os.uname().machine
    known = _MACHINES.get({"arm64": "aarch64", "amd64": "x86_64"}.get(name, name))
    if known is None:
        raise OSError(errno.ENOSYS, f"no filter of system calls is known for {name}")
    lines: Block = [(LOAD, 0, 0, ARCHITECTURE), (EQUAL, 1, 0, known.architecture), answer(KILL)]
    lines.append((LOAD, 0, 0, NUMBER))
    if known.second_table:
        lines += [(AT_LEAST, 0, 1, _X32), answer(REFUSE)]
    calls = known.calls
    lines += for_call(calls["ioctl"], _ioctl())
    lines += for_call(calls["clone"], refuse_bits(0, _NEW_NAMESPACE))
    lines += for_call(calls["unshare"], refuse_bits(0, _NEW_NAMESPACE | _NEW_TIME))
    # Its flags lie in memory, which a filter cannot read; libraries then fall back to clone.
    lines += for_call(calls["clone3"], [answer(UNKNOWN)])
    lines += for_call(calls["socketpair"], _pair())
    lines += for_call(calls["socket"], _socket(sockets))
    for call in sorted(number for name, number in calls.items() if name not in _JUDGED):
        lines += for_call(call, [answer(REFUSE)])
    lines.append(answer(ALLOW))
    return assemble(lines)


def install(filter_program: bytes) -> None:
    """Filter the calling thread's system calls from now on, and those of all it starts.

    It can gain no rights afterwards, by no set-user-id program either.

    Raises:
        OSError: if the kernel refuses; the thread is then not confined.
    """
    import ctypes

    class Program(ctypes.Structure):
        """struct sock_fprog."""

        _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))

    libc = ctypes.CDLL(None, use_errno=True)
    given = Program(len(filter_program) // 8, filter_program)
    no_new_privileges, mode, filtered = 38, 22, 2  # linux/prctl.h, linux/seccomp.h
    word = ctypes.c_ulong
    if libc.prctl(no_new_privileges, word(1), word(0), word(0), word(0)):
        raise OSError(ctypes.get_errno(), "cannot forgo new privileges")
    if libc.prctl(mode, word(filtered), ctypes.byref(given), word(0), word(0)):
        raise OSError(ctypes.get_errno(), "cannot filter system calls")


def _ioctl() -> Block:
    block: Block = [(LOAD, 0, 0, ARGUMENT[1])]
    for request in _TERMINAL_TRICKS:
        block += [(EQUAL, 0, 1, request), answer(REFUSE)]
    return [*block, answer(ALLOW)]


def _pair() -> Block:
    """Pairs that stay with each other: one of datagrams could be turned to any other's path."""
    return [
        (LOAD, 0, 0, ARGUMENT[0]),
        (EQUAL, 1, 0, _UNIX),
        answer(REFUSE),
        *_one_of(1, _TYPE, (_STREAM, _SEQUENCED)),
    ]


def _socket(allowed: Sockets) -> Block:
    if allowed is Sockets.NONE:
        return [answer(REFUSE)]
    streams = _typed(_STREAM, (0, _TCP))
    datagrams = [] if allowed is Sockets.STREAM else _typed(_DATAGRAM, (0, _UDP))
    internet: Block = [*streams, *datagrams, answer(REFUSE)]
    block: Block = []
    if allowed is not Sockets.STREAM:
        block += _family(_NETLINK, _one_of(2, None, (_ROUTE,)))
    if allowed is Sockets.RELAY:
        block += _family(_UNIX, _one_of(1, _TYPE, (_STREAM,)))
    return [
        *block,
        (LOAD, 0, 0, ARGUMENT[0]),
        (EQUAL, 2, 0, _INET),
        (EQUAL, 1, 0, _INET6),
        answer(REFUSE),
        *internet,
    ]


def _family(family: int, block: Block) -> Block:
    """What is done for sockets of one family."""
    return [(LOAD, 0, 0, ARGUMENT[0]), (EQUAL, 0, len(block), family), *block]


def _typed(kind: int, protocols: tuple[int, ...]) -> Block:
    """Sockets of one type are allowed with these protocols; others come out at the end."""
    block = _one_of(2, None, protocols)
    return [
        (LOAD, 0, 0, ARGUMENT[1]),
        (MASK, 0, 0, _TYPE),
        (EQUAL, 0, len(block), kind),
        *block,
    ]


def _one_of(argument: int, mask: int | None, values: tuple[int, ...]) -> Block:
    """Allowed if an argument, masked, is one of these; refused if not."""
    block: Block = [(LOAD, 0, 0, ARGUMENT[argument])]
    if mask is not None:
        block.append((MASK, 0, 0, mask))
    for value in values:
        block += [(EQUAL, 0, 1, value), answer(ALLOW)]
    return [*block, answer(REFUSE)]
