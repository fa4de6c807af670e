"""A plain HTTP request that is sent on to the machine it names, and the response that comes back.

Both connections carry this one exchange and are closed after it, so nothing that follows on either of
them can be taken for another request.

HTTP: https://www.rfc-editor.org/rfc/rfc9110#section-7.6, https://www.rfc-editor.org/rfc/rfc9112#section-3.2.
"""

from collections.abc import Iterable
from contextlib import suppress

import anyio
import h11

from hame.net.connector import Connection
from hame.net.peer import BROKEN, WRONG, Peer

_OF_CONNECTION = frozenset({
    b"connection", b"proxy-connection", b"keep-alive", b"proxy-authorization", b"proxy-authenticate",
    b"te", b"trailer", b"upgrade", b"expect", b"host",
})  # fmt: skip
"""Headers that are for one connection, or that are written anew (RFC 9110, 7.6.1)."""


async def forward(
    client: Peer, request: h11.Request, connection: Connection, *, host: bytes, path: bytes
) -> bool:
    """Send a request on, with its body, and the response back.

    `host` and `path` are what its target names. False: no response came, and the client waits for one.
    """
    server = Peer(connection.stream, h11.CLIENT)
    head = h11.Request(
        method=request.method,
        target=b"http://" + host + path if connection.through_proxy else path,
        headers=[(b"host", host), *connection.headers, *_passed_on(request.headers)],
    )
    answered = False
    try:
        await server.send(head)
        async with anyio.create_task_group() as group:
            group.start_soon(_upload, client, server)
            response = await _receive_head(server)
            answered = True
            await _download(client, server, response)
            group.cancel_scope.cancel()
    except* (*BROKEN, *WRONG):
        pass
    return answered


async def _upload(client: Peer, server: Peer) -> None:
    """Send on the body of a request."""
    event = await client.receive()
    while isinstance(event, h11.Data):
        with suppress(*BROKEN):  # It may answer without reading all of it.
            await server.send(event)
        event = await client.receive()
    if isinstance(event, h11.EndOfMessage):
        with suppress(*BROKEN):
            await server.send(h11.EndOfMessage())


async def _receive_head(server: Peer) -> h11.Response:
    """The head of the response itself, without those that came before it.

    Raises:
        RemoteProtocolError: if there is none.
    """
    event = await server.receive()
    while isinstance(event, h11.InformationalResponse):
        event = await server.receive()
    if not isinstance(event, h11.Response):
        raise h11.RemoteProtocolError("there was no response")
    return event


async def _download(client: Peer, server: Peer, response: h11.Response) -> None:
    """Send on a response."""
    framing = (b"transfer-encoding",)
    headers = [each for each in _passed_on(response.headers) if each[0] not in framing]
    await client.send(
        h11.Response(
            status_code=response.status_code,
            reason=response.reason,
            headers=headers,
        )
    )
    event = await server.receive()
    while isinstance(event, h11.Data):
        await client.send(event)
        event = await server.receive()
    await client.send(h11.EndOfMessage())


def _passed_on(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Headers without those of one connection; each side is told that it is closed after this."""
    given = [(name.lower(), value) for name, value in headers]
    named = {
        each.strip().lower()
        for name, value in given
        if name == b"connection"
        for each in value.split(b",")
    }
    left = _OF_CONNECTION | named - {b"transfer-encoding", b"content-length"}
    if any(name == b"transfer-encoding" for name, _ in given):
        left |= {b"content-length"}  # Two lengths of one body could be read in two ways.
    return [
        *((name, value) for name, value in given if name not in left),
        (b"connection", b"close"),
    ]
