"""One connection of a confined program to the proxy: what it asks for, and how it is answered.

A program asks for a tunnel (CONNECT) or for one plain request in absolute form. Nothing else is
understood, and each connection carries one of them.

HTTP: https://www.rfc-editor.org/rfc/rfc9110, https://www.rfc-editor.org/rfc/rfc9112#section-3.2.
"""

import re
from contextlib import suppress
from typing import Protocol

import anyio
import h11
import msgspec
from anyio.abc import ByteStream

from hame.base.errors import HameError
from hame.base.hosts import HostEntry, read_host
from hame.net.connector import Connection, Connector, NotPublicError
from hame.net.faults import connection_failure
from hame.net.forwarding import forward
from hame.net.peer import BROKEN, PIECE, WRONG, Peer
from hame.net.tunnel import copy_both

HEAD_S = 30.0
"""How long the head of a request may take."""
_LINGER_S = 2.0
"""How long what a program still sends is read away, so that it finds the answer."""

_ABSOLUTE = re.compile(r"http://([^/?#]*)((?:[/?][^#]*)?)", re.IGNORECASE)


class Grants(Protocol):
    """What one program was granted, and what remembers what it was refused."""

    def find(self, place: HostEntry) -> HostEntry | None:
        """The entry that grants one port of one machine; None: it is refused."""
        ...

    def find_address(self, address: str, port: int) -> bool:
        """Whether a name that was granted may lead to an address that is not public."""
        ...


class _Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What a program wants."""

    place: HostEntry
    """One port of one machine."""
    tunnel: bool
    path: bytes = b""
    """Path and query of a plain request."""


async def serve(stream: ByteStream, grants: Grants, connector: Connector) -> None:
    """Answer one connection; returns when it is over, however it ended. The stream stays open."""
    client = Peer(stream, h11.SERVER)
    try:
        await _serve(client, grants, connector)
    except (*BROKEN, *WRONG):
        return


async def _serve(client: Peer, grants: Grants, connector: Connector) -> None:
    request: h11.Event | None = None
    try:
        with anyio.fail_after(HEAD_S):
            request = await client.receive()
        if not isinstance(request, h11.Request):
            return
        asked = _read(request)
    except (h11.RemoteProtocolError, ValueError) as error:
        await _answer(client, 400, f"This is no request for a proxy: {_one_line(error)}.")
        return
    entry = grants.find(asked.place)
    name = asked.place.text
    if entry is None:
        await _answer(client, 403, f"{name} is not among the hosts granted to this command.")
        return
    exact = entry.port is not None and not entry.below
    by_address = entry.is_address or (entry.is_this_machine and exact)
    try:
        connection = await connector.connect(
            asked.place,
            by_address=by_address,
            tunnel=asked.tunnel,
            grants=lambda address: grants.find_address(address, asked.place.port or 0),
        )
    except NotPublicError as error:
        await _answer(client, 403, f"{_one_line(error)}; it is not connected to.")
        return
    except (HameError, *BROKEN) as error:
        await _answer(client, 502, _why(error, asked, connector))
        return
    try:
        if asked.tunnel:
            await _tunnel(client, connection)
        else:
            await _forward(client, request, asked, connection)
    finally:
        await anyio.aclose_forcefully(connection.stream)


def _read(request: h11.Request) -> _Asked:
    """What a request asks for.

    Raises:
        ValueError: if it is not for a proxy, or names its machine in a doubtful way.
    """
    target = request.target.decode("ascii")
    if request.method == b"CONNECT":
        place = read_host(target)
        if place.port is None or place.below:
            raise ValueError("a tunnel leads to one port of one host")
        return _Asked(place=place, tunnel=True)
    match = _ABSOLUTE.fullmatch(target)
    if match is None:
        raise ValueError("a plain request names its whole target, which begins with http://")
    place = read_host(match[1])
    if place.below:
        raise ValueError("a request is for one host")
    path = match[2] if match[2].startswith("/") else f"/{match[2]}"
    place = msgspec.structs.replace(place, port=place.port or 80)
    return _Asked(place=place, tunnel=False, path=path.encode("ascii"))


async def _tunnel(client: Peer, connection: Connection) -> None:
    await client.send(h11.Response(status_code=200, headers=[], reason=b"Connected"))
    early = client.http.trailing_data[0]
    if early:
        await connection.stream.send(early)
    if connection.received:
        await client.stream.send(connection.received)
    await copy_both(client.stream, connection.stream)


async def _forward(
    client: Peer, request: h11.Request, asked: _Asked, connection: Connection
) -> None:
    host = asked.place.text.removesuffix(":80").encode("ascii")
    if not await forward(client, request, connection, host=host, path=asked.path):
        words = f"{asked.place.text} closed the connection without an answer."
        await _answer(client, 502, words)


# ---------------------------------------------------------------- answers of our own


async def _answer(client: Peer, status: int, words: str) -> None:
    """Answer in one line, and let the program find it."""
    body = f"{words}\n".encode()
    if client.http.our_state not in {h11.IDLE, h11.SEND_RESPONSE}:
        return
    headers = [
        ("content-type", "text/plain; charset=utf-8"),
        ("content-length", str(len(body))),
        ("connection", "close"),
    ]
    reason = {400: b"Bad Request", 403: b"Host Not Granted", 502: b"Bad Gateway"}[status]
    await client.send(h11.Response(status_code=status, headers=headers, reason=reason))
    await client.send(h11.Data(data=body))
    await client.send(h11.EndOfMessage())
    await client.stream.send_eof()
    with suppress(*BROKEN), anyio.move_on_after(_LINGER_S):
        while True:
            await client.stream.receive(PIECE)


def _why(error: Exception, asked: _Asked, connector: Connector) -> str:
    """Why a machine that was granted could not be connected to."""
    name = asked.place.text
    if isinstance(error, TimeoutError) and error.errno is None:
        return f"{name} could not be connected to in time."
    if isinstance(error, HameError):
        return f"{name} could not be connected to: {_one_line(error)}."
    proxy = connector.proxy_for(asked.place, tunnel=asked.tunnel)
    url = f"{'https' if asked.tunnel else 'http'}://{name}"
    if proxy is not None and isinstance(error, ConnectionError) and error.errno is None:
        return f"{name} could not be connected to: {_one_line(error)}."
    return _one_line(connection_failure(error, url, proxy=proxy).message)


def _one_line(error: object) -> str:
    return " ".join(str(error).split())[:300]
