"""The gate with rules, answers that last, time limits, and things that change while it asks."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest
from typing_extensions import override

from hame.base.errors import ConfigError
from hame.base.outcome import Corrected, Denied
from hame.base.question import Answer, Choice, Question
from hame.base.settings import Mode
from hame.base.tool import Effect, ToolSpec
from hame.base.zone import Operation, ProjectPaths
from hame.permissions.decision import Decision
from hame.permissions.gate import Grounds, RuleGate
from hame.permissions.rule import Rule, Scope
from hame.permissions.rulebook import Rulebook, open_rulebook
from hame.sandbox.unconfined import Unconfined
from hame.workspace.process import LocalProcesses
from permissions.call import EDIT, FETCH, READ, RUN, Asker, Prepared, call, judged, place, running


@pytest.fixture
def paths(tmp_path: Path) -> ProjectPaths:
    (tmp_path / "proj").mkdir()
    config = tmp_path / "config"
    return ProjectPaths(
        root=str(tmp_path / "proj"), home=str(tmp_path / "home"), config=str(config)
    )


@pytest.fixture
def root(paths: ProjectPaths) -> Path:
    return Path(paths.root)


Opening = Callable[..., RuleGate]


@pytest.fixture
def open_gate(paths: ProjectPaths) -> Opening:
    def open_it(asker: Asker, *rules: Rule, mode: Mode = Mode.ASK, **more: object) -> RuleGate:
        book = Rulebook(rules=rules) if rules else open_rulebook(paths.config, paths)
        grounds = Grounds(paths=paths, level="A", **more)
        return RuleGate(mode=lambda: mode, asker=asker, grounds=grounds, book=book)

    return open_it


async def decide(
    door: RuleGate, command: str, paths: ProjectPaths, cwd: str = ""
) -> Denied | Corrected | None:
    return await judged(
        door, call(RUN, command=command), RUN, running(command, paths, cwd), command
    )


# ---------------------------------------------------------------- commands


async def test_a_command_that_only_reads_runs_without_a_question(
    open_gate: Opening, paths: ProjectPaths
) -> None:
    for mode in Mode:
        assert await decide(open_gate(Asker(), mode=mode), "git status && ls", paths) is None


@pytest.mark.parametrize("mode", Mode)
async def test_what_is_always_refused_is_refused_in_every_mode(
    open_gate: Opening, paths: ProjectPaths, mode: Mode
) -> None:
    refused = await decide(open_gate(Asker(), mode=mode), "sudo ls", paths)
    assert isinstance(refused, Denied)
    assert not refused.by_user


async def test_auto_runs_what_is_not_refused(open_gate: Opening, paths: ProjectPaths) -> None:
    assert await decide(open_gate(Asker(), mode=Mode.AUTO), "npm test $X", paths) is None


async def test_plan_runs_nothing_that_may_change_anything(
    open_gate: Opening, paths: ProjectPaths
) -> None:
    refused = await decide(open_gate(Asker(), mode=Mode.PLAN), "npm test", paths)
    assert isinstance(refused, Denied)
    assert "plan" in refused.reason


async def test_deny_comes_before_ask_and_ask_before_allow(
    open_gate: Opening, paths: ProjectPaths
) -> None:
    rules = (
        Rule(decision=Decision.ALLOW, command=("git", "push", "*")),
        Rule(decision=Decision.ASK, command=("git", "push")),
        Rule(decision=Decision.DENY, command=("git", "push", ("--force", "-f")), reason="no force"),
    )
    asker = Asker(Choice.NO, Choice.NO)
    door = open_gate(asker, *rules)
    assert await decide(door, "git push -uf origin", paths) == Denied(reason="no force")
    assert await decide(door, "git -C x push a --force", paths) == Denied(reason="no force")
    assert asker.asked == []
    assert isinstance(await decide(door, "git push origin", paths), Denied)
    assert len(asker.asked) == 1


async def test_a_deny_rule_holds_in_auto_and_inside_other_commands(
    open_gate: Opening, paths: ProjectPaths
) -> None:
    rule = Rule(decision=Decision.DENY, command=("npm", "publish"))
    door = open_gate(Asker(None), rule, mode=Mode.AUTO)
    for text in (
        "npm publish",
        "ls && npm publish -x",
        "sh -c 'npm publish'",
        "$(npm publish)",
        "CI=1 npm publish",
    ):
        assert isinstance(await decide(door, text, paths), Denied), text
    unclear = await decide(door, "npm $WHAT", paths)
    assert isinstance(unclear, Denied)
    assert unclear.unanswered
    assert await decide(door, "npm test", paths) is None


async def test_every_part_of_a_line_must_be_allowed(
    open_gate: Opening, paths: ProjectPaths
) -> None:
    rule = Rule(decision=Decision.ALLOW, command=("npm", "test", "*"))
    door = open_gate(Asker(*[Choice.NO] * 9), rule)
    assert await decide(door, "ls && npm test -- -x | head -5", paths) is None
    for text in (
        "npm test && make",
        "npm test > out",
        "npm test $X",
        "npm test *.js",
        "A=1 npm test",
        "npm run test",
    ):
        assert isinstance(await decide(door, text, paths), Denied), text


async def test_a_rule_may_let_a_line_write_what_it_names(
    open_gate: Opening, paths: ProjectPaths
) -> None:
    rule = Rule(decision=Decision.ALLOW, command=("npm", "test"), writes=("out/*.txt",))
    door = open_gate(Asker(Choice.NO, Choice.NO), rule)
    assert await decide(door, "npm test > out/a.txt", paths) is None
    assert await decide(door, "npm test > src/a.txt", paths) is not None
    assert await decide(door, "npm test > ../out/a.txt", paths) is not None


async def test_a_rule_for_a_folder_counts_only_there(
    open_gate: Opening, paths: ProjectPaths, root: Path
) -> None:
    (root / "sub").mkdir()
    rule = Rule(decision=Decision.ALLOW, command=("make", "x"), cwd="sub")
    door = open_gate(Asker(Choice.NO, Choice.NO), rule)
    assert await decide(door, "make x", paths, cwd=str(root / "sub")) is None
    assert await decide(door, "make x", paths) is not None
    assert await decide(door, "cd sub && make x", paths) is not None


async def test_another_program_of_the_same_name_asks_again(
    open_gate: Opening, paths: ProjectPaths
) -> None:
    rule = Rule(decision=Decision.ALLOW, command=("npm", "test"), program="/usr/bin/npm")
    here = open_gate(Asker(), rule, find_program=lambda _: "/usr/bin/npm")
    assert await decide(here, "npm test", paths) is None
    there = open_gate(Asker(Choice.NO), rule, find_program=lambda _: "/evil/npm")
    assert await decide(there, "npm test", paths) is not None


async def test_a_path_rule_counts_for_commands_too(open_gate: Opening, paths: ProjectPaths) -> None:
    rule = Rule(decision=Decision.DENY, path="private/**")
    writes = Rule(decision=Decision.ASK, path="docs/**", operations=(Operation.WRITE,))
    both = Rule(decision=Decision.DENY, command=("cp",), path="gen/**")
    door = open_gate(Asker(*[Choice.NO] * 3), rule, writes, both)
    for text in ("cat private/a", "cd private && cat a", "echo x > private/b", "cp gen/a b"):
        assert isinstance(await decide(door, text, paths), Denied), text
    assert await decide(door, "cat docs/a gen/b", paths) is None
    assert await decide(door, "ls | tee docs/a", paths) is not None


# ---------------------------------------------------------------- answers


async def test_always_writes_the_smallest_rule_that_the_question_showed(
    open_gate: Opening, paths: ProjectPaths
) -> None:
    asker = Asker(Choice.ALWAYS)
    door = open_gate(asker, find_program=lambda _: "/usr/bin/npm")
    assert await decide(door, "ls && npm run 'my lint'", paths) is None
    assert asker.asked[0].choices == (Choice.ONCE, Choice.SESSION, Choice.ALWAYS, Choice.NO)
    assert asker.asked[0].rules == ("allow command npm run 'my lint', cwd .",)
    assert "`npm run 'my lint'`" in asker.asked[0].grant
    door.forget_grants()
    assert await decide(door, "npm run 'my lint'", paths) is None
    (kept,) = open_rulebook(paths.config, paths).rules
    assert kept.command == ("npm", "run", "my lint")
    assert (kept.program, kept.scope) == ("/usr/bin/npm", Scope.PROJECT)
    again = open_gate(Asker(Choice.NO), find_program=lambda _: "/usr/bin/npm")
    assert await decide(again, "npm run other", paths) is not None
    other = ProjectPaths(root="/elsewhere", config=paths.config)
    assert open_rulebook(paths.config, other).rules == ()


@pytest.mark.parametrize(
    "text",
    [
        "python3 x.py",
        "npx x",
        "npm test $X",
        "make",
        "cargo run x",
        "npm test > o",
        "a *",
        "./x.sh",
        "cd sub && npm x",
    ],
)
async def test_no_rule_is_offered_that_would_mean_more_than_it_says(
    open_gate: Opening, paths: ProjectPaths, root: Path, text: str
) -> None:
    asker = Asker(Choice.ALWAYS)
    program = str(root / "x.sh") if text == "./x.sh" else "/bin/x"
    door = open_gate(asker, find_program=lambda _: program)
    assert await decide(door, text, paths) == Denied(reason="", by_user=True)
    assert Choice.ALWAYS not in asker.asked[0].choices
    assert asker.asked[0].rules == ()


async def test_a_session_grant_covers_the_words_wherever_they_stand_and_ends_with_it(
    open_gate: Opening, paths: ProjectPaths
) -> None:
    asker = Asker(Choice.SESSION, Choice.NO, Choice.NO)
    door = open_gate(asker)
    assert await decide(door, "npm test", paths) is None
    assert await decide(door, "npm test | tail -5", paths) is None
    assert await decide(door, "npm test x", paths) is not None
    door.forget_grants()
    assert await decide(door, "npm test", paths) is not None


async def test_a_session_grant_of_what_no_rule_can_say_covers_that_very_command(
    open_gate: Opening, paths: ProjectPaths, root: Path
) -> None:
    (root / "sub").mkdir()
    asker = Asker(Choice.SESSION, Choice.NO)
    door = open_gate(asker)
    assert await decide(door, "echo $X", paths) is None
    assert await decide(door, "echo $X", paths) is None
    assert await decide(door, "echo $X", paths, cwd=str(root / "sub")) is not None
    assert asker.asked[0].grant == "this very command, in this folder"


async def test_a_rule_that_cannot_be_kept_is_no_approval(
    open_gate: Opening, paths: ProjectPaths
) -> None:
    def block() -> None:
        Path(paths.config).write_text("in the way", "utf-8")

    door = open_gate(Asker(Choice.ALWAYS, meanwhile=block))
    refused = await decide(door, "npm test", paths)
    assert isinstance(refused, Denied)
    assert "could not be kept" in refused.reason


async def test_no_answer_in_time_is_a_refusal_that_says_so(
    open_gate: Opening, paths: ProjectPaths
) -> None:
    class Sleeper(Asker):
        @override
        async def ask(self, question: Question) -> Answer | None:
            self.asked.append(question)
            await anyio.sleep_forever()
            raise AssertionError

    sleeper = Sleeper()
    refused = await decide(open_gate(sleeper, timeout_s=0.01), "npm test", paths)
    assert isinstance(refused, Denied)
    assert refused.unanswered
    assert "nobody answered within" in refused.reason
    assert sleeper.asked[0].expires_s == 0.01


async def test_words_go_to_the_model(open_gate: Opening, paths: ProjectPaths) -> None:
    door = open_gate(Asker(Answer(words="use make")))
    assert await decide(door, "npm test", paths) == Corrected("use make")


# ---------------------------------------------------------------- change while it asks


@pytest.mark.parametrize("what", ["script", "link", "folder", "gone"])
async def test_what_changes_while_the_question_is_open_is_asked_again(
    open_gate: Opening, paths: ProjectPaths, root: Path, what: str
) -> None:
    (root / "run.sh").write_text("echo good")
    (root / "evil.sh").write_text("echo evil!")
    (root / "link.sh").symlink_to("run.sh")
    (root / "sub").mkdir()

    def meanwhile() -> None:
        asker.meanwhile = None
        match what:
            case "script":
                (root / "run.sh").write_text("echo evil")
            case "link":
                (root / "link.sh").unlink()
                (root / "link.sh").symlink_to("evil.sh")
            case "folder":
                (root / "sub").rename(root / "old")
                (root / "sub").mkdir()
            case _:
                (root / "run.sh").unlink()

    asker = Asker(Choice.ONCE, Choice.NO, meanwhile=meanwhile)
    text = "bash link.sh" if what == "link" else "bash ../run.sh"
    cwd = "" if what == "link" else str(root / "sub")
    assert await decide(open_gate(asker), text, paths, cwd) == Denied(reason="", by_user=True)
    assert len(asker.asked) == 2


async def test_a_place_that_is_swapped_while_the_question_is_open_is_asked_again(
    open_gate: Opening, paths: ProjectPaths, root: Path
) -> None:
    (root / "a.py").write_text("x")

    def swap() -> None:
        asker.meanwhile = None
        (root / "a.py").unlink()
        (root / "a.py").symlink_to("/etc/passwd")

    asker = Asker(Choice.ONCE, Choice.ONCE, meanwhile=swap)
    action = Prepared(place("a.py", paths, Operation.WRITE))
    assert await judged(open_gate(asker), call(EDIT), EDIT, action, "") is None
    assert len(asker.asked) == 2


async def test_what_never_stands_still_is_refused(
    open_gate: Opening, paths: ProjectPaths, root: Path
) -> None:
    script = root / "run.sh"
    script.write_text("")
    asker = Asker(*[Choice.ONCE] * 5, meanwhile=lambda: script.write_text(script.read_text() + "x"))
    refused = await decide(open_gate(asker), "bash run.sh", paths)
    assert isinstance(refused, Denied)
    assert "again and again" in refused.reason


# ---------------------------------------------------------------- files, hosts, tools


async def test_rules_on_places_settle_edits_and_what_lies_outside(
    open_gate: Opening, paths: ProjectPaths
) -> None:
    rules = (
        Rule(decision=Decision.ALLOW, path="src/**"),
        Rule(decision=Decision.ALLOW, path="~/notes/**", operations=(Operation.READ,)),
        Rule(decision=Decision.DENY, path="src/gen/**", operations=(Operation.WRITE,)),
        Rule(decision=Decision.ASK, tool="read_*", path="src/odd.py"),
    )
    door = open_gate(Asker(*[Choice.NO] * 9), *rules)

    async def touch(spec: ToolSpec, path: str, operation: Operation) -> bool:
        target = place(path, paths, operation)
        return await judged(door, call(spec), spec, Prepared(target), path) is None

    assert await touch(EDIT, "src/a.py", Operation.WRITE)
    assert not await touch(EDIT, "lib/a.py", Operation.WRITE)
    assert not await touch(EDIT, "src/gen/a.py", Operation.WRITE)
    assert await touch(READ, "src/gen/a.py", Operation.READ)
    assert not await touch(READ, "src/odd.py", Operation.READ)
    assert await touch(READ, f"{paths.home}/notes/a", Operation.READ)
    assert not await touch(EDIT, f"{paths.home}/notes/a", Operation.WRITE)
    assert not await touch(EDIT, "src/.git/hooks/x", Operation.WRITE)


async def test_always_for_an_edit_covers_that_file_and_that_operation(
    open_gate: Opening, paths: ProjectPaths
) -> None:
    asker = Asker(Choice.ALWAYS, Choice.NO, Choice.NO)
    door = open_gate(asker)
    write = Prepared(place("src/a.py", paths, Operation.WRITE))
    assert await judged(door, call(EDIT), EDIT, write, "") is None
    assert asker.asked[0].rules == ("allow path src/a.py, to write",)
    door.forget_grants()
    assert await judged(door, call(EDIT), EDIT, write, "") is None
    delete = Prepared(place("src/a.py", paths, Operation.DELETE))
    assert await judged(door, call(EDIT), EDIT, delete, "") is not None
    plain = Prepared(place("a.py", paths, Operation.WRITE))
    await judged(door, call(EDIT), EDIT, plain, "")
    assert asker.asked[-1].rules == (f"allow path {paths.root}/a.py, to write",)


async def test_a_name_that_would_be_a_pattern_gets_no_rule(
    open_gate: Opening, paths: ProjectPaths
) -> None:
    asker = Asker(Choice.NO)
    action = Prepared(place("src/[a].py", paths, Operation.WRITE))
    await judged(open_gate(asker), call(EDIT), EDIT, action, "")
    assert Choice.ALWAYS not in asker.asked[0].choices


async def test_a_machine_is_asked_about_by_name(open_gate: Opening, paths: ProjectPaths) -> None:
    asker = Asker(Choice.ALWAYS, Choice.NO, Choice.NO)
    door = open_gate(asker)

    async def fetch(url: str) -> bool:
        return await judged(door, call(FETCH, url=url), FETCH, Prepared(), url) is None

    assert await fetch("https://docs.python.org/3/")
    assert asker.asked[0].rules == ("allow tool web_fetch, host docs.python.org",)
    assert await fetch("https://docs.python.org/x")
    assert not await fetch("https://docs.python.org.evil.example/")
    assert not await fetch("https://docs.python.org@evil.example/")


async def test_rules_on_hosts_tools_and_sources(open_gate: Opening, paths: ProjectPaths) -> None:
    weather = ToolSpec(name="weather", description="", effect=Effect.READ, source="mcp:acme")
    rules = (
        Rule(decision=Decision.ALLOW, host="*.python.org"),
        Rule(decision=Decision.DENY, host="evil.python.org"),
        Rule(decision=Decision.ALLOW, source="mcp:acme"),
        Rule(decision=Decision.ALLOW, tool="edit_*"),
        Rule(decision=Decision.DENY, tool="RUN_command"),
    )
    door = open_gate(Asker(*[Choice.NO] * 9), *rules)
    good = call(FETCH, url="https://docs.python.org")
    assert await judged(door, good, FETCH, Prepared(), "") is None
    bad = call(FETCH, url="https://evil.python.org")
    assert await judged(door, bad, FETCH, Prepared(), "") is not None
    bare = call(FETCH, url="https://python.org")
    assert await judged(door, bare, FETCH, Prepared(), "") is not None
    assert await judged(door, call(weather), weather, Prepared(), "") is None
    assert await judged(door, call(EDIT), EDIT, Prepared(), "") is None
    outside = Prepared(place("/srv/x", paths, Operation.WRITE))
    assert await judged(door, call(EDIT), EDIT, outside, "") is not None
    assert await decide(door, "ls", paths) == Denied(reason="a rule of yours says so")


async def test_text_for_a_running_program_is_scanned_and_never_gets_a_rule(
    open_gate: Opening, paths: ProjectPaths
) -> None:
    send = ToolSpec(name="send_job_input", description="", effect=Effect.RUN)
    asker = Asker(Choice.NO)
    door = open_gate(asker)
    plain = Prepared(command="input for python3:\nprint(1)")
    assert await judged(door, call(send), send, plain, "") is not None
    assert Choice.ALWAYS not in asker.asked[0].choices
    hostile = Prepared(command="input for bash:\nsudo ls")
    refused = await judged(door, call(send), send, hostile, "")
    assert isinstance(refused, Denied)
    assert not refused.by_user


async def test_a_tool_that_only_takes_a_command_is_judged_by_it(
    open_gate: Opening, paths: ProjectPaths
) -> None:
    from hame.base.path import FileKind
    from hame.base.tool import Argument, ArgumentKind

    spec = ToolSpec(
        name="sh", description="", effect=Effect.RUN,
        arguments=(Argument(name="line", kind=ArgumentKind.COMMAND),),
    )  # fmt: skip
    folder = place(paths.root, paths, Operation.LIST, kind=FileKind.DIRECTORY)
    door = open_gate(Asker(Choice.NO))
    assert await judged(door, call(spec, line="ls"), spec, Prepared(folder), "") is None
    assert await judged(door, call(spec), spec, Prepared(folder), "") is not None


# ---------------------------------------------------------------- what would be lost


def git(root: Path, *words: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run(["git", *identity, *words], cwd=root, check=True, capture_output=True)


@pytest.fixture
def repository(root: Path) -> Path:
    git(root, "init", "-q")
    for name in "abcd":
        (root / name).write_text("one\n")
    git(root, "add", ".")
    git(root, "commit", "-qm", "x")
    for name in "abc":
        (root / name).write_text("two\n")
    git(root, "mv", "d", "e")
    git(root, "mv", "e", "d")
    (root / "new1").write_text("x")
    (root / "new2").write_text("x" * 5000)
    (root / ".empty").mkdir()
    return root


@pytest.mark.parametrize(
    ("text", "loss"),
    [
        (
            "git reset --hard",
            "discards all changes that are not committed: 3 modified files, 2 untracked",
        ),
        (
            "git checkout -- .",
            "discards changes that are not committed: 3 modified files, 2 untracked",
        ),
        ("git restore a", "discards changes that are not committed: 3 modified files, 2 untracked"),
        (
            "git switch -f x",
            "discards changes that are not committed: 3 modified files, 2 untracked",
        ),
        ("git restore --staged a", ""),
        ("git checkout main", ""),
        ("git clean -fd", "deletes files that git does not know: 2 entries"),
        ("git stash drop", "throws stashed changes away: 0 stashes"),
        ("git branch -D x", "deletes a branch, merged or not"),
        ("git push --force", "replaces what others may have pushed"),
        ("git push origin +x", "replaces what others may have pushed"),
        ("git push --delete o x", "deletes a branch on the server"),
        ("rm new2", "deletes: 1 file, 5.0 kB"),
        ("rm -r sub", "deletes: 3 files, 6 bytes"),
        ("truncate -s 0 a", "empties: 1 file, 4 bytes"),
        ("cp a new2", "overwrites: 1 file, 5.0 kB"),
        ("cp a sub", ""),
        ("npm x > new2", "overwrites: 1 file, 5.0 kB"),
        ("npm x >> new2", ""),
        ("find sub -delete", "deletes what find finds"),
        ("rm nothing", ""),
        ("npm test", ""),
        ("rm new2; rm new2", "deletes: 1 file, 5.0 kB"),
    ],
)
async def test_the_question_says_what_would_be_lost(
    open_gate: Opening, paths: ProjectPaths, repository: Path, text: str, loss: str
) -> None:
    if "sub" in text:
        (repository / "sub/deep").mkdir(parents=True)
        for name in ("sub/1", "sub/2", "sub/deep/3"):
            (repository / name).write_text("xx")
    asker = Asker(Choice.NO)
    processes = LocalProcesses({"PATH": "/usr/bin:/bin"}, Unconfined())
    await decide(open_gate(asker, processes=processes), text, paths)
    assert asker.asked[0].loss == loss


async def test_what_cannot_be_counted_is_said(open_gate: Opening, paths: ProjectPaths) -> None:
    asker = Asker(Choice.NO, Choice.NO)
    await decide(open_gate(asker), "git reset --hard", paths)
    no_repository = LocalProcesses(
        {"PATH": "/usr/bin:/bin", "GIT_CEILING_DIRECTORIES": "/"}, Unconfined()
    )
    await decide(open_gate(asker, processes=no_repository), "git reset --hard", paths)
    assert all(question.loss.endswith(": not counted") for question in asker.asked)


async def test_counting_runs_nothing_that_the_repository_names(
    open_gate: Opening, paths: ProjectPaths, repository: Path
) -> None:
    canary = repository.parent / "canary"
    hook = repository.parent / "hook.sh"
    hook.write_text(f"#!/bin/sh\ntouch {canary}\n")
    hook.chmod(0o755)
    git(repository, "config", "core.fsmonitor", str(hook))
    processes = LocalProcesses({"PATH": "/usr/bin:/bin"}, Unconfined())
    asker = Asker(Choice.NO)
    await decide(open_gate(asker, processes=processes), "git reset --hard", paths)
    assert "3 modified" in asker.asked[0].loss
    assert not canary.exists()


# ---------------------------------------------------------------- the book


def test_a_book_without_files_keeps_nothing() -> None:
    rule = Rule(decision=Decision.ALLOW, tool="x")
    for verb in (Rulebook().keep, Rulebook().drop):
        with pytest.raises(ConfigError):
            verb(rule)
