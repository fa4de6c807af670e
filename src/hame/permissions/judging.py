"""A call judged: what the policy and the rules say together."""

from collections.abc import Sequence

import msgspec

from hame.base.settings import Mode
from hame.base.zone import ProjectPaths
from hame.permissions.decision import Decision, Judgement, strictest
from hame.permissions.policy import Concern, Matter, concerns_of
from hame.permissions.rule import Rule, covers_host, covers_target, covers_tool
from hame.permissions.rulebook import Rulebook
from hame.permissions.verdict import Pinned, allows_line, judge_refusals


class Ruling(msgspec.Struct, frozen=True):
    """What a call comes to."""

    judgement: Judgement
    allowed_by: str = ""
    """The rules that allowed what would have asked."""


def judge(
    matter: Matter, book: Rulebook, paths: ProjectPaths, *, pinned: Pinned | None = None
) -> Ruling:
    """Deny > ask > allow: a refusal stands whatever else is said, an allow rule settles questions."""
    concerns = concerns_of(matter, paths)
    concerns += [Concern(judgement) for judgement in _said_by_rules(matter, book, paths)]
    allows = book.deciding(Decision.ALLOW)
    left: list[Judgement] = []
    used: list[str] = []
    for concern in concerns:
        rule = _settling(concern, matter, allows, paths, pinned=pinned)
        if concern.judgement.decision is Decision.DENY or rule is None:
            left.append(concern.judgement)
        else:
            used.append(rule)
    if left:
        return Ruling(strictest(left))
    if used:
        return Ruling(Judgement(Decision.ALLOW, "a rule of yours allows it", used[0]), used[0])
    only = matter.analysis
    free = only.judgement if only is not None and matter.mode is not Mode.AUTO else None
    return Ruling(free or Judgement(Decision.ALLOW))


def _settling(
    concern: Concern,
    matter: Matter,
    allows: Sequence[Rule],
    paths: ProjectPaths,
    *,
    pinned: Pinned | None,
) -> str | None:
    if concern.lifted_by is not None:
        return next((rule.name for rule in allows if concern.lifted_by(rule)), None)
    analysis = matter.analysis
    if analysis is None or not concern.about_line:
        return None
    if allows_line(analysis, allows, paths, pinned=pinned):
        return "; ".join(rule.name for rule in allows if rule.command)
    return None


def _said_by_rules(matter: Matter, book: Rulebook, paths: ProjectPaths) -> list[Judgement]:
    said: list[Judgement] = []
    for decision in (Decision.DENY, Decision.ASK):
        rules = book.deciding(decision)
        if matter.analysis is not None:
            refused = judge_refusals(matter.analysis.scene, rules)
            said += [refused] if refused is not None else []
        for rule in rules:
            if not rule.command and _speaks_of(rule, matter, paths):
                reason = rule.reason or "a rule of yours says so"
                said.append(Judgement(decision, reason, rule.name))
    return said


def _speaks_of(rule: Rule, matter: Matter, paths: ProjectPaths) -> bool:
    if not covers_tool(rule, matter.spec):
        return False
    if rule.path and not any(
        covers_target(rule, target, paths) for target in matter.targets if matter.command is None
    ):
        return False
    return not rule.host or any(covers_host(rule, host) for host in matter.hosts)
