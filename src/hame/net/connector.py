"""Connections for somebody else: to machines that were granted, directly or through the user's proxy.

A name is looked up once. Unless the user named this very machine by its address, all its addresses
must be public or granted as addresses, and the connection goes to one of exactly those.

SOCKS: https://www.rfc-editor.org/rfc/rfc1928, https://www.rfc-editor.org/rfc/rfc1929.
"""

import socket
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from urllib.parse import SplitResult, unquote, urlsplit

import anyio
import anyio.to_thread
import h11
import msgspec
from anyio.abc import ByteStream
from anyio.streams.buffered import BufferedByteReceiveStream
from anyio.streams.tls import TLSStream

from hame.base.errors import ToolError
from hame.base.hosts import HostEntry
from hame.net.addresses import Address, is_public, read_address
from hame.net.proxies import choose_proxy
from hame.net.public import Resolve, system_addresses
from hame.net.trust import Trust

CONNECT_S = 30.0
"""How long all of connecting may take."""
_EACH_S = 5.0
"""How long one of several addresses is tried."""
_CHECK_S = 3.0
"""How long a name may take to be looked up that a proxy will look up itself."""
_HEAD_LIMIT = 32_768
"""Bytes of a proxy's answer."""
_PROXY_PORTS = {"http": 80, "https": 443, "socks5": 1080, "socks5h": 1080}


def _nothing(address: str) -> bool:
    del address
    return False


class NotPublicError(ToolError):
    """A name that was granted leads to an address of a private network, or of this machine."""

    def __init__(self, name: str, address: str) -> None:
        """`address` is the first of the name's that is not public."""
        super().__init__(f"{name} is not on the public network (its address is {address})")
        self.address = address


class Connection(msgspec.Struct, frozen=True, kw_only=True):
    """A connection that was made."""

    stream: ByteStream
    received: bytes = b""
    """What the machine has sent already."""
    through_proxy: bool = False
    """Requests on it are for a proxy: they name their whole target."""
    headers: tuple[tuple[bytes, bytes], ...] = ()
    """What the proxy wants to see with each request."""


class Connector:
    """Connects to machines that were granted."""

    def __init__(
        self,
        *,
        proxy: str | None,
        environment: Mapping[str, str],
        ca_file: str | None,
        resolve: Resolve = system_addresses,
        allowed: Callable[[Address], bool] = is_public,
    ) -> None:
        """Opens nothing yet; the arguments are those of `hame.net.public.PublicWeb`."""
        self._proxy = proxy
        self._environment = environment
        self._trust = Trust(ca_file)
        self._resolve = resolve
        self._allowed = allowed

    async def connect(
        self,
        place: HostEntry,
        *,
        by_address: bool,
        tunnel: bool,
        grants: Callable[[str], bool] = _nothing,
    ) -> Connection:
        """Connect to one port of one machine.

        Args:
            place: A name or an address, with its port.
            by_address: The user granted exactly this address, or this port of this machine, whatever
                network it belongs to.
            tunnel: The connection carries any bytes; else one plain HTTP request.
            grants: Whether the user granted an address, at this port, to which a name may then lead.

        Raises:
            NotPublicError: if the name leads to an address that is not public.
            OSError: if nobody can be connected to, or the proxy refused; TimeoutError if it takes too long.
            ToolError: for a proxy of a kind that is not known, or certificates that cannot be read.
        """
        assert place.port is not None
        with anyio.fail_after(CONNECT_S):
            proxy = self.proxy_for(place, tunnel=tunnel)
            if proxy is None:
                addresses = await self._addresses(place, grants, by_address=by_address)
                return Connection(stream=await _connect_to_one(addresses, place.port))
            if not by_address:
                await self._check_for_proxy(place, grants)
            return await self._through(_read_proxy(proxy), place, tunnel=tunnel)

    def proxy_for(self, place: HostEntry, *, tunnel: bool) -> str | None:
        """The user's proxy for a machine; None: it is connected to directly."""
        url = f"{'https' if tunnel else 'http'}://{place.text}"
        return choose_proxy(url, self._proxy, self._environment)

    async def _addresses(
        self, place: HostEntry, grants: Callable[[str], bool], *, by_address: bool
    ) -> Sequence[str]:
        if place.is_address:
            found: Sequence[str] = [place.name]
        elif by_address and place.is_this_machine:
            found = ["127.0.0.1", "::1"]
        else:
            found = await self._resolve(place.name, place.port or 0)
        if not found:
            raise socket.gaierror(socket.EAI_NONAME, f"{place.name} has no address")
        if not by_address:
            for each in found:
                address = read_address(each)
                if address is None or not (self._allowed(address) or grants(each)):
                    raise NotPublicError(place.name, each)
        return found

    async def _check_for_proxy(self, place: HostEntry, grants: Callable[[str], bool]) -> None:
        """What a proxy is asked for, it looks up itself: check at least what is known here."""
        with suppress(OSError), anyio.move_on_after(_CHECK_S):
            await self._addresses(place, grants, by_address=False)

    async def _through(self, proxy: SplitResult, place: HostEntry, *, tunnel: bool) -> Connection:
        """A connection through a proxy.

        Raises:
            OSError: if it cannot be connected to, or refuses.
        """
        host = proxy.hostname or ""
        port = proxy.port or _PROXY_PORTS[proxy.scheme]
        stream: ByteStream = await anyio.connect_tcp(host, port)
        try:
            if proxy.scheme.startswith("socks"):
                return await _ask_socks(stream, proxy, place)
            if proxy.scheme == "https":
                context = await anyio.to_thread.run_sync(self._trust.context)
                stream = await TLSStream.wrap(
                    stream,
                    hostname=host,
                    ssl_context=context,
                    standard_compatible=False,
                )
            if tunnel:
                return await _ask_for_tunnel(stream, proxy, place)
            headers = _authorization(proxy)
            return Connection(stream=stream, through_proxy=True, headers=headers)
        except BaseException:
            await anyio.aclose_forcefully(stream)
            raise


def _read_proxy(url: str) -> SplitResult:
    """The address of the user's proxy.

    Raises:
        ToolError: if it cannot be used.
    """
    try:
        parts = urlsplit(url)
        (parts.hostname or "").encode("idna")
        usable = bool(parts.hostname) and parts.scheme in _PROXY_PORTS and parts.port != 0
    except ValueError as error:
        raise ToolError("the address of the user's proxy cannot be read") from error
    if not usable:
        raise ToolError("the user's proxy is of a kind that cannot be used")
    return parts


async def _connect_to_one(addresses: Sequence[str], port: int) -> ByteStream:
    *others, last = addresses
    for address in others:
        with suppress(OSError), anyio.fail_after(_EACH_S):
            return await anyio.connect_tcp(address, port)
    return await anyio.connect_tcp(last, port)


def _authorization(proxy: SplitResult) -> tuple[tuple[bytes, bytes], ...]:
    if not proxy.username:
        return ()
    words = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return ((b"proxy-authorization", b"Basic " + b64encode(words.encode())),)


async def _ask_for_tunnel(stream: ByteStream, proxy: SplitResult, place: HostEntry) -> Connection:
    """Have an HTTP proxy connect to a machine.

    Raises:
        ConnectionError: if it does not.
    """
    client = h11.Connection(h11.CLIENT, max_incomplete_event_size=_HEAD_LIMIT)
    target = place.text.encode("ascii")
    headers = [(b"host", target), *_authorization(proxy)]
    await stream.send(client.send(h11.Request(method="CONNECT", target=target, headers=headers)))
    await stream.send(client.send(h11.EndOfMessage()))
    try:
        while True:
            event = client.next_event()
            if event is h11.NEED_DATA:
                client.receive_data(await stream.receive())
            elif isinstance(event, h11.Response):
                break
    except (h11.RemoteProtocolError, anyio.EndOfStream) as error:
        raise ConnectionError("the proxy did not answer as one") from error
    if not 200 <= event.status_code < 300:
        raise ConnectionError(f"the proxy refused: status {event.status_code}")
    return Connection(stream=stream, received=client.trailing_data[0])


async def _ask_socks(stream: ByteStream, proxy: SplitResult, place: HostEntry) -> Connection:
    """Have a SOCKS proxy connect to a machine; a name is looked up by the proxy.

    Raises:
        ConnectionError: if it does not.
    """
    received = BufferedByteReceiveStream(stream)
    user, word = (unquote(part or "").encode() for part in (proxy.username, proxy.password))
    try:
        await stream.send(b"\x05\x01\x02" if user else b"\x05\x01\x00")
        version, method = await received.receive_exactly(2)
        if version != 5 or method != (2 if user else 0):
            raise ConnectionError("the proxy wants another user, or does not speak SOCKS 5")
        if user:
            await stream.send(b"\x01%c%s%c%s" % (len(user), user, len(word), word))
            if (await received.receive_exactly(2))[1] != 0:
                raise ConnectionError("the proxy did not accept the user name and password")
        assert place.port is not None
        await stream.send(b"\x05\x01\x00" + _socks_address(place) + place.port.to_bytes(2, "big"))
        _, reply, _, kind = await received.receive_exactly(4)
        if reply != 0:
            raise ConnectionError(f"the proxy refused: SOCKS reply {reply}")
        length = {1: 4, 4: 16}.get(kind) or (await received.receive_exactly(1))[0]
        await received.receive_exactly(length + 2)
    except (anyio.IncompleteRead, anyio.EndOfStream, OverflowError) as error:
        raise ConnectionError("the proxy did not answer as one") from error
    return Connection(stream=stream, received=received.buffer)


def _socks_address(place: HostEntry) -> bytes:
    address = read_address(place.name) if place.is_address else None
    if address is None:
        return b"\x03%c%s" % (len(place.name), place.name.encode("ascii"))
    return (b"\x01" if address.version == 4 else b"\x04") + address.packed
