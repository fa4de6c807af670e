"""How a program ended, in words."""

import signal

from hame.base.process import Exit


def how_it_ended(ended: Exit | None, limit: float) -> str:
    """`exit code 1`, `killed by SIGSEGV`, `timed out after 5 s`; None means the limit in seconds."""
    if ended is None:
        return f"timed out after {limit:g} s; the process group was killed"
    if ended.code is None:
        return f"killed by {signal_name(ended.signal or 0)}"
    if ended.code > 128:
        # What a shell reports for a child that a signal ended.
        name = signal_name(ended.code - 128)
        return f"exit code {ended.code}" + (f" ({name})" if name.startswith("SIG") else "")
    return f"exit code {ended.code}"


def signal_name(number: int) -> str:
    """`SIGTERM`; for a number without a name, that number."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
