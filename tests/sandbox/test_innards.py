"""What a command leaves in git's own folders for the user's git to follow, outside any sandbox."""

from pathlib import Path

import pytest

from hame.sandbox.innards import Innards, leads_away
from sandbox.cage import Cage


@pytest.fixture(params=["bubblewrap", "landlock"])
def mechanism(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def repository(cage: Cage) -> Path:
    cage.write(cage.root / "file", "one\n")
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "first"]):
        cage.git(*words)
    return cage.root / ".git"


@pytest.fixture
def startup(cage: Cage) -> Path:
    return cage.write(cage.home / ".bashrc", "mine\n")


@pytest.mark.parametrize(
    "name", ["logs/HEAD", "logs/refs/heads/main", "FETCH_HEAD", "COMMIT_EDITMSG"]
)
def test_a_commit_of_the_user_writes_nowhere_else(
    cage: Cage, repository: Path, startup: Path, name: str
) -> None:
    """Seen failing without the look into git's folders: the shell's start-up file got a line of the log."""
    said = cage.run(f"rm -f .git/{name}; ln -s {startup} .git/{name} && echo planted")
    if cage.is_landlock and not said.ok:
        pytest.skip("Landlock lets it write nothing there")
    assert said.lines == ["planted"]
    cage.git("commit", "-q", "--allow-empty", "-m", "x;evil")
    assert startup.read_text("utf-8") == "mine\n"
    assert not (repository / name).is_symlink()
    assert any(name in line for line in said.aftermath)


@pytest.mark.parametrize("name", ["commondir", "config.worktree"])
def test_what_lends_git_other_settings_does_not_stay(
    cage: Cage, repository: Path, name: str
) -> None:
    """Seen failing at level A: `git status` of the user's started the program that was named there."""
    canary = cage.base / "canary"
    said = cage.run(
        "mkdir evil && cp -r .git/objects .git/refs .git/config evil/"
        f" && printf '[core]\\n\\tfsmonitor = touch {canary}; true\\n' >>evil/config"
        f" && echo ../evil >.git/{name} && echo planted"
    )
    cage.git("status", "--porcelain")
    assert not canary.exists()
    assert not (repository / name).exists()
    assert said.lines == ["planted"]
    assert any(name in line for line in said.aftermath)


def test_what_was_there_before_and_what_git_makes_itself_stays(
    cage: Cage, repository: Path, startup: Path
) -> None:
    (repository / "logs/mine").symlink_to(startup)
    said = cage.run(
        "git symbolic-ref HEAD refs/heads/x; rm .git/HEAD; ln -s refs/heads/main .git/HEAD"
    )
    assert said.aftermath == []
    assert (repository / "logs/mine").is_symlink()
    assert (repository / "HEAD").is_symlink()
    said = cage.run("ln -s ../hooks/pre-commit .git/logs/x; ln -s config .git/FETCH_HEAD")
    assert not (repository / "logs/x").is_symlink()
    assert not (repository / "FETCH_HEAD").is_symlink()


def test_a_rebase_that_would_run_programs_is_told_of(cage: Cage, repository: Path) -> None:
    todo = "mkdir -p .git/rebase-merge && printf 'pick a\\nexec evil x\\n' >.git/rebase-merge/git-rebase-todo"
    (line,) = cage.run(todo).aftermath
    assert "a rebase that was not ended would run: evil" in line
    assert cage.run("true").aftermath == []
    assert (repository / "rebase-merge/git-rebase-todo").exists()


def test_a_repository_that_is_new_is_looked_into_as_well(cage: Cage, startup: Path) -> None:
    said = cage.run(f"git init -q sub && mkdir sub/.git/logs && ln -s {startup} sub/.git/logs/HEAD")
    assert not (cage.root / "sub/.git/logs/HEAD").is_symlink()
    assert any("logs/HEAD" in line for line in said.aftermath)


def test_a_linked_worktree_is_looked_into_where_it_lies(cage: Cage, startup: Path) -> None:
    """Seen failing: what a sandbox opens of the repository elsewhere was not looked at."""
    if cage.is_landlock:
        pytest.skip("Landlock opens nothing of it")
    main = cage.home / "dev" / "main"
    main.mkdir()
    cage.write(main / "file", "one\n")
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "first"]):
        cage.git(*words, cwd=main)
    cage.git("worktree", "add", "-q", str(cage.root), "-b", "work", cwd=main)
    own = main / ".git" / "worktrees" / cage.root.name
    said = cage.run(
        f"rm -f {own}/logs/HEAD; ln -s {startup} {own}/logs/HEAD; echo x >{own}/config.worktree;"
        f" rm -f {main}/.git/logs/refs/heads/main; ln -s {startup} {main}/.git/logs/refs/heads/main"
    )
    cage.git("commit", "-q", "--allow-empty", "-m", "x;evil")
    cage.git("commit", "-q", "--allow-empty", "-m", "x;evil", cwd=main)
    assert startup.read_text("utf-8") == "mine\n"
    assert not (own / "config.worktree").exists()
    assert any("config.worktree" in line for line in said.aftermath)


def test_a_folder_that_changed_is_read_again(tmp_path: Path) -> None:
    git = tmp_path / ".git"
    (git / "logs/refs").mkdir(parents=True)
    (git / "objects/ab").mkdir(parents=True)
    innards = Innards()
    assert innards.look([str(git)]) == {}
    (git / "logs/refs/x").symlink_to("/etc/passwd")
    (git / "objects/ab/x").symlink_to("/etc/passwd")
    (git / "objects/cd").symlink_to("/etc")
    found = innards.look([str(git)])
    assert sorted(found) == [f"{git}/logs/refs/x", f"{git}/objects/cd"]
    assert all(leads_away(path, each, [str(tmp_path)]) for path, each in found.items())
    (git / "logs/refs/x").unlink()
    (git / "logs/refs/x").symlink_to("../../refs")
    (same,) = [each for path, each in innards.look([str(git)]).items() if path.endswith("/x")]
    assert not leads_away(f"{git}/logs/refs/x", same, [str(tmp_path)])
