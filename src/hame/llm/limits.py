"""What a request may ask of a model: how long an answer, how much thought, how much patience."""

from msgspec.structs import replace

from hame.base.model import Effort, ModelFacts, Quirk, Timeouts
from hame.base.ports import ModelRequest

USUAL_OUTPUT = 32_000
"""Tokens of one answer when neither the user nor the model's own limit says less."""


_TELLING = frozenset({"anthropic_messages", "openai_responses", "gemini"})
"""The wires on which a model's thoughts, or summaries of them, come while it thinks."""


def patience(request: ModelRequest, facts: ModelFacts) -> Timeouts:
    """How long silence is borne.

    A model that thinks in silence is given longer, by its row. One whose thoughts are sent as they
    come is not silent for long, unless it is asked to think hard; that a server hangs is then
    known as soon as with any other.
    """
    usual, most = facts.timeouts, Timeouts()
    telling = facts.wire in _TELLING and Quirk.NO_REASONING_SUMMARY not in facts.quirks
    if facts.local or not telling or request.effort in {Effort.HIGH, Effort.MAX}:
        return usual
    return replace(
        usual,
        first_byte_s=min(usual.first_byte_s, most.first_byte_s),
        idle_s=min(usual.idle_s, most.idle_s),
    )


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
