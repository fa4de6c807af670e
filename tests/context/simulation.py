"""A long session without a real model: what is sent, what it costs, what is still known at its end.

`SimulatedModel` stands for a provider. It encodes every request on its real wire, counts tokens by a
scale of its own, serves the longest common beginning with the request before from its cache, refuses
what is above its window, and answers from a plan. Asked for a summary, it keeps each planted fact it
can see with a fixed chance: that is the one assumption about how well models summarise, and it is the
same for hame and for the control.
"""

import random
import re
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import cast

import anyio.lowlevel
import msgspec

from hame.agent.loop import Plan, Ports, Run
from hame.base.confinement import Confinement
from hame.base.entry import SessionStarted
from hame.base.errors import ErrorKind, Failure
from hame.base.event import Compacted, ConstraintChanged, RunEnded, RunEvent
from hame.base.json import JsonObject, parse_object
from hame.base.memory import CacheReading
from hame.base.message import Assistant, Note, Text, ToolCall, User
from hame.base.model import Endpoint, ModelFacts, Price, Usage
from hame.base.outcome import Corrected, Done, View, text_content
from hame.base.ports import (
    Action,
    Context,
    HttpRequest,
    Journal,
    ModelRequest,
    Processes,
    Proposal,
    Sandbox,
    Shortfall,
    Target,
    Tool,
    ToolContext,
    Workspace,
)
from hame.base.run import Limits
from hame.base.stream import Failed, StreamEvent
from hame.base.tool import Argument, ArgumentKind, Effect, ToolSpec
from hame.llm.codecs import codec
from hame.llm.repair import Repair
from hame.testing import FakeClock, answer
from hame.testing.prefix import canonical
from hame.testing.renderings.rendering import Rendering
from hame.testing.renderings.table import RENDERINGS
from hame.testing.script import events

BYTES_PER_TOKEN = 3.1
"""The provider's own scale; not the one hame begins with."""
KEEPS = 0.9
"""Chance that a summary keeps a fact that its writer can see."""
PRICE = Price(input=3.0, output=15.0, cache_read=0.3, cache_write=3.75)
FACT = re.compile(r"FACT-(\d+)=([0-9a-f]{8})")
CONSTRAINTS = (
    "Never touch anything below vendor/.",
    "Always run the linter before you finish.",
    "Use tabs, not spaces, in Makefiles.",
    "From now on write comments in British English.",
    "Don't add any new dependencies.",
    "Only change files in src/billing.",
    "Never push to the main branch.",
    "All dates must be in ISO 8601.",
    "Please don't rename public functions.",
    "Keep the API backwards compatible.",
    "Ask me before you delete a file.",
    "No print statements in library code.",
)


class Spoken(msgspec.Struct, frozen=True):
    """One request as the provider got it."""

    body: JsonObject
    text: str
    tokens: int
    kept: float
    """Share of the request before it that it begins with."""
    usage: Usage
    summary: bool


class SimulatedModel:
    """Implements the Model port."""

    def __init__(
        self,
        wire: str,
        plan: "Callable[[int, str], Assistant]",
        *,
        window: int = 32_000,
        seed: int = 7,
        keep_bodies: bool = True,
    ) -> None:
        """`plan` answers the n-th step, from 1, of a request of that text."""
        self._facts = ModelFacts(
            backend="simulated", model="m", wire=wire, context_window=window, max_output=8_000,
            price=PRICE,
        )  # fmt: skip
        self._codec, self._repair = codec(wire), Repair(self._facts)
        self._rendering: Rendering = next(each for each in RENDERINGS if each.wire == wire)
        self._plan, self._random = plan, random.Random(seed)
        self._prefix = b""
        self._keep_bodies = keep_bodies
        self.steps = 0
        self.overflows = 0
        self.own_s = 0.0
        """Seconds that the simulation itself took; everything else is hame's."""
        self.spoken: list[Spoken] = []
        self.broken_summary: Callable[[ModelRequest], Assistant | Failure] | None = None
        """Answers in place of a summary, for tests of what goes wrong."""

    @property
    def facts(self) -> ModelFacts:
        """What is known of it."""
        return self._facts

    @property
    def cost(self) -> float:
        """US dollars so far."""
        total = sum((spoken.usage for spoken in self.spoken), Usage())
        return PRICE.cost(total) or 0.0

    def stream(
        self, request: ModelRequest
    ) -> AbstractAsyncContextManager[AsyncIterator[StreamEvent]]:
        """Count, price and answer a request."""
        return self._play(request)

    @asynccontextmanager
    async def _play(self, request: ModelRequest) -> AsyncGenerator[AsyncIterator[StreamEvent]]:
        said = self._answer(request)

        async def stream() -> AsyncGenerator[StreamEvent]:
            await anyio.lowlevel.checkpoint()
            if isinstance(said, Failure):
                yield Failed(said)
                return
            for event in events(said):
                yield event

        yield stream()

    def _answer(self, request: ModelRequest) -> Assistant | Failure:
        legal = msgspec.structs.replace(request, messages=self._repair(request.messages))
        http = self._codec.encode(legal, self._facts, Endpoint(base_url="http://x", api_key="k"))
        start = time.perf_counter()
        try:
            return self._weigh(request, http)
        finally:
            self.own_s += time.perf_counter() - start

    def _weigh(self, request: ModelRequest, http: HttpRequest) -> Assistant | Failure:
        body = parse_object(http.body) or {}
        prefix = canonical(self._rendering.prefix(body))
        tokens = int(len(prefix) / BYTES_PER_TOKEN)
        summary = _asks_for_summary(request)
        if tokens > (self._facts.context_window or 0):
            self.overflows += 1
            return Failure(kind=ErrorKind.CONTEXT_OVERFLOW, message="prompt is too long")
        text = request_text(request)
        said = self._say(request, text, summary=summary)
        if isinstance(said, Failure):
            return said
        kept = _common(self._prefix, prefix)
        cached = int(kept / BYTES_PER_TOKEN)
        usage = Usage(
            cache_read=cached,
            cache_write=tokens - cached,
            output=int(sum(len(block_text(b)) for b in said.content) / BYTES_PER_TOKEN) + 5,
        )
        share = kept / len(self._prefix) if self._prefix else 1.0
        self._prefix = prefix
        stored = body if self._keep_bodies else {}
        shown = text if self._keep_bodies or len(self.spoken) < 2 else ""
        self.spoken.append(Spoken(stored, shown, tokens, share, usage, summary))
        self.last_text = text
        return msgspec.structs.replace(said, usage=usage)

    def _say(self, request: ModelRequest, text: str, *, summary: bool) -> Assistant | Failure:
        if not summary:
            self.steps += 1
            return self._plan(self.steps, text)
        if self.broken_summary is not None:
            return self.broken_summary(request)
        kept = [
            f"- FACT-{number}={value}"
            for number, value in dict(FACT.findall(text)).items()
            if self._random.random() < KEEPS
        ]
        listed = "\n".join(kept) or "- none"
        return answer(f"## Goal\nGo on with the billing work.\n## Facts\n{listed}\n## Next\nGo on.")


def request_text(request: ModelRequest) -> str:
    """Everything that is said in a request's messages."""
    parts: list[str] = []
    for message in request.messages:
        blocks = (
            [block for result in message.results for block in result.content]
            if not isinstance(message, User | Assistant)
            else message.content
        )
        parts += [block_text(block) for block in blocks]
    return "\n".join(parts)


def block_text(block: object) -> str:
    match block:
        case Text(text=text) | Note(text=text):
            return text
        case ToolCall(arguments=arguments):
            return str(arguments)
        case _:
            return ""


def _asks_for_summary(request: ModelRequest) -> bool:
    last = request.messages[-1]
    return isinstance(last, User) and any(
        isinstance(block, Note) and block.text.startswith("[hame] The conversation")
        for block in last.content
    )


def _common(one: bytes, other: bytes) -> int:
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[low:middle] == other[low:middle] else (low, middle - 1)
    return low


# ---------------------------------------------------------------- the session


class Fetch:
    """A tool whose result is as large as is asked for."""

    spec = ToolSpec(
        name="fetch",
        description="Fetch a page of the log.",
        effect=Effect.READ,
        arguments=(
            Argument(name="page", kind=ArgumentKind.NUMBER, type="integer"),
            Argument(name="size", kind=ArgumentKind.NUMBER, type="integer"),
            Argument(name="fact", kind=ArgumentKind.WORDS, required=False),
        ),
    )

    def summarize(self, arguments: JsonObject) -> str:
        return f"page {arguments.get('page')}"

    async def prepare(self, arguments: JsonObject, context: ToolContext) -> Action:
        return _Fetching(arguments)


class _Fetching:
    targets: Sequence[Target] = ()
    view: View | None = None
    digest = "d"

    def __init__(self, arguments: JsonObject) -> None:
        self._page, self._size = cast("int", arguments["page"]), cast("int", arguments["size"])
        self._fact = cast("str", arguments.get("fact", ""))

    def bind(self, still: Callable[[], bool]) -> None: ...

    async def run(self, confinement: Confinement) -> Done:
        await anyio.lowlevel.checkpoint()
        line = f"{self._page:06d} worker accepted job and wrote its row to the ledger\n"
        text = f"{self._fact}\n" + line * (self._size // len(line) + 1)
        return Done(text_content(text[: self._size]))

    def close(self) -> None:
        """Nothing is held."""


class Session:
    """A long session: prompts, each with many steps; facts and demands are said on the way."""

    def __init__(
        self,
        model_wire: str,
        context: Context,
        journal: Journal,
        *,
        steps: int,
        per_prompt: int = 40,
        window: int = 32_000,
        largest: int = 400_000,
        keep_bodies: bool = True,
        seed: int = 7,
    ) -> None:
        """Steps in all, in prompts of so many; results have 1 kB to `largest` bytes."""
        self._random = random.Random(seed)
        self.steps, self.per_prompt, self.largest = steps, per_prompt, largest
        self.journal, self.context = journal, context
        self.clock = FakeClock()
        self.events: list[RunEvent] = []
        self.facts = {n: f"{self._random.getrandbits(32):08x}" for n in range(40)}
        self.told: list[str] = []
        """Demands said so far."""
        self.prompt = ""
        self.checks: list[Callable[[str], None]] = []
        self.model = SimulatedModel(
            model_wire, self._plan, window=window, keep_bodies=keep_bodies, seed=seed
        )

    def _fact(self, number: int) -> str:
        return f"FACT-{number}={self.facts[number]}"

    def _plan(self, step: int, text: str) -> Assistant:
        for check in self.checks:
            check(text)
        if step % self.per_prompt == 0:
            return answer(f"Part {step // self.per_prompt} is done.")
        size = int(1_000 * (self.largest / 1_000) ** self._random.random())
        every = max(self.steps // 30, 1)
        number = step // every
        arguments: dict[str, object] = {"page": step, "size": size}
        words = f"Step {step}: the next page."
        if step % every == 0 and number < 30:
            # Half of what results say is noted by the model itself.
            if number % 2:
                words += f" Noted: {self._fact(10 + number)}."
            else:
                arguments["fact"] = self._fact(10 + number)
        return answer(words, ToolCall(f"call_{step}", "fetch", arguments))

    async def play(self) -> None:
        """All of it.

        Raises:
            AssertionError: when a run did not end as it should.
        """
        prompts = self.steps // self.per_prompt
        for number in range(prompts):
            ended = await self.run(self._words(number, prompts))
            assert type(ended.result).__name__ == "RunDone", ended.result

    async def run(self, words: str) -> RunEnded:
        """One prompt."""
        self.prompt = words
        nothing = object()
        ports = Ports(
            model=self.model,
            tools=cast("Mapping[str, Tool]", {"fetch": Fetch()}),
            context=self.context,
            tool_context=ToolContext(
                workspace=cast("Workspace", nothing),
                processes=cast("Processes", nothing),
                sandbox=cast("Sandbox", nothing),
                progress=lambda _: None,
            ),
            gate=_Open(),
            journal=self.journal,
            clock=self.clock,
            emit=self._emit,
        )
        plan = Plan(system="Be exact. " * 200, limits=Limits(steps=self.per_prompt + 5))
        return await Run(ports, plan).run(User((Text(words),)))

    def _emit(self, item: RunEvent) -> None:
        if isinstance(item, Compacted | ConstraintChanged | RunEnded):
            self.events.append(item)

    def _words(self, number: int, prompts: int) -> str:
        words = f"Prompt {number}: please go through the next pages of the log."
        at = [round(n * (prompts - 1) / max(len(CONSTRAINTS) - 1, 1)) for n in range(12)]
        for place, demand in enumerate(CONSTRAINTS):
            if at[place] == number:
                words += f" {demand}"
                self.told.append(demand)
        facts = [n for n in range(10) if round(n * (prompts - 1) / 9) == number]
        return words + "".join(f" Mind {self._fact(n)}." for n in facts)

    @property
    def known(self) -> int:
        """Facts that can be seen in the last request."""
        seen = dict(FACT.findall(self.model.last_text))
        return sum(seen.get(str(number)) == value for number, value in self.facts.items())


class _Open:
    async def decide(self, proposal: Proposal) -> Confinement:
        await anyio.lowlevel.checkpoint()
        return Confinement()

    async def widen(self, proposal: Proposal, short: Shortfall) -> Confinement | Corrected | None:
        await anyio.lowlevel.checkpoint()
        return None


def started(path: Path) -> SessionStarted:
    """First entry of the session's journal."""
    return SessionStarted(session=path.stem, cwd="/p", hame="0.1.0")


__all__ = ["CONSTRAINTS", "CacheReading", "Session", "SimulatedModel", "started"]
