"""Rules offered for what past sessions ran."""

from hame.base.zone import ProjectPaths
from hame.permissions.commands.ground import Ground
from hame.permissions.decision import Decision
from hame.permissions.proposing import Ran, propose, ran_in
from hame.permissions.rule import Rule, describe
from hame.permissions.rulebook import Rulebook

PATHS = ProjectPaths(root="/p", home="/h")
GROUND = Ground(paths=PATHS)


def offered(*commands: str, book: Rulebook | None = None) -> list[tuple[str, int]]:
    ran = [Ran(command, "/p") for command in commands]
    return [
        (describe(proposal.rule), proposal.saves)
        for proposal in propose(ran, book or Rulebook(), GROUND)
    ]


def test_what_asked_twice_is_offered_in_its_very_words() -> None:
    assert offered("npm test", "npm test && ls", "make", "make", "ls", "ls", "cargo build") == [
        ("allow command npm test, cwd .", 2)
    ]


def test_commands_that_begin_alike_are_offered_together_after_the_smallest() -> None:
    commands = [
        "git add a",
        "git add b",
        "git add b",
        "git add c",
        "npm run a",
        "npm run b",
        "npm run c",
    ]
    assert offered(*commands) == [
        ("allow command git add b, cwd .", 2),
        ("allow command git add *", 4),
    ]


def test_what_a_rule_allows_or_nothing_allows_is_not_offered() -> None:
    book = Rulebook(rules=[Rule(decision=Decision.ALLOW, command=("npm", "test"))])
    assert offered("npm test", "npm test", "sudo x", "sudo x", "x $y", "x $y", book=book) == []


def test_each_offer_says_what_else_it_would_allow() -> None:
    ran = [Ran(f"git add {name}", "/p") for name in "aabc"]
    exact, wide = propose(ran, Rulebook(), GROUND)
    assert "nothing but these very words" in exact.allows_too
    assert "every other `git add *`" in wide.allows_too


def test_the_folder_of_a_past_command_is_found() -> None:
    assert ran_in(PATHS, "x", "") == Ran("x", "/p")
    assert ran_in(PATHS, "x", "a/b") == Ran("x", "/p/a/b")
    assert ran_in(PATHS, "x", "/q") == Ran("x", "/q")
