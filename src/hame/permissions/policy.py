"""The first layer of the gate as a pure function: mode, effect and places in, verdict out."""

from collections.abc import Sequence
from enum import StrEnum

import msgspec

from hame.base.ports import Target
from hame.base.settings import Mode
from hame.base.tool import Effect, ToolSpec
from hame.base.zone import Operation, Zone

READING = frozenset({Operation.READ, Operation.LIST})


class Decision(StrEnum):
    """What the policy says."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


class Judgement(msgspec.Struct, frozen=True):
    """A decision and why."""

    decision: Decision
    reason: str = ""


_RANK = {Decision.ALLOW: 0, Decision.ASK: 1, Decision.DENY: 2}

PLAN_REASON = (
    "the user wants a plan first: nothing may be changed or run now. Describe what you would do, "
    "step by step, and stop."
)


def judge(mode: Mode, spec: ToolSpec, targets: Sequence[Target]) -> Judgement:
    """The strictest of what the places and the effect demand; deny > ask > allow."""
    found = [_judge_target(target) for target in targets]
    found.append(_judge_effect(mode, spec))
    return max(found, key=lambda judgement: _RANK[judgement.decision])


def _judge_target(target: Target) -> Judgement:
    place, reads = target.resolution, target.operation in READING
    match place.zone:
        case Zone.PROJECT:
            return Judgement(Decision.ALLOW)
        case Zone.SECRET:
            what = "read" if reads else "changed"
            return Judgement(
                Decision.DENY, f"{place.shown} holds secrets and is never {what} by a model"
            )
        case Zone.PROTECTED:
            if reads:
                return Judgement(Decision.ALLOW)
            return Judgement(
                Decision.DENY,
                f"{place.shown} is protected: writing it could make other programs run code",
            )
        case Zone.HAME:
            if reads:
                return Judgement(Decision.ALLOW)
            return Judgement(Decision.DENY, f"{place.shown} belongs to hame")
        case Zone.OUTSIDE:
            return Judgement(Decision.ASK, f"{place.real} is outside the project")


def _judge_effect(mode: Mode, spec: ToolSpec) -> Judgement:
    if spec.effect in {Effect.READ, Effect.INTERACT, Effect.ISOLATED} and not spec.source:
        return Judgement(Decision.ALLOW)
    if mode is Mode.PLAN and spec.effect is not Effect.READ:
        return Judgement(Decision.DENY, PLAN_REASON)
    if spec.source:
        return Judgement(Decision.ASK, f"the tool comes from {spec.source}")
    if spec.effect is Effect.NETWORK:
        return Judgement(Decision.ASK, "it talks to another machine")
    if mode is Mode.AUTO:
        return Judgement(Decision.ALLOW)
    what = "runs a command" if spec.effect is Effect.RUN else "changes files"
    return Judgement(Decision.ASK, f"it {what}")
