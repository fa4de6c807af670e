"""The single powers that root is made of (capabilities(7)), given up by one thread.

Landlock confines root like anybody; but root may also load modules, set the clock, reboot, make devices
and give files away, none of which Landlock speaks of.
"""

import ctypes
import struct
from pathlib import Path

CHOWN, DAC_OVERRIDE, FOWNER = 1 << 0, 1 << 1, 1 << 3
"""Give a file away, read and write whatever its mode is, act as the owner of any file."""
FOR_FILES_OF_OTHERS = CHOWN | DAC_OVERRIDE | FOWNER

_VERSION = 0x20080522
"""_LINUX_CAPABILITY_VERSION_3 (linux/capability.h): two words for each set."""
_NO_NEW_PRIVILEGES, _DROP_FROM_BOUNDING = 38, 24
"""PR_SET_NO_NEW_PRIVS and PR_CAPBSET_DROP, prctl(2)."""


def forgo_new_privileges() -> None:
    """Nothing that the calling thread starts gains rights by set-user-id bits or file capabilities.

    Raises:
        OSError: if the kernel refuses.
    """
    if _prctl(_NO_NEW_PRIVILEGES, 1) != 0:
        raise OSError(ctypes.get_errno(), "cannot forgo new privileges")


def give_up_capabilities(keep: int = 0) -> None:
    """Keep of the calling thread's capabilities no more than these; what it starts gains none.

    The caller has forgone new privileges, without which a program of root's would get all back.

    Raises:
        OSError: if the kernel refuses.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    header = struct.pack("=Ii", _VERSION, 0)
    had = ctypes.create_string_buffer(24)
    if libc.capget(header, had) != 0:
        raise OSError(ctypes.get_errno(), "cannot read the capabilities")
    effective, permitted, _, effective_high, permitted_high, _ = struct.unpack("=6I", had.raw)
    if not (effective or permitted or effective_high or permitted_high):
        return
    for each in range(_last() + 1):
        if not keep >> each & 1:
            _prctl(_DROP_FROM_BOUNDING, each)
    kept = struct.pack("=6I", keep & permitted, keep & permitted, 0, 0, 0, 0)
    if libc.capset(header, kept) != 0:
        raise OSError(ctypes.get_errno(), "cannot give up capabilities")


def _prctl(option: int, value: int) -> int:
    words = [ctypes.c_ulong(each) for each in (value, 0, 0, 0)]
    return ctypes.CDLL(None, use_errno=True).prctl(option, *words)


def _last() -> int:
    try:
        return int(Path("/proc/sys/kernel/cap_last_cap").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return 63
