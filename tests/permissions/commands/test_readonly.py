"""What runs without a question, and what is just beside it."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hame.base.zone import ProjectPaths
from hame.permissions.commands.analysis import Analysis, analyse
from hame.permissions.commands.ground import Ground
from hame.permissions.commands.table import git_commands, programs
from hame.permissions.decision import Decision, Judgement

Verdict = Callable[[str], Judgement]


@pytest.mark.parametrize(
    "text",
    [
        "head -n 5 -q a b", "tail -n+5 a", "tail -c 100 a", "cut -d, -f 1,2 a", "cut --delimiter=, --fields=1 a",
        "rg --type py --glob '*.py' x src", "rg --type-list", "rg -e a -e b src", "grep -A3 -B 2 x a", "grep -5 x a",
        "sort -k2,2n -t , a", "ls --color=always --sort size", "find src -newer a -o -name '*.c'", "find . -type f -printf '%p\\n'", "sed -n '$p' a", "sed -n '3,$p' a", "awk -F , '$1 == \"a\" {print $2; }' a",
        "awk '/x/' a", "awk -F: '{print}' a", "jq -c '.a[] | select(.b > 1)' a", "tar tvf a.tar", "tar -tzf a.tgz",
        "unzip -lv a.zip", "test 1 -lt 2", "test a = b", "test x", "[ ! -e a ]", "[ -z '' ]", "printf -- '%s %%n' a",
        "ps -ef", "ps aux", "ps -o pid,args -p 1", "seq 1 2 9", "sleep 0.5s", "sleep 60", "date -u +%F", "date",
        "timeout 5s time -p ls", "command -v ls cat", "wc --version", "python3.12 --version", "date -d yesterday +%F",
        "git -P log -3", "git log --since 2w --author=x", "git stash show -p", "git reflog", "git reflog show -5",
        "git submodule status", "git branch --list 'a*'", "git tag", "git tag -l 'v*'", "git cat-file -p HEAD:a", "git --version",
        "cat /etc/hosts /usr/share/dict/words", "cat /dev/null", "cat -", "ls ''", "cat .git/config", "cd src && cd lib && ls",
        "cat /proc/cpuinfo", "cat < a > /dev/null", "which -a ls", "id root", "xxd -l 16 a", "cat -- -a", "ls -- -a",
        "git stash show -p stash@{0}", "git log @{u}..HEAD", "git diff main@{2.days.ago}", "git status -uno", "git status -suall",
        "find . -newermt yesterday", "find . -newerac a", "ls; echo done", "echo if you do", "git log --grep=signature", "git tag -l -- v1",
        "cat /home/dev/.local/share/hame/results/x", "nproc --all", "basename -s .py a.py", "stat -c %s a", "du -sh -- src",
    ],
)  # fmt: skip
def test_reading_runs_without_a_question(verdict: Verdict, text: str) -> None:
    judgement = verdict(text)
    assert judgement.decision is Decision.ALLOW, judgement


@pytest.mark.parametrize(
    "text",
    [
        "head -n x a", "head --lin=5 a", "cut -f a", "rg --pre x y", "rg --type", "grep --regexp", "grep -f a b",
        "sort -o a a", "sort --output=a a", "ls --sort", "find . -fls x", "find . -name", "find . -newer", "find . *",
        "sed -n p a", "sed -n '1p;w x' a", "sed -n 1p -i a", "sed 1p a", "awk '{print $1 > \"x\"}' a", "awk", "awk -F",
        "awk '{print}' a=b", "awk '{print}' -v", "awk -F ,,,,,,,,, '{print}' a", "jq", "jq env", "jq .a *", "jq '$__prog_args'",
        "tar -xf a", "tar -tf host:a", "tar -tf -x", "tar tf a b", "unzip a", "test -v a", "test a -lt b", "[ -f a", "test *",
        "printf", "printf -v x y", "printf '%n' x", "printf '%5$ln' x", "printf *", "ps e", "ps -o environ", "ps -p 'a b'",
        "ps *", "seq 9999999", "seq 1 0 2", "sleep 61", "sleep x", "sleep 60 60", "date 0101", "timeout 5", "timeout x ls",
        "command ls", "command -v 'a b'", "command", "yarn --version", "echo *", "expr *", "basename *", "true *", "tr * a",
        "git", "git -c a=b log", "git log --format=%GK", "git branch x", "git tag x", "git tag -l -d x", "git config --list",
        "git config --get user.signingkey", "git reflog expire", "git remote show x", "git show :(top)a", "git show ~/a",
        "git diff /etc/passwd", "git log ../x", "git log *", "git foo", "cd src && git status", "cd", "cd a b", "cd -", "cd *",
        "cd a;cd b;cd c;cd d; ls", "cat /proc/1/status", "cat /dev/zero", "cat ~/x", "cat /home/dev/projx/a", "cat ../a",
        "cat /sys/x", "ls *", "ls *.md", "cat ~/*", "sort src/*", "uniq src/*", "uniq a b", "cmp a b c", "hostname x", "arch x",
        "./ls", "~/ls", "/usr/local/bin/ls", "l*", "which 'a b'", "LS", "time", "cat a > b", "cat a >> b", "cat < ../a",
        "git log --format=%+G?", "git show --pretty='format:%h %-GK'", "git log --format='% GS'", "git for-each-ref --sort=-*signature",
        "git for-each-ref --format='%(*signature:key)'", "git branch --list --sort=signature", "git tag -- v9 -l", "git tag v9 -- --list", "git branch -- x --list",
        "git reflog write refs/heads/x a b c", "git reflog drop x", "git reflog migrate", "git reflog a b", "git show @{1..2}", "echo x@{1}{a,b}", "echo @{a,b}",
        "git status -unox", "find . -newermm ../x", "find . -newerxt a", "cat src/[[:alpha:]]*", "cat src/[]a]*", "cat src/[a", "if ls", "ls; done",
        "\u0441at a", "cat a\u00a0b", "rg * src", "grep -e", "od -A", "wc -l src/* ../*", "nl -bq a", "cd /etc; cat hosts",
    ],
)  # fmt: skip
def test_what_is_beside_it_asks(verdict: Verdict, text: str) -> None:
    judgement = verdict(text)
    assert judgement.decision is Decision.ASK, judgement
    assert judgement.reason
    assert judgement.rule


def test_a_very_long_command_asks(verdict: Verdict) -> None:
    assert "longer than" in verdict("echo " + "é" * 5000).reason


@pytest.mark.parametrize("name", [*programs()])
def test_no_program_takes_an_option_that_is_not_listed(verdict: Verdict, name: str) -> None:
    for option in ("--no-such-option", "--output=x", "--exec=x", "-@"):
        assert verdict(f"{name} {option}").decision is not Decision.ALLOW or name in {
            "echo", "expr",
        }  # fmt: skip


@pytest.mark.parametrize("name", [*git_commands()])
def test_no_git_command_takes_an_option_that_is_not_listed(verdict: Verdict, name: str) -> None:
    for option in ("--output=x", "--ext-diff", "--textconv", "-O", "--open-files-in-pager=x"):
        assert verdict(f"git {name} {option}").decision is Decision.ASK


def test_what_asks_is_told_command_by_command(analysed: Callable[[str], Analysis]) -> None:
    analysis = analysed("ls && npm test | tee log && cat ~/x > out")
    asked = [[word.text for word in item.words] for item in analysis.open]
    assert asked == [["npm", "test"], ["tee", "log"], ["cat", "~/x"]]
    assert [word.text for word in analysis.writes] == ["out"]


# ---------------------------------------------------------------- on a disk


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    project = tmp_path / "proj"
    (project / "src").mkdir(parents=True)
    (project / "src/a.py").write_text("x")
    (tmp_path / "other").mkdir()
    (tmp_path / "other/secret.txt").write_text("s")
    (project / "out").symlink_to(tmp_path / "other")
    return Ground(paths=ProjectPaths(root=str(project), home=str(tmp_path)))


def decide(text: str, ground: Ground) -> Decision:
    return analyse(text, ground).judgement.decision


def test_patterns_are_looked_at_match_by_match(ground: Ground) -> None:
    root = Path(ground.paths.root)
    assert decide("cat src/*.py", ground) is Decision.ALLOW
    (root / "src/b.py").symlink_to(root.parent / "other/secret.txt")
    assert decide("cat src/*.py", ground) is Decision.ASK
    (root / "many").mkdir()
    for number in range(501):
        (root / f"many/{number}").touch()
    assert decide("cat many/*", ground) is Decision.ASK


def test_links_and_special_files_ask(ground: Ground) -> None:
    root = Path(ground.paths.root)
    os.mkfifo(root / "pipe")
    (root / "loop").symlink_to("loop")
    for text in (
        "cat out/secret.txt",
        "ls out",
        "cat pipe",
        "cat out/../x",
        "cd out && ls",
        "cat loop/x",
    ):
        assert decide(text, ground) is Decision.ASK, text


def test_a_program_of_the_projects_own_folder_asks(ground: Ground) -> None:
    folder = Path(ground.paths.root) / "bin"
    folder.mkdir()
    searching = msgspec.structs.replace(ground, search_path=(str(folder), "/usr/bin", "/bin"))
    assert decide("ls src", searching) is Decision.ALLOW
    (folder / "ls").write_text("#!/bin/sh\n")
    (folder / "ls").chmod(0o755)
    assert decide("ls src", searching) is Decision.ASK
    later = msgspec.structs.replace(ground, search_path=("/usr/bin", "/bin", str(folder)))
    assert decide("ls src", later) is Decision.ALLOW


_NAMES = ("a", "b", "B", "z", "-", "^", "!", "ab", "a-b", "[a]", "[")


@pytest.fixture(scope="module")
def links(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose every name is a link out of the project."""
    base = tmp_path_factory.mktemp("links")
    (base / "proj/d").mkdir(parents=True)
    (base / "other").touch()
    for name in _NAMES:
        (base / "proj/d" / name).symlink_to(base / "other")
    return base


@given(pattern=st.text(alphabet="ab^!-*?[]:[:alpha:]", min_size=1, max_size=12))
@settings(max_examples=150, deadline=None)
def test_whatever_the_shell_takes_a_pattern_for_is_looked_at(links: Path, pattern: str) -> None:
    ground = Ground(paths=ProjectPaths(root=str(links / "proj"), home=str(links)))
    shown = subprocess.run(
        ["bash", "--noprofile", "--norc", "-c", f"printf '%s\\n' d/{pattern}"],
        cwd=links / "proj", capture_output=True, text=True, check=False,
    )  # fmt: skip
    matches = [line for line in shown.stdout.splitlines() if os.path.lexists(links / "proj" / line)]
    if matches:
        assert decide(f"cat d/{pattern}", ground) is not Decision.ALLOW, matches


def test_git_is_asked_about_where_another_repository_would_be_found(ground: Ground) -> None:
    root = Path(ground.paths.root)
    below = msgspec.structs.replace(ground, cwd=str(root / "src/deep"))
    (root / "src/deep").mkdir()
    assert decide("git status", below) is Decision.ALLOW
    (root / "src/.git").mkdir()
    assert decide("git status", below) is Decision.ASK
    assert decide("git status", ground) is Decision.ALLOW
    assert decide("git log", msgspec.structs.replace(ground, cwd="/elsewhere")) is Decision.ASK


def test_a_link_among_gits_paths_asks(ground: Ground) -> None:
    """Where there is no repository, `git diff` compares any two files."""
    assert decide("git diff src/a.py src/b.py", ground) is Decision.ALLOW
    assert decide("git diff src/a.py out/secret.txt", ground) is Decision.ASK


def test_going_up_after_a_link_asks(ground: Ground) -> None:
    root = Path(ground.paths.root)
    (root / "src/deep/er").mkdir(parents=True)
    (root / "link").symlink_to("src/deep/er")
    below = msgspec.structs.replace(ground, cwd=str(root / "src"))
    assert decide("cd deep && cd ../lib && ls", below) is Decision.ALLOW
    assert decide("cd ../link && cd ../lib && ls", below) is Decision.ASK


@pytest.mark.parametrize("text", ["diff -ru src lib", "diff --recursive src lib", "du -shL src"])
def test_what_follows_links_into_folders_needs_a_sandbox(verdict: Verdict, text: str) -> None:
    assert verdict(text).decision is Decision.ALLOW
    bare = Ground(paths=ProjectPaths(root="/home/dev/proj", home="/home/dev"), level="none")
    assert decide(text, bare) is Decision.ASK
