"""What was used and what it cost, by day, model, project, session, run or step."""

import time
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum

import msgspec

from hame.app.models import own_rows
from hame.base.model import ModelFacts, Usage, Vendor
from hame.base.ports import Catalogue
from hame.config.places import Places
from hame.llm.catalog import ShippedCatalogue
from hame.sessions.spent import Spent


class Group(StrEnum):
    """By what answers are added up."""

    DAY = "day"
    MODEL = "model"
    PROJECT = "project"
    SESSION = "session"
    RUN = "run"
    STEP = "step"


class Bill(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Answers added up."""

    name: str
    """The day, the model, ...; empty for all together."""
    answers: int = 0
    usage: Usage = Usage()
    cost_usd: float = 0.0
    """Of the answers whose price is known."""
    billed_usd: float = 0.0
    """The part of it that the providers themselves said they took; the rest is computed from prices."""
    unpriced: int = 0
    """Answers whose price is unknown; with any, `cost_usd` is only a part."""

    def plus(self, spent: Spent, cost: float | None) -> "Bill":
        """With one more answer."""
        return Bill(
            name=self.name,
            answers=self.answers + 1,
            usage=self.usage + spent.usage,
            cost_usd=self.cost_usd + (cost or 0.0),
            billed_usd=self.billed_usd + (spent.usage.paid_usd or 0.0),
            unpriced=self.unpriced + (cost is None),
        )


class Prices:
    """The price of every model, as the catalogue has it today."""

    def __init__(self, catalogue: Catalogue) -> None:
        """Read nothing yet."""
        self._catalogue = catalogue
        self._known: dict[str, ModelFacts | None] = {}

    def cost(self, spent: Spent) -> float | None:
        """US dollars for an answer; what its provider said it took comes first. None: unknown."""
        if spent.usage.paid_usd is not None:
            return spent.usage.paid_usd
        if spent.model not in self._known:
            self._known[spent.model] = self._facts(spent.model)
        facts = self._known[spent.model]
        return facts.cost(spent.usage) if facts is not None else None

    def _facts(self, name: str) -> ModelFacts | None:
        backend, _, model = name.partition("/")
        if backend == "local":
            return ModelFacts(backend=backend, model=model, wire="", local=True)
        vendor = self._catalogue.vendor(backend)
        if vendor is None and backend:
            vendor = Vendor(id=backend, display_name=backend, wire="", base_url="")
        return self._catalogue.facts(vendor, model) if vendor is not None else None


def prices(places: Places) -> Prices:
    """Today's prices, the user's own included."""
    return Prices(ShippedCatalogue(lambda: own_rows(places)))


def add_up(found: Iterable[Spent], by: Group, priced: Prices) -> tuple[list[Bill], Bill]:
    """A bill for each day, model, ..., in order of the first answer, and one for all."""
    bills: dict[str, Bill] = {}
    total = Bill(name="")
    name_of = _NAMES[by]
    for spent in found:
        cost = priced.cost(spent)
        name = name_of(spent)
        bills[name] = bills.get(name, Bill(name=name)).plus(spent, cost)
        total = total.plus(spent, cost)
    return list(bills.values()), total


_NAMES: Mapping[Group, Callable[[Spent], str]] = {
    Group.DAY: lambda spent: time.strftime("%Y-%m-%d", time.localtime(spent.at)),
    Group.MODEL: lambda spent: spent.model or "unknown",
    Group.PROJECT: lambda spent: spent.cwd or "unknown",
    Group.SESSION: lambda spent: spent.session,
    Group.RUN: lambda spent: f"{spent.session} run {spent.run}",
    Group.STEP: lambda spent: f"{spent.session} run {spent.run} step {spent.step}",
}
