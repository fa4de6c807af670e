"""The cache ledger: for each request, what the provider's cache should have served, and what it did.

A provider serves what a request has in common with an earlier one from its beginning: the tools, the
system prompt, then message after message. The ledger knows how much that is, because it hashes what is
sent as it grows; the provider's own count says what was served. Where they differ, it says why.
"""

from collections.abc import Sequence
from hashlib import blake2b
from operator import is_

import msgspec

from hame.base.entry import CacheRead, Entry
from hame.base.json import dump_bytes
from hame.base.kinds import newest
from hame.base.memory import CacheReading
from hame.base.message import Assistant, Message, ToolResults, User
from hame.base.model import CacheLifetime, ModelFacts, Usage
from hame.base.ports import ModelRequest
from hame.base.tool import ToolSpec

LIFETIME_S, LONG_LIFETIME_S = 300.0, 3_600.0
"""Seconds for which providers keep a prefix that is not asked for again: usually, and when asked to."""
LEAST_TOKENS = 1_024
"""Tokens below which providers keep nothing."""
TOLERANCE = 0.1
"""Share of what is expected that may be missing: caches keep whole blocks."""


class _Sent(msgspec.Struct, frozen=True):
    """The last request."""

    system: str
    tools: tuple[ToolSpec, ...]
    messages: tuple[Message, ...]
    sizes: list[int]
    """Bytes: of the head, then of each message."""


class CacheLedger:
    """Keeps account of the requests of one session, run after run."""

    def __init__(self, entries: Sequence[Entry] = ()) -> None:
        """Go on where these entries end."""
        last = newest(entries, CacheRead)
        self._last = last.reading if last is not None else None
        self._sent: _Sent | None = None
        self._lifetime = LIFETIME_S
        self._hash = blake2b(digest_size=16)
        self._checkpoint = ""
        """Hash of the first request as far as the last one of the process before went."""
        self._pending: CacheReading | None = None
        self._serves = self._last is not None and self._last.got > 0

    @property
    def last(self) -> CacheReading | None:
        """The reading of the last request that was answered."""
        return self._last

    def asked(self, request: ModelRequest, facts: ModelFacts, now: float) -> None:
        """A request is being sent."""
        self._lifetime = LONG_LIFETIME_S if request.cache is CacheLifetime.LONG else LIFETIME_S
        kept, broke = self._compare(request)
        sent = self._sent
        self._pending = CacheReading(
            model=facts.name,
            at=now,
            messages=len(request.messages),
            digest=self._hash.hexdigest(),
            size=sum(sent.sizes) if sent is not None else 0,
            kept=kept,
            broke=broke,
        )

    def answered(self, usage: Usage | None, facts: ModelFacts) -> CacheReading | None:
        """It was answered, and this is what the provider counted; None where it does not count."""
        pending, self._pending = self._pending, None
        if pending is None or usage is None or not usage.input_total:
            return None
        last = self._last
        expected = self._expected(pending, last)
        got = usage.cache_read
        self._serves = self._serves or got > 0
        reading = msgspec.structs.replace(
            pending, expected=expected, got=got, total=usage.input_total
        )
        could = last.total if last is not None and last.total >= LEAST_TOKENS else 0
        missed = max(could - got, 0)
        if missed > max(could * TOLERANCE, LEAST_TOKENS / 2):
            reading = msgspec.structs.replace(
                reading, why=self._why(pending, last), lost_usd=lost_usd(missed, facts)
            )
        self._last = reading
        return reading

    def lapsed(self, facts: ModelFacts, now: float) -> tuple[int, float | None]:
        """Tokens that the next request pays in full for time or another model, and their price."""
        last = self._last
        if last is None or last.total < LEAST_TOKENS:
            return 0, None
        if last.model == facts.name and now - last.at <= self._lifetime:
            return 0, None
        return last.total, lost_usd(last.total, facts)

    # ------------------------------------------------------------ inside

    def _compare(self, request: ModelRequest) -> tuple[int, str]:
        """Bytes that the request has in common with the last one, and where they part."""
        sent = self._sent
        if sent is None:
            return self._begin(request)
        known = _common(sent.messages, request.messages)
        same_head = sent.system == request.system and _same_tools(sent.tools, request.tools)
        if same_head and known == len(sent.messages):
            sizes = sent.sizes
            for message in request.messages[known:]:
                sizes.append(self._take(message))
            self._sent = _Sent(request.system, request.tools, request.messages, sizes)
            return sum(sizes[: known + 1]), ""
        if not same_head:
            kept, broke = 0, _head_change(sent, request)
        else:
            before, after = sent.messages[known], request.messages[known : known + 1]
            common = _common_bytes(before, after[0]) if after else 0
            kept = sum(sent.sizes[: known + 1]) + common
            broke = f"message {known + 1} ({_kind(before)}) changed at byte {common}"
        self._restart(request)
        return kept, broke

    def _begin(self, request: ModelRequest) -> tuple[int, str]:
        """The first request of this process; of an older one only its hash is known."""
        last = self._last
        self._restart(request, stop=last.messages if last is not None else 0)
        if last is None:
            return 0, ""
        if self._checkpoint == last.digest:
            return last.size, ""
        return 0, "the beginning is not what it was when the session was left"

    def _restart(self, request: ModelRequest, stop: int = -1) -> None:
        self._hash = blake2b(digest_size=16)
        self._checkpoint = ""
        head = dump_bytes((request.system, request.tools))
        self._hash.update(head)
        sizes = [len(head)]
        for number, message in enumerate(request.messages, 1):
            sizes.append(self._take(message))
            if number == stop:
                self._checkpoint = self._hash.hexdigest()
        self._sent = _Sent(request.system, request.tools, request.messages, sizes)

    def _take(self, message: Message) -> int:
        data = dump_bytes(message)
        self._hash.update(data)
        return len(data)

    def _expected(self, reading: CacheReading, last: CacheReading | None) -> int:
        if last is None or last.model != reading.model or not last.size:
            return 0
        if reading.at - last.at > self._lifetime or last.total < LEAST_TOKENS:
            return 0
        return int(last.total * min(reading.kept / last.size, 1.0))

    def _why(self, reading: CacheReading, last: CacheReading | None) -> str:
        if last is not None and last.model != reading.model:
            return f"{last.model} was asked before"
        if reading.broke:
            return reading.broke
        if last is not None and (passed := reading.at - last.at) > self._lifetime:
            return f"{passed / 60:.0f} minutes passed since the request before"
        if not self._serves:
            return "the provider has not reported any use of its cache so far"
        return "the provider did not serve what it should have had"


def lost_usd(tokens: int, facts: ModelFacts) -> float | None:
    """What these tokens cost more when they are not served from the cache."""
    if facts.price is None:
        return None
    whole = facts.price.cost(Usage(input_uncached=tokens))
    served = facts.price.cost(Usage(cache_read=tokens))
    return whole - served if whole is not None and served is not None else None


def _common(earlier: Sequence[Message], later: Sequence[Message]) -> int:
    """How many messages two histories share from the start; mostly they are the same objects."""
    for place, same in enumerate(map(is_, earlier, later)):
        if not same and earlier[place] != later[place]:
            return place
    return min(len(earlier), len(later))


def _same_tools(one: tuple[ToolSpec, ...], other: tuple[ToolSpec, ...]) -> bool:
    return one is other or one == other


def _head_change(sent: _Sent, request: ModelRequest) -> str:
    if sent.system != request.system:
        return "the system prompt changed"
    before, after = {t.name: t for t in sent.tools}, {t.name: t for t in request.tools}
    changed = sorted(
        name for name in before.keys() | after.keys() if before.get(name) != after.get(name)
    )
    return f"the tools changed: {', '.join(changed[:5]) or 'their order'}"


def _common_bytes(one: Message, other: Message) -> int:
    first, second = dump_bytes(one), dump_bytes(other)
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _kind(message: Message) -> str:
    match message:
        case User():
            return "user"
        case Assistant():
            return "answer"
        case ToolResults():
            return "results"
