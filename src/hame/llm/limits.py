"""What a request may ask of a model: how long an answer, how much thought."""

from hame.base.model import Effort, ModelFacts
from hame.base.ports import ModelRequest

USUAL_OUTPUT = 32_000
"""Tokens of one answer when neither the user nor the model's own limit says less."""


def output_limit(request: ModelRequest, facts: ModelFacts) -> int | None:
    """Tokens one answer may have; None when nothing is known and the server should decide."""
    if request.max_output_tokens is not None:
        asked = request.max_output_tokens
        return min(asked, facts.max_output) if facts.max_output else asked
    return min(facts.max_output, USUAL_OUTPUT) if facts.max_output else None


def effort_for(request: ModelRequest, facts: ModelFacts) -> Effort | None:
    """The level of effort to send: the one asked for, else the nearest the model takes.

    Some thought is never rounded down to none where the model takes a level that thinks; of two
    levels equally near the lower counts. None when none was asked for or the model takes none.
    """
    asked = request.effort
    if asked is None or not facts.efforts:
        return None
    order = list(Effort)
    thinking = facts.efforts - {Effort.NONE}
    levels = thinking if asked is not Effort.NONE and thinking else facts.efforts
    place = order.index(asked)
    return min(sorted(levels, key=order.index), key=lambda level: abs(order.index(level) - place))
