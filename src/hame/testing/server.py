"""ScriptedServer: a model's server on loopback that says what it was given, on every wire.

Real HTTP over a real socket, so that everything from the codec to the connection is what it will be.
It speaks the wire of whatever path is asked, answers one step of its script for each question, in
order, and keeps what was asked. `async with` runs it in the loop of the test; `with` runs it in a
thread of its own, for tests whose client is another process or blocks.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, ExitStack
from types import TracebackType
from typing import Self

import anyio
import anyio.from_thread
from anyio.abc import ByteStream, SocketAttribute, TaskGroup
from anyio.streams.buffered import BufferedByteReceiveStream

from hame.base.json import JsonObject, dump_bytes, get_object, get_string, parse_object
from hame.base.message import ToolCall
from hame.base.model import ModelListing, Usage
from hame.base.unfold import arguments_text
from hame.testing.http1 import RequestHead, chunk, read_request, response_head
from hame.testing.prefix import canonical, share_kept
from hame.testing.renderings.listing import listing
from hame.testing.renderings.rendering import Rendering, Utterance
from hame.testing.renderings.table import rendering_for
from hame.testing.reply import BEFORE_HEAD, Page, Place, Plain, Received, Reply, Scripted, as_reply
from hame.testing.script import numbered

_JSON = "application/json"
_GONE = (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError)


class ScriptedServer:
    """Plays its steps to whoever asks, and remembers."""

    def __init__(
        self,
        *steps: Scripted,
        models: Sequence[ModelListing] = (ModelListing(id="scripted-model"),),
        pages: Mapping[str, Page] | None = None,
    ) -> None:
        """Say these.

        Args:
            steps: what is said to each question, in order.
            models: what it lists.
            pages: replies to requests that are no question to a model, by path, or functions that
                make one from the request.
        """
        self._steps = steps
        self._models = models
        self._pages = dict(pages or {})
        self._port = 0
        self._connections = 0
        self._unscripted = 0
        self._prefix: bytes | None = None
        self._changed = anyio.Event()
        self._stack = AsyncExitStack()
        self._thread = ExitStack()
        self._portal: anyio.from_thread.BlockingPortal | None = None
        self.requests: list[Received] = []
        """Everything that arrived, in order."""

    @property
    def url(self) -> str:
        """Where it is, without a trailing slash and without any path."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def questions(self) -> list[Received]:
        """The requests that asked a model."""
        return [each for each in self.requests if each.wire is not None]

    def finish(self) -> None:
        """Check that the whole script was played, and nothing more was asked.

        Raises:
            AssertionError: when steps are left, or were missing.
        """
        if self._unscripted:
            raise AssertionError(
                f"{self._unscripted} questions more than the {len(self._steps)} steps of the script"
            )
        left = len(self._steps) - len(self.questions)
        if left:
            raise AssertionError(f"{left} of {len(self._steps)} steps were not asked for")

    async def arrived(self, count: int) -> None:
        """Wait until that many requests have arrived; in the server's own loop."""
        await self._until(lambda: len(self.requests) >= count)

    async def over(self, count: int) -> None:
        """Wait until the first `count` requests were answered or abandoned; in the server's own loop."""
        await self._until(
            lambda: len(self.requests) >= count and all(r.over for r in self.requests[:count])
        )

    def wait_arrived(self, count: int) -> None:
        """As `arrived`, from outside the server's thread."""
        assert self._portal is not None, "the server runs in the loop of its test"
        self._portal.call(self.arrived, count)

    def wait_over(self, count: int) -> None:
        """As `over`, from outside the server's thread."""
        assert self._portal is not None, "the server runs in the loop of its test"
        self._portal.call(self.over, count)

    async def __aenter__(self) -> Self:
        """Listen, in this loop."""
        listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=0)
        port = listener.extra(SocketAttribute.local_port)  # noqa: S610 - no database here
        self._port = port
        await self._stack.enter_async_context(listener)
        group: TaskGroup = await self._stack.enter_async_context(anyio.create_task_group())
        self._stack.callback(group.cancel_scope.cancel)
        group.start_soon(listener.serve, self._connection)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close every connection and stop listening."""
        await self._stack.aclose()

    def __enter__(self) -> Self:
        """Listen, in a thread of its own."""
        portal = self._thread.enter_context(anyio.from_thread.start_blocking_portal())
        self._portal = portal
        running: AbstractContextManager[Self] = portal.wrap_async_context_manager(self)
        self._thread.enter_context(running)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop it and its thread."""
        self._thread.close()
        self._portal = None

    async def _until(self, true: Callable[[], bool]) -> None:
        while not true():
            await self._changed.wait()

    def _notify(self) -> None:
        changed, self._changed = self._changed, anyio.Event()
        changed.set()

    async def _connection(self, stream: ByteStream) -> None:
        self._connections += 1
        number = self._connections
        async with stream:
            buffer = BufferedByteReceiveStream(stream)
            while True:
                request = await read_request(stream, buffer)
                if request is None:
                    return
                received = self._receive(*request, number)
                try:
                    goes_on = await self._respond(stream, received)
                except _GONE:
                    received.abandoned = True
                    goes_on = False
                received.over = True
                self._notify()
                if not goes_on or received.headers.get("connection", "").lower() == "close":
                    return

    def _receive(self, head: RequestHead, raw: bytes, connection: int) -> Received:
        path, _, query = head.target.partition("?")
        rendering = rendering_for(path) if head.method == "POST" else None
        received = Received(
            method=head.method,
            path=path,
            query=query,
            headers=head.headers,
            raw=raw,
            body=parse_object(raw) or {},
            wire=rendering.wire if rendering else None,
            connection=connection,
        )
        if rendering is not None:
            prefix = canonical(rendering.prefix(received.body))
            if self._prefix is not None:
                received.kept = share_kept(self._prefix, prefix)
            self._prefix = prefix
        self.requests.append(received)
        self._notify()
        return received

    async def _respond(self, stream: ByteStream, received: Received) -> bool:
        """Answer one request; True when the connection stays open."""
        rendering = rendering_for(received.path)
        if received.wire is None or rendering is None:
            reply = self._page(received)
            return await _send(stream, reply, [reply.body or b""], _JSON, streamed=False)
        number = len(self.questions)
        reply = as_reply(self._next(received, number))
        if reply.body is not None:
            return await _send(stream, reply, [reply.body], _JSON, streamed=False)
        if reply.status >= 400:
            error = dump_bytes(rendering.error(reply.status, reply.message))
            return await _send(stream, reply, [error], _JSON, streamed=False)
        said = _utterance(reply, received, number)
        if _streams(reply, received, rendering):
            frames = rendering.stream(said)
            return await _send(stream, reply, frames, rendering.media_type, streamed=True)
        whole = dump_bytes(rendering.whole(said))
        return await _send(stream, reply, [whole], _JSON, streamed=False)

    def _next(self, received: Received, number: int) -> Plain:
        if number > len(self._steps):
            self._unscripted += 1
            return Reply(status=400, message=f"The script of {len(self._steps)} steps is over.")
        step = self._steps[number - 1]
        return step(received) if callable(step) else step

    def _page(self, received: Received) -> Reply:
        page = self._pages.get(received.path)
        if page is not None:
            return page(received) if callable(page) else page
        models = listing(received.path, received.headers, self._models)
        if received.method == "GET" and models is not None:
            return Reply(body=dump_bytes(models))
        missing: JsonObject = {"error": {"message": f"no such endpoint: {received.path}"}}
        return Reply(status=404, body=dump_bytes(missing))


def _utterance(reply: Reply, received: Received, number: int) -> Utterance:
    answer = numbered(reply.answer, number)
    written = len(answer.text) + len(answer.thinking) + sum(map(_length, answer.calls))
    estimate = Usage(input_uncached=max(1, len(received.raw) // 4), output=max(1, written // 4))
    options = get_object(received.body, "stream_options")
    named = received.path.rpartition("/models/")[2].partition(":")[0]
    return Utterance(
        answer=answer,
        number=number,
        model=get_string(received.body, "model") or named,
        usage=answer.usage or estimate,
        usage_asked=options.get("include_usage") is True,
    )


def _length(call: ToolCall) -> int:
    return len(arguments_text(call))


def _streams(reply: Reply, received: Received, rendering: Rendering) -> bool:
    if reply.whole is not None:
        return not reply.whole
    wanted = received.body.get("stream", rendering.streams_unasked)
    return wanted is True


async def _send(
    stream: ByteStream,
    reply: Reply,
    frames: Iterable[bytes],
    media_type: str,
    *,
    streamed: bool,
) -> bool:
    """Send a response up to where it breaks; True when it did not and the connection is sound."""
    pieces = list(frames)
    writes = list(_rewritten(pieces, reply.chunk))
    length = sum(map(len, writes))
    drop_at, hang_at = _offset(reply.drop_at, pieces), _offset(reply.hang_at, pieces)
    stop = min((at for at in (drop_at, hang_at) if at is not None and at <= length), default=None)
    if stop != BEFORE_HEAD:
        headers = list(reply.headers)
        if not any(name.lower() == "content-type" for name, _ in headers):
            headers.append(("Content-Type", media_type))
        await stream.send(response_head(reply.status, headers, None if streamed else length))
        for position, piece in enumerate(_up_to(writes, stop)):
            if position and reply.delay_s:
                await anyio.sleep(reply.delay_s)
            await stream.send(chunk(piece) if streamed else piece)
    if stop is None:
        if streamed:
            await stream.send(chunk(b""))
        return True
    if stop == hang_at:
        while True:
            await stream.receive()
    return False


def _offset(place: Place | None, pieces: Sequence[bytes]) -> int | None:
    """The place as bytes of the body.

    Raises:
        ValueError: if the words are never said.
    """
    if not isinstance(place, str):
        return place
    words = dump_bytes(place)[1:-1]
    at = 0
    for piece in pieces:
        if words in piece:
            return at
        at += len(piece)
    raise ValueError(f"the answer never says {place!r}")


def _rewritten(frames: Iterable[bytes], size: int | None) -> Iterator[bytes]:
    if size is None:
        yield from (frame for frame in frames if frame)
        return
    data = b"".join(frames)
    yield from (data[at : at + size] for at in range(0, len(data), size))


def _up_to(writes: Sequence[bytes], stop: int | None) -> Iterator[bytes]:
    left = sum(map(len, writes)) if stop is None else stop
    for piece in writes:
        if left <= 0:
            return
        yield piece[:left]
        left -= len(piece)
