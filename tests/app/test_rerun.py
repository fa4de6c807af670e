"""A session's prompts are given to another model, which really works, in a copy; the project is only read."""

import os
import shutil
from pathlib import Path
from typing import Any

import anyio
import pytest
from msgspec.structs import replace

from hame.app import rerun as module
from hame.app.build import Launchpad, build_runtime
from hame.app.comparing import Call, Side, divergence
from hame.app.confinement import ToldSandbox
from hame.app.rerun import Rerun, Wish, prompts_of, rerun
from hame.app.runtime import Runtime
from hame.base import event
from hame.base.confinement import Level, Standing
from hame.base.entry import ConstraintAdded, UserSaid
from hame.base.errors import ConfigError, SessionError, ToolError
from hame.base.memory import Constraint
from hame.base.message import Text, User
from hame.base.model import Usage
from hame.base.ports import Emit
from hame.base.run import RunDone, RunFailed, StepLimit, Stopped
from hame.base.settings import Mode, SandboxChoice, Settings
from hame.config.places import find_places
from hame.sessions.branch import Branch, read_branch
from hame.sessions.store import SessionStore
from hame.testing import Reply, ScriptedServer, answer, call

RECORDED = (
    answer(call("read_file", path="a.txt"), usage=Usage(input_uncached=1_000, output=10)),
    answer(call("edit_file", path="a.txt", old_string="one", new_string="two")),
    answer("It says two now."),
    answer(call("run_command", command="echo x > b.txt")),
    answer("Built."),
)


class Bench:
    """A project with a recorded session, and whoever is asked next."""

    def __init__(self, folder: Path) -> None:
        self.home = folder
        self.project = folder / "work" / "tea"
        self.project.mkdir(parents=True)
        (self.project / "a.txt").write_text("one\n")
        self.places = find_places({"HOME": str(folder)})
        self.said: list[str] = []
        self.on_event: Emit = lambda _: None

    def pad(self, server: ScriptedServer, **settings: Any) -> Launchpad:
        choice = {"mode": Mode.AUTO, "sandbox": SandboxChoice.NONE, "model": "mine/first"}
        return Launchpad(
            settings=Settings(**{**choice, **settings}),
            environment={
                "HOME": str(self.home),
                "PATH": os.defpath,
                "MINE_BASE_URL": f"{server.url}/v1",
                "MINE_API_KEY": "sk-mine-1234567890",
            },
            places=self.places,
            project=str(self.project),
            interactive=False,
        )

    async def record(
        self, *steps: Any, prompts: tuple[str, ...] = ("Change it.", "Build.")
    ) -> Branch:
        async with ScriptedServer(*(steps or RECORDED)) as server:
            runtime = await build_runtime(self.pad(server))
            for words in prompts:
                await runtime.prompt(words)
            await runtime.close()
        return self.branch(runtime.session)

    def branch(self, session: str) -> Branch:
        return read_branch(SessionStore(Path(self.places.sessions)).path(session))

    async def again(
        self, branch: Branch, *steps: Any, keep: bool = False, **settings: Any
    ) -> Rerun:
        async with ScriptedServer(*steps) as server:
            return await self.on(server, branch, keep=keep, **settings)

    async def on(
        self, server: ScriptedServer, branch: Branch, *, keep: bool = False, **settings: Any
    ) -> Rerun:
        async def ask(runtime: Runtime, words: str) -> event.RunEnded:
            unsubscribe = runtime.subscribe(self.on_event)
            try:
                return await runtime.prompt(words)
            finally:
                unsubscribe()

        wish = Wish(model="mine/second", keep=keep, ask=ask, say=self.said.append)
        return await rerun(branch, self.pad(server, **settings), wish)

    def files(self) -> dict[str, bytes]:
        """The project, the user's snapshots, and the recorded session."""
        roots = (self.project, Path(self.places.snapshots))
        return {
            str(path): path.read_bytes()
            for root in roots
            for path in root.rglob("*")
            if path.is_file()
        }

    @property
    def copies(self) -> list[Path]:
        return sorted(Path(self.places.cache, "replays").glob("*"))


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path.resolve())


SAME = (
    answer(call("read_file", path="a.txt")),
    answer(call("edit_file", path="a.txt", old_string="one", new_string="two")),
    answer("Done."),
    answer(call("run_command", command="echo x > b.txt")),
    answer("Fine."),
)


async def test_a_model_that_does_the_same_parts_nowhere(bench: Bench) -> None:
    branch = await bench.record()
    before = bench.files()
    done = await bench.again(branch, *SAME)
    assert [each.divergence for each in done.prompts] == ["", ""]
    assert done.files == ()
    assert [each.words for each in done.prompts] == ["Change it.", "Build."]
    assert (done.left, done.stopped, done.model) == (0, "", "mine/second")
    assert bench.files() == before
    assert bench.copies == []
    first = done.prompts[0]
    assert [each.name for each in first.recorded.calls] == ["read_file", "edit_file"]
    assert first.recorded.calls == first.now.calls
    assert [each.outcome for each in first.recorded.calls] == ["done", "done"]
    assert first.recorded.usage.input_uncached > 1_000
    assert first.recorded.seconds > 0
    assert (first.recorded.steps, first.now.steps) == (3, 3)


async def test_the_first_place_where_they_part_is_told_and_the_files_that_differ(
    bench: Bench,
) -> None:
    branch = await bench.record()
    # Since then the user has gone on.
    (bench.project / "a.txt").write_text("two\nmore\n")
    (bench.project / "c.txt").write_text("later\n")
    before = bench.files()
    done = await bench.again(
        branch,
        answer(call("read_file", path=str(bench.project / "a.txt"))),
        answer(call("create_file", path="new.txt", content="1\n2\n")),
        answer("I would rather not."),
        answer("Nothing to build."),
    )
    assert bench.files() == before
    assert done.start == "the project as the session found it, from its snapshots"
    one, two = done.prompts
    # It was refused: that path leads to the project itself, not to the copy.
    assert one.now.calls[0].outcome == "denied"
    assert one.divergence == (
        'call 1: recorded read_file {"path":"a.txt"}; now read_file'
        f' {{"path":"{bench.project}/a.txt"}}'
    )
    assert two.divergence == ('call 1: recorded run_command {"command":"echo x > b.txt"}; now none')
    assert [
        (each.path, each.recorded, each.now, each.added, each.removed) for each in done.files
    ] == [
        ("a.txt", True, True, 1, 1),
        ("b.txt", True, False, 0, 1),
        ("new.txt", False, True, 2, 0),
    ]


async def test_calls_really_happen_in_the_copy_and_it_can_be_kept(bench: Bench) -> None:
    branch = await bench.record()
    done = await bench.again(
        branch,
        answer(call("run_command", command="pwd > where.txt; cat a.txt >> where.txt")),
        answer("Done."),
        answer("Done."),
        keep=True,
    )
    copy = Path(done.project)
    assert done.kept
    assert (copy / "where.txt").read_text() == f"{copy}\none\n"
    assert [each.name for each in copy.parent.iterdir()] != []
    assert not (copy.parent / "own").exists()
    assert (bench.project / "a.txt").read_text() == "two\n"
    again = await bench.again(branch, *SAME)
    assert again.files == ()
    assert bench.copies == [copy.parent]


async def test_without_snapshots_the_project_is_copied_as_it_is_which_is_said(
    bench: Bench,
) -> None:
    branch = await bench.record(answer("Hm."), answer("Hm."))
    done = await bench.again(branch, answer("Hm."), answer("Hm."))
    assert done.start == "the project as it is now; no snapshot holds what it was"
    assert done.files == ()


async def test_what_was_done_is_a_session_that_counts(bench: Bench) -> None:
    branch = await bench.record()
    done = await bench.again(branch, *SAME)
    run_as = bench.branch(done.run_as)
    said = [each.message.words for each in run_as.entries if isinstance(each, UserSaid)]
    assert said == ["Change it.", "Build."]
    store = SessionStore(Path(bench.places.sessions))
    titles = {each.id: each.title for each in store.list()}
    assert titles[done.run_as] == f"Replay of {branch.session}"
    # It is no session of the project, so going on with the last one does not mean it.
    assert store.latest(str(bench.project)) == branch.session


async def test_commands_that_cannot_be_confined_are_refused_before_anything_happens(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    branch = await bench.record()
    nothing = Standing(level=Level.NONE, reason="this machine has no namespaces")

    async def prepare(_: object) -> Standing:
        return nothing

    monkeypatch.setattr(ToldSandbox, "prepare", prepare)
    async with ScriptedServer() as server:
        with pytest.raises(ConfigError, match="cannot be confined") as caught:
            await bench.on(server, branch, sandbox=SandboxChoice.AUTO)
        assert server.questions == []
    assert "no namespaces" in caught.value.message
    assert "--sandbox none" in caught.value.hint
    assert bench.copies == []


async def test_nobody_is_asked_and_added_folders_are_not_written(bench: Bench) -> None:
    outside = bench.home / "beside"
    outside.mkdir()
    branch = await bench.record()
    done = await bench.again(
        branch,
        answer(call("create_file", path=str(outside / "x.txt"), content="x")),
        answer("No."),
        answer("No."),
        add_dirs=(str(outside),),
    )
    assert [each.outcome for each in done.prompts[0].now.calls] == ["denied"]
    assert list(outside.iterdir()) == []


async def test_limits_of_steps_hold_for_each_prompt(bench: Bench) -> None:
    branch = await bench.record()
    reading = answer(call("list_dir"))
    done = await bench.again(branch, *[reading] * 6, max_steps=2)
    assert [type(each.now.result) for each in done.prompts] == [StepLimit, StepLimit]
    assert done.left == 0


async def test_limits_of_tokens_hold_for_all_prompts_together(bench: Bench) -> None:
    branch = await bench.record()
    usage = Usage(input_uncached=600, output=10)
    done = await bench.again(
        branch,
        answer("One.", usage=usage),
        answer(call("list_dir"), usage=usage),
        answer("Three.", usage=usage),
        max_tokens=1_000,
    )
    assert [type(each.now.result) for each in done.prompts] == [RunDone, Stopped]
    assert done.stopped == "the limit of tokens for all prompts is reached"
    assert bench.copies == []


async def test_a_model_that_fails_ends_it_and_what_there_is_is_told(bench: Bench) -> None:
    branch = await bench.record()
    done = await bench.again(branch, Reply(status=401, message="no such key"))
    assert [type(each.now.result) for each in done.prompts] == [RunFailed]
    assert done.left == 1
    assert "no such key" in done.stopped or "key" in done.stopped
    assert bench.copies == []


async def test_being_stopped_leaves_nothing_behind(bench: Bench) -> None:
    branch = await bench.record()
    async with ScriptedServer(answer(call("run_command", command="sleep 60"))) as server:
        with anyio.CancelScope() as scope:
            bench.on_event = lambda item: (
                scope.cancel() if isinstance(item, event.CallStarted) else None
            )
            await bench.on(server, branch)
        assert scope.cancelled_caught
    assert bench.copies == []
    assert (bench.project / "a.txt").read_text() == "two\n"


async def test_what_the_user_said_into_a_run_and_demanded_by_hand_is_said_again(
    bench: Bench,
) -> None:
    async with ScriptedServer(answer(call("list_dir")), answer("Ok."), answer("Yes.")) as server:
        runtime = await build_runtime(bench.pad(server))

        def steer(item: event.RunEvent) -> None:
            if isinstance(item, event.CallStarted):
                runtime.steer("in French please")

        runtime.subscribe(steer)
        await runtime.prompt("Go.")
        held = await runtime.memory().add_constraint("use tabs")
        await runtime.memory().add_constraint("never touch vendor/")
        await runtime.memory().remove_constraint(held.id)
        await runtime.prompt("Again.")
        await runtime.close()
    branch = bench.branch(runtime.session)
    async with ScriptedServer(
        answer(call("list_dir")), answer("Oui."), answer("Encore.")
    ) as server:
        done = await bench.on(server, branch)
        bodies = [question.body for question in server.questions]
    assert "in French please" not in repr(bodies[0])
    assert "in French please" in repr(bodies[1])
    assert "never touch vendor/" in repr(bodies[2])
    entries = bench.branch(done.run_as).entries
    demands = [each.constraint.text for each in entries if isinstance(each, ConstraintAdded)]
    assert demands == ["use tabs", "never touch vendor/"]


async def test_words_into_a_run_that_ends_sooner_are_a_prompt_of_their_own(bench: Bench) -> None:
    said = (
        UserSaid(message=User((Text("Go."),))),
        UserSaid(message=User((Text("and be quick"),)), steering=True),
        ConstraintAdded(constraint=Constraint(id="c1", text="found by itself")),
    )
    branch = await bench.record(answer("One."), prompts=("Go.",))
    records = [replace(branch.records[0], entry=branch.records[0].entry)]
    records += [replace(branch.records[-1], entry=entry) for entry in said]
    made = Branch(branch.session, records)
    assert prompts_of(made)[0].steering == ((0, "and be quick"),)
    async with ScriptedServer(answer("Un."), answer("Deux.")) as server:
        await bench.on(server, made)
        assert "and be quick" in repr(server.questions[1].body)


async def test_a_session_without_prompts_is_an_error(bench: Bench) -> None:
    async with ScriptedServer() as server:
        with pytest.raises(SessionError, match="no prompts"):
            await bench.on(server, Branch("s", []))


async def test_a_project_that_cannot_be_copied_is_said_and_leaves_nothing(bench: Bench) -> None:
    branch = await bench.record(answer("Hm."), prompts=("Go.",))
    shutil.rmtree(bench.project)
    async with ScriptedServer() as server:
        with pytest.raises(ToolError, match="is gone"):
            await bench.on(server, branch)
    assert bench.copies == []


async def test_copies_of_killed_hames_are_swept_away(bench: Bench) -> None:
    base = Path(bench.places.cache, "replays")
    gone, kept, mine = base / "99999999-abc", base / "99999999-def", base / f"{os.getpid()}-abc"
    for folder in (gone, kept, mine):
        (folder / "tea/locked").mkdir(parents=True)
        (folder / "tea/locked/file").write_text("x")
        (folder / "tea/locked").chmod(0o500)
    (kept / module._KEPT).touch()
    branch = await bench.record(answer("Hm."), prompts=("Go.",))
    await bench.again(branch, answer("Hm."))
    assert bench.copies == sorted([kept, mine])


@pytest.mark.parametrize(
    ("recorded", "now", "words"),
    [
        (["a"], ["a"], ""),
        (["a", "b"], ["a", "c"], "call 2: recorded b {}; now c {}"),
        (["a", "b"], ["a"], "call 2: recorded b {}; now none"),
        (["a"], ["a", "b"], "call 2: recorded none; now b {}"),
    ],
)
def test_the_first_call_that_is_another_is_named(
    recorded: list[str], now: list[str], words: str
) -> None:
    def side(names: list[str]) -> Side:
        return Side(calls=tuple(Call(name=n, arguments="{}", outcome="done") for n in names))

    assert divergence(side(recorded), side(now)) == words


def test_another_end_is_a_divergence() -> None:
    done, limit = Side(result=RunDone(text="x")), Side(result=StepLimit(steps=3))
    assert divergence(done, limit) == "the end: recorded done; now step limit"
    assert divergence(done, Side()) == "the end: recorded done; now broke off"
    assert divergence(done, Side(result=RunDone(text="other words"))) == ""


async def test_confined_commands_reach_nothing_but_the_copy(bench: Bench) -> None:
    (bench.project / ".gitignore").write_text("node_modules/\n")
    (bench.project / "node_modules/tea").mkdir(parents=True)
    (bench.project / "node_modules/tea/index.js").write_text("1\n")
    branch = await bench.record()
    before = bench.files()
    outside = bench.home / "outside.txt"
    done = await bench.again(
        branch,
        answer(
            call(
                "run_command",
                command=f"cat node_modules/tea/index.js > read.txt; echo x > node_modules/tea/new.js;"
                f" echo x > {bench.project}/new.txt; echo x > {outside}; true",
            )
        ),
        answer("Done."),
        answer("Done."),
        sandbox=SandboxChoice.AUTO,
    )
    assert bench.files() == before
    assert not outside.exists()
    assert [each.outcome for each in done.prompts[0].now.calls] == ["done"]
    assert any(notice.startswith("linked") and "node_modules" in notice for notice in done.notices)
    assert ("read.txt", False, True, 1, 0) in [
        (each.path, each.recorded, each.now, each.added, each.removed) for each in done.files
    ]
