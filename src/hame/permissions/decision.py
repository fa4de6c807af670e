"""What a question of rights comes to, and why."""

from collections.abc import Iterable
from enum import StrEnum

import msgspec


class Decision(StrEnum):
    """What may happen."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"

    @property
    def rank(self) -> int:
        """How strict it is: deny > ask > allow."""
        return _RANK[self]


_RANK = {Decision.ALLOW: 0, Decision.ASK: 1, Decision.DENY: 2}


class Judgement(msgspec.Struct, frozen=True):
    """A decision, why, and the rule it comes from."""

    decision: Decision
    reason: str = ""
    rule: str = ""


def strictest(judgements: Iterable[Judgement]) -> Judgement:
    """The first of the strictest; at least one must be given."""
    return max(judgements, key=lambda judgement: judgement.decision.rank)
