"""`hame permissions` as a user types it."""

import json

import pytest


@pytest.fixture
def project(tmp_path):
    (tmp_path / ".hame").mkdir()
    return tmp_path


def test_a_rule_is_added_listed_tried_and_removed(hame, home, project):
    assert hame("permissions", "add", "allow", "--", "npm", "test", "*").stdout == (
        "allow command npm test *\n"
    )
    added = hame(
        "permissions", "add", "deny", "--everywhere", "--path", "private/**", "--reason", "not yours",
        "--match", "private/a", "--no-match", "a",
    )  # fmt: skip
    assert added.returncode == 0
    listed = hame("permissions").stdout
    assert "1  deny path private/**  # not yours" in listed
    assert "2  allow command npm test *" in listed
    assert hame("permissions", "test").stdout == "2 rules, 2 examples, 0 failed\n"
    allowed = hame("permissions", "check", "--", "ls && npm test -x")
    assert allowed.stdout.startswith("allow: ls && npm test -x\n")
    assert "by project rule: allow command npm test *" in allowed.stdout
    denied = json.loads(hame("permissions", "check", "--json", "--", "cat", "private/a b").stdout)
    assert denied["verdict"] == "deny"
    assert denied["reason"] == "not yours"
    assert denied["command"] == "cat 'private/a b'"
    assert hame("permissions", "remove", "2").stdout == "removed: allow command npm test *\n"
    (left,) = json.loads(hame("permissions", "list", "--json").stdout)
    assert (left["number"], left["scope"], left["path"]) == (1, "user", "private/**")
    assert not list(project.glob("**/permissions*"))
    assert (home / ".config/hame/permissions.toml").stat().st_mode & 0o777 == 0o600


def test_a_check_names_everything_that_asks(hame):
    said = hame("permissions", "check", "--", "npm test && make x").stdout
    assert "ask: npm test && make x" in said
    assert "because npm is not known to only read" in said
    assert "also asks: make x" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("check",), "there is no command to check"),
        (("check", "--batch", "nowhere.jsonl"), "cannot read nowhere.jsonl"),
        (("add", "allow", "--", "python3", "*"), "would allow anything"),
        (("add", "allow"), "names nothing"),
        (("add", "--tool", "x"), "say what to decide"),
        (("add", "deny", "--tool", "x", "--match", "y"), "should match, and does not"),
        (("add", "--proposal", "1"), "there is no proposal 1"),
        (("remove", "1"), "there is no rule number 1"),
    ],
)
def test_what_cannot_be_done_is_said_with_its_remedy(hame, words, said):
    ran = hame("permissions", *words)
    assert ran.returncode == 2
    assert said in ran.stderr
    assert len(ran.stderr.splitlines()) == 2


def test_what_a_project_allows_is_a_proposal_that_can_be_taken_over(hame, project):
    own = project / ".hame/permissions.toml"
    own.write_text(
        '[[allow]]\ncommand = ["make", "x"]\n[[deny]]\ncommand = ["make", "y"]\n', "utf-8"
    )
    assert "(proposal 1, does not count)" in hame("permissions").stdout
    assert hame("permissions", "check", "--", "make x").stdout.startswith("ask")
    assert hame("permissions", "check", "--", "make y").stdout.startswith("deny")
    assert hame("permissions", "remove", "2").returncode == 2
    assert hame("permissions", "add", "--proposal", "1").returncode == 0
    assert hame("permissions", "check", "--", "make x").stdout.startswith("allow")


def test_a_batch_is_judged_without_the_users_rules(hame, project):
    hame("permissions", "add", "allow", "--", "npm", "test")
    file = project / "rows.jsonl"
    rows = [
        {"id": "1", "command": "npm test"},
        {"id": 2, "command": "git status", "more": True},
        {"id": "3", "command": "cat ../b", "cwd": "/w/src"},
        {"id": "4", "command": "cat x", "symlinks": {"/w/x": "/h/.ssh/id_rsa"}},
        {"id": "5", "command": "ls\udc00"},
        {"command": "sudo ls"},
    ]
    file.write_text("\n".join(json.dumps(row) for row in rows) + "\n\n", "utf-8")
    ran = hame("permissions", "check", "--batch", str(file), "--home", "/h", "--workspace", "/w")
    judged = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [(row["id"], row["verdict"]) for row in judged] == [
        ("1", "ask"), (2, "allow"), ("3", "allow"), ("4", "deny"), ("5", "deny"), (None, "deny"),
    ]  # fmt: skip
    assert all(set(row) == {"id", "verdict", "rule", "reason"} for row in judged)
    bare = hame(
        "permissions", "check", "--batch", "-", "--sandbox-level", "none",
        stdin='{"id": "g", "command": "git status"}\n',
    )  # fmt: skip
    assert json.loads(bare.stdout)["verdict"] == "ask"
    broken = hame("permissions", "check", "--batch", "-", stdin='{"id": 1}\n')
    assert broken.returncode == 2
    assert "-:1:" in broken.stderr


def test_a_broken_file_of_rules_stops_the_start_and_names_itself(hame, home):
    (home / ".config/hame").mkdir(parents=True)
    file = home / ".config/hame/permissions.toml"
    file.write_text('[[deny]]\ntool = "x"\nmatch = ["y"]\n', "utf-8")
    assert hame("permissions", "test").returncode == 1
    assert "should match, and does not" in hame("permissions", "test").stdout
    ran = hame("permissions", "check", "--", "ls")
    assert ran.returncode == 2
    assert str(file) in ran.stderr


def test_rules_that_can_never_match_are_warned_of_where_they_are_added_tested_and_loaded(hame):
    hame("permissions", "add", "deny", "--", "npm", "publish")
    added = hame("permissions", "add", "allow", "--", "npm", "publish", "--dry-run")
    assert added.returncode == 0
    assert "can never match: all of it is denied by: deny command npm publish" in added.stderr
    assert (
        hame("permissions", "add", "allow", "--", "sudo", "ls").stderr.count("always refused") == 1
    )
    tested = hame("permissions", "test")
    assert tested.returncode == 0
    assert "number 1 can never match: all of it is denied" in tested.stdout
    assert tested.stdout.endswith("3 rules, 0 examples, 0 failed, 2 without effect\n")


def test_nothing_to_propose_is_said(hame):
    ran = hame("permissions", "propose")
    assert ran.returncode == 0
    assert "no rule would have saved" in ran.stderr
    assert json.loads(hame("permissions", "propose", "--json").stdout) == []


def test_debug_path_needs_a_layout(hame, tmp_path):
    file = tmp_path / "rows.jsonl"
    layout = {"record": "layout", "home": str(tmp_path), "workspace": str(tmp_path)}
    row = {"id": "p1", "op": "write", "input": ".envrc", "platform": "posix"}
    file.write_text(f"{json.dumps(layout)}\n{json.dumps(row)}\n", "utf-8")
    said = json.loads(hame("debug", "path", "--layout", str(file)).stdout)
    assert (said["id"], said["verdict"]) == ("p1", "deny")
    assert said["resolved"] == f"{tmp_path}/.envrc"
    file.write_text("{}\n", "utf-8")
    assert hame("debug", "path", "--layout", str(file)).returncode == 2
