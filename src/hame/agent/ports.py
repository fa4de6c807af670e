"""What a run is given: the ports it works with, and what stays fixed for it."""

from collections.abc import Awaitable, Callable, Mapping

import msgspec

from hame.agent.cache import CacheLedger
from hame.base.model import CacheLifetime, Effort
from hame.base.ports import (
    Clock,
    Context,
    CountTokens,
    Emit,
    Gate,
    Journal,
    Model,
    Snapshots,
    Tool,
    ToolContext,
)
from hame.base.run import Allowance, Limits


class Ports(msgspec.Struct, frozen=True, kw_only=True):
    """What a run works with."""

    model: Model
    tools: Mapping[str, Tool]
    context: Context
    tool_context: ToolContext
    gate: Gate
    journal: Journal
    clock: Clock
    emit: Emit
    snapshots: Snapshots | None = None
    count: CountTokens | None = None
    """Counts a request, where whoever serves the model does that."""
    ledger: CacheLedger | None = None
    """Account of the session's requests, where it outlives the run."""
    ahead: Callable[[], Awaitable[None]] | None = None
    """What is worth doing while the model is being asked; cancelled with the end of the run."""
    today: Callable[[], Allowance] | None = None
    """What is left of the day's limits by now; what this run uses is not counted as used."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What stays fixed for a run."""

    system: str
    limits: Limits
    effort: Effort | None = None
    cache: CacheLifetime = CacheLifetime.SHORT
    web_search: bool = False
