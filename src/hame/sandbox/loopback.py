"""One loopback for all commands of a session that may write the project.

bubblewrap gives every sandbox a network of its own, so that a server which one command has started is not
there for the next. This keeps one network without a way out, made by bubblewrap itself, in which sandboxes
are started: by nsenter(1), since bubblewrap cannot join one. The network belongs to the user namespace that
it was made in (ioctl_nsfs(2)); who is not root enters that one as well. See docs/decisions/0016.
"""

import fcntl
import os
from collections.abc import Sequence

import anyio

from hame.base.errors import ToolError
from hame.base.ports import Processes
from hame.base.process import Launch
from hame.sandbox.namespaces import NO_NETWORK, Bwrap, find_program, run_briefly

_LIMIT_S = 10.0
_WAITING = "echo $$; exec sleep 10"
"""Says where it is, and is there until it is ended."""
_GET_OWNER = 0xB701
"""NS_GET_USERNS, <linux/nsfs.h>."""
_OWN_NETWORK, _OWN_USER = "/proc/self/ns/net", "/proc/self/ns/user"


class Loopback:
    """A network namespace, for as long as this is open or anything lives in it."""

    def __init__(self, nsenter: str, network: int, owner: int | None) -> None:
        """`owner` is the user namespace to be entered first. Both descriptors are its own from now on."""
        self._nsenter = nsenter
        self._network = network
        self._owner = owner

    @property
    def name(self) -> str:
        """What namespaces(7) calls it."""
        return f"net:[{os.fstat(self._network).st_ino}]"

    def enter(self, argv: Sequence[str]) -> tuple[str, ...]:
        """The start of a program in it, which inherits nothing that leads to it."""
        user: tuple[str, ...] = ()
        if self._owner is not None:
            user = (f"--user={_path(self._owner)}", "--preserve-credentials")
        return (self._nsenter, *user, f"--net={_path(self._network)}", "--", *argv)

    def close(self) -> None:
        """Let go of it; may be called twice."""
        for descriptor in (self._network, self._owner):
            if descriptor is not None and descriptor >= 0:
                os.close(descriptor)
        self._network, self._owner = -1, None


async def make_loopback(
    bwrap: Bwrap, search_path: str, processes: Processes, unsafe: Sequence[str]
) -> Loopback | None:
    """Make one and try it; None where sandboxes cannot be started in it. Takes some milliseconds."""
    nsenter = find_program("nsenter", search_path, unsafe)
    if nsenter is None:
        return None
    user = () if bwrap.as_root else ("--unshare-user",)
    # Without a /dev of its own it makes one user namespace and not two, so that ids stay what they are.
    holder = (bwrap.program, NO_NETWORK, *user, "--ro-bind", "/", "/", "--die-with-parent", "--")
    try:
        loopback = await _hold(holder, nsenter, processes)
    except (OSError, ToolError, TimeoutError):
        return None
    if loopback is None:
        return None
    if not await _leads_there(loopback, bwrap, processes):
        loopback.close()
        return None
    return loopback


async def _leads_there(loopback: Loopback, bwrap: Bwrap, processes: Processes) -> bool:
    """Whether what is started so ends up in it: an nsenter that does less would let all out."""
    apart = (option for option in bwrap.options if option != NO_NETWORK)
    trial = (bwrap.program, *apart, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc")
    argv = loopback.enter((*trial, "--", "readlink", _OWN_NETWORK))
    code, words = await run_briefly(argv, processes)
    return code == 0 and words.strip() == loopback.name


async def _hold(holder: Sequence[str], nsenter: str, processes: Processes) -> Loopback | None:
    """The network of a program that waits in it, and ends when it is open.

    Raises:
        OSError: if it cannot be opened.
        ToolError: if the program cannot be started.
        TimeoutError: if it does not say where it is.
    """
    argv = (*holder, "/bin/sh", "-c", _WAITING)
    said = b""
    with anyio.fail_after(_LIMIT_S):
        async with processes.start(Launch(argv=argv, cwd="/", label="loopback")) as process:
            async for chunk in process.output():
                said += chunk
                if said.endswith(b"\n"):
                    break
            line = said.strip()
            return _open(int(line), nsenter) if line.isdigit() else None


def _open(pid: int, nsenter: str) -> Loopback | None:
    """The network that a process is in, unless that is hame's own.

    Raises:
        OSError: if it may not be looked into.
    """
    network = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        owner = fcntl.ioctl(network, _GET_OWNER)
    except OSError:
        os.close(network)
        raise
    if _is(network, _OWN_NETWORK):
        for descriptor in (network, owner):
            os.close(descriptor)
        return None
    if _is(owner, _OWN_USER):
        os.close(owner)
        return Loopback(nsenter, network, None)
    return Loopback(nsenter, network, owner)


def _is(descriptor: int, path: str) -> bool:
    return os.path.samestat(os.fstat(descriptor), os.stat(path))  # noqa: PTH116 - of a descriptor


def _path(descriptor: int) -> str:
    """Where the program that enters finds it, which has no need to inherit it."""
    return f"/proc/{os.getpid()}/fd/{descriptor}"
