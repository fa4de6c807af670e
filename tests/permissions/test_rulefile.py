"""Files of rules: what they may hold, how they are written, what is wrong with them."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hame.base.errors import ConfigError
from hame.base.zone import Operation, ProjectPaths
from hame.permissions.decision import Decision
from hame.permissions.rule import Rule, Scope, describe
from hame.permissions.rulebook import failed_examples, open_rulebook
from hame.permissions.rulefile import (
    RuleFiles,
    append_rule,
    parse_rules,
    read_rules,
    remove_rule,
    render_rule,
)

GOOD = """
# mine
[[deny]]
command = ["git", "push", ["--force", "-f"]]
reason = "ask me first"
match = ["git push -f", "git -C x push origin --force"]
no_match = ["git push"]

[[allow]]
command = ["npm", "test", "*"]
cwd = "web"
writes = ["out/**"]

# of the docs
[[ask]]
path = "docs/**"
operations = ["write", "delete"]
"""


def parse(text: str) -> tuple[Rule, ...]:
    return parse_rules(text, "f.toml", Scope.USER)


def test_rules_are_read_in_the_order_of_the_file() -> None:
    deny, allow, ask = parse(GOOD)
    assert deny.command == ("git", "push", ("--force", "-f"))
    assert (allow.decision, allow.cwd, allow.writes) == (Decision.ALLOW, "web", ("out/**",))
    assert ask.operations == (Operation.WRITE, Operation.DELETE)
    assert describe(deny) == "deny command git push (--force|-f)"
    assert describe(ask) == "ask path docs/**, to write/delete"
    assert describe(allow) == "allow command npm test *, cwd web, writing out/**"
    assert "number 1" in deny.where


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x", "not valid TOML"),
        ("[[allw]]\ntool = 'x'", "allw is unknown"),
        ("[allow]\ntool = 'x'", "write [[allow]]"),
        ("allow = [1]", "is not a table"),
        ("[[allow]]\ntol = 'x'", "tol is no part of a rule"),
        ("[[allow]]\nreason = 'x'", "names nothing"),
        ("[[allow]]\ntool = 1", "tool must be a text"),
        ("[[allow]]\ntool = ''", "tool must be a text"),
        ("[[allow]]\ntool = 'x'\nmatch = 'x'", "match must be a list"),
        ("[[allow]]\ntool = 'x'\nmatch = [1]", "match must be a list"),
        ("[[allow]]\ncommand = 'npm test'", "command must be a list of words"),
        ("[[allow]]\ncommand = []", "command must be a list of words"),
        ("[[allow]]\ncommand = ['a', '']", "command must be a list of words"),
        ("[[allow]]\ncommand = ['a', []]", "command must be a list of words"),
        ("[[allow]]\ncommand = ['a', '*', 'b']", "only the last word"),
        ("[[allow]]\ncommand = ['python3', '*']", "python3 * would allow anything"),
        ("[[allow]]\ncommand = ['/usr/bin/env', '*']", "env * would allow anything"),
        ("[[allow]]\ncommand = ['*']", "* * would allow anything"),
        ("[[allow]]\ncommand = ['npm', ['test', 'run'], '*']", "npm run * would allow anything"),
        ("[[allow]]\ncommand = ['uv', '*']", "uv * would allow anything"),
        ("[[allow]]\ntool = 'x'\ncwd = 'y'", "belong to a command"),
        ("[[allow]]\ntool = 'x'\noperations = ['read']", "belong to a path"),
        ("[[allow]]\npath = 'x'\noperations = ['reed']", "reed is no operation"),
    ],
)
def test_a_rule_that_cannot_be_used_is_named_with_its_remedy(text: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse(text)
    assert said in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize(
    "text",
    [
        "[[deny]]\ncommand = ['python3', '*']",
        "[[ask]]\ncommand = ['uv', 'run', '*']",
        "[[allow]]\ncommand = ['python3', '-m', 'pytest']",
        "[[allow]]\ncommand = ['npm', 'run', 'lint']",
        "[[allow]]\ncommand = ['git', 'add', '*']",
    ],
)
def test_rules_that_refuse_or_end_may_be_wide(text: str) -> None:
    assert len(parse(text)) == 1


TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)


@given(
    st.builds(
        Rule,
        decision=st.sampled_from([Decision.DENY, Decision.ASK]),
        command=st.lists(TEXT.filter(lambda text: text != "*"), min_size=1, max_size=4).map(tuple),
        reason=TEXT,
        path=TEXT,
        match=st.lists(TEXT, max_size=2).map(tuple),
    )
)
def test_what_is_written_is_read_again(rule: Rule) -> None:
    (again,) = parse(render_rule(rule))
    assert render_rule(again) == render_rule(rule)
    assert again.command == rule.command


def test_a_rule_is_added_once_and_taken_out_without_touching_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "deep/permissions.toml"
    path.parent.mkdir()
    path.write_text(GOOD.strip(), "utf-8")
    rule = Rule(decision=Decision.ALLOW, tool="x")
    append_rule(str(path), rule)
    append_rule(str(path), rule)
    assert path.read_text("utf-8").count('tool = "x"') == 1
    assert path.stat().st_mode & 0o777 == 0o600
    rules = read_rules(str(path), Scope.USER)
    assert len(rules) == 4
    remove_rule(str(path), rules[1])
    text = path.read_text("utf-8")
    assert "# mine" in text
    assert [each.decision for each in read_rules(str(path), Scope.USER)] == ["deny", "ask", "allow"]
    with pytest.raises(ConfigError, match="cannot be found"):
        remove_rule(str(path), rules[1])


def test_a_rule_that_cannot_be_told_from_the_rest_is_left_to_the_user(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_text('allow = [{tool = "a"}]\n', "utf-8")
    (rule,) = read_rules(str(path), Scope.USER)
    with pytest.raises(ConfigError, match="cannot be found"):
        remove_rule(str(path), rule)
    path.write_text('[[allow]]\ntool = "a"\n[[allow]]\ntool = "b"\n[allow.x]\n', "utf-8")
    with pytest.raises(ConfigError):
        remove_rule(str(path), rule)


def test_a_header_inside_a_text_does_not_mislead(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_text('[[deny]]\ntool = "a"\nreason = """\n[[allow]]\n"""\n', "utf-8")
    (rule,) = read_rules(str(path), Scope.USER)
    assert rule.decision is Decision.DENY
    with pytest.raises(ConfigError, match="cannot be found"):
        remove_rule(str(path), rule)


def test_what_is_no_file_of_rules_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "latin").write_bytes(b"\xff")
    (tmp_path / "loop").symlink_to("loop")
    for name in ("fifo", "latin", "loop"):
        with pytest.raises(ConfigError):
            read_rules(str(tmp_path / name), Scope.USER)
    assert read_rules(str(tmp_path / "none"), Scope.USER) == ()
    assert read_rules(str(tmp_path / "latin/x"), Scope.USER) == ()


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    rule = Rule(decision=Decision.ALLOW, tool="x")
    with pytest.raises(ConfigError, match="cannot be written"):
        append_rule(str(tmp_path / "file/x.toml"), rule)
    (tmp_path / "x.toml").mkdir()
    with pytest.raises(ConfigError):
        append_rule(str(tmp_path / "x.toml"), rule)


def test_each_scope_has_its_file(tmp_path: Path) -> None:
    files = RuleFiles(str(tmp_path), "/some/my proj")
    assert files.of(Scope.USER) == f"{tmp_path}/permissions.toml"
    assert files.of(Scope.PROJECT).startswith(f"{tmp_path}/permissions/my_proj-")
    assert files.of(Scope.REPOSITORY) == "/some/my proj/.hame/permissions.toml"
    assert RuleFiles(str(tmp_path), "/").project.startswith(f"{tmp_path}/permissions/root-")
    with pytest.raises(ValueError, match="session"):
        files.of(Scope.SESSION)


@pytest.fixture
def paths(tmp_path: Path) -> ProjectPaths:
    (tmp_path / "p/.hame").mkdir(parents=True)
    (tmp_path / "c").mkdir()
    config = str(tmp_path / "c")
    return ProjectPaths(root=str(tmp_path / "p"), home=str(tmp_path / "h"), config=config)


def test_a_projects_own_file_may_deny_and_ask_and_its_allows_are_proposals(
    paths: ProjectPaths,
) -> None:
    own = Path(paths.root, ".hame/permissions.toml")
    own.write_text("[[allow]]\ntool='a'\n[[deny]]\ntool='b'\n[[ask]]\ntool='c'\n", "utf-8")
    book = open_rulebook(paths.config, paths)
    assert [rule.tool for rule in book.rules] == ["b", "c"]
    assert [rule.tool for rule in book.proposals] == ["a"]
    assert book.deciding(Decision.ALLOW) == []


def test_rules_of_another_project_are_refused(paths: ProjectPaths) -> None:
    file = Path(RuleFiles(paths.config, paths.root).project)
    file.parent.mkdir()
    file.write_text("project = '/other'\n[[allow]]\ntool='a'\n", "utf-8")
    with pytest.raises(ConfigError, match="are for /other"):
        open_rulebook(paths.config, paths)


@pytest.mark.parametrize(
    ("rule", "matching", "other"),
    [
        ("command = ['npm', 'test', '*']", ["npm test -x && ls", "ls; npm test"], ["npm run", "npm test && make", "ls"]),
        ("command = ['make', 'x']\ncwd = 'sub'", ["make x"], ["make y", "cd z && make x"]),
        ("path = 'docs/**'", ["docs/a/b", "./docs/a"], ["a", "../docs/a", "/docs/a"]),
        ("path = '~/x'", ["~/x"], ["x", "~/x/y"]),
        ("path = '/etc/*'", ["/etc/a"], ["/etc/a/b", "etc/a"]),
        ("host = '*.a.org'", ["https://b.a.org/x", "b.a.org"], ["a.org", "https://b.a.org.evil", "http://[x"]),
        ("tool = 'edit_*'", ["edit_file", "EDIT_file"], ["read_file"]),
        ("source = 'mcp:*'", ["mcp:x"], ["x"]),
    ],
)  # fmt: skip
def test_examples_are_checked_with_the_rule(
    paths: ProjectPaths, rule: str, matching: list[str], other: list[str]
) -> None:
    (read,) = parse(f"[[allow]]\n{rule}\nmatch = {matching!r}\nno_match = {other!r}\n")
    assert failed_examples([read], paths) == []
    (turned,) = parse(f"[[allow]]\n{rule}\nmatch = {other!r}\nno_match = {matching!r}\n")
    assert len(failed_examples([turned], paths)) == len(matching) + len(other)


def test_examples_of_a_rule_that_refuses_are_found_at_any_depth(paths: ProjectPaths) -> None:
    (rule,) = parse(
        "[[deny]]\ncommand = ['npm', 'publish']\n"
        "match = ['sh -c \"npm publish\"', 'npm --x publish']\nno_match = ['npm $x', \"a\\u0007\"]\n"
    )
    assert failed_examples([rule], paths) == []


def test_a_failing_example_stops_the_start(paths: ProjectPaths) -> None:
    Path(paths.config, "permissions.toml").write_text(
        "[[deny]]\ntool = 'x'\nmatch = ['y']\n", "utf-8"
    )
    with pytest.raises(ConfigError, match="should match, and does not"):
        open_rulebook(paths.config, paths)
