"""Implements `hame.base.ports.Web`: asking servers of the public network, and no others.

A host's addresses are looked up once for each connection; all of them must be public, and the
connection goes to one of exactly those. Redirects are followed here, one by one, each checked like the
first, and only within the host that was asked.
"""

import socket
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias, cast
from urllib.parse import urljoin

import anyio
import anyio.to_thread
import msgspec
from typing_extensions import override

from hame.base.errors import ModelError, ToolError
from hame.base.ports import Web
from hame.base.web import WebRequest, WebResponse
from hame.net.addresses import Address, is_public, read_address
from hame.net.coding import undo_coding
from hame.net.destination import Destination, read_destination
from hame.net.faults import connection_failure
from hame.net.proxies import choose_proxy
from hame.net.trust import Trust

if TYPE_CHECKING:
    import httpcore2

Resolve: TypeAlias = Callable[[str, int], Awaitable[Sequence[str]]]
"""A host's addresses."""

_MOST_REDIRECTS = 5
_MOVED = frozenset({301, 302, 303, 307, 308})
_KEEPS_METHOD = frozenset({307, 308})
_EACH_S = 5.0
"""How long one of several addresses is tried."""
_SLICE = 4_096
"""Bytes that are decoded at a time: a body may swell a thousandfold."""
_NO_ENVIRONMENT: Mapping[str, str] = MappingProxyType({})


async def system_addresses(host: str, port: int) -> Sequence[str]:
    """A host's addresses as the system resolves them.

    Raises:
        OSError: if it does not.
    """
    found = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


class PublicWeb(Web):
    """The public network."""

    def __init__(
        self,
        *,
        user_agent: str,
        proxy: str | None = None,
        environment: Mapping[str, str] = _NO_ENVIRONMENT,
        ca_file: str | None = None,
        resolve: Resolve = system_addresses,
        allowed: Callable[[Address], bool] = is_public,
    ) -> None:
        """Opens nothing yet.

        Args:
            user_agent: What the client calls itself.
            proxy: Proxy URL of the user's settings.
            environment: Read for the usual proxy variables.
            ca_file: PEM file to trust besides the system's authorities.
            resolve: Looks a host up.
            allowed: Which addresses may be connected to.
        """
        self._user_agent = user_agent
        self._proxy = proxy
        self._environment = environment
        self._trust = Trust(ca_file)
        self._resolve = resolve
        self._allowed = allowed

    @override
    async def fetch(self, request: WebRequest) -> WebResponse:
        """Ask. Redirects are followed as long as they stay with the host.

        Raises:
            ToolError: for an address that may not be asked, and when there is no answer.
        """
        try:
            with anyio.fail_after(request.timeout_s):
                return await self._follow(request)
        except TimeoutError as error:
            words = f"{request.url} did not answer within {request.timeout_s:g} s"
            raise ToolError(words) from error

    async def _follow(self, request: WebRequest) -> WebResponse:
        place = read_destination(request.url)
        for _ in range(_MOST_REDIRECTS + 1):
            answer = await self._ask(request, place)
            moved = answer.header("location") if answer.status in _MOVED else ""
            if not moved:
                return answer
            there = read_destination(urljoin(place.url, moved))
            if not _stays(place, there):
                return msgspec.structs.replace(answer, elsewhere=there.url)
            if answer.status not in _KEEPS_METHOD and request.method != "HEAD":
                request = msgspec.structs.replace(request, method="GET", body=b"")
            place = there
        raise ToolError(f"{request.url} leads to itself: more than {_MOST_REDIRECTS} redirects")

    async def _ask(self, request: WebRequest, place: Destination) -> WebResponse:
        import httpcore2

        proxy = choose_proxy(place.url, self._proxy, self._environment)
        try:
            async with self._pool(place, proxy) as pool:
                asked = httpcore2.Request(
                    request.method,
                    place.url,
                    headers=self._headers(request, place),
                    content=request.body,
                )
                response = await pool.handle_async_request(asked)
                try:
                    return await _read(response, place, request.max_bytes)
                finally:
                    await response.aclose()
        except ModelError as error:
            raise ToolError(error.message, hint=error.hint) from error
        except (httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.ProxyError,
                httpcore2.TimeoutException, httpcore2.UnsupportedProtocol, OSError) as error:  # fmt: skip
            failure = connection_failure(error, place.url, proxy=proxy)
            raise ToolError(failure.message, hint=failure.hint) from error
        except (ValueError, TypeError) as error:
            raise ToolError(f"this cannot be sent by HTTP: {error}") from error

    @asynccontextmanager
    async def _pool(
        self, place: Destination, proxy: str | None
    ) -> "AsyncGenerator[httpcore2.AsyncConnectionPool]":
        """Connections for one request; nothing is kept that another host could be reached by."""
        import httpcore2

        from hame.net.http import make_pool

        context = await anyio.to_thread.run_sync(self._trust.context)
        if proxy is None:
            backend = _pinned(self._addresses)
            pool = httpcore2.AsyncConnectionPool(ssl_context=context, network_backend=backend)
        else:
            await self._check_for_proxy(place)
            pool = make_pool(proxy, context)
        try:
            yield pool
        finally:
            with anyio.move_on_after(1, shield=True):
                await pool.aclose()

    async def _addresses(self, host: str, port: int) -> list[str]:
        """The addresses to connect to.

        Raises:
            ToolError: when one of them is not public.
            gaierror: when there is none.
        """
        literal = read_address(host)
        found = [str(literal)] if literal else await self._resolve(host, port)
        if not found:
            raise socket.gaierror(socket.EAI_NONAME, f"{host} has no address")
        for each in found:
            address = read_address(each)
            if address is None or not self._allowed(address):
                raise ToolError(
                    f"{host} is not on the public network (its address is {each}); it is not asked",
                    hint="What runs on this machine or in a private network is for run_command.",
                )
        return list(found)

    async def _check_for_proxy(self, place: Destination) -> None:
        """What a proxy is asked for, it looks up itself: check at least what is known here.

        Raises:
            ToolError: when the host is known not to be public.
        """
        try:
            await self._addresses(place.host, place.port)
        except OSError:
            return  # Behind a proxy, names of the internet may not be known here at all.

    def _headers(self, request: WebRequest, place: Destination) -> list[tuple[bytes, bytes]]:
        """All headers as bytes.

        Raises:
            ToolError: for one that HTTP cannot carry, or that is not the caller's to set.
        """
        given = {name.lower() for name, _ in request.headers}
        host = place.origin.partition("://")[2]
        mine = [("host", host), ("user-agent", self._user_agent), ("accept-encoding", "identity")]
        if request.body or request.method not in {"GET", "HEAD"}:
            mine.append(("content-length", str(len(request.body))))
        if "accept" not in given:
            mine.append(("accept", "text/html, application/json, text/plain, */*;q=0.5"))
        for name, value in request.headers:
            if name.lower() in _NOT_SET or not name.isascii() or not value.isprintable():
                raise ToolError(f"the header {name!r} cannot be set")
        headers = [(name, value) for name, value in mine if name not in given or name in _NOT_SET]
        return [
            (name.encode("ascii"), value.encode("latin-1", "replace"))
            for name, value in (*headers, *request.headers)
        ]


_NOT_SET = frozenset({
    "host", "content-length", "transfer-encoding", "connection", "upgrade", "accept-encoding",
    "proxy-authorization", "te", "trailer",
})  # fmt: skip
"""Headers that belong to the connection."""


def _stays(here: Destination, there: Destination) -> bool:
    """Whether a redirect leads to the same host, by no weaker connection."""
    same = here.host.removeprefix("www.") == there.host.removeprefix("www.")
    return same and not (here.scheme == "https" and there.scheme == "http")


async def _read(response: "httpcore2.Response", place: Destination, most: int) -> WebResponse:
    headers = tuple(
        (name.decode("latin-1").lower(), value.decode("latin-1"))
        for name, value in response.headers
    )
    coding = next((value for name, value in headers if name == "content-encoding"), "")
    undo = undo_coding(coding)
    body = bytearray()
    async for chunk in response.aiter_stream():
        for start in range(0, len(chunk), _SLICE):
            body += undo.feed(chunk[start : start + _SLICE])
            if len(body) > most:
                break
        if len(body) > most:
            break
    return WebResponse(
        url=place.url,
        status=response.status,
        headers=headers,
        body=bytes(body[:most]),
        cut=len(body) > most,
    )


def _pinned(
    addresses: Callable[[str, int], Awaitable[list[str]]],
) -> "httpcore2.AsyncNetworkBackend":
    """Connects to the addresses that were checked, and never to a name."""
    import httpcore2

    plain = cast("httpcore2.AsyncNetworkBackend", httpcore2.AnyIOBackend())

    class Pinned(httpcore2.AsyncNetworkBackend):
        @override
        async def connect_tcp(
            self,
            host: str,
            port: int,
            timeout: float | None = None,
            local_address: str | None = None,
            socket_options: Iterable[Any] | None = None,
        ) -> httpcore2.AsyncNetworkStream:
            *others, last = await addresses(host, port)
            for address in others:
                with suppress(httpcore2.ConnectError, httpcore2.ConnectTimeout):
                    return await plain.connect_tcp(address, port, _EACH_S, local_address)
            return await plain.connect_tcp(last, port, timeout, local_address)

    return Pinned()
