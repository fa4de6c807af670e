"""The smallest rules that would have settled a question: exactly this, and nothing else."""

import msgspec

from hame.base.tool import Effect
from hame.base.zone import ProjectPaths, split
from hame.permissions.commands.analysis import Analysis, Open
from hame.permissions.decision import Decision
from hame.permissions.place import READING
from hame.permissions.policy import Matter
from hame.permissions.rule import UNRULY, UNRULY_PAIRS, Rule, Scope, show_tokens
from hame.permissions.verdict import Pinned

_GLOB = frozenset("*?[]{}\\")


class Smallest(msgspec.Struct, frozen=True):
    """Rules, and what they cover in words."""

    rules: tuple[Rule, ...]
    covers: str


def smallest_rules(matter: Matter, paths: ProjectPaths, pinned: Pinned | None) -> Smallest | None:
    """What `always` would write; None where no rule is small enough to be given so."""
    spec = matter.spec
    if spec.source:
        return None
    match spec.effect:
        case Effect.RUN:
            return _for_command(matter.analysis, paths, pinned)
        case Effect.READ | Effect.WRITE:
            return _for_places(matter, paths)
        case Effect.NETWORK:
            return _for_hosts(matter)
        case _:
            return None


def _for_command(
    analysis: Analysis | None, paths: ProjectPaths, pinned: Pinned | None
) -> Smallest | None:
    if analysis is None or not analysis.liftable or not analysis.open:
        return None
    rules = [_command_rule(command, paths, pinned) for command in analysis.open]
    if any(rule is None for rule in rules):
        return None
    kept = [rule for rule in rules if rule is not None]
    if analysis.writes:
        names = [word.text for word in analysis.writes if word.literal]
        if len(names) < len(analysis.writes) or any(not _is_plain_inside(name) for name in names):
            return None
        kept[0] = msgspec.structs.replace(kept[0], writes=tuple(names))
    shown = " and ".join(f"`{show_tokens(rule.command)}`" for rule in kept)
    where = "" if kept[0].cwd in {"", "."} else f" in {kept[0].cwd}"
    writing = f", writing {', '.join(kept[0].writes)}" if kept[0].writes else ""
    return Smallest(tuple(kept), f"{shown}{where}{writing}, these very words, in this project")


def _command_rule(command: Open, paths: ProjectPaths, pinned: Pinned | None) -> Rule | None:
    texts = tuple(word.text for word in command.words)
    name = texts[0].rpartition("/")[2]
    if name in UNRULY or (
        texts[1:2] and (name, texts[1]) in UNRULY_PAIRS and (name, texts[1]) in _NEVER
    ):
        return None
    if len(set(command.folders)) != 1 or any(not word.literal for word in command.words):
        return None
    program = pinned(texts[0]) if pinned is not None else None
    if program is not None and _within(program, paths.root) is not None:
        return None
    cwd = _within(command.folders[0], paths.root)
    if cwd is None or texts[-1] == "*":
        return None
    return Rule(
        decision=Decision.ALLOW, command=texts, cwd=cwd, program=program or "", scope=Scope.PROJECT
    )


_NEVER = frozenset(pair for pair in UNRULY_PAIRS if pair[0] != "npm")
"""Sub-commands that run what they are given; a script of package.json has a name of its own."""


def _for_places(matter: Matter, paths: ProjectPaths) -> Smallest | None:
    rules: list[Rule] = []
    for target in matter.targets:
        place = target.resolution
        inside = _within(place.real, paths.root)
        path = place.real if inside is None else inside
        if not _GLOB.isdisjoint(path) or path == ".":
            return None
        rules.append(
            Rule(
                decision=Decision.ALLOW,
                path=path if "/" in path else f"/{'/'.join(split(place.real))}",
                operations=(target.operation,),
                scope=Scope.PROJECT,
            )
        )
    if not rules:
        return None
    reads = all(target.operation in READING for target in matter.targets)
    shown = ", ".join(target.resolution.shown for target in matter.targets)
    return Smallest(tuple(rules), f"{'reading' if reads else 'changes to'} {shown}")


def _for_hosts(matter: Matter) -> Smallest | None:
    if not matter.hosts:
        return None
    rules = tuple(
        Rule(decision=Decision.ALLOW, tool=matter.spec.name, host=host, scope=Scope.PROJECT)
        for host in matter.hosts
    )
    return Smallest(rules, f"talking to {', '.join(matter.hosts)} with {matter.spec.name}")


def _is_plain_inside(name: str) -> bool:
    return (
        _GLOB.isdisjoint(name)
        and "/" in name
        and ".." not in name.split("/")
        and name[0] not in "/~"
    )


def _within(path: str, root: str) -> str | None:
    """The path below the root, `.` for the root; None when it is not in it."""
    parts, above = split(path), split(root)
    if parts[: len(above)] != above:
        return None
    return "/".join(parts[len(above) :]) or "."
