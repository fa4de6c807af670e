"""Implements `hame.base.ports.Gateway`: an HTTP proxy on a Unix socket, for one confined program each.

It runs in a thread with an event loop of its own, so that a program that floods it holds nothing else
up, and whoever opened it may close it from another task.
"""

import os
import socket
import stat
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from ipaddress import IPv6Address
from pathlib import Path
from threading import Thread
from types import MappingProxyType, TracebackType

import anyio
import anyio.to_thread
from anyio.abc import SocketStream, TaskGroup
from typing_extensions import override

from hame.base.errors import ToolError
from hame.base.hosts import HostEntry, covers, read_host, write_host
from hame.base.ports import Gateway
from hame.net.addresses import Address, is_private, is_public, read_address
from hame.net.connector import Connector
from hame.net.exchange import Grants, serve
from hame.net.public import Resolve, system_addresses

MOST_REFUSALS = 32
"""Names that are remembered; one program could ask for any number of them."""
MOST_CONNECTIONS = 128
"""At once; further ones wait."""
_STOP_S = 2.0
_BUSY_S = 0.1
"""How long to wait when no descriptor is left for another connection."""
_BACKLOG = 256
_LONGEST_PATH = 100
"""Bytes of a socket's path that every system takes (unix(7): 108)."""
_NO_ENVIRONMENT: Mapping[str, str] = MappingProxyType({})


def _ignore(error: Exception) -> None:
    del error


class Egress(Gateway):
    """The way to the network for confined programs."""

    def __init__(
        self,
        *,
        proxy: str | None = None,
        environment: Mapping[str, str] = _NO_ENVIRONMENT,
        ca_file: str | None = None,
        resolve: Resolve = system_addresses,
        allowed: Callable[[Address], bool] = is_public,
        grantable: Callable[[Address], bool] = is_private,
        report: Callable[[Exception], None] = _ignore,
    ) -> None:
        """Opens nothing yet.

        Args:
            proxy: Proxy URL of the user's settings; connections go on through it.
            environment: Read for the usual proxy variables.
            ca_file: PEM file to trust besides the system's authorities, for a proxy that speaks TLS.
            resolve: Looks a host up; called in another thread.
            allowed: Which addresses a name may lead to.
            grantable: Which others it may lead to if they were granted too, as addresses.
            report: Told what ended a connection in a way that was not foreseen; called in another thread.
        """
        self._report = report
        self._grantable = grantable
        self._connector = Connector(
            proxy=proxy,
            environment=environment,
            ca_file=ca_file,
            resolve=resolve,
            allowed=allowed,
        )

    @override
    def open(
        self, path: str, hosts: Sequence[str]
    ) -> AbstractAsyncContextManager[Callable[[], Sequence[str]]]:
        """Serve on a Unix socket at `path` while the context is open.

        Raises:
            ToolError: if `hosts` holds what is no entry, and on entering, if it cannot be served.
        """
        return _Opened(path, _Grants(hosts, self._grantable), self._connector, self._report)


class _Grants(Grants):
    """Hosts as entries, and those that were refused."""

    def __init__(self, hosts: Sequence[str], grantable: Callable[[Address], bool]) -> None:
        """Take entries.

        Raises:
            ToolError: for what is none.
        """
        try:
            self._entries = [read_host(host) for host in hosts]
        except ValueError as error:
            raise ToolError(f"the hosts granted to this command cannot be read: {error}") from error
        self._grantable = grantable
        self._refused: dict[str, None] = {}

    @override
    def find(self, place: HostEntry) -> HostEntry | None:
        """The entry that grants a port of a machine, an exact one before a pattern."""
        found = [entry for entry in self._entries if covers(entry.text, place.text)]
        if found:
            return min(found, key=lambda entry: (entry.below, entry.port is None))
        self._refuse(write_host(place.name, place.port or 0))
        return None

    @override
    def find_address(self, address: str, port: int) -> bool:
        """Whether exactly this address was granted; only what could be counts as refused."""
        found = read_address(address)
        if found is None or not self._grantable(found):
            return False
        mapped = found.ipv4_mapped if isinstance(found, IPv6Address) else None
        place = write_host(str(mapped or found), port)
        if any(entry.is_address and covers(entry.text, place) for entry in self._entries):
            return True
        self._refuse(place)
        return False

    def _refuse(self, host: str) -> None:
        if len(self._refused) < MOST_REFUSALS:
            self._refused[host] = None

    def refused(self) -> Sequence[str]:
        return tuple(self._refused)


class _Opened(AbstractAsyncContextManager[Callable[[], Sequence[str]]]):
    """The time in which one program may use it."""

    def __init__(
        self,
        path: str,
        grants: _Grants,
        connector: Connector,
        report: Callable[[Exception], None],
    ) -> None:
        self._report = report
        self._path = path
        self._grants = grants
        self._connector = connector
        self._thread: Thread | None = None
        self._stop: socket.socket | None = None

    @override
    async def __aenter__(self) -> Callable[[], Sequence[str]]:
        """Listen, from now on.

        Raises:
            ToolError: if it cannot be served.
        """
        grants = self._grants
        listener = _listen(self._path)
        self._stop, stopped = socket.socketpair()
        self._thread = Thread(
            target=anyio.run,
            args=(self._serve, listener, stopped, grants),
            name="hame-egress",
            daemon=True,
        )
        self._thread.start()
        return grants.refused

    async def _serve(
        self, listener: socket.socket, stopped: socket.socket, grants: "_Grants"
    ) -> None:
        """Answer connections until the other end of `stopped` is closed; runs in its own thread."""
        slots = anyio.Semaphore(MOST_CONNECTIONS)

        async def answer(connection: socket.socket) -> None:
            stream = await SocketStream.from_socket(connection)
            try:
                await serve(stream, grants, self._connector)
            except Exception as error:  # noqa: BLE001 - one connection must not end all others
                self._report(error)
            finally:
                slots.release()
                await anyio.aclose_forcefully(stream)

        async def accept(group: TaskGroup) -> None:
            while True:
                await slots.acquire()
                group.start_soon(answer, await _accept(listener))

        with listener, stopped:
            async with anyio.create_task_group() as group:
                group.start_soon(accept, group)
                await anyio.wait_readable(stopped)
                group.cancel_scope.cancel()

    @override
    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End every connection; also while being cancelled."""
        _remove(self._path)
        if self._stop is not None:
            self._stop.close()
        if self._thread is not None:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(self._thread.join, _STOP_S)


def _listen(path: str) -> socket.socket:
    """A Unix socket that only the user can reach.

    Raises:
        ToolError: if it cannot be made, or others may enter its folder.
    """
    folder, name = os.path.split(path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            found = os.fstat(held)
            if found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o077:
                raise ToolError(f"{folder} is open to others; no socket is put there")
            # A path may be longer than a socket's address; through the descriptor it is short.
            is_long = len(os.fsencode(path)) > _LONGEST_PATH
            listener.bind(f"/proc/self/fd/{held}/{name}" if is_long else path)
            os.chmod(name, 0o600, dir_fd=held)
        finally:
            os.close(held)
        listener.listen(_BACKLOG)
        listener.settimeout(0)
    except OSError as error:
        listener.close()
        raise ToolError(f"no socket can be made at {path}: {error.strerror or error}") from error
    except ToolError:
        listener.close()
        raise
    return listener


def _remove(path: str) -> None:
    with suppress(OSError):
        Path(path).unlink()


async def _accept(listener: socket.socket) -> socket.socket:
    while True:
        try:
            connection, _ = listener.accept()
        except BlockingIOError:
            await anyio.wait_readable(listener)
        except OSError:
            await anyio.sleep(_BUSY_S)
        else:
            connection.settimeout(0)
            return connection
