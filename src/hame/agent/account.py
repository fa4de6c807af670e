"""The account of one run: its steps, tokens, time and money, held against its limits."""

from hame.agent.ports import Ports
from hame.agent.spending import Spending
from hame.base import event
from hame.base.message import Assistant
from hame.base.model import Usage
from hame.base.run import BudgetSpent, Limits, RunResult, StepLimit


class Account:
    """What a run has used; shown as it grows."""

    def __init__(self, ports: Ports, limits: Limits) -> None:
        """The run's time begins now."""
        self._emit, self._clock = ports.emit, ports.clock
        self._limits, self._today = limits, ports.today
        self._spending = Spending(lambda: ports.model.facts)
        self._started = ports.clock.monotonic()
        self.steps = 0
        """Requests to the model that have counted."""

    @property
    def usage(self) -> Usage:
        """Tokens of all answers."""
        return self._spending.usage

    @property
    def cost_usd(self) -> float | None:
        """US dollars; None: unknown."""
        return self._spending.cost_usd

    @property
    def seconds(self) -> float:
        """How long the run has been going."""
        return self._clock.monotonic() - self._started

    def count(self, answer: Assistant) -> None:
        """Count an answer of the conversation."""
        if (usage := answer.usage) is not None:
            self._add(usage, usage.input_total + usage.output)

    def count_aside(self, answer: Assistant) -> None:
        """Count an answer that is no step of the conversation."""
        if answer.usage is not None:
            self._add(answer.usage, None)

    def _add(self, usage: Usage, filled: int | None) -> None:
        cost = self._spending.add(usage, filled)
        self._emit(
            event.UsageUpdated(
                usage=self.usage,
                step_usage=usage,
                cost_usd=self.cost_usd,
                step_cost_usd=cost,
                context_tokens=filled,
            )
        )

    def spent(self) -> RunResult | None:
        """The limit that is reached; None while the run may go on."""
        limits = self._limits
        if self.steps >= limits.steps:
            return StepLimit(steps=self.steps)
        seconds, tokens = self.seconds, self.usage.input_total + self.usage.output
        if limits.seconds is not None and seconds >= limits.seconds:
            return BudgetSpent(what="time", limit=limits.seconds)
        if limits.total_tokens is not None and tokens >= limits.total_tokens:
            return BudgetSpent(what="tokens", limit=limits.total_tokens)
        if limits.cost_usd is not None and self._spending.reaches(limits.cost_usd):
            return BudgetSpent(what="cost", limit=limits.cost_usd)
        if self._today is None:
            return None
        cost = self.cost_usd or 0.0
        return self._today().spent(steps=self.steps, tokens=tokens, seconds=seconds, cost_usd=cost)
