"""One end of a pipe to a child process."""

import errno
import fcntl
import os
import struct
import termios
import time
from collections.abc import AsyncIterator

import anyio
import anyio.lowlevel

GRACE_S = 0.1
"""How long output is still awaited after the program itself has ended."""
_CHUNK = 1 << 16


class Ending:
    """When a program ended."""

    def __init__(self) -> None:
        """It runs."""
        self._event = anyio.Event()
        self._at = 0.0

    def set(self) -> None:
        """It has ended, now."""
        if not self._event.is_set():
            self._at = time.monotonic()
            self._event.set()

    @property
    def reached(self) -> bool:
        """Whether it has ended."""
        return self._event.is_set()

    @property
    def grace_s(self) -> float:
        """Seconds that its output may still be awaited."""
        return self._at + GRACE_S - time.monotonic()

    async def wait(self) -> None:
        """Wait until it has ended."""
        await self._event.wait()


class OutputPipe:
    """What a program prints. A child it left behind may hold the pipe open, and does not matter."""

    def __init__(self, descriptor: int, ending: Ending) -> None:
        """Take over the descriptor."""
        os.set_blocking(descriptor, False)
        self._descriptor = descriptor
        self._ending = ending

    def close(self) -> None:
        """Let go of the descriptor."""
        os.close(self._descriptor)

    async def chunks(self) -> AsyncIterator[bytes]:
        """What arrives, until the pipe closes or shortly after the program has ended."""
        owed: int | None = None
        while True:
            if self._ending.reached:
                owed = self._buffered() if owed is None else owed
                if owed <= 0 and self._ending.grace_s <= 0:
                    return
            try:
                chunk = _read(self._descriptor)
            except BlockingIOError:
                if await self._silent_to_the_end():
                    return
                continue
            if not chunk:
                return
            if owed is not None:
                owed -= len(chunk)
            # A program that never pauses must not keep everybody else from running.
            await anyio.lowlevel.checkpoint()
            yield chunk

    def _buffered(self) -> int:
        """Bytes in the pipe: when the program has ended, all that it can have left there."""
        count = fcntl.ioctl(self._descriptor, termios.FIONREAD, struct.pack("i", 0))
        return int(struct.unpack("i", count)[0])

    async def _silent_to_the_end(self) -> bool:
        """Wait for more; True when the program has ended and the grace passed without any."""
        if self._ending.reached:
            with anyio.move_on_after(max(self._ending.grace_s, 0)) as scope:
                await anyio.wait_readable(self._descriptor)
            return scope.cancelled_caught
        async with anyio.create_task_group() as group:

            async def until_ended() -> None:
                await self._ending.wait()
                group.cancel_scope.cancel()

            group.start_soon(until_ended)
            await anyio.wait_readable(self._descriptor)
            group.cancel_scope.cancel()
        return False


def _read(descriptor: int) -> bytes:
    """What is there to be read; nothing at the end, also that of a terminal nobody has open (pty(7)).

    Raises:
        OSError: if it cannot be read; a BlockingIOError when nothing is there yet.
    """
    try:
        return os.read(descriptor, _CHUNK)
    except OSError as error:
        if error.errno != errno.EIO:
            raise
        return b""


class InputPipe:
    """What a program reads."""

    def __init__(self, descriptor: int, *, shared: bool = False) -> None:
        """Take over the descriptor.

        One that is shared with another program must stay as that expects it: it blocks, so no more
        than surely fits is written at a time.
        """
        if not shared:
            os.set_blocking(descriptor, False)
        self._most = 1 if shared else _CHUNK
        self._descriptor: int | None = descriptor

    def close(self) -> None:
        """The program sees the end of its input; may be called twice."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)

    async def write(self, data: bytes) -> None:
        """Write all of it.

        Raises:
            BrokenPipeError: when the program no longer reads, or its input was closed.
        """
        view = memoryview(data)
        while view:
            if self._descriptor is None:
                raise BrokenPipeError
            if self._most == 1:
                await anyio.wait_writable(self._descriptor)
            try:
                view = view[os.write(self._descriptor, view[: self._most]) :]
            except BlockingIOError:
                await anyio.wait_writable(self._descriptor)
