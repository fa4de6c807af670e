"""Rules that can never match, and why: nobody misses them, though their writer counts on them.

What is said here is certain. A rule that only finds nothing to match today is not named, but for one
that is bound to a program which is not there any more.
"""

import os
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from hame.base.glob import is_plain
from hame.base.path import FileKind, Resolution
from hame.base.ports import Target
from hame.base.zone import Operation, ProjectPaths, zone_of
from hame.permissions.decision import Decision
from hame.permissions.place import judge_place
from hame.permissions.rule import Rule, Scope, choices_of, describe
from hame.permissions.shadow import fixed_place, is_shadowed, place_of, spellings

if TYPE_CHECKING:
    from hame.permissions.verdict import Pinned

_MACHINE = re.compile(r"(?:\*\.)?[^\s*/:@?#\[\]]+")
_ADDRESS = re.compile(r"[0-9a-f]*:[0-9a-f:.]*:[0-9a-f.]*", re.IGNORECASE)
_BESIDE = ("tool", "source", "host", "path")


class Futile(msgspec.Struct, frozen=True):
    """A rule that can never match, and why."""

    rule: Rule
    reason: str

    @property
    def said(self) -> str:
        """One line that names the rule."""
        return f"{self.rule.where or describe(self.rule)} can never match: {self.reason}"


def futile_rules(
    rules: Sequence[Rule],
    paths: ProjectPaths,
    pinned: "Pinned | None" = None,
    *,
    reading: bool = False,
) -> list[Futile]:
    """Which of the rules that count together can never match.

    `pinned` finds programs. With `reading` the words of commands are also read as a command line,
    which takes the tables of the analysis.
    """
    counting = [rule for rule in rules if not _is_proposal(rule)]
    found: list[Futile] = []
    for rule in counting:
        reason = next(_alone(rule, paths, pinned, reading=reading), None)
        reason = reason or next(_beside(rule, counting, paths), None)
        if reason is not None:
            found.append(Futile(rule, reason))
    return found


def _is_proposal(rule: Rule) -> bool:
    return rule.scope is Scope.REPOSITORY and rule.decision is Decision.ALLOW


def _alone(
    rule: Rule, paths: ProjectPaths, pinned: "Pinned | None", *, reading: bool
) -> Iterator[str]:
    """What is wrong with the rule whatever others say."""
    yield from _parts(rule)
    if rule.command:
        yield from _program(rule, pinned)
        yield from _folder(rule, paths)
    if rule.path:
        yield from _place(rule, paths)
    if rule.host and not (_MACHINE.fullmatch(rule.host) or _ADDRESS.fullmatch(rule.host)):
        yield f"{rule.host} is no machine's name; write api.example.org, or *.example.org for all below"
    if reading and rule.command and rule.decision is Decision.ALLOW:
        yield from _line(rule, paths)


def _beside(rule: Rule, rules: Sequence[Rule], paths: ProjectPaths) -> Iterator[str]:
    for other in rules:
        if is_shadowed(rule, other, paths):
            verb = "denied" if other.decision is Decision.DENY else "asked about"
            where = f" ({other.where})" if other.where else ""
            yield f"all of it is {verb} by: {describe(other)}{where}"


def _parts(rule: Rule) -> Iterator[str]:
    """Parts that nothing has together."""
    if rule.command:
        refused = _BESIDE if rule.decision is Decision.ALLOW else _BESIDE[:-1]
        beside = next((name for name in refused if getattr(rule, name)), None)
        if beside is not None:
            yield f"a rule for a command names no {beside}; make two rules of it"
    elif rule.decision is Decision.ALLOW and rule.path and rule.host:
        yield "nothing is a place and a machine; make two rules of it"


def _program(rule: Rule, pinned: "Pinned | None") -> Iterator[str]:
    firsts = choices_of(rule.command[0])
    if all(_is_many_words(first, pinned) for first in firsts):
        shown = ", ".join(f'"{word}"' for word in firsts[0].split())
        yield f"no program is called {firsts[0]!r}; write each word by itself: [{shown}]"
    if not rule.program or pinned is None:
        return
    places = [pinned(first) for first in firsts]
    if rule.program not in places:
        now = next((f"is {place}" for place in places if place), "is not found")
        yield f"it was made for {rule.program}, and {firsts[0]} {now} now"


def _is_many_words(first: str, pinned: "Pinned | None") -> bool:
    """Whether the name of a program is a command line with blanks instead."""
    words = first.split()
    if len(words) < 2 or (pinned is not None and pinned(first) is not None):
        return False
    return "/" not in words[0] or (pinned is not None and pinned(words[0]) is not None)


def _folder(rule: Rule, paths: ProjectPaths) -> Iterator[str]:
    """A command's folder and files are named as the project sees them."""
    if rule.cwd.startswith(("/", "~")) and not os.path.lexists(f"{paths.root}/{rule.cwd}"):
        yield f"cwd is relative to the project, and there is no {rule.cwd} in it"
    for glob in rule.writes:
        if glob.startswith("~/") or ".." in glob.split("/"):
            yield f"it lets {glob} be written, which lies outside the project; redirect elsewhere"


def _place(rule: Rule, paths: ProjectPaths) -> Iterator[str]:
    pattern = rule.path
    names = pattern.removeprefix("./").strip("/").split("/")
    if ".." in names and not pattern.startswith(("/", "~/")):
        yield f"{pattern} leads out of the project; write the whole path from /, or from ~/"
    odd = next((name for name in names if name in {"", ".", ".."} and len(names) > 1), None)
    if odd is not None:
        yield f"no path is spelled with {f'/{odd}/'!r}: write {pattern} without it"
    folder = fixed_place(pattern, paths)
    real = os.path.realpath(folder)
    if os.path.lexists(folder) and real != os.path.normpath(folder):
        yield f"{folder} is a link, and rules are about where links lead; write {real}"
    if rule.decision is Decision.ALLOW:
        yield from _refused_place(rule, paths)


def _refused_place(rule: Rule, paths: ProjectPaths) -> Iterator[str]:
    """A place that no rule opens: what is refused there is refused before any rule is read."""
    fixed = is_plain(rule.path) and not rule.path.endswith("/")
    if "/" not in rule.path and not fixed:
        return
    real = place_of(rule.path, paths) if fixed else f"{fixed_place(rule.path, paths)}/any"
    judgements = [
        judge_place(_target(real, operation, paths), paths)
        for operation in rule.operations or Operation
    ]
    if all(judgement.decision is Decision.DENY for judgement in judgements):
        yield judgements[0].reason


def _target(real: str, operation: Operation, paths: ProjectPaths) -> Target:
    zone = zone_of(real, paths, operation)
    found = Resolution(asked=real, real=real, shown=real, zone=zone, kind=FileKind.FILE)
    return Target(found, operation)


def _line(rule: Rule, paths: ProjectPaths) -> Iterator[str]:
    """Words that are refused, or that no command line has, however the rest of it goes."""
    from shlex import join

    from hame.permissions.commands.analysis import analyse
    from hame.permissions.commands.ground import Ground

    ground = Ground(paths=paths, cwd=f"{paths.root}/{rule.cwd}" if rule.cwd else "")
    read = [analyse(join(words), ground) for words in spellings(rule)]
    if read and all(analysis.judgement.decision is Decision.DENY for analysis in read):
        yield f"{read[0].judgement.reason} (always refused: {read[0].judgement.rule})"
    elif read and not any(analysis.liftable for analysis in read):
        yield f"a line of these words asks in any case: {read[0].judgement.reason}"
