"""What this machine's bubblewrap can do, and which of its ways works here.

https://github.com/containers/bubblewrap. Root has what it takes and gives it up; others get it in a user
namespace of their own, in which no further one can be made.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path

import anyio
import msgspec

from hame.base.errors import ToolError
from hame.base.ports import Processes
from hame.base.process import Launch
from hame.base.zone import is_below, split
from hame.sandbox.remedies import install_hint, namespace_hint

NO_NETWORK = "--unshare-net"
_LIMIT_S = 20.0
_APART = (
    "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", NO_NETWORK,
)  # fmt: skip
_VERSION = re.compile(r"(\d+)\.(\d+)(?:\.(\d+))?")


class Bwrap(msgspec.Struct, frozen=True, kw_only=True):
    """A bubblewrap that works here."""

    program: str
    """Absolute path."""
    version: str
    as_root: bool
    """It is run with all of root's powers; they are given up for the program."""
    options: tuple[str, ...]
    """What sets the program apart, in every sandbox."""
    by_descriptor: bool
    """Mounts can be made of open descriptors."""


class Unusable(msgspec.Struct, frozen=True, kw_only=True):
    """Why there is none."""

    reason: str
    remedy: str = ""


async def find_bwrap(
    search_path: str, processes: Processes, unsafe: Sequence[str] = ()
) -> Bwrap | Unusable:
    """Try bubblewrap's ways of setting a program apart until one works; takes some milliseconds.

    Programs in `unsafe` folders, into which others may write, are not looked at.
    """
    program = find_program("bwrap", search_path, unsafe)
    if program is None:
        return Unusable(reason="bubblewrap (bwrap) is not installed", remedy=install_hint())
    code, words = await run_briefly((program, "--version"), processes)
    number = _VERSION.search(words)
    if code or number is None:
        return Unusable(reason=f"{program} does not say its version", remedy=install_hint())
    _, words = await run_briefly((program, "--help"), processes)
    known = set(re.findall(r"--[a-z-]+", words))
    for as_root, options in _ways(known):
        trial = (program, *options, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc")
        code, words = await run_briefly(
            (*trial, "--tmpfs", "/run", "--", "/bin/sh", "-c", ":"), processes
        )
        if code == 0:
            return Bwrap(
                program=program,
                version=number[0],
                as_root=as_root,
                options=options,
                by_descriptor="--ro-bind-fd" in known,
            )
    reason = next(iter(words.strip().splitlines()), f"{program} ended with code {code}")
    return Unusable(reason=reason, remedy=_remedy(reason, program))


def _ways(known: set[str]) -> Sequence[tuple[bool, tuple[str, ...]]]:
    apart = tuple(option for option in _APART if option in known)
    user = (False, (*apart, "--unshare-user"))
    closed = (False, (*apart, "--unshare-user", "--disable-userns"))
    root = (True, (*apart, "--cap-drop", "ALL"))
    ways = [closed, user] if "--disable-userns" in known else [user]
    return [root, *ways] if os.geteuid() == 0 else ways


def find_program(name: str, search_path: str, unsafe: Sequence[str]) -> str | None:
    """The absolute path of a program that is in none of the unsafe folders."""
    for folder in search_path.split(":"):
        path = os.path.realpath(f"{folder}/{name}")
        if not folder.startswith("/") or any(is_below(split(path), place) for place in unsafe):
            continue
        if os.access(path, os.X_OK) and Path(path).is_file():
            return path
    return None


async def run_briefly(argv: tuple[str, ...], processes: Processes) -> tuple[int, str]:
    """A program's exit code and words; one that cannot be run, or hangs, has failed."""
    launch = Launch(argv=argv, cwd="/", env=(("LC_ALL", "C"), ("PATH", "/usr/bin:/bin")))
    said = b""
    try:
        with anyio.fail_after(_LIMIT_S):
            async with processes.start(launch) as process:
                async for chunk in process.output():
                    said += chunk
                ended = await process.wait()
    except ToolError as error:
        return 1, error.message
    except TimeoutError:
        return 1, f"{argv[0]} did not end within {_LIMIT_S:g} s"
    return 1 if ended.code is None else ended.code, said.decode(errors="replace")


def _remedy(reason: str, program: str) -> str:
    if any(word in reason for word in ("uid map", "namespace", "RTM_NEWADDR", "ermi")):
        return namespace_hint(program)
    return ""
