"""Implements `hame.base.ports.Http`: one pool of connections for all wires.

Redirects are not followed, so a key never reaches an origin it was not meant for. Nothing waits
without a limit: connecting, the first byte of the body, the silence between two pieces and the whole
are timed, and each has its own words.
"""

import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from importlib import import_module
from importlib.util import find_spec
from types import MappingProxyType
from typing import TYPE_CHECKING, Self, cast
from urllib.parse import SplitResult, unquote, urlsplit

import anyio
import anyio.to_thread

from hame.base.errors import ModelError
from hame.base.model import Timeouts
from hame.base.ports import HttpRequest, HttpResponse
from hame.net.coding import Undo, undo_coding
from hame.net.echo import Echo
from hame.net.faults import connection_failure, network_failure, request_failure, timeout_failure
from hame.net.proxies import choose_proxy
from hame.net.trust import Trust, no_trust
from hame.net.watch import Watch

if TYPE_CHECKING:
    import httpcore2

_KEEP_S = 60.0
"""How long an idle connection is kept."""
_CLOSE_S = 1.0
"""How long closing a connection may take before it is left to the system."""
_NO_ENVIRONMENT: Mapping[str, str] = MappingProxyType({})


def preload() -> None:
    """Import what the first request needs; may run in a thread while the user types."""
    for module in ("encodings.idna", "anyio._backends._asyncio", "anyio.streams.tls", "httpcore2"):
        import_module(module)


class HttpClient:
    """The one door to the network. Must be closed."""

    def __init__(
        self,
        *,
        user_agent: str,
        proxy: str | None = None,
        environment: Mapping[str, str] = _NO_ENVIRONMENT,
        ca_file: str | None = None,
    ) -> None:
        """Opens nothing yet.

        Args:
            user_agent: What the client calls itself.
            proxy: Proxy URL of the user's settings; comes before the environment's.
            environment: Read for HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY.
            ca_file: PEM file to trust besides the system's authorities.
        """
        self._user_agent = user_agent
        self._proxy = proxy
        self._environment = environment
        self._trust = Trust(ca_file)
        self._pools: dict[tuple[str | None, bool], httpcore2.AsyncConnectionPool] = {}

    def warm(self, url: str) -> None:
        """Begin, in a thread, to load what a request to that URL will need."""
        if url.startswith("https:"):
            self._trust.warm()

    @asynccontextmanager
    async def send(self, request: HttpRequest, timeouts: Timeouts) -> AsyncGenerator[HttpResponse]:
        """Send and wait for the head of the response; leaving closes a body not read to its end.

        Raises:
            ModelError: kind network, timeout, or invalid_request for what cannot be sent.
        """
        watch = Watch(timeouts, request.url)
        proxy = choose_proxy(request.url, self._proxy, self._environment)
        with _explained(request.url, proxy, timeouts), watch.opening():
            pool = await self._pool(request.url, proxy)
            response = await pool.handle_async_request(self._write(request, timeouts, watch))
        answer = _Response(response, request.url, timeouts, watch, echo=Echo(request, proxy))
        try:
            yield answer
        finally:
            with anyio.move_on_after(_CLOSE_S, shield=True):
                await answer.aclose()

    async def aclose(self) -> None:
        """Close all connections."""
        pools, self._pools = list(self._pools.values()), {}
        with anyio.move_on_after(_CLOSE_S, shield=True):
            for pool in pools:
                await pool.aclose()

    async def _pool(self, url: str, proxy: str | None) -> "httpcore2.AsyncConnectionPool":
        """The pool for a URL; one that may speak TLS is made only once the certificates are loaded."""
        secure = url.startswith("https:") or (proxy or "").startswith("https:")
        pool = self._pools.get((proxy, secure))
        if pool is None:
            if not secure:
                context = no_trust()
            elif self._trust.is_ready:
                context = self._trust.context()
            else:
                context = await anyio.to_thread.run_sync(self._trust.context)
            pool = self._pools.setdefault((proxy, secure), make_pool(proxy, context))
        return pool

    def _write(self, request: HttpRequest, timeouts: Timeouts, watch: Watch) -> "httpcore2.Request":
        """The request in httpcore2's terms.

        Raises:
            ModelError: if a header or the URL holds what HTTP cannot carry.
        """
        import httpcore2

        parts = urlsplit(request.url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            reason = f"{request.url!r} is no http or https URL"
            raise ModelError(request_failure(reason, request.url))
        headers = whole_headers(request, self._user_agent)
        try:
            return httpcore2.Request(
                request.method,
                request.url,
                headers=[(name.encode("ascii"), _header_bytes(value)) for name, value in headers],
                content=request.body,
                extensions={"trace": watch.note, "timeout": {"write": timeouts.idle_s}},
            )
        except (UnicodeEncodeError, ValueError, TypeError) as error:
            reason = "a header or the address holds characters that HTTP cannot carry"
            raise ModelError(request_failure(reason, request.url)) from error


class _Response:
    """Implements `HttpResponse`; it is the iterator of its own chunks."""

    def __init__(
        self,
        response: "httpcore2.Response",
        url: str,
        timeouts: Timeouts,
        watch: Watch,
        *,
        echo: Echo,
    ) -> None:
        self._response = response
        self._url = url
        self._timeouts = timeouts
        self._watch = watch
        self._echo = echo
        self._headers = self._echo.headers(_read_headers(response.headers))
        self._body: AsyncIterator[bytes] = aiter(response.aiter_stream())
        self._coding: Undo | None = None

    @property
    def status(self) -> int:
        return self._response.status

    @property
    def headers(self) -> Mapping[str, str]:
        return self._headers

    def chunks(self) -> AsyncIterator[bytes]:
        return self

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        """The next piece of the body that is not empty.

        Raises:
            ModelError: if the connection broke, fell silent, or sends what cannot be decoded.
            StopAsyncIteration: after the last.
        """
        while True:
            timed = self._watch.reading(first=self._coding is None)
            with _explained(self._url, None, self._timeouts), timed:
                piece = await anext(self._body, None)
            if piece is None:
                if rest := self._echo.rest():
                    return rest
                raise StopAsyncIteration
            try:
                if self._coding is None:
                    self._coding = undo_coding(self._headers.get("content-encoding", ""))
                if text := self._echo.feed(self._coding.feed(piece)):
                    return text
            except ValueError as error:
                failure = network_failure(
                    f"The answer cannot be read: {error}.",
                    "Check any proxy that stands in between.",
                )
                raise ModelError(failure) from error

    async def aclose(self) -> None:
        """Close the body; a connection whose body was not read to its end is closed with it."""
        if isinstance(self._body, AsyncGenerator):
            await cast("AsyncGenerator[bytes]", self._body).aclose()
        await self._response.aclose()


@contextmanager
def _explained(url: str, proxy: str | None, timeouts: Timeouts) -> Generator[None]:
    """Turn the faults of a connection into failures that say what happened.

    Raises:
        ModelError: in place of any of them.
    """
    import httpcore2

    try:
        yield
    except httpcore2.WriteTimeout as error:
        raise ModelError(timeout_failure("sending", timeouts.idle_s, url)) from error
    except (httpcore2.UnsupportedProtocol, httpcore2.LocalProtocolError) as error:
        raise ModelError(request_failure(str(error), url)) from error
    except (
        httpcore2.NetworkError,
        httpcore2.ProtocolError,
        httpcore2.ProxyError,
        httpcore2.TimeoutException,
        OSError,
        EOFError,
    ) as error:
        raise ModelError(connection_failure(error, url, proxy=proxy)) from error


def make_pool(proxy: str | None, context: ssl.SSLContext) -> "httpcore2.AsyncConnectionPool":
    """A pool of direct connections, or of connections through a proxy.

    Raises:
        ModelError: for a SOCKS proxy without the package that speaks it.
    """
    import httpcore2

    if proxy is None:
        return httpcore2.AsyncConnectionPool(
            ssl_context=context, max_connections=None, keepalive_expiry=_KEEP_S
        )
    parts = urlsplit(proxy)
    auth = (unquote(parts.username), unquote(parts.password or "")) if parts.username else None
    address = f"{parts.scheme}://{_authority(parts)}"
    if not parts.scheme.startswith("socks5"):
        return httpcore2.AsyncHTTPProxy(
            address,
            proxy_auth=auth,
            ssl_context=context,
            proxy_ssl_context=context if parts.scheme == "https" else None,
            max_connections=None,
            keepalive_expiry=_KEEP_S,
        )
    if find_spec("socksio") is None:
        failure = network_failure(
            f"The proxy {address} speaks SOCKS, which needs the package socksio.",
            "Install it beside hame (`pip install socksio`), or use an HTTP proxy.",
            retryable=False,
        )
        raise ModelError(failure)
    return httpcore2.AsyncSOCKSProxy(
        address,
        proxy_auth=auth,
        ssl_context=context,
        max_connections=None,
        keepalive_expiry=_KEEP_S,
    )


def whole_headers(request: HttpRequest, user_agent: str) -> list[tuple[str, str]]:
    """All headers that are sent with a request: its own, and those of the connection."""
    headers = [
        ("host", _authority(urlsplit(request.url))),
        ("user-agent", user_agent),
        ("accept-encoding", "identity"),
        *request.headers,
    ]
    if request.body or request.method not in {"GET", "HEAD"}:
        headers.append(("content-length", str(len(request.body))))
    return headers


def _authority(parts: SplitResult) -> str:
    """Host and port of a URL, without user name and password."""
    return parts.netloc.rpartition("@")[2]


def _header_bytes(value: str) -> bytes:
    """A header's value as HTTP carries it.

    Raises:
        ValueError: for line breaks, other control characters and all that is not ASCII.
    """
    if not value.isprintable():
        raise ValueError("a header holds a control character")
    return value.encode("ascii")


def _read_headers(headers: Sequence[tuple[bytes, bytes]]) -> Mapping[str, str]:
    read: dict[str, str] = {}
    for raw_name, raw_value in headers:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        read[name] = f"{read[name]}, {value}" if name in read else value
    return read
