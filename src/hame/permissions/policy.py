"""What a call asks for, piece by piece: mode, effect, places and command in, concerns out."""

from collections.abc import Callable, Sequence

import msgspec

from hame.base.confinement import Level
from hame.base.ports import Target
from hame.base.settings import Mode
from hame.base.tool import Effect, ToolSpec
from hame.base.zone import ProjectPaths
from hame.permissions.commands.analysis import Analysis
from hame.permissions.decision import Decision, Judgement
from hame.permissions.place import READING, judge_place
from hame.permissions.rule import Rule, covers_host, covers_target, covers_tool

PLAN_REASON = (
    "the user wants a plan first: nothing may be changed or run now. Describe what you would do, "
    "step by step, and stop."
)


NO_SANDBOX = (
    "nothing here would hold it back: no sandbox works on this machine (hame doctor says why); "
    "inside a container or a virtual machine, --sandbox none lets commands run without questions"
)


class Matter(msgspec.Struct, frozen=True, kw_only=True):
    """A call as the gate sees it."""

    mode: Mode
    spec: ToolSpec
    targets: Sequence[Target] = ()
    command: str | None = None
    analysis: Analysis | None = None
    """Of the command."""
    hosts: tuple[str, ...] = ()
    """Machines it would talk to."""
    level: Level = Level.A
    """How what it starts is confined."""
    unconfined: bool = False
    """The user said that nothing is to be confined: something around hame holds it back."""


class Concern(msgspec.Struct, frozen=True):
    """One thing about a call that is not simply allowed, and which rules would allow it."""

    judgement: Judgement
    lifted_by: Callable[[Rule], bool] | None = None
    """Whether an allow rule settles it; None: no single rule can."""
    about_line: bool = False
    """It is about the command line: rules that cover every command of it settle it together."""


def concerns_of(matter: Matter, paths: ProjectPaths) -> list[Concern]:
    """Everything about the call that asks or is refused."""
    found = [_place_concern(target, matter.spec, paths) for target in matter.targets]
    found += _effect_concerns(matter, paths)
    return [concern for concern in found if concern.judgement.decision is not Decision.ALLOW]


def _place_concern(target: Target, spec: ToolSpec, paths: ProjectPaths) -> Concern:
    def lifts(rule: Rule) -> bool:
        named = bool(rule.path) and not rule.command and not rule.host
        return named and covers_tool(rule, spec) and covers_target(rule, target, paths)

    return Concern(judge_place(target, paths), lifts)


def _effect_concerns(matter: Matter, paths: ProjectPaths) -> list[Concern]:
    spec, mode = matter.spec, matter.mode
    if spec.effect in {Effect.READ, Effect.INTERACT, Effect.ISOLATED} and not spec.source:
        return []
    if mode is Mode.PLAN and spec.effect is not Effect.READ and not only_reads(matter):
        return [Concern(Judgement(Decision.DENY, PLAN_REASON, "mode plan"))]
    if spec.source:
        reason = f"the tool comes from {spec.source}"
        return [Concern(Judgement(Decision.ASK, reason, "contributed tool"), _by_tool(spec))]
    match spec.effect:
        case Effect.NETWORK:
            return _network_concerns(matter)
        case Effect.RUN:
            return _run_concerns(matter)
        case _:
            return [] if mode is Mode.AUTO else _change_concerns(matter, paths)


def only_reads(matter: Matter) -> bool:
    """Whether it is a command that was found to change nothing."""
    analysis = matter.analysis
    return analysis is not None and analysis.judgement.decision is Decision.ALLOW


def _by_tool(spec: ToolSpec) -> Callable[[Rule], bool]:
    """Only a rule that names the tool, or its source, and nothing narrower."""

    def lifts(rule: Rule) -> bool:
        named = bool(rule.tool or rule.source) and not (rule.command or rule.path or rule.host)
        return named and covers_tool(rule, spec)

    return lifts


def _network_concerns(matter: Matter) -> list[Concern]:
    judgement = Judgement(Decision.ASK, "it talks to another machine", "network")
    if not matter.hosts:
        return [Concern(judgement, _by_tool(matter.spec))]
    return [Concern(judgement, _by_host(matter.spec, host)) for host in matter.hosts]


def _by_host(spec: ToolSpec, host: str) -> Callable[[Rule], bool]:
    def lifts(rule: Rule) -> bool:
        if rule.command or rule.path or not covers_tool(rule, spec):
            return False
        return covers_host(rule, host) if rule.host else bool(rule.tool)

    return lifts


def _run_concerns(matter: Matter) -> list[Concern]:
    analysis = matter.analysis
    if analysis is None:
        asks = matter.mode is not Mode.AUTO or (
            matter.level is Level.NONE and not matter.unconfined
        )
        judgement = Judgement(Decision.ASK, "it runs a command", "mode ask")
        return [Concern(judgement, _by_tool(matter.spec))] if asks else []
    judgement = analysis.judgement
    if judgement.decision is Decision.ASK and matter.mode is Mode.AUTO:
        return _leaving_concerns(matter, analysis)
    return [Concern(judgement, about_line=True)]


def _leaving_concerns(matter: Matter, analysis: Analysis) -> list[Concern]:
    """In mode auto the sandbox stands for the user's answer: what it cannot hold asks."""
    if matter.unconfined:
        return []
    if matter.level is Level.NONE:
        judgement = Judgement(Decision.ASK, NO_SANDBOX, "no sandbox")
        return [Concern(judgement, about_line=True)]
    if analysis.departure.reason:
        reason = f"it has to run outside the sandbox: {analysis.departure.reason}"
        return [Concern(Judgement(Decision.ASK, reason, "leaves the sandbox"), about_line=True)]
    return []


def _change_concerns(matter: Matter, paths: ProjectPaths) -> list[Concern]:
    judgement = Judgement(Decision.ASK, "it changes files", "mode ask")
    changed = [target for target in matter.targets if target.operation not in READING]
    if not changed:
        return [Concern(judgement, _by_tool(matter.spec))]
    return [Concern(judgement, _by_place(matter.spec, target, paths)) for target in changed]


def _by_place(spec: ToolSpec, target: Target, paths: ProjectPaths) -> Callable[[Rule], bool]:
    def lifts(rule: Rule) -> bool:
        named = bool(rule.path or rule.tool) and not (rule.command or rule.host)
        return named and covers_tool(rule, spec) and covers_target(rule, target, paths)

    return lifts
