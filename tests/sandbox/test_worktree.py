"""A project that is a linked worktree of a repository elsewhere: git works in it, and no further."""

from pathlib import Path

import pytest

from hame.sandbox.worktree import find_worktree
from sandbox.cage import Cage

WHO = "git -c user.name=a -c user.email=a@example.org"


@pytest.fixture
def mechanism() -> str:
    return "bubblewrap"


@pytest.fixture
def main(cage: Cage) -> Path:
    """The repository whose linked worktree the project is, with another one beside it."""
    main = cage.home / "dev" / "main"
    main.mkdir()
    cage.write(main / "file", "one\n")
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "first"]):
        cage.git(*words, cwd=main)
    cage.git("worktree", "add", "-q", str(cage.root), "-b", "work", cwd=main)
    cage.git("worktree", "add", "-q", str(cage.home / "dev" / "other"), "-b", "other", cwd=main)
    return main


def own(cage: Cage, main: Path) -> Path:
    return main / ".git" / "worktrees" / cage.root.name


def test_git_works_in_it_as_in_any_repository(cage: Cage, main: Path):
    for command in (
        "echo two >>file && {who} commit -qam second",
        "echo three >>file && {who} stash -q && {who} stash pop -q && {who} commit -qam third",
        "git checkout -q -b feature && echo new >new && git add new && {who} commit -qm fourth",
        "{who} tag -a v1 -m v1 && git reset -q --hard HEAD~1 && {who} rebase -q work",
        "{who} revert --no-edit HEAD && {who} commit -q --amend --no-edit && git switch -qc more",
    ):
        said = cage.run(command.format(who=WHO))
        assert said.ok, said.output
    assert cage.git("status", "--porcelain") == ""
    assert cage.git("log", "-1", "--format=%s", "more", cwd=main).startswith("Revert ")
    cage.git("fsck", "--strict", cwd=main)
    assert not (own(cage, main) / "modules").exists()


@pytest.mark.parametrize(
    "place",
    [
        "config", "hooks/pre-commit", "info/attributes", "info/exclude", "HEAD", "index", "worktrees/x",
        "modules/x", "worktrees/OWN/commondir", "worktrees/OWN/gitdir", "worktrees/OWN/modules/x",
        "worktrees/other/HEAD", "worktrees/other/config.worktree", "../file", "../.envrc",
    ],
)  # fmt: skip
def test_what_makes_git_start_programs_is_out_of_reach(cage: Cage, main: Path, place: str):
    """Seen failing, for what lies in its own folder, without what guards that."""
    path = main / ".git" / place.replace("OWN", cage.root.name)
    before = path.read_bytes() if path.exists() else None
    folder = path.parent
    said = cage.run(
        f"mkdir -p {folder}; echo evil >{path}; rm -f {path}; mv {folder} {folder}.away; echo done"
    )
    assert said.lines[-1] == "done"
    assert (path.read_bytes() if path.exists() else None) == before


def test_what_only_reads_writes_nothing_of_it(cage: Cage, main: Path):
    assert not cage.run(f"touch {main}/.git/objects/x", "read").ok
    assert not cage.run(f"touch {own(cage, main)}/x", "read").ok


def test_settings_of_the_worktree_are_guarded_or_nothing_is_opened(cage: Cage, main: Path):
    cage.git("config", "extensions.worktreeConfig", "true", cwd=main)
    assert find_worktree(str(cage.root)) is None
    assert not cage.run(f"touch {main}/.git/objects/x").ok
    cage.git("config", "--worktree", "core.sparseCheckout", "false")
    assert cage.run(f"touch {main}/.git/objects/x").ok
    settings = own(cage, main) / "config.worktree"
    before = settings.read_bytes()
    cage.run("git config --worktree core.fsmonitor evil")
    cage.run(f"echo '[core]fsmonitor=evil' >>{settings}; mv {settings} {settings}.old")
    assert settings.read_bytes() == before


def test_a_folder_that_no_repository_knows_opens_none(cage: Cage, main: Path):
    """The file that leads to a repository is the folder's own, and may say anything."""
    stranger = cage.home / "dev" / "stranger"
    cage.write(stranger / "file", "")
    leading = (
        own(cage, main), f"{own(cage, main)}/.", main / ".git", main / ".git" / "worktrees" / "none",
        "../main/.git/worktrees/other", stranger, "/", "",
    )  # fmt: skip
    for place in leading:
        cage.write(stranger / ".git", f"gitdir: {place}\n")
        assert find_worktree(str(stranger)) is None, place
    assert find_worktree(str(cage.root)) is not None
    assert find_worktree(str(main)) is None
    (stranger / ".git").unlink()
    assert find_worktree(str(stranger)) is None
    (stranger / ".git").symlink_to(cage.root / ".git")
    assert find_worktree(str(stranger)) is None


def test_a_repository_in_the_project_opens_nothing_beside_it(cage: Cage):
    """One that names the project as its worktree, made by whoever made the project."""
    fake = cage.root / "fake" / "worktrees" / "x"
    cage.write(fake / "commondir", "../..\n")
    cage.write(fake / "gitdir", f"{cage.root}/.git\n")
    cage.write(cage.root / ".git", f"gitdir: {fake}\n")
    assert find_worktree(str(cage.root)) is None


def test_secrets_that_the_repository_holds_are_no_changes_to_it(cage: Cage, main: Path):
    cage.write(cage.root / ".env", "A=1\n")
    for words in (["add", "-f", ".env"], ["commit", "-qm", "env"]):
        cage.git(*words)
    assert cage.run("git status --porcelain").output == ""
