"""What other programs run or obey stays as it is, whatever a command that may write the project does."""

import os
import subprocess
from pathlib import Path

import pytest

from sandbox.cage import Cage, Driver, caged

NAMES = (
    ".gitmodules", ".husky", ".envrc", ".ripgreprc", ".mcp.json", ".hame", ".vscode", ".idea",
    ".cursor", ".claude", ".codex", ".gemini", ".devcontainer",
)  # fmt: skip


def tree(folder: Path) -> dict[str, str]:
    """All files below a folder and what they hold."""
    return {
        str(path.relative_to(folder)): path.read_text(errors="replace")
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


@pytest.fixture
def repository(cage: Cage) -> Cage:
    cage.git("init", "-q")
    cage.write(cage.root / ".git" / "hooks" / "pre-commit", "#!/bin/sh\nexit 0\n", 0o755)
    cage.write(cage.root / "file", "mine\n")
    cage.git("add", "-A")
    cage.git("commit", "-qm", "first")
    return cage


def guarded(cage: Cage, top: str = ".git") -> dict[str, str]:
    return {
        name: text
        for name, text in tree(cage.root / top).items()
        if name in {"config", "config.worktree", "commondir", "info/attributes"}
        or name.startswith(("hooks/", "modules/", "worktrees/"))
    }


RENAMES = {
    "git": "mv .git .old; mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit; cp .old/HEAD .git/",
    "copied": "cp -r .git .new; rm -rf .git; mv .new .git; echo evil > .git/hooks/pre-commit",
    "hooks": "mv .git/hooks .git/h; mkdir .git/hooks; echo evil > .git/hooks/pre-commit",
    "linked": "rm -rf .git; ln -s /tmp/g .git; mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit",
    "hook": "rm -f .git/hooks/pre-commit; echo evil > .git/hooks/pre-commit; echo evil > .git/hooks/post-merge",
    "config": "git config core.fsmonitor evil; echo evil >> .git/config; cp file .git/x; mv .git/x .git/config",
    "locked": "cp file .git/config.lock; mv -f .git/config.lock .git/config; ln -sf /tmp/c .git/config",
    "attributes": "mkdir -p .git/info; echo '* filter=evil' > .git/info/attributes; mv .git/info .git/i",
    "modules": "mkdir -p .git/modules/x; echo evil > .git/modules/x/config; rmdir .git/modules",
    "worktrees": "mkdir -p .git/worktrees/x; echo evil > .git/worktrees/x/config.worktree",
    "exchanged": (
        "mkdir -p n/hooks; echo evil > n/hooks/pre-commit; mv -T --exchange n .git || "
        "python3 -c \"import ctypes; ctypes.CDLL(None).renameat2(-100, b'n', -100, b'.git', 2)\""
    ),
}


@pytest.mark.parametrize("how", RENAMES)
def test_what_git_runs_is_not_replaced(repository: Cage, how: str):
    """F4. Seen failing without the pins (`git`, `exchanged`), and without the guards (the others)."""
    before = guarded(repository)
    repository.run(RENAMES[how])
    assert guarded(repository) == before
    assert not (repository.root / ".git").is_symlink()


@pytest.mark.parametrize("depth", [0, 1, 2, 3])
@pytest.mark.parametrize("name", [".vscode/tasks.json", ".envrc", ".git/hooks/pre-commit"])
def test_no_folder_above_something_protected_is_moved_away(cage: Cage, name: str, depth: int):
    """F4 at 0 to 3 levels. Seen failing without the pins, but for depth 0."""
    above = "/".join("abc"[:depth])
    protected = f"{above}/{name}".lstrip("/")
    cage.write(cage.root / protected, "mine\n")
    cage.write(cage.root / "a" / "other", "mine\n")
    first = protected.split("/", maxsplit=1)[0]
    cage.run(
        f"mv {first} z; mkdir -p $(dirname {protected}); echo evil > {protected}; ls {protected};"
        f"mv {first} y; cp -r z {first}; echo evil > {protected}; mv z {first}"
    )
    for level in range(1, depth + 1):
        folder = "/".join("abc"[:level])
        cage.run(
            f"mv {folder} z; mkdir -p $(dirname {protected}); echo evil > {protected};"
            f"rm -rf {folder}; mkdir -p $(dirname {protected}); echo evil > {protected}; mv z {folder}"
        )
        # Out, changed, and back again.
        cage.run(f"mv {folder} c; echo evil > c/{protected[len(folder) + 1 :]}; mv c {folder}")
    assert (cage.root / protected).read_text() == "mine\n"
    assert cage.run("echo 1 > a/other; mv a/other a/new; mkdir a/d").ok
    assert (cage.root / "a" / "new").read_text() == "1\n"


COMING = {
    "file": "echo evil > {}; echo evil > x; mv -f x {}; cp x {}; touch {}",
    "folder": "mkdir -p {}; echo evil > {}/tasks.json; mv {} y; mkdir d; mv -T d {}",
    "link": "ln -s /tmp {}; ln -sfn /tmp {}; ln -sfT /tmp {}",
}


@pytest.mark.parametrize("kind", COMING)
def test_what_is_missing_and_protected_does_not_come(cage: Cage, kind: str):
    """F5. Seen failing without the masks: all of them come."""
    cage.run("\n".join(COMING[kind].format(*[name] * 5) for name in NAMES))
    assert not [name for name in NAMES if os.path.lexists(cage.root / name)]


def test_what_is_there_and_protected_is_not_changed(cage: Cage):
    """Seen failing without the guards."""
    files = {".gitmodules", ".envrc", ".ripgreprc", ".mcp.json"}
    paths = {name: name if name in files else f"{name}/settings.json" for name in NAMES}
    for path in paths.values():
        cage.write(cage.root / path, "mine\n")
    cage.run(
        "\n".join(
            f"echo evil > {path}; sed -i s/mine/evil/ {path}; echo evil > x; mv -f x {path};"
            f"rm -rf {name}; chmod 777 {path}; echo evil > {name}/new; truncate -s 0 {path};"
            f"ln -f x {path}"
            for name, path in paths.items()
        )
    )
    left = {name: text for name, text in tree(cage.root).items() if name != "x"}
    assert left == dict.fromkeys(paths.values(), "mine\n")
    assert {(cage.root / path).stat().st_mode & 0o777 for path in paths.values()} == {0o644}


def test_git_goes_on_working(repository: Cage):
    """Index, objects, branches and commits are written as ever; nothing is said of what is masked."""
    said = repository.run(
        "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b\n"
        "echo more >> file; echo new > new; git status --short; git add -A; git commit -qm second;"
        "git checkout -qb topic; git branch; git stash list; git log --oneline | wc -l;"
        "git tag v1; git gc -q; git status --short"
    )
    assert said.lines == [" M file", "?? new", "  main", "* topic", "2"], said.output
    assert repository.git("log", "--format=%s", "topic").split() == ["second", "first"]


def test_a_repository_is_made_and_cloned(cage: Cage):
    """A project without `.git`: the hooks of a new one are those of git's own template."""
    cage.write(cage.root / "file", "mine\n")
    said = cage.run(
        "git init -q && git add file && git -c user.name=a -c user.email=a@b commit -qm x"
    )
    assert said.ok, said.output
    assert cage.git("log", "--format=%s").strip() == "x"
    assert cage.run("git clone -q . copy && ls copy").lines == ["file"]


@pytest.mark.parametrize("where", ["sub", "a/b/sub", "a/b/c/d/sub"])
def test_a_repository_inside_the_project_is_protected_too(cage: Cage, where: str):
    """Seen failing with `.git` looked for only at the root."""
    folder = cage.root / where
    folder.mkdir(parents=True)
    cage.git("init", "-q", cwd=folder)
    before = guarded(cage, f"{where}/.git")
    for how in RENAMES.values():
        cage.run(f"cd {where} && {{ {how}; }}")
    top = where.split("/", maxsplit=1)[0]
    cage.run(f"mv {top} z; mkdir -p {where}/.git/hooks; echo evil > {where}/.git/hooks/pre-commit")
    assert guarded(cage, f"{where}/.git") == before


def test_the_pointer_of_a_worktree_is_not_changed(repository: Cage):
    """Seen failing without the guard on a `.git` that is a file."""
    repository.git("worktree", "add", "-q", str(repository.root / "tree"))
    pointer = repository.root / "tree" / ".git"
    before = pointer.read_text()
    repository.run(
        "cd tree; echo 'gitdir: /tmp/g' > .git; rm .git; mv .git x; mkdir .git; mv ../tree ../t"
    )
    moved = repository.root / "t" / ".git"  # What is put back is so where its folder is by now.
    assert (moved if moved.exists() else pointer).read_text() == before


LINKS = {
    "git": "mv .git real && ln -s real .git",
    "hooks": "mv .git/hooks h && ln -s ../h .git/hooks",
    "config": "mv .git/config c && ln -s ../c .git/config",
    "vscode": "mkdir v && ln -s v .vscode",
    "dangling": "ln -s nowhere .mcp.json",
    "nested": "mkdir -p a && ln -s ../.git a/.git",
}


@pytest.mark.parametrize("how", LINKS)
def test_with_a_link_at_something_protected_nothing_that_writes_is_run(repository: Cage, how: str):
    """F7. Seen failing without the refusal: `rm .git; mkdir .git` replaces it."""
    subprocess.run(["sh", "-c", LINKS[how]], cwd=repository.root, check=True)
    said = repository.run("touch ran")
    assert "link" in said.error
    assert not (repository.root / "ran").exists()
    assert repository.run("git log --oneline | wc -l", "read").lines[-1] in {"1", "0"}


def test_a_link_elsewhere_does_not_matter(repository: Cage):
    (repository.root / "link").symlink_to("file")
    (repository.root / "out").symlink_to("/etc")
    assert repository.run("cat link && ls out >/dev/null && echo 1 > link").ok


def test_what_has_a_second_name_elsewhere_is_not_written_through(cage: Cage):
    """F9. Seen failing without the guards on shared files: the file outside says `evil`."""
    cage.write("outside/theirs", "mine\n")
    cage.write(cage.root / "a", "both\n")
    os.link(cage.outside / "theirs", cage.root / "shared")
    os.link(cage.root / "a", cage.root / "b")
    said = cage.run(
        "echo evil > shared; echo evil >> shared; truncate -s 0 shared; echo 1 > b; cat shared"
    )
    assert cage.is_landlock or said.lines[-1] == "mine"
    assert bool(said.aftermath) is cage.is_landlock
    assert (cage.outside / "theirs").read_text() == "mine\n"
    assert (cage.root / "a").read_text() == "1\n"
    said = cage.run(f"ln {cage.outside}/theirs new; ln ~/.bashrc new")
    assert not (cage.root / "new").exists()


def test_of_a_home_only_what_is_not_hidden_is_written(cage: Cage):
    """A home as the project. Seen failing with the home itself made writable: `.bash_profile` comes."""
    cage.root = cage.home
    cage.write("home/.bashrc", "# mine\n")
    cage.write("home/docs/a", "mine\n")
    cage.write("home/bin/tool", "mine\n")
    cage.environment["PATH"] = f"{cage.home}/bin:{cage.environment['PATH']}"
    said = cage.run(
        "echo evil > .bashrc; echo evil > .bash_profile; mkdir -p .config/autostart; touch .config/autostart/x;"
        "echo evil > bin/tool; mv bin b; echo 1 > docs/a; touch docs/b; mkdir docs/.vscode"
    )
    assert said.ok, said.output
    assert (cage.home / ".bashrc").read_text() == "# mine\n"
    assert (cage.home / "bin" / "tool").read_text() == "mine\n"
    assert not (cage.home / ".bash_profile").exists()
    assert not (cage.home / ".config" / "autostart").exists()
    assert (cage.home / "docs" / "a").read_text() == "1\n"


def test_what_no_sandbox_makes_writable(cage: Cage):
    cage.write("home/.ssh/id_rsa")
    for place in (cage.base, cage.home / ".ssh", "/"):
        assert "holds" in cage.run("true", writable=[place]).error
    assert "not exist" in cage.run("true", writable=[cage.outside / "nothing"]).error


@pytest.mark.parametrize("below", ["/tmp", "/var/tmp"])
def test_a_project_may_lie_where_temporary_files_do(driver: Driver, below: str):
    with caged(driver, below) as cage:
        cage.git("init", "-q")
        cage.write("home/.ssh/id_rsa")
        said = cage.run("echo 1 > /tmp/a; echo 2 > a; cat /tmp/a a ~/.ssh/id_rsa 2>/dev/null")
        assert said.lines == ["1", "2"]
        assert (cage.root / "a").read_text() == "2\n"
        assert (cage.temporary / "a").read_text() == "1\n"
        evil = ".git/hooks/x ~/x ../x ../../../x ../../../outside/x"
        said = cage.run(
            f"for each in {evil}; do (echo evil > $each) 2>/dev/null && echo $each; done"
        )
        assert said.output == ""
        assert not list(cage.base.rglob("x"))


def test_a_folder_for_temporary_files_in_which_a_program_has_put_a_link(driver: Driver):
    """Seen failing without the look at what is in the way: the project is laid over the link's end."""
    with caged(driver, "/tmp") as cage:
        first = cage.base.name
        assert cage.run("true").ok
        (cage.temporary / first).rmdir()
        (cage.temporary / first).symlink_to("/etc")
        assert "in the way" in cage.run("true").error
