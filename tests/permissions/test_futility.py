"""Rules that can never match are found, with the reason; no rule that may match is."""

from pathlib import Path

import pytest

from hame.base.zone import Operation, ProjectPaths
from hame.permissions.decision import Decision
from hame.permissions.futility import futile_rules
from hame.permissions.rule import Rule, Scope
from hame.permissions.rulefile import parse_rules
from hame.permissions.shadow import is_shadowed


@pytest.fixture
def paths(tmp_path: Path) -> ProjectPaths:
    for name in ("proj/src", "home/kept", "elsewhere"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "proj/linked").symlink_to(tmp_path / "elsewhere")
    return ProjectPaths(root=str(tmp_path / "proj"), home=str(tmp_path / "home"))


def programs(name: str) -> str | None:
    """Where programs are in these tests."""
    there = {"npm": "/usr/bin/npm", "make": "/usr/bin/make", "/opt/npm": "/opt/npm"}
    return there.get(name)


def said(text: str, paths: ProjectPaths) -> list[str]:
    rules = parse_rules(text, "f", Scope.USER)
    return [each.said for each in futile_rules(rules, paths, programs, reading=True)]


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        # a program that cannot be
        ("[[allow]]\ncommand = ['npm test']", 'write each word by itself: ["npm", "test"]'),
        ("[[deny]]\ncommand = ['git push', '--force']", "no program is called 'git push'"),
        ("[[allow]]\ncommand = ['/opt/npm test', '*']", "no program is called"),
        ("[[allow]]\ncommand = ['npm', 't']\nprogram = '/old/npm'", "npm is /usr/bin/npm now"),
        ("[[allow]]\ncommand = ['gone', 't']\nprogram = '/old/gone'", "gone is not found now"),
        # a command that is refused before any rule, or is none
        ("[[allow]]\ncommand = ['sudo', 'make', 'install']", "always refused: D7"),
        ("[[allow]]\ncommand = ['cat', '.env']", "always refused: D3"),
        ("[[allow]]\ncommand = ['CI=1', 'npm', 'test']", "asks in any case"),
        ("[[allow]]\ncommand = ['if', 'x']", "asks in any case"),
        # parts that nothing has together
        ("[[allow]]\ncommand = ['npm', 'test']\ntool = 'run_command'", "names no tool"),
        ("[[deny]]\ncommand = ['npm', 'test']\nhost = 'x.org'", "names no host"),
        ("[[allow]]\ncommand = ['npm', 'test']\npath = 'a'", "names no path"),
        ("[[allow]]\npath = 'a'\nhost = 'x.org'", "nothing is a place and a machine"),
        ("[[allow]]\ncommand = ['make', 'x']\ncwd = '/srv'", "relative to the project"),
        ("[[allow]]\ncommand = ['make', 'x']\nwrites = ['../log']", "outside the project"),
        # a place outside every root, or spelled as no place is
        ("[[allow]]\npath = '../other/**'", "leads out of the project"),
        ("[[deny]]\npath = 'src/../../b'", "leads out of the project"),
        ("[[deny]]\npath = 'a//b'", "no path is spelled with"),
        ("[[deny]]\npath = '/srv/./b/*'", "no path is spelled with"),
        ("[[deny]]\npath = 'linked/**'", "is a link, and rules are about where links lead"),
        # a place that no rule opens
        ("[[allow]]\npath = '~/.ssh/**'", "holds secrets"),
        ("[[allow]]\npath = '.git/hooks/**'\noperations = ['write', 'create']", "protected"),
        ("[[allow]]\npath = '.env'\noperations = ['read']", "holds secrets"),
        # a machine that is none
        ("[[allow]]\nhost = 'https://x.org'", "no machine's name"),
        ("[[allow]]\nhost = 'x.org:443'", "no machine's name"),
        ("[[allow]]\nhost = 'api.*.org'", "no machine's name"),
        ("[[deny]]\nhost = '*'", "no machine's name"),
    ],
)
def test_a_rule_that_can_never_match_is_named_with_the_reason(
    rule: str, reason: str, paths: ProjectPaths
) -> None:
    (line,) = said(rule, paths)
    assert line.startswith("f: [["), line
    assert reason in line


@pytest.mark.parametrize(
    "rule",
    [
        "[[allow]]\ncommand = ['npm', 'test', '*']\ncwd = 'web'\nwrites = ['out/*.log', '/x/**']",
        "[[allow]]\ncommand = ['npm', ['test', 'build']]\nprogram = '/usr/bin/npm'",
        "[[allow]]\ncommand = ['./gradlew', 'test']",
        "[[allow]]\ncommand = ['/opt/my tools/run', 'x']",
        "[[allow]]\ncommand = ['git', 'commit', '-m', 'two words']",
        "[[allow]]\ncommand = ['ls', '-l']",
        "[[deny]]\ncommand = ['sudo', '*']",
        "[[deny]]\ncommand = ['*']",
        "[[ask]]\ncommand = ['git', 'push']\npath = 'a'",
        "[[allow]]\npath = '/srv/**'",
        "[[allow]]\npath = '~/kept/**'\noperations = ['read']",
        "[[allow]]\npath = './src/*.py'",
        "[[allow]]\npath = '*.pem'",
        "[[allow]]\npath = '.env'",
        "[[deny]]\npath = '.git/hooks/**'",
        "[[allow]]\npath = 'src/'",
        "[[allow]]\npath = '/'",
        "[[allow]]\nhost = '*.example.org'",
        "[[allow]]\nhost = 'localhost'",
        "[[allow]]\nhost = '::1'",
        "[[allow]]\ntool = 'web_*'\nsource = 'x'",
    ],
)
def test_a_rule_that_may_match_is_not_named(rule: str, paths: ProjectPaths) -> None:
    assert said(rule, paths) == []


COVERED = [
    ({"command": ("git", "push")}, {"command": ("git", "push", "origin")}),
    ({"command": ("git", "push", "*")}, {"command": ("git", "push", "*")}),
    ({"command": ("git", "--force")}, {"command": ("git", "push", ("--force", "--force=x"))}),
    ({"command": ("git", "-f")}, {"command": ("git", "push", "-uf")}),
    ({"command": ("*",)}, {"command": ("npm", "test")}),
    ({"path": "private/**"}, {"path": "private/a/*.md"}),
    ({"path": "private/**"}, {"path": "private/a", "operations": (Operation.READ,)}),
    ({"path": "**"}, {"path": "src/x"}),
    ({"path": "*.md"}, {"path": "README.md"}),
    ({"path": "*.md"}, {"path": "docs/README.md"}),
    ({"path": "/srv/**"}, {"path": "/srv/a/**"}),
    ({"path": "~/x/**"}, {"path": "~/X/y"}),
    ({"path": "a", "operations": (Operation.READ, Operation.LIST)}, {"path": "a", "operations": (Operation.READ,)}),
    ({"tool": "web_*"}, {"tool": "web_fetch", "host": "x.org"}),
    ({"host": "*.org"}, {"host": "*.x.org"}),
    ({"host": "*.org"}, {"host": "x.org", "tool": "web_fetch"}),
    ({"source": "mcp"}, {"source": "mcp", "tool": "x"}),
]  # fmt: skip


@pytest.mark.parametrize(("strict", "rule"), COVERED)
def test_what_a_stricter_rule_covers_whole_is_shadowed(
    strict: dict, rule: dict, paths: ProjectPaths
) -> None:
    allow = Rule(decision=Decision.ALLOW, **rule)
    for decision in (Decision.DENY, Decision.ASK):
        assert is_shadowed(allow, Rule(decision=decision, **strict), paths)
    # Between rules that decide the same, and for a laxer one, there is nothing to win.
    assert not is_shadowed(allow, Rule(decision=Decision.ALLOW, **strict), paths)
    assert not is_shadowed(Rule(decision=Decision.DENY, **rule), allow, paths)


@pytest.mark.parametrize(
    ("strict", "rule"),
    [
        ({"command": ("git", "push", "--force")}, {"command": ("git", "push", "*")}),
        ({"command": ("git", "push")}, {"command": ("git", ("push", "pull"))}),
        ({"command": ("git", "push"), "path": "a"}, {"command": ("git", "push")}),
        ({"command": ("git", "push")}, {"tool": "run_command"}),
        ({"tool": "run_command"}, {"command": ("git", "push")}),
        ({"path": "private/**"}, {"path": "private"}),
        ({"path": "private/**"}, {"path": "private/"}),
        ({"path": "private/*.md"}, {"path": "private/**"}),
        ({"path": "docs/*.md"}, {"path": "README.md"}),
        ({"path": "/srv/**"}, {"path": "srv/a"}),
        ({"path": "a", "operations": (Operation.READ,)}, {"path": "a"}),
        ({"path": "a"}, {"tool": "edit_file"}),
        ({"tool": "web_fetch"}, {"tool": "web_*"}),
        ({"tool": "web_fetch", "host": "x.org"}, {"tool": "web_fetch"}),
        ({"host": "x.org"}, {"host": "*.x.org"}),
        ({"host": "*.x.org"}, {"host": "x.org"}),
        ({"source": "mcp"}, {"tool": "x"}),
    ],
)
def test_what_a_stricter_rule_covers_in_part_is_not_shadowed(
    strict: dict, rule: dict, paths: ProjectPaths
) -> None:
    allow = Rule(decision=Decision.ALLOW, **rule)
    assert not is_shadowed(allow, Rule(decision=Decision.DENY, **strict), paths)


def test_the_rule_that_shadows_is_named_and_proposals_count_for_nothing(
    paths: ProjectPaths,
) -> None:
    text = "[[allow]]\ncommand = ['git', 'push', 'origin']\n[[deny]]\ncommand = ['git', 'push']\n"
    (line,) = said(text, paths)
    assert line == (
        "f: [[allow]] number 1 can never match: all of it is denied by: deny command git push"
        " (f: [[deny]] number 1)"
    )
    proposed = parse_rules(text, "f", Scope.REPOSITORY)
    assert futile_rules(proposed, paths) == []
