"""Rules that would have saved questions, found in what past sessions ran."""

from collections.abc import Iterable, Iterator

import msgspec

from hame.base.settings import Mode
from hame.base.tool import Effect, ToolSpec
from hame.base.zone import ProjectPaths
from hame.permissions.commands.analysis import analyse
from hame.permissions.commands.ground import Ground
from hame.permissions.decision import Decision
from hame.permissions.judging import judge
from hame.permissions.policy import Matter
from hame.permissions.rule import REST, UNRULY, UNRULY_PAIRS, Rule, Scope, show_tokens
from hame.permissions.rulebook import Rulebook
from hame.permissions.smallest import smallest_rules
from hame.permissions.verdict import Pinned

_LEAST = 2
"""Questions that a rule must have saved to be offered."""
_ALIKE = 3
"""Different commands that begin alike before one rule for all of them is offered too."""
_RUN = ToolSpec(name="run_command", description="", effect=Effect.RUN)


class Ran(msgspec.Struct, frozen=True):
    """A command of a past session, and the folder it ran in."""

    command: str
    cwd: str


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """A rule that is offered."""

    rule: Rule
    saves: int
    """Questions it would have saved."""
    allows_too: str
    """What else it would allow."""


def propose(
    ran: Iterable[Ran], book: Rulebook, ground: Ground, pinned: Pinned | None = None
) -> list[Proposal]:
    """The smallest rules first by what they save, then wider ones for commands that begin alike."""
    counts: dict[Rule, int] = {}
    for item in ran:
        for rule in _missing(item, book, ground, pinned):
            counts[rule] = counts.get(rule, 0) + 1
    exact = [
        Proposal(rule=rule, saves=count, allows_too=_beyond_exact(rule))
        for rule, count in counts.items()
        if count >= _LEAST
    ]
    return [
        *sorted(exact, key=lambda proposal: -proposal.saves),
        *sorted(_wider(counts), key=lambda proposal: -proposal.saves),
    ]


def _missing(item: Ran, book: Rulebook, ground: Ground, pinned: Pinned | None) -> Iterator[Rule]:
    """The rules that would have let a command run without its question."""
    paths = ground.paths
    analysis = analyse(item.command, msgspec.structs.replace(ground, cwd=item.cwd))
    matter = Matter(mode=Mode.ASK, spec=_RUN, command=item.command, analysis=analysis)
    if judge(matter, book, paths, pinned=pinned).judgement.decision is not Decision.ASK:
        return
    smallest = smallest_rules(matter, paths, pinned)
    if smallest is not None:
        yield from smallest.rules


def _beyond_exact(rule: Rule) -> str:
    name = rule.command[0]
    return f"nothing but these very words; what {name} does with them may change with the project"


def _wider(counts: dict[Rule, int]) -> Iterator[Proposal]:
    alike: dict[tuple[str, str], list[tuple[Rule, int]]] = {}
    for rule, count in counts.items():
        words = [word for word in rule.command if isinstance(word, str)]
        if len(words) > 2 and not words[1].startswith("-"):
            alike.setdefault((words[0], words[1]), []).append((rule, count))
    for (name, second), found in alike.items():
        if len(found) < _ALIKE or name in UNRULY or (name, second) in UNRULY_PAIRS:
            continue
        tokens = (name, second, REST)
        yield Proposal(
            rule=Rule(decision=Decision.ALLOW, command=tokens, scope=Scope.PROJECT),
            saves=sum(count for _, count in found),
            allows_too=f"every other `{show_tokens(tokens)}`, whatever options and operands follow",
        )


def ran_in(project: ProjectPaths, command: str, cwd: str) -> Ran:
    """A command as a session recorded it, its folder relative to the project or absolute."""
    if not cwd or cwd == ".":
        return Ran(command, project.root)
    return Ran(command, cwd if cwd.startswith("/") else f"{project.root}/{cwd}")
