"""Implements `hame.base.ports.Model` over HTTP: repair -> encode -> send -> frames -> decode.

The stream of one question is in `hame.llm.asking`; here is what outlives it: the repaired history,
and what the server taught us about the parameters it takes.
"""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from msgspec.structs import replace

from hame.base.errors import ErrorKind, Failure
from hame.base.model import CacheLifetime, Endpoint, ModelFacts, ToolSupport
from hame.base.ports import Codec, HttpRequest, ModelRequest
from hame.base.stream import StreamEvent
from hame.llm.asking import Asking, Line
from hame.llm.codecs import codec
from hame.llm.files import digest, files_in
from hame.llm.heal import healed
from hame.llm.parameters import FILES
from hame.llm.repair import Repair
from hame.llm.sifted import Sifted
from hame.llm.storage import StoresPrefixes

if TYPE_CHECKING:
    from hame.llm.stored import Loan, Stored
    from hame.llm.textcalls.grounded import Existing
    from hame.llm.textcalls.protocol import InWords


class HttpModel:
    """One model behind one endpoint."""

    def __init__(
        self,
        facts: ModelFacts,
        endpoint: Endpoint,
        codec: Codec,
        line: Line,
        *,
        existing: "Existing | None" = None,
    ) -> None:
        """Nothing is sent yet; `line` is shared by all models.

        `existing` tells what paths there are, for a model whose answers are held to a schema.
        """
        self._facts = facts
        self._endpoint = endpoint
        self._codec = codec
        self._line = line
        self._refused: frozenset[str] = frozenset()
        """Digests of the files that the server did not take."""
        self._repair = Repair(facts)
        self._existing = existing
        self._in_words: InWords | None = None
        self._stored: Stored | None = None
        self.taught = facts
        """The facts, and what the server has said about its parameters since."""

    @property
    def facts(self) -> ModelFacts:
        """What is known of it."""
        return self._facts

    @property
    def codec(self) -> Codec:
        """The wire it speaks."""
        return self._codec

    @asynccontextmanager
    async def stream(self, request: ModelRequest) -> AsyncGenerator[AsyncIterator[StreamEvent]]:
        """Ask; see the port. Leaving early closes the connection."""
        asking = Asking(self, request, self._line)
        try:
            yield Sifted(asking, request, self)
        finally:
            await asking.aclose()

    async def borrow(self, request: ModelRequest) -> "Loan | None":
        """What the provider has stored of a request, or stores now; see `hame.llm.stored`."""
        codec = self._codec
        if request.cache is CacheLifetime.SHORT or not isinstance(codec, StoresPrefixes):
            return None
        if self.taught.tools is not ToolSupport.NATIVE:
            return None
        if self._stored is None:
            from hame.llm.stored import Stored  # Of one wire only.

            line = self._line
            self._stored = Stored(
                codec, self._endpoint, line.http, line.clock, patience_s=line.storing_s
            )
        return await self._stored.borrow(request, self.taught)

    async def release(self) -> None:
        """Let go of what the provider stores for hire."""
        if self._stored is not None:
            await self._stored.release()

    def encode(self, request: ModelRequest, stored: str = "") -> HttpRequest:
        """Exactly what would be sent for a request, or for one that names what is stored of it."""
        legal = replace(request, messages=self._repair(request.messages))
        if self.taught.tools is not ToolSupport.NATIVE:
            legal = self._told(legal)
        elif stored and isinstance(self._codec, StoresPrefixes):
            return self._codec.encode_stored(legal, self.taught, self._endpoint, stored)
        return self._codec.encode(legal, self.taught, self._endpoint)

    def _told(self, request: ModelRequest) -> ModelRequest:
        """The request with its tools in words; only few models need that."""
        if self._in_words is None:
            from hame.llm.textcalls.protocol import InWords

            self._in_words = InWords(self._existing) if self._existing else InWords()
        return self._in_words(request, self.taught.tools)

    async def count_tokens(self, request: ModelRequest) -> int | None:
        """Tokens of a request as the server counts them; None where it does not, or not in time."""
        from hame.llm.counting import CountsRequests, count_tokens  # Seldom asked.

        if not isinstance(self._codec, CountsRequests):
            return None
        asked = self.encode(request)
        return await count_tokens(self._codec.counting(), asked, self.taught, self._line.http)

    @property
    def key_from(self) -> str:
        """Where the key comes from."""
        return self._endpoint.key_from

    def learn(self, failure: Failure, request: ModelRequest, *, again: bool) -> None:
        """Remember that the server does not take a parameter, or some of the request's files.

        Which of the files it was is seldom said. A complaint about one is about those that came last,
        as the others were taken before; where all together are too large, the last ones are what the
        user is speaking of, and the others go. With `again` all go. They are left out from then on;
        files that come later are not.
        """
        if failure.parameter != FILES:
            self.taught = healed(self.taught, failure.parameter or "")
            return
        sent = [{digest(file) for file in files_in((message,))} for message in request.messages]
        sent = [found - self._refused for found in sent if found - self._refused]
        if len(sent) > 1 and not again:
            sent = sent[:-1] if failure.kind is ErrorKind.REQUEST_TOO_LARGE else sent[-1:]
        self._refused = self._refused.union(*sent)
        self._repair = Repair(self._facts, self._refused)


def connect(
    facts: ModelFacts, endpoint: Endpoint, line: Line, *, existing: "Existing | None" = None
) -> HttpModel:
    """A model on one of hame's own wires.

    Raises:
        ConfigError: if the facts name a wire that hame does not have.
    """
    return HttpModel(facts, endpoint, codec(facts.wire), line, existing=existing)
