"""When a prefix is stored for hire, named, renewed, and given up.

Providers that store for hire also cache by themselves, for nothing. So a prefix is stored only after
that has failed for so many answers in a row, within an hour, that what they cost more would have paid
for storing it: making costs the input price once and an hour's storage, and each answer that then
reads it saves the difference between the input price and the price of cached tokens. How large the
prefix is does not matter to that; `docs/decisions/0007-what-a-turn-costs.md` has the figures.

Nothing here fails a question or holds it up for long: whatever goes wrong, it is asked in full.
"""

import re
from collections import deque
from hashlib import blake2b
from math import ceil

import anyio
import msgspec
from msgspec.structs import replace

from hame.base.errors import Failure, ModelError
from hame.base.message import User
from hame.base.model import Endpoint, ModelFacts, Timeouts, Usage
from hame.base.ports import Clock, Http, HttpRequest, ModelRequest
from hame.llm.storage import StorageTerms, StoredContent, StoresPrefixes

LIFETIME_S = 3_600
"""Seconds for which a prefix is stored, from when it was made or renewed."""
RENEW_S = 60
"""One with fewer seconds left is renewed before it is named, or given up."""
_BYTES_PER_TOKEN = 4
_ANSWER_BYTES = 1_000_000
_REFUSALS = frozenset({400, 403, 404})
_NAMES_IT = re.compile(r"cached?[ _]?content", re.IGNORECASE)


class Bargain(msgspec.Struct, frozen=True, kw_only=True):
    """What storing costs and saves; US dollars for a million tokens."""

    make: float
    """Making it, the first hour included."""
    keep: float
    """One more hour."""
    save: float
    """What an answer that reads it costs less."""

    @property
    def worth_making(self) -> int:
        """After so many answers in vain, storing would have cost no more than they did."""
        return ceil(self.make / self.save)

    @property
    def worth_keeping(self) -> int:
        """So many answers in an hour pay for the next one."""
        return ceil(self.keep / self.save)


def bargain(facts: ModelFacts, terms: StorageTerms) -> Bargain | None:
    """What storing costs and saves with a model; None where it saves nothing that is known."""
    price = facts.price
    if price is None or price.input is None or price.cache_read is None:
        return None
    save = price.input - price.cache_read
    if save <= 0:
        return None
    return Bargain(make=price.input + terms.usd_per_hour, keep=terms.usd_per_hour, save=save)


class _Prefix:
    """One fixed part, and what became of it."""

    __slots__ = ("failed", "missed", "name", "proven", "tokens", "until", "uses")

    def __init__(self, tokens: int) -> None:
        self.tokens = tokens
        self.name = ""
        """What it is stored under; empty when it is not."""
        self.until = 0.0
        """Unix time at which it is gone."""
        self.uses = 0
        """Answers that read it in this hour."""
        self.proven = False
        """Whether any answer has."""
        self.failed = False
        """Storing it was tried and came to nothing; it is not tried again."""
        self.missed: deque[float] = deque()
        """When answers found nothing of it cached, one after the other."""

    def keep(self, stored: StoredContent, until: float) -> None:
        self.name, self.until, self.uses = stored.name, until, 0
        self.tokens = stored.tokens or self.tokens
        self.missed.clear()

    def forget(self) -> None:
        self.name = ""


class Loan:
    """What one question uses of what is stored."""

    __slots__ = ("_counted", "_due", "_owner", "_prefix", "name")

    def __init__(self, owner: "Stored", prefix: _Prefix) -> None:
        """Take what there is."""
        self._owner = owner
        self._prefix = prefix
        self._counted = False
        self._due = 0
        self.name = prefix.name
        """What the request names in place of its fixed part; empty when it is sent in full."""

    def counted(self, usage: Usage) -> Usage:
        """Learn what was read from a cache; what storing has cost is added to this answer's usage."""
        if not self._counted:
            self._counted = True
            self._due = self._owner.settle()
            self._note()
        if not self.name and usage.cache_read:
            self._prefix.missed.clear()
        due = usage.kept_micro_usd + self._due
        return replace(usage, kept_micro_usd=due) if self._due else usage

    def is_lost(self, failure: Failure) -> bool:
        """Whether the server refuses what the request names; it is forgotten then."""
        refused = failure.status in _REFUSALS and _NAMES_IT.search(failure.said)
        if not self.name or not refused:
            return False
        if self._prefix.name == self.name:
            self._prefix.forget()
            self._prefix.failed = not self._prefix.proven
        self.name = ""
        return True

    def _note(self) -> None:
        if self.name:
            self._prefix.uses += 1
            self._prefix.proven = True
        else:
            self._prefix.missed.append(self._owner.now())


class Stored:
    """The prefixes of one model at one endpoint."""

    def __init__(
        self,
        codec: StoresPrefixes,
        endpoint: Endpoint,
        http: Http,
        clock: Clock,
        *,
        patience_s: float,
    ) -> None:
        """Nothing is stored yet; storing may hold up a question for `patience_s`."""
        self._codec = codec
        self._endpoint = endpoint
        self._http = http
        self._clock = clock
        self._patience_s = patience_s
        self._prefixes: dict[bytes, _Prefix] = {}
        self._serves: bool | None = None
        """Whether a server that is not the vendor's own stores prefixes; None: not asked yet."""
        self._owed = 0

    def now(self) -> float:
        """Unix time: what is stored grows old while the machine sleeps."""
        return self._clock.now()

    def settle(self) -> int:
        """Millionths of a US dollar for storing that no answer's usage says yet; whoever asks says it."""
        owed, self._owed = self._owed, 0
        return owed

    async def borrow(self, request: ModelRequest, facts: ModelFacts) -> Loan | None:
        """What a question uses; it is stored or renewed first where that pays.

        None where nothing can be stored of it.
        """
        terms = self._codec.storage_terms(facts, self._endpoint)
        cost = bargain(facts, terms) if terms is not None else None
        if terms is None or cost is None:
            return None
        fixed = self._codec.fixed_part(request, facts)
        tokens = len(fixed) // _BYTES_PER_TOKEN
        if tokens < terms.least_tokens:
            return None
        key = blake2b(facts.model.encode() + b"\0" + fixed, digest_size=16).digest()
        prefix = self._prefixes.setdefault(key, _Prefix(tokens))
        if prefix.name:
            await self._tend(prefix, cost)
        elif self._is_due(prefix, request, cost):
            asked = self._codec.store_request(request, facts, self._endpoint, LIFETIME_S)
            await self._make(prefix, asked, cost, known=terms.vendors_own)
        return Loan(self, prefix)

    def _is_due(self, prefix: _Prefix, request: ModelRequest, cost: Bargain) -> bool:
        """Whether a prefix is to be stored now; never in the first turn of a session."""
        oldest = self.now() - LIFETIME_S
        while prefix.missed and prefix.missed[0] < oldest:
            prefix.missed.popleft()
        if prefix.failed or len(prefix.missed) < cost.worth_making:
            return False
        return sum(isinstance(message, User) for message in request.messages) > 1

    async def _make(
        self, prefix: _Prefix, asked: HttpRequest, cost: Bargain, *, known: bool
    ) -> None:
        """Store a prefix; until that has worked it has failed, whatever comes between."""
        prefix.failed = True
        until = self.now() + LIFETIME_S
        with anyio.move_on_after(self._patience_s):
            if not known and not await self._is_served():
                return
            stored = await self._ask(asked)
            if stored is not None:
                prefix.failed = False
                prefix.keep(stored, until)
                self._owed += round(prefix.tokens * cost.make)

    async def _tend(self, prefix: _Prefix, cost: Bargain) -> None:
        """Renew what is near its end where its use paid for that, and forget it elsewhere."""
        now = self.now()
        left = prefix.until - now
        if left >= RENEW_S:
            return
        if left <= 0 or prefix.uses < cost.worth_keeping:
            prefix.forget()
            return
        name = prefix.name
        prefix.until = now + LIFETIME_S  # Questions asked meanwhile do not renew it, too.
        with anyio.move_on_after(self._patience_s):
            asked = self._codec.renew_request(name, self._endpoint, LIFETIME_S)
            stored = await self._ask(asked)
            if stored is not None and stored.name == name:
                prefix.keep(stored, now + LIFETIME_S)
                self._owed += round(prefix.tokens * cost.keep)
                return
        prefix.forget()

    async def release(self) -> None:
        """Let go of all that is stored: its storing is paid by the time, and nobody will name it again."""
        now = self.now()
        with anyio.move_on_after(self._patience_s):
            async with anyio.create_task_group() as tasks:
                for prefix in self._prefixes.values():
                    if prefix.name and prefix.until > now:
                        asked = self._codec.drop_request(prefix.name, self._endpoint)
                        tasks.start_soon(self._answer, asked)
                    prefix.forget()

    async def _is_served(self) -> bool:
        """Whether this server stores prefixes; it is asked once."""
        if self._serves is None:
            self._serves = False
            body = await self._answer(self._codec.stored_list_request(self._endpoint))
            try:
                self._codec.decode_stored_list(body or b"")
            except ValueError:
                return False
            self._serves = True
        return self._serves

    async def _ask(self, request: HttpRequest) -> StoredContent | None:
        """Store or renew; None when that came to nothing."""
        body = await self._answer(request)
        try:
            return self._codec.decode_stored(body or b"")
        except ValueError:
            return None

    async def _answer(self, request: HttpRequest) -> bytes | None:
        """The body of a good answer; None for any other."""
        body = b""
        try:
            async with self._http.send(request, Timeouts()) as response:
                if not 200 <= response.status < 300:
                    return None
                async for chunk in response.chunks():
                    body += chunk
                    if len(body) > _ANSWER_BYTES:
                        return None
        except ModelError:
            return None
        return body
