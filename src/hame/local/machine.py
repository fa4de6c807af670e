"""Whether this machine can run the engine: it is installed, and the processor has what it needs."""

import importlib.util
import os
import sys
from pathlib import Path

from hame.base.errors import LocalModelError

NEEDED_FLAGS = ("avx2", "fma", "f16c", "bmi2")
"""The engine's x86-64 wheels are compiled for these; without one the process would die of SIGILL."""
_ENGINE = "xllamacpp"


def engine_installed() -> bool:
    """Whether the engine is there; it is not imported."""
    return importlib.util.find_spec(_ENGINE) is not None


def require_engine() -> None:
    """See that the engine can be started.

    Raises:
        LocalModelError: if it is not installed, or this processor cannot run it.
    """
    if not engine_installed():
        raise LocalModelError(
            "the built-in model's engine is not installed",
            hint="pip install 'hame[local]'",
        )
    missing = missing_flags()
    if missing:
        raise LocalModelError(
            f"this processor cannot run the built-in model: it has no {', '.join(missing)}",
            hint="Use a model of a provider or a local server; `hame models` lists them.",
        )


def missing_flags(
    system: str = sys.platform,
    machine: str | None = None,
    cpuinfo: Path = Path("/proc/cpuinfo"),
) -> tuple[str, ...]:
    """Processor features that are needed and absent; none where the system does not tell."""
    if system != "linux" or (machine or os.uname().machine) not in {"x86_64", "AMD64"}:
        return ()
    try:
        lines = cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ()
    flags = next(
        (line.partition(":")[2].split() for line in lines if line.startswith("flags")), None
    )
    return () if flags is None else tuple(flag for flag in NEEDED_FLAGS if flag not in flags)


def thread_counts(cores: int | None = None) -> tuple[int, int]:
    """Threads for one token at a time, and for a whole prompt.

    A token of so small a model is over before the threads have met; half the cores, and one on a
    machine with two, is fastest when other programs run too.
    """
    count = cores or _usable_cores()
    return (1 if count <= 2 else count // 2), count


def _usable_cores() -> int:
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
