"""HTTP on one stream, as h11 reads and writes it."""

import anyio
import h11
from anyio.abc import ByteStream

IDLE_S = 600.0
"""How long the other side may be silent."""
HEAD_LIMIT = 65_536
"""Bytes of the head of a request or a response."""
PIECE = 65_536
"""Bytes that are received at once."""
BROKEN = (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream)
"""What a stream raises that has ended; running out of time is an OSError too."""
WRONG = (h11.RemoteProtocolError, h11.LocalProtocolError)
"""What is no HTTP, or not in its turn."""


class Peer:
    """One side of an exchange: a stream, and the state of HTTP on it."""

    def __init__(self, stream: ByteStream, role: "type[h11.CLIENT | h11.SERVER]") -> None:
        self.stream = stream
        self.http = h11.Connection(role, max_incomplete_event_size=HEAD_LIMIT)

    async def receive(self) -> h11.Event:
        """The next event; whoever waits for leave to send gets it.

        Raises:
            RemoteProtocolError: if what came is not HTTP, or ends too early.
        """
        while True:
            event = self.http.next_event()
            if event is h11.PAUSED:
                raise h11.RemoteProtocolError("more was sent than was asked for")
            if isinstance(event, h11.Event):
                return event
            if self.http.they_are_waiting_for_100_continue:
                await self.send(h11.InformationalResponse(status_code=100, headers=[]))
            with anyio.fail_after(IDLE_S):
                try:
                    data = await self.stream.receive(PIECE)
                except anyio.EndOfStream:
                    data = b""
            self.http.receive_data(data)

    async def send(self, event: h11.Event) -> None:
        """Send an event."""
        if data := self.http.send(event):
            await self.stream.send(data)
