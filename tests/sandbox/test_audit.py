"""What commands leave behind in a project: put back, set aside, cleaned or told. All commands are real.

Here the commands run without any sandbox, as one would whose sandbox cannot keep protected files out of its
reach; where it can, the same audit runs without a baseline.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from hame.sandbox.audit import Audit
from hame.sandbox.shared import Shared

GIT = "git -c user.name=a -c user.email=a@example.org -c init.defaultBranch=main"


class Listed:
    """Folders that this process lists, as the interpreter tells it (event `os.scandir`)."""

    def __init__(self) -> None:
        self._paths: list[str] | None = None
        sys.addaudithook(self._hear)

    @contextmanager
    def told(self) -> Generator[list[str]]:
        """Those listed within."""
        self._paths = paths = []
        try:
            yield paths
        finally:
            self._paths = None

    def _hear(self, event: str, arguments: tuple[object, ...]) -> None:
        if self._paths is not None and event == "os.scandir":
            self._paths.append(str(arguments[0]))


LISTED = Listed()


class Yard:
    """A project of somebody who has worked in it for a while, and the audit of it."""

    def __init__(self, base: Path) -> None:
        self.root = base / "project"
        self.root.mkdir()
        self.base = base
        self.sh(
            f"{GIT} init -q && {GIT} commit -q --allow-empty -m first;"
            "git remote add origin https://example.org/a.git; git config alias.up '!make up';"
            "mkdir .vscode .husky sub; echo '{}' >.vscode/settings.json; echo lint >.husky/pre-commit;"
            "echo export A=1 >.envrc; printf '#!/bin/sh\\necho mine\\n' >.git/hooks/pre-push;"
            "chmod 755 .git/hooks/pre-push; git init -q sub; echo mine >sub/.git/hooks/post-merge;"
            "ln -s settings.json .vscode/other.json"
        )
        self.audit = self.open_audit()

    def open_audit(self, *, restores: bool = True) -> Audit:
        shared = Shared(f"{self.base}/state/before") if restores else None
        return Audit((str(self.root),), shared=shared, aside=f"{self.base}/aside")

    def sh(self, command: str) -> str:
        return subprocess.run(
            ["bash", "-c", command], cwd=self.root, check=True, capture_output=True, text=True
        ).stdout

    def after(self, command: str) -> Sequence[str]:
        """What the audit says of a command."""
        before = self.audit.begin()
        self.sh(command)
        return self.audit.end(before)

    def snapshot(self) -> dict[str, tuple[int, bytes]]:
        """Every protected file: mode and content."""
        places = (".vscode", ".husky", ".envrc", ".git/hooks", ".git/config", "sub/.git/hooks",
                  "sub/.git/config", ".git/worktrees", ".git/info", ".git/commondir")  # fmt: skip
        found: dict[str, tuple[int, bytes]] = {}
        for place in places:
            path = self.root / place
            for each in (path, *sorted(path.rglob("*"))):
                if each.is_symlink():
                    found[str(each)] = (0, os.fsencode(each.readlink()))
                elif each.is_file():
                    found[str(each)] = (each.stat().st_mode, each.read_bytes())
        return found

    def kept_aside(self) -> bytes:
        """All that was set aside, together."""
        files = [path for path in (self.base / "aside").rglob("*") if path.is_file()]
        return b"".join(path.read_bytes() for path in files)


@pytest.fixture
def yard(tmp_path: Path) -> Yard:
    return Yard(tmp_path)


EVIL = "printf '#!/bin/sh\\necho evil\\n' > {0}; chmod 755 {0}"

CHANGES = {
    "a setting that starts a program": "git config core.fsmonitor ./evil",
    "a setting written in place": "printf '[core]\\nfsmonitor = ./evil\\n' >> .git/config",
    "a setting through a second name": "ln .git/config c; printf '[a]\\nb = evil\\n' >> c; rm c",
    "a new hook": EVIL.format(".git/hooks/pre-commit"),
    "a hook in place of a sample": f"mv .git/hooks/pre-commit.sample x; {EVIL.format('.git/hooks/pre-commit')}; mv x .git/hooks/pre-commit.sample",
    "a hook that was there": "echo evil >> .git/hooks/pre-push",
    "the mode of a hook": "chmod 777 .git/hooks/pre-push",
    "a hook that is gone": "rm .git/hooks/pre-push",
    "hooks as a link": "mv .git/hooks .git/h; mkdir evil; ln -s ../evil .git/hooks; "
    + EVIL.format("evil/pre-commit"),
    "hooks replaced": "mv .git/hooks .git/h; mkdir .git/hooks; " + EVIL.format(".git/hooks/x"),
    "the repository replaced (F4)": "mv .git .old; mkdir -p .git/hooks; "
    + EVIL.format(".git/hooks/pre-commit"),
    "the repository replaced by a link (F7)": "mv .git .old; ln -s .old .git",
    "the repository replaced by a file": "mv .git .old; echo 'gitdir: .old' > .git",
    "a folder above replaced": "mv sub gone; mkdir -p sub/.git/hooks; "
    + EVIL.format("sub/.git/hooks/post-merge"),
    "a folder above replaced by a link": "mv sub gone; mkdir other; git init -q other; ln -s other sub",
    "a nested hook": EVIL.format("sub/.git/hooks/pre-commit"),
    "a nested setting": "git -C sub config core.pager evil",
    "attributes": "echo '* filter=evil' > .git/info/attributes",
    "a borrowed configuration": "echo ../sub/.git > .git/commondir",
    "settings of one worktree": "git config -f .git/config.worktree core.fsmonitor evil",
    "a worktree": f"{GIT} worktree add -q ../tree",
    "an editor's settings": "echo '{\"evil\": 1}' > .vscode/settings.json",
    "an editor's tasks": "echo evil > .vscode/tasks.json",
    "an editor's link": "ln -sf ../evil.json .vscode/other.json",
    "a folder of settings that is gone": "rm -r .vscode .husky",
    "a folder of settings replaced": "mv .husky h; mkdir .husky; echo evil > .husky/pre-push",
    "a folder of settings that is a link": "mv .husky h; mkdir evil; ln -s evil .husky",
    "what a shell reads": "echo evil > .envrc",
    "what a shell reads, moved": "mv .envrc e; echo evil > .envrc",
    "a setting that was absent (F5)": "echo evil > .mcp.json; mkdir .claude .idea .devcontainer; echo evil > .claude/settings.json; echo evil > .idea/x",
    "one that was absent, deeper": "mkdir -p sub/.vscode; echo evil > sub/.vscode/tasks.json; echo e > sub/.envrc",
    "a hook in a folder that is locked": EVIL.format(".git/hooks/pre-commit")
    + "; echo evil > .husky/x; chmod 555 .git/hooks .git .husky; chmod 0 .vscode",
    "one that is a fifo": "rm .envrc; mkfifo .envrc; mkfifo .git/hooks/pre-commit",
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_is_protected_is_what_it_was(yard: Yard, change: str):
    """Seen failing with `Restoration.run` left out: all but the entries that are new at once."""
    before = yard.snapshot()
    lines = yard.after(change)
    assert yard.snapshot() == before
    assert lines, "it is told"
    assert not any("NOT put right" in line for line in lines), lines
    leftover = {path.name for path in yard.root.iterdir()} & {".mcp.json", ".claude", ".idea"}
    assert not leftover
    assert yard.sh("git log --oneline -1; git config alias.up")


PLANTED = "mkdir -p {0} && git init -q {0} && git -C {0} config core.fsmonitor evil"
BLINDS = {
    "a folder that looks like a repository": "mkdir -p src/objects src/refs; touch src/HEAD",
    "one that looks like a worktree's": "touch src/HEAD src/commondir",
    "one that looks like an environment": "touch src/pyvenv.cfg",
    "all that can be made so": "touch pyvenv.cfg HEAD; mkdir objects refs",
    "too many others": "mkdir $(seq -f 'many%g' 3000)",
}


@pytest.mark.parametrize("blind", BLINDS.values(), ids=BLINDS)
def test_nothing_keeps_the_look_from_what_a_command_plants(yard: Yard, blind: str):
    """Seen failing, all but a worktree's, while such folders ended the look."""
    yard.sh("mkdir -p src/lib")
    yard.after("true")
    lines = yard.after(f"{blind}; {PLANTED.format('src/lib')}")
    assert any("src/lib/.git/config" in line for line in lines), lines
    assert "evil" not in yard.sh("cat src/lib/.git/config")


def test_what_could_not_be_looked_at_is_told(yard: Yard):
    lines = yard.after("mkdir $(seq -f 'many%g' 3100)")
    assert any("more than 3,000 folders" in line for line in lines), lines
    assert yard.after("true") == []


def test_a_repository_deep_below_is_looked_at(yard: Yard):
    deep = "a/b/c/d/e/f/g"
    assert yard.after(PLANTED.format(deep))
    assert "evil" not in yard.sh(f"cat {deep}/.git/config")


def test_nothing_is_lost_of_what_has_to_go(yard: Yard):
    yard.after("echo evil-hook > .git/hooks/pre-commit; echo evil-setting > .envrc")
    assert b"evil-hook" in yard.kept_aside()
    assert b"evil-setting" in yard.kept_aside()


def test_nothing_is_too_long_or_too_far_away_to_be_set_aside(yard: Yard):
    """Seen failing with the whole path as the name, and with another file system for the folder."""
    deep = "/".join(letter * 60 for letter in "abcd")
    yard.sh(f"mkdir -p {deep}; git init -q {deep}")
    far = f"/dev/shm/hame-test-{os.getpid()}-{yard.base.name}"
    for aside in (f"{yard.base}/aside", far):
        yard.audit = Audit((str(yard.root),), shared=Shared(f"{yard.base}/s"), aside=aside)
        lines = yard.after(
            f"echo evil > {deep}/.git/hooks/pre-commit; mkdir -p .idea/a; mkfifo .idea/p; ln -s x .idea/l;"
            "echo evil > .idea/a/f; chmod 0 .idea/a; echo evil > .envrc"
        )
        assert not any("NOT" in line for line in lines), lines
        assert not (yard.root / deep / ".git/hooks/pre-commit").exists()
        assert not (yard.root / ".idea").exists()
        assert yard.sh("cat .envrc") == "export A=1\n"
    kept = [path for path in Path(far).rglob("*") if path.is_file() and not path.is_symlink()]
    assert {path.read_text(encoding="utf-8") for path in kept} == {"evil\n"}
    shutil.rmtree(far)


def test_what_was_set_aside_long_ago_is_forgotten(yard: Yard):
    yard.after("echo evil > .envrc")
    (old,) = (yard.base / "aside").iterdir()
    os.utime(old, (1, 1))
    yard.after("echo evil > .envrc")
    assert not old.exists()


def test_what_was_done_is_told_with_where_things_went(yard: Yard):
    lines = yard.after("git config core.fsmonitor x; echo evil > .git/hooks/pre-commit")
    first, second = lines
    assert first.startswith("protected, so put back as they were before this command: .git/config")
    assert f"kept in {yard.base}/aside/" in first
    assert second.startswith("set aside")
    assert ".git/hooks/pre-commit" in second


def test_ordinary_work_leaves_no_word(yard: Yard):
    commands = (
        "true",
        "echo 1 > a.py; mkdir -p b/c; mv a.py b/c/; rm -r b; echo 2 > .gitignore",
        f"echo 1 > new; git add new; {GIT} commit -qm new; git gc -q; {GIT} tag v1",
        "git checkout -q -b topic; git branch -q -u main; git branch -D -q main 2>/dev/null; true",
        "git switch -q -c other; git stash -q 2>/dev/null; git fetch . 2>/dev/null; true",
        "mkdir build; ln -s ../b.txt build/link; ln -s /usr/bin/env build/env; chmod 755 build",
    )
    assert [yard.after(command) for command in commands] == [[]] * len(commands)
    assert "topic" in yard.sh("git config --get branch.topic.merge; git branch")


class TestNewRepositories:
    def test_git_init_and_clone_keep_working(self, yard: Yard):
        """Seen failing with an empty list of what may stay in a configuration."""
        lines = yard.after(
            f"{GIT} init -q one; {GIT} init -q --bare two.git; {GIT} clone -q . three;"
            "git -C one config user.name me; git -C three config core.autocrlf input"
        )
        assert [line for line in lines if "three/" not in line] == []
        assert yard.sh(
            "git -C one config user.name; git -C three config core.autocrlf"
        ).split() == [
            "me",
            "input",
        ]
        assert yard.sh("git -C three log --oneline | wc -l; git -C three config remote.origin.url")
        yard.sh(f"echo 1 > three/f; git -C three add f; cd three && {GIT} commit -qm more")

    def test_they_start_nothing(self, yard: Yard):
        """Seen failing with `clean` left out: git runs all three."""
        said = yard.base / "ran"
        hook = f"printf '#!/bin/sh\\necho ran >> {said}\\n' > {{0}}; chmod 755 {{0}};"
        lines = yard.after(
            f"{GIT} init -q one; {GIT} init -q --bare two.git;"
            + hook.format("one/.git/hooks/post-checkout")
            + hook.format("two.git/hooks/post-update")
            + hook.format("run.sh")
            + "git -C one config core.fsmonitor ../run.sh; git -C two.git config core.pager ./run.sh;"
            "git -C one config alias.st '!sh ../run.sh'; git -C one config user.name me"
        )
        told = "\n".join(lines)
        for each in ("one/.git/hooks/post-checkout", "two.git/hooks/post-update", "core.fsmonitor",
                     "core.pager", "alias.st"):  # fmt: skip
            assert each in told
        yard.sh("cd one && git status && git checkout -q -b x; git st 2>/dev/null; true")
        assert not said.exists()
        assert yard.sh("git -C one config user.name") == "me\n"

    def test_they_are_cleaned_again_as_long_as_a_command_runs_beside(self, yard: Yard):
        """Seen failing with each command's own beginning as what was there before."""
        first = yard.audit.begin()
        yard.sh(f"{GIT} init -q one")
        assert yard.after("true") == []
        yard.sh("echo evil > one/.git/hooks/pre-commit")
        assert "one/.git/hooks/pre-commit" in "".join(yard.after("true"))
        yard.sh("echo evil > one/.git/hooks/pre-push")
        assert "one/.git/hooks/pre-push" in "".join(yard.audit.end(first))

    def test_submodules_keep_their_place(self, yard: Yard):
        yard.sh(f"{GIT} init -q ../lib && cd ../lib && {GIT} commit -q --allow-empty -m l")
        yard.sh(
            f"{GIT} init -q ../up && cd ../up && {GIT} -c protocol.file.allow=always"
            f" submodule --quiet add {yard.base}/lib lib && {GIT} commit -qm s"
        )
        lines = yard.after(
            f"{GIT} -c protocol.file.allow=always clone -q --recurse-submodules ../up down;"
            "git -C down/lib config core.fsmonitor x"
        )
        assert any("core.fsmonitor" in line for line in lines)
        assert not any("core.worktree" in line for line in lines)
        assert yard.sh("git -C down/lib log --oneline | wc -l; git -C down status --short") == "1\n"

    def test_a_file_that_leads_to_a_configuration_of_ones_own_goes(self, yard: Yard):
        lines = yard.after(
            "mkdir one two three conf; printf '[core]\\nfsmonitor = ./x\\n' > conf/config;"
            "echo 'gitdir: ../conf' > one/.git; echo 'gitdir: /tmp' > two/.git; ln -s ../conf three/.git"
        )
        assert not any((yard.root / each / ".git").exists() for each in ("one", "two", "three"))
        assert all(f"{each}/.git" in lines[0] for each in ("one", "two", "three"))

    def test_one_whose_configuration_git_cannot_read_has_none(self, yard: Yard):
        yard.after(
            f"{GIT} init -q one; echo '[core' >> one/.git/config; echo 'x=\"' >> one/.git/config"
        )
        assert not (yard.root / "one/.git/config").exists()


class TestWhatIsTold:
    def test_programs_that_are_found_by_name(self, yard: Yard):
        assert yard.after(
            "mkdir -p .venv/bin web/node_modules/.bin; touch .venv/pyvenv.cfg .venv/bin/ruff;"
            "touch web/node_modules/.bin/tsc"
        ) == [
            "new or changed programs in .venv/bin: ruff",
            "new or changed programs in .venv: pyvenv.cfg",
            "new or changed programs in web/node_modules/.bin: tsc",
        ]
        assert yard.after("echo evil > .venv/bin/pip; mkdir bin; touch bin/x") == [
            "new or changed programs in .venv/bin: pip"
        ]
        assert yard.after("echo evil >> .venv/bin/pip; echo home=/evil >> .venv/pyvenv.cfg") == [
            "new or changed programs in .venv/bin: pip",
            "new or changed programs in .venv: pyvenv.cfg",
        ]

    def test_links_that_lead_out(self, yard: Yard):
        lines = yard.after(
            f"ln -s {yard.base}/elsewhere a; ln -s ../../.. b; ln -s sub c; ln -s /usr/lib d"
        )
        above = os.path.realpath(yard.root / "../../..")
        told = f"new links that lead out of the project: a -> {yard.base}/elsewhere, b -> {above}"
        assert lines == [told]

    def test_set_user_id_bits_are_taken_off(self, yard: Yard):
        """Seen failing with `_take_off_marks` left out."""
        assert yard.after("cp /bin/true a; chmod 6755 a; cp /bin/true sub/b; chmod 4711 sub/b") == [
            "set-user-id bits taken off: a, sub/b"
        ]
        assert (yard.root / "a").stat().st_mode & 0o7777 == 0o755
        assert (yard.root / "sub/b").stat().st_mode & 0o7777 == 0o711

    def test_settings_that_came_in_a_new_folder(self, yard: Yard):
        assert yard.after("mkdir -p new/.vscode; echo '{}' > new/.vscode/tasks.json") == [
            "came with settings for other programs: new/.vscode"
        ]

    def test_a_folder_that_cannot_be_looked_into(self, yard: Yard):
        command = "mkdir shut; chmod 311 shut; echo"
        told = yard.after(command)
        expected = ["NOT put right after this command: shut (it cannot be looked into)"]
        assert told == ([] if os.geteuid() == 0 else expected)

    def test_names_that_would_act_on_a_terminal_are_spelled_out(self, yard: Yard):
        (line,) = yard.after(r"""mkdir -p $'n\e[2Jx\n/.vscode'; touch $'n\e[2Jx\n/.vscode/a'""")
        assert r"n\x1b[2Jx\n/.vscode" in line
        (line,) = yard.after(r"ln -s ../../$'\xff' l")
        assert r"\udcff" in line


class TestOverlapping:
    def test_what_another_command_has_changed_is_not_taken_for_what_was_there(self, yard: Yard):
        """Seen failing with a baseline for each command, and none shared: the second brings it back."""
        before = yard.snapshot()
        first = yard.audit.begin()
        yard.sh("echo evil > .git/hooks/pre-commit; echo evil > .envrc")
        second = yard.audit.begin()
        assert yard.audit.end(first)
        assert yard.snapshot() == before
        assert yard.audit.end(second) == []
        assert yard.snapshot() == before

    def test_nor_what_one_of_another_session_has(self, yard: Yard):
        """Seen failing with a baseline for each session."""
        before, other = yard.snapshot(), yard.open_audit()
        first = yard.audit.begin()
        yard.sh("echo evil > .git/hooks/pre-commit; rm .envrc")
        second = other.begin()
        assert yard.audit.end(first)
        assert yard.snapshot() == before
        assert other.end(second) == []
        assert yard.snapshot() == before

    def test_what_the_user_let_run_outside_counts(self, yard: Yard):
        """Seen failing with `renew` left out: the remote is taken away again."""
        other = yard.open_audit()
        first, second = yard.audit.begin(), other.begin()
        yard.sh("git remote add up https://example.org/up.git; echo mine > .git/hooks/pre-commit")
        yard.audit.renew()
        assert yard.audit.end(first) == []
        assert yard.sh("git config remote.up.url") == "https://example.org/up.git\n"
        del second

    def test_names_that_are_no_text_are_shared_too(self, yard: Yard):
        r"""Seen failing with paths written as they are: a lone surrogate is no text."""
        yard.sh(r"echo mine > .vscode/$'\xff'; mkdir $'d\xfe'; git init -q $'d\xfe'")
        before, other = yard.snapshot(), yard.open_audit()
        first, second = yard.audit.begin(), other.begin()
        yard.sh(r"echo evil > .vscode/$'\xff'; echo evil > $'d\xfe'/.git/hooks/x")
        assert yard.audit.end(first)
        assert other.end(second) == []
        assert yard.snapshot() == before

    def test_a_session_that_was_killed_holds_nobody_up(self, yard: Yard):
        child = os.fork()
        if child == 0:
            yard.open_audit().begin()
            os._exit(0)
        os.waitpid(child, 0)
        assert yard.after("echo evil > .envrc")

    def test_a_broken_record_of_another_session_is_not_believed(self, yard: Yard):
        other = yard.open_audit()
        first = other.begin()
        Path(f"{yard.base}/state/before").write_bytes(b"\xff\x00broken")
        assert yard.after("echo evil > .envrc")
        del first


class TestOutOfReach:
    """Where the sandbox keeps what is protected out of reach, what changed was somebody else's doing."""

    def test_changes_of_the_users_own_stay(self, yard: Yard):
        yard.audit = yard.open_audit(restores=False)
        assert yard.after("git remote add up https://example.org/x; echo mine > .envrc") == []
        assert yard.sh("cat .envrc") == "mine\n"

    def test_what_is_new_is_judged_all_the_same(self, yard: Yard):
        yard.audit = yard.open_audit(restores=False)
        lines = yard.after(f"{GIT} init -q n; echo evil > n/.git/hooks/x; echo evil > sub/.envrc")
        assert "n/.git/hooks/x" in lines[0]
        assert not (yard.root / "sub/.envrc").exists()

    def test_what_stands_in_the_place_of_missing_files_is_left_alone(self, yard: Yard):
        yard.audit = yard.open_audit(restores=False)
        assert yard.after("mkdir .claude .idea; : > .mcp.json") == []
        assert (yard.root / ".mcp.json").exists()


def test_a_further_look_lists_only_what_has_changed(yard: Yard):
    """What a look costs (`bench/sandbox.py`): 300 folders with 3,000 files are not read again."""
    for top in range(30):
        for below in range(9):
            folder = yard.root / f"p{top}" / f"q{below}"
            folder.mkdir(parents=True)
            for name in range(10):
                (folder / f"{name}.py").touch()

    def listed() -> set[str]:
        """The folders that are listed because of one command."""
        with LISTED.told() as paths:
            yard.audit.end(yard.audit.begin())
        return {path for path in paths if path.startswith(f"{yard.root}/p")}

    assert len(listed()) == 300
    # What has changed just before a look is listed again: clocks of file systems are coarse.
    assert any(not listed() for _ in range(1000))
    (yard.root / "p3/q4/new.py").touch()
    assert listed() == {f"{yard.root}/p3/q4"}
