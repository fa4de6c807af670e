"""How far a call that may run reaches: what the sandbox is told, and the words for it."""

from collections.abc import Iterable

from hame.base.confinement import Confinement, Level, Reach
from hame.base.hosts import companions
from hame.base.tool import Effect
from hame.permissions.decision import Decision
from hame.permissions.policy import Matter, only_reads
from hame.permissions.rule import Rule, covers_host, covers_tool


def extent_of(matter: Matter, rules: Iterable[Rule], *, agreed: bool) -> Confinement:
    """What a call may reach.

    What was `agreed` to, by an answer or by a rule about this very command, gets what the command
    is known to want; what merely runs because the mode lets it gets no more than the project.
    """
    analysis = matter.analysis
    if matter.spec.effect is not Effect.RUN:
        return Confinement()
    if matter.level is Level.NONE:
        return Confinement(reach=Reach.OUTSIDE)
    if only_reads(matter):
        return Confinement()
    wanted = analysis.departure if agreed and analysis is not None else None
    if wanted is not None and (wanted.reason or (wanted.hosts and matter.level is not Level.A)):
        return Confinement(reach=Reach.OUTSIDE)
    named = [] if wanted is None else [more for host in wanted.hosts for more in with_others(host)]
    return Confinement(reach=Reach.WRITE, hosts=_permitted(named, matter, rules))


def with_others(host: str) -> tuple[str, ...]:
    """A machine, and those without which it is of no use."""
    return (host, *companions(host))


def describe_extent(extent: Confinement, matter: Matter) -> str:
    """What it may reach, in words for the question."""
    if matter.spec.effect is not Effect.RUN or matter.spec.source:
        return ""
    if matter.level is Level.NONE:
        return "nothing confines it: it can do whatever you can"
    if extent.reach is Reach.OUTSIDE:
        why = matter.analysis.departure.reason if matter.analysis is not None else ""
        return "it will run outside the sandbox" + (f": {why}" if why else "")
    network = f"talks only to {', '.join(extent.hosts)}" if extent.hosts else "has no network"
    return f"sandbox {matter.level}: it writes only this project and {network}"


def _permitted(named: Iterable[str], matter: Matter, rules: Iterable[Rule]) -> tuple[str, ...]:
    """Machines that are named now, and those that rules of the user allow every command."""
    if matter.level is not Level.A:
        return ()
    about_hosts = [
        rule
        for rule in rules
        if rule.host and not (rule.command or rule.path) and covers_tool(rule, matter.spec)
    ]
    allowed = [rule.host for rule in about_hosts if rule.decision is Decision.ALLOW]
    held = [rule for rule in about_hosts if rule.decision is not Decision.ALLOW]
    return tuple(
        host
        for host in dict.fromkeys((*named, *allowed))
        if not any(covers_host(rule, host) or _below(rule.host, host) for rule in held)
    )


def _below(host: str, pattern: str) -> bool:
    """Whether a pattern would let through a machine that a stricter rule is about."""
    return pattern.startswith("*.") and host.removeprefix("*").endswith(pattern[1:])
