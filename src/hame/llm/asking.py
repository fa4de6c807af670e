"""One question to one server, until it is answered or given up.

A request is sent again only while nothing of an answer has been emitted; each wait is announced by
`RetryScheduled`. A server that names a parameter it does not take is asked once more without it, one
that has lost what it had stored of the request is asked at once in full.
Failures never raise: the events end with `Failed`.
"""

from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Protocol, Self

import anyio
import msgspec
from msgspec.structs import replace

from hame.base.errors import ErrorKind, Failure, ModelError
from hame.base.model import ModelFacts, Timeouts
from hame.base.ports import Clock, Codec, Http, HttpRequest, HttpResponse, ModelRequest
from hame.base.stream import Completed, Failed, RetryScheduled, StreamEvent, UsageReported
from hame.llm.answer import AnswerReader
from hame.llm.limits import patience
from hame.llm.parameters import FILES
from hame.llm.retry import Retries, RetryPolicy, chance

if TYPE_CHECKING:
    from hame.llm.stored import Loan

_ERROR_BYTES = 1_000_000
"""More of an error body is not read."""
_DRAIN_S = 0.02
"""How long the end of a body is waited for after the end of its answer, to use the connection again."""


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """The way to all servers, and how much patience there is on it."""

    http: Http
    clock: Clock
    retry: RetryPolicy = RetryPolicy()
    first_byte_s: float | None = None
    """In place of the limit in a model's facts, in seconds."""
    idle_s: float | None = None
    storing_s: float = 3.0
    """How long storing what requests have in common may hold one up, in seconds."""
    draw: Callable[[], float] = chance
    """Numbers from 0 to 1 for the jitter of waits."""

    def timeouts(self, usual: Timeouts) -> Timeouts:
        """How long silence is borne, where it would usually be so long."""
        return replace(
            usual,
            first_byte_s=usual.first_byte_s if self.first_byte_s is None else self.first_byte_s,
            idle_s=usual.idle_s if self.idle_s is None else self.idle_s,
        )


class Asked(Protocol):
    """The model that is asked."""

    taught: ModelFacts

    @property
    def codec(self) -> Codec:
        """The wire it speaks."""
        ...

    @property
    def key_from(self) -> str:
        """Where the key comes from."""
        ...

    async def borrow(self, request: ModelRequest) -> "Loan | None":
        """What the provider has stored of a request, or stores now."""
        ...

    def encode(self, request: ModelRequest, stored: str = "") -> HttpRequest:
        """Exactly what would be sent for a request, or for one that names what is stored of it."""
        ...

    def learn(self, failure: Failure, request: ModelRequest, *, again: bool) -> None:
        """Remember that the server does not take a parameter, or some of the request's files."""
        ...


class Asking:
    """The events of one answer; an async iterator that must be closed."""

    __slots__ = (
        "_chunks",
        "_delay",
        "_done",
        "_held",
        "_line",
        "_loan",
        "_mended",
        "_model",
        "_open",
        "_reader",
        "_ready",
        "_request",
        "_retries",
        "_sent",
    )

    def __init__(self, model: Asked, request: ModelRequest, line: Line) -> None:
        """Nothing is sent before the first event is asked for."""
        self._model = model
        self._request = request
        self._line = line
        self._retries = Retries(line.retry, line.draw)
        self._loan: Loan | None = None
        self._sent: HttpRequest | None = None
        self._mended = 0
        self._delay: float | None = None
        self._open = AsyncExitStack()
        self._reader: AnswerReader | None = None
        self._chunks: AsyncIterator[bytes] | None = None
        self._held: list[StreamEvent] = []
        """Counts of tokens that came before anything was said; dropped if nothing follows."""
        self._ready: deque[StreamEvent] = deque()
        self._done = False

    def __aiter__(self) -> Self:
        """The events."""
        return self

    async def __anext__(self) -> StreamEvent:
        """The next event.

        Raises:
            StopAsyncIteration: after `Completed` or `Failed`.
        """
        while not self._ready:
            if self._done:
                raise StopAsyncIteration
            await self._advance()
        event = self._ready.popleft()
        if self._loan is not None and isinstance(event, UsageReported):
            return UsageReported(self._loan.counted(event.usage))
        return event

    async def aclose(self) -> None:
        """Hang up, whatever has arrived."""
        self._done = True
        self._reader = self._chunks = None
        await self._open.aclose()

    async def _advance(self) -> None:
        """One step: wait, ask, or read on."""
        if self._delay is not None:
            delay, self._delay = self._delay, None
            await self._line.clock.sleep(delay)
            return
        try:
            if self._reader is None or self._chunks is None:
                await self._ask()
            else:
                await self._read(self._reader, self._chunks)
        except ModelError as error:
            await self._break(error.failure)

    async def _ask(self) -> None:
        """Send the request and begin to read, or take a refusal.

        Raises:
            ModelError: if the server could not be reached.
        """
        if self._sent is None:
            self._loan = await self._model.borrow(self._request)
            self._sent = self._encoded()
        facts = self._model.taught
        limits = self._line.timeouts(patience(self._request, facts))
        response = await self._open.enter_async_context(self._line.http.send(self._sent, limits))
        if not 200 <= response.status < 300:
            await self._fail(await self._refusal(response))
            return
        content_type = response.headers.get("content-type", "")
        self._reader = AnswerReader(self._model.codec, facts, content_type)
        self._chunks = response.chunks()

    async def _read(self, reader: AnswerReader, chunks: AsyncIterator[bytes]) -> None:
        """Take the next piece of the body.

        Raises:
            ModelError: if the connection broke or fell silent.
        """
        chunk = await anext(chunks, None)
        events = reader.close() if chunk is None else reader.feed(chunk)
        if reader.ended and chunk is not None:
            await _drain(chunks)
        await self._take(events)

    async def _break(self, failure: Failure) -> None:
        """The connection failed; after an answer that was whole, it has done no harm.

        What a decoder still held of an answer that broke is passed on before the failure.
        """
        rest = self._reader.close() if self._reader is not None else []
        await self._take([event for event in rest if not isinstance(event, Failed)])
        if not self._done:
            await self._fail(failure)

    async def _take(self, events: Sequence[StreamEvent]) -> None:
        """Pass on what an answer says."""
        for event in events:
            if isinstance(event, Failed):
                await self._fail(event.failure)
            elif isinstance(event, UsageReported) and not self._spoke:
                self._held.append(event)
            else:
                self._ready.extend(self._held)
                self._held.clear()
                self._ready.append(event)
                if isinstance(event, Completed):
                    await self.aclose()

    @property
    def _spoke(self) -> bool:
        return self._reader is not None and self._reader.spoke

    async def _fail(self, failure: Failure) -> None:
        """Give up, or get ready to ask again."""
        failure = self._named(replace(failure, mid_stream=self._spoke))
        if failure.mid_stream:
            self._give_up(failure)
        elif not self._is_lost(failure) and not self._mend(failure):
            attempt = self._retries.attempt
            self._delay = self._retries.wait_after(failure)
            if self._delay is None:
                self._give_up(_final(failure, attempt))
            else:
                again = RetryScheduled(failure=failure, delay_s=self._delay, attempt=attempt)
                self._ready.append(again)
        await self._open.aclose()
        self._reader = self._chunks = None
        self._held.clear()

    def _give_up(self, failure: Failure) -> None:
        self._done = True
        self._ready.append(Failed(failure))

    def _encoded(self) -> HttpRequest:
        return self._model.encode(self._request, self._loan.name if self._loan else "")

    def _is_lost(self, failure: Failure) -> bool:
        """Whether the server has lost what it had stored; the request is sent again at once, in full."""
        if self._loan is None or not self._loan.is_lost(failure):
            return False
        self._sent = self._encoded()
        return True

    def _mend(self, failure: Failure) -> bool:
        """Whether the request can be sent again at once, without what the server does not take."""
        # Which of the files it was is seldom said, so that it may take a second try.
        most = 2 if failure.parameter == FILES else 1
        if failure.parameter is None or self._mended >= most:
            return False
        self._mended += 1
        self._model.learn(failure, self._request, again=self._mended > 1)
        again = self._encoded()
        if again == self._sent:
            return False
        self._sent = again
        return True

    async def _refusal(self, response: HttpResponse) -> Failure:
        """What a response that is no answer says."""
        if 300 <= response.status < 400:
            from hame.llm.broken import redirected

            return redirected(response.status, response.headers)
        body = b""
        try:
            async for chunk in response.chunks():
                body += chunk
                if len(body) > _ERROR_BYTES:
                    break
        except ModelError:
            # The status says enough; what there is of the body may say more.
            pass
        vendor = self._model.taught.vendor
        now = self._line.clock.now()
        # Most requests succeed; what sorts errors loads when there is one.
        from hame.llm.classify import classify_response

        return classify_response(response.status, response.headers, body, vendor, now=now)

    def _named(self, failure: Failure) -> Failure:
        """The failure with the provider's name on it, and the address where that is to blame."""
        vendor = self._model.taught.vendor
        if vendor and not failure.provider:
            message = failure.message
            message = message if vendor in message else f"{vendor}: {message}"
            failure = replace(failure, provider=vendor, message=message)
        if failure.kind is ErrorKind.AUTH and self._model.key_from:
            from hame.llm.advice import held

            return held(failure, self._model.key_from)
        if failure.kind is not ErrorKind.NOT_FOUND or self._sent is None:
            return failure
        from hame.llm.advice import located

        return located(failure, self._sent.url)


async def _drain(chunks: AsyncIterator[bytes]) -> None:
    """Read a body to its end, if that is near, so that the connection can be used again."""
    with anyio.move_on_after(_DRAIN_S):
        try:
            async for _ in chunks:
                pass
        except ModelError:
            return


def _final(failure: Failure, attempts: int) -> Failure:
    """The failure that is given up on."""
    if attempts == 1:
        return failure
    return replace(failure, message=f"{failure.message} Asked {attempts} times.")
