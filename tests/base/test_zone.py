"""Zones as pure rules."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hame.base.zone import (
    Operation,
    ProjectPaths,
    Zone,
    fold,
    is_below,
    is_protected,
    is_secret,
    split,
    zone_of,
)

PATHS = ProjectPaths(
    root="/home/dev/proj",
    added=("/home/dev/extra",),
    home="/home/dev",
    results="/home/dev/.local/share/hame/results",
    config="/home/dev/.config/hame",
)
READS = (Operation.READ, Operation.LIST)
CHANGES = (Operation.WRITE, Operation.CREATE, Operation.DELETE)


@pytest.mark.parametrize(
    "path",
    [
        "/home/dev/.ssh", "/home/dev/.ssh/config", "/home/dev/.aws/credentials",
        "/home/dev/.docker/config.json", "/home/dev/.config/gh/hosts.yml",
        "/home/dev/.config/hame/config.toml", "/home/dev/.local/share/hame/sessions/1.jsonl",
        "/home/dev/.cargo/credentials.toml", "/home/dev/.bash_history", "/home/dev/.netrc",
        "/home/dev/proj/.env", "/home/dev/proj/.env.local", "/home/dev/proj/.env.production",
        "/home/dev/proj/deploy/id_rsa", "/home/dev/proj/certs/server.PEM",
        "/home/dev/proj/.SSH/id", "/etc/shadow", "/etc/sudoers.d/x", "/run/secrets/db",
        "/proc/1/environ", "/proc/self/task/1/mem", "/proc/kcore",
        "/home/dev/Library/Keychains/login.keychain-db",
    ],
)  # fmt: skip
def test_a_secret_is_secret_for_every_operation(path: str) -> None:
    assert {zone_of(path, PATHS, operation) for operation in Operation} == {Zone.SECRET}
    assert is_secret(split(path))
    assert is_secret(("/", *split(path)))


@pytest.mark.parametrize(
    "path",
    [
        "src/env.py", ".env.example", ".env.sample", ".environment", "docs/ssh.md", "aws.tf",
        "locales/en/auth.json", "src/gcloud/client.py", ".docker/Dockerfile", "id_rsa.pub",
        "tokenizer.json", "proc/environ", "keys.py", "a.keys", "etc/shadows",
    ],
)  # fmt: skip
def test_what_only_sounds_like_a_secret_is_of_the_project(path: str) -> None:
    assert not is_secret(split(path))
    assert zone_of(f"/home/dev/proj/{path}", PATHS, Operation.READ) is Zone.PROJECT


@pytest.mark.parametrize(
    "path",
    [
        ".git", ".git/hooks", ".git/hooks/pre-commit", ".git/config", "sub/.git/config",
        ".git/modules/x/config", ".git/worktrees/w/gitdir", ".git/info/attributes", ".gitmodules",
        ".hame/rules.toml", "src/.hame/x", ".vscode/tasks.json", ".idea/x.xml", ".mcp.json",
        ".envrc", ".husky/pre-commit", ".devcontainer/x", ".claude/settings.json", ".bashrc",
        ".config/fish/config.fish", ".GIT/Hooks/x", ".g\u200dit/config",
    ],
)  # fmt: skip
def test_what_makes_other_programs_run_code_is_protected(path: str) -> None:
    for root in ("/home/dev/proj", "/home/dev/extra"):
        zones = {zone_of(f"{root}/{path}", PATHS, operation) for operation in Operation}
        assert zones == {Zone.PROTECTED}


@pytest.mark.parametrize(
    "path", [".git/HEAD", ".git/info/exclude", ".gitignore", ".github/x", "hooks/x", ".config/x"]
)
def test_other_hidden_files_are_of_the_project(path: str) -> None:
    assert zone_of(f"/home/dev/proj/{path}", PATHS, Operation.WRITE) is Zone.PROJECT
    assert not is_protected(split(path))


@pytest.mark.parametrize(
    "path", ["/etc/hosts", "/usr/bin/x", "/", "/proc/1/comm", "/home/dev/.bashrc", "/home/dev/.git"]
)
def test_system_places_and_start_up_files_outside_are_protected_from_changes(path: str) -> None:
    assert {zone_of(path, PATHS, operation) for operation in READS} == {Zone.OUTSIDE}
    assert {zone_of(path, PATHS, operation) for operation in CHANGES} == {Zone.PROTECTED}


@pytest.mark.parametrize(
    "path", ["/home/dev", "/home/dev/proj-evil/x", "/home/dev/project", "/srv/x", "/tmp/x"]
)
def test_anywhere_else_is_outside(path: str) -> None:
    assert {zone_of(path, PATHS, operation) for operation in Operation} == {Zone.OUTSIDE}


def test_results_are_hames_own_although_they_lie_among_its_data() -> None:
    assert PATHS.results
    for operation in Operation:
        assert zone_of(f"{PATHS.results}/1.txt", PATHS, operation) is Zone.HAME
        assert zone_of(PATHS.results + "2/1.txt", PATHS, operation) is Zone.SECRET


@pytest.mark.parametrize(
    ("asked", "zone"),
    [
        ("/home/dev/proj/.env", Zone.SECRET),
        ("/home/dev/proj/.git/hooks/x", Zone.PROTECTED),
        ("/home/dev/other/x", Zone.PROJECT),
        ("/home/dev/proj/y.md", Zone.PROJECT),
    ],
)
def test_the_name_that_was_asked_for_counts_as_well(asked: str, zone: Zone) -> None:
    assert zone_of("/home/dev/proj/README.md", PATHS, Operation.WRITE, asked=asked) is zone


def test_a_project_below_the_system_or_in_a_dot_folder_is_a_project() -> None:
    for root in ("/usr/src/app", "/home/dev/.hame/x", "/"):
        paths = ProjectPaths(root=root)
        assert zone_of(f"{root}/src/a.py", paths, Operation.WRITE) is Zone.PROJECT


@given(path=st.text("ab./", max_size=20))
def test_a_split_path_holds_only_names(path: str) -> None:
    parts = split(path)
    assert not {"", ".", ".."}.intersection(parts)
    assert split("/".join(parts)) == parts


@given(parts=st.lists(st.text("aÅß\u017fI\u0307\u200d.é", min_size=1), max_size=4))
def test_folding_twice_changes_nothing_more(parts: list[str]) -> None:
    assert fold(fold(tuple(parts))) == fold(tuple(parts))


def test_nothing_lies_below_a_folder_that_is_not_set() -> None:
    assert not is_below(("a",), "")
    assert is_below(("a",), "/")
    assert is_below(("a", "b"), "/a/b")
    assert not is_below(("a",), "/a/b")


def test_no_components_are_neither_secret_nor_protected() -> None:
    assert not is_secret(())
    assert not is_protected(())


def test_what_commands_call_tmp_is_the_private_folder_where_the_sandbox_puts_it_there() -> None:
    private = "/home/dev/.cache/hame/tmp/1"
    paths = ProjectPaths(root="/tmp/proj", temporary=private, temporary_alias="/tmp")
    for named, place in (
        ("/tmp/a/b", f"{private}/a/b"),
        ("/tmp", private),
        ("/tmp/", private),
        ("/tmp/proj/x", "/tmp/proj/x"),
        ("/tmpx/a", "/tmpx/a"),
        ("/tmp/../etc/shadow", "/tmp/../etc/shadow"),
        ("/etc/hosts", "/etc/hosts"),
    ):
        assert paths.place_of(named) == place
    assert paths.name_of(f"{private}/a/b") == "/tmp/a/b"
    assert paths.name_of(private) == "/tmp"
    assert paths.name_of("/etc/hosts") == "/etc/hosts"
    plain = ProjectPaths(root="/p", temporary=private)
    assert plain.place_of("/tmp/a") == "/tmp/a"
    assert plain.name_of(f"{private}/a") == f"{private}/a"
