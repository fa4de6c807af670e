"""What a command that failed was probably kept from, told from what it printed and whom it asked for.

Certain is only what the proxy refused. What a program prints counts where it fits what its sandbox really
kept from it: a place that could be written without it, a machine that was not granted.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from hame.base.confinement import Confinement, HostDenied, PathDenied, Reach, SandboxDenied
from hame.base.hosts import covers, read_host
from hame.sandbox.ground import Ground
from hame.sandbox.unreachable import name_hosts
from hame.sandbox.unwritable import name_paths
from hame.sandbox.wording import Printed

MOST_HOSTS = 4
MOST_PATHS = 4
_LISTENING = "0A"
"""TCP_LISTEN in /proc/net/tcp (proc(5))."""


def explain(
    confinement: Confinement,
    output: str,
    refused: Sequence[str],
    ground: Ground,
    *,
    listens: Callable[[int], bool] | None = None,
) -> tuple[SandboxDenied, ...]:
    """What was kept from the program, the surest first; a host without a name comes last and alone.

    Does not raise, whatever was printed, and takes bounded time.

    Args:
        confinement: What it ran with.
        output: What it printed.
        refused: The hosts that the proxy refused.
        ground: What it could do with places.
        listens: Whether anybody listens at a port of this machine; None: the system is asked.
    """
    if confinement.reach is Reach.OUTSIDE:
        return ()
    printed = Printed(output)
    named = _hosts(confinement, name_hosts(printed, listens or _listens(), sockets=ground.sockets))
    asked = list(dict.fromkeys(_hosts(confinement, refused)))[:MOST_HOSTS]
    said = [host for host in dict.fromkeys(named) if host not in asked]
    paths = dict[str, bool]()
    for path, sure in name_paths(printed, ground):
        paths[path] = paths.get(path, False) or sure
    outermost = [path for path in paths if not any(path.startswith(f"{each}/") for each in paths)]
    sure = [path for path in outermost if paths[path]]
    unsure = [path for path in outermost if not paths[path]]
    places = [PathDenied(path) for path in (sure + unsure)[:MOST_PATHS]]
    hosts = [HostDenied(host) for host in said if host][: MOST_HOSTS - len(asked)]
    found = [*map(HostDenied, asked), *places[: len(sure)], *hosts, *places[len(sure) :]]
    if "" in said and not asked and not hosts:
        found.append(HostDenied(""))
    return tuple(found)


def _hosts(confinement: Confinement, hosts: Iterable[str]) -> Iterator[str]:
    """Those that a grant would help: it is no lack of one where there is one."""
    for host in hosts:
        if not host:
            yield host
            continue
        try:
            entry = read_host(host).text
        except ValueError:
            continue
        if not any(covers(granted, entry) for granted in confinement.hosts):
            yield entry


def _listens() -> Callable[[int], bool]:
    """Looks only when it is asked, and then once."""
    ports: set[int] | None = None

    def listens(port: int) -> bool:
        nonlocal ports
        if ports is None:
            ports = set(_listening())
        return port in ports

    return partial(listens)


def _listening() -> Iterator[int]:
    """Ports of this machine at which programs listen for themselves or for everybody (proc(5))."""
    from pathlib import Path

    for table in ("tcp", "tcp6"):
        try:
            lines = Path("/proc/net", table).read_text(encoding="ascii").splitlines()[1:]
        except (OSError, ValueError):
            continue
        for line in lines:
            fields = line.split()
            if len(fields) > 3 and fields[3] == _LISTENING:
                yield int(fields[1].rpartition(":")[2], 16)
