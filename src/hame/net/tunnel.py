"""Bytes that are carried between two streams without being looked at."""

from contextlib import suppress

import anyio
from anyio.abc import ByteStream
from anyio.streams.tls import TLSStream

from hame.net.peer import BROKEN, PIECE

IDLE_S = 600.0
"""How long both sides may be silent."""
_LAST_S = 30.0
"""How long the other side of a TLS connection may go on when one has ended."""


async def copy_both(one: ByteStream, other: ByteStream) -> None:
    """Copy what each side sends to the other, until both have ended or one is broken."""
    with anyio.CancelScope(deadline=anyio.current_time() + IDLE_S) as scope:
        async with anyio.create_task_group() as group:
            group.start_soon(_copy, one, other, scope)
            await _copy(other, one, scope)


async def _copy(source: ByteStream, target: ByteStream, scope: anyio.CancelScope) -> None:
    try:
        while True:
            data = await source.receive(PIECE)
            scope.deadline = anyio.current_time() + IDLE_S
            await target.send(data)
    except anyio.EndOfStream:
        await _close(target, scope)
    except BROKEN:
        scope.cancel()


async def _close(target: ByteStream, scope: anyio.CancelScope) -> None:
    """Nothing more will be sent; the other direction goes on."""
    if isinstance(target, TLSStream):
        # It cannot close one direction only: the other gets some time, then both end.
        scope.deadline = min(scope.deadline, anyio.current_time() + _LAST_S)
        return
    with suppress(*BROKEN):
        await target.send_eof()
