"""Recorded sessions are run again: the requests are those that were sent, byte for byte, each time."""

from collections.abc import Awaitable, Callable, Mapping
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import anyio
import pytest
from msgspec.structs import replace

from hame.app.clock import SystemClock
from hame.app.replay import Replay, replay
from hame.app.runtime import Runtime
from hame.base import event
from hame.base.entry import (
    AnswerAbandoned,
    AnswerInterrupted,
    CacheRead,
    CallSettled,
    HistoryCompacted,
    ModelAnswered,
    NoteAdded,
    OutcomesLost,
    ResultsElided,
    Rewound,
    RunFinished,
    UserSaid,
)
from hame.base.errors import ErrorKind, Failure
from hame.base.message import StopReason, Text, Thinking, ToolCall, User
from hame.base.model import CacheLifetime, Endpoint, ModelFacts, Usage
from hame.base.outcome import Cancelled, Denied
from hame.base.ports import Model
from hame.base.run import BudgetSpent, StepLimit
from hame.base.settings import Mode, ProviderSettings, Settings
from hame.base.stream import Failed, TextDelta
from hame.llm.asking import Line
from hame.llm.client import connect
from hame.net.http import HttpClient
from hame.sessions.branch import Branch, read_branch
from hame.testing import HANG, ScriptedModel, answer, call

if TYPE_CHECKING:
    from app.conftest import Scene

SETTINGS = Settings(
    cache_lifetime=CacheLifetime.SHORT,
    providers={
        "small": ProviderSettings(context_window=4_000),
        "large": ProviderSettings(context_window=32_000),
    },
)
ANTHROPIC = ModelFacts(backend="own", model="one", wire="anthropic_messages")
CHAT = ModelFacts(backend="small", model="two", wire="openai_chat", context_window=4_000)
LARGE = ModelFacts(backend="large", model="two", wire="openai_chat", context_window=32_000)
RESPONSES = ModelFacts(backend="own", model="three", wire="openai_responses")
GEMINI = ModelFacts(backend="own", model="four", wire="gemini")
OLLAMA = ModelFacts(backend="own", model="five", wire="ollama")
USAGE = Usage(input_uncached=2_000, output=10)
SUMMARY = (
    "## Goal\nCount the teas in the list.\n## Next\nRead teas.py again.\n## Demands\n- use tabs"
)
BROKE = Failure(
    kind=ErrorKind.NETWORK, message="it broke", retryable=True, mid_stream=True, retry_after_s=0.01
)


class Recorder:
    """Records sessions with a scripted model that has the facts of a real wire."""

    def __init__(self, scene: "Scene") -> None:
        self.scene = scene
        self.models: list[ScriptedModel] = []

    def start(
        self,
        facts: ModelFacts,
        *steps: object,
        mode: Mode = Mode.AUTO,
        resume: str | None = None,
    ) -> Runtime:
        model = ScriptedModel(*steps, facts=facts)
        self.models.append(model)

        async def open_model(name: str | None) -> Model:
            return model

        return self.scene.start(mode=mode, resume=resume, open_model=open_model)

    def branch(self, session: str) -> Branch:
        return read_branch(self.scene.project.parent / "sessions" / f"{session}.jsonl")

    def bodies(self) -> list[bytes]:
        """What was sent, in order."""
        found: list[bytes] = []
        line = Line(http=HttpClient(user_agent="test", environment={}), clock=SystemClock())
        for model in self.models:
            wire = connect(model.facts, Endpoint(base_url="https://replay.invalid"), line)
            found += [wire.encode(request).body for request in model.requests]
        return found


async def a_file_is_made_and_read(recorder: Recorder) -> str:
    runtime = recorder.start(
        ANTHROPIC,
        answer(call("create_file", path="a.txt", content="hi\n"), usage=USAGE),
        answer("Done.", usage=USAGE),
        answer("Let me look.", call("read_file", path="a.txt"), usage=USAGE),
        answer("It says hi.", usage=USAGE),
    )
    await runtime.prompt("Make a.txt. Never touch config.ini.")
    await runtime.prompt("What does it say?")
    return runtime.session


async def calls_are_wrong_in_every_way(recorder: Recorder) -> str:
    (recorder.scene.project / "b.txt").write_text("b\n" * 40)
    malformed = ToolCall(id="", name="read_file", arguments=None, malformed='{"path": ')
    runtime = recorder.start(
        CHAT,
        answer(call("read_file", path="b.txt"), call("list_dir"), call("read_file", path="none")),
        answer(call("no_such_tool", x=1), malformed, call("read_file", wrong=True)),
        answer("I give up."),
    )
    await runtime.prompt("Look around.")
    return runtime.session


async def it_is_stopped_midway(recorder: Recorder) -> str:
    runtime = recorder.start(
        RESPONSES, [TextDelta("I was just about"), HANG], answer("Here.", usage=USAGE)
    )

    def stop(item: event.RunEvent) -> None:
        if isinstance(item, event.TextDelta) and item.text.startswith("I was"):
            runtime.cancel()

    runtime.subscribe(stop)
    await runtime.prompt("Talk.")
    await runtime.prompt("Go on.")
    return runtime.session


async def a_command_is_stopped(recorder: Recorder) -> str:
    runtime = recorder.start(
        GEMINI,
        answer(call("run_command", command="echo begun; sleep 60"), call("list_dir")),
        answer("Stopped, then."),
    )

    def stop(item: event.RunEvent) -> None:
        if isinstance(item, event.CallProgress):
            runtime.cancel("stopped by a test")

    runtime.subscribe(stop)
    await runtime.prompt("Wait.")
    await runtime.prompt("And?")
    return runtime.session


async def a_change_is_refused(recorder: Recorder) -> str:
    refused = answer(call("create_file", path="a.txt", content="hi\n"), usage=USAGE)
    runtime = recorder.start(OLLAMA, refused, answer("I may not."), mode=Mode.ASK)
    await runtime.prompt("Make a.txt.")
    return runtime.session


async def answers_break_off(recorder: Recorder) -> str:
    runtime = recorder.start(
        ANTHROPIC,
        [TextDelta("Half an"), Failed(BROKE)],
        answer(Thinking("hm", "signed"), "Whole.", usage=USAGE),
        Failure(kind=ErrorKind.AUTH, message="no such key"),
        answer(""),
        answer("Now.", usage=USAGE),
    )
    await runtime.prompt("One.")
    await runtime.prompt("Two.")
    await runtime.prompt("Three.")
    return runtime.session


async def it_is_compacted_on_request(recorder: Recorder) -> str:
    runtime = recorder.start(
        RESPONSES,
        answer("Four teas. " * 200, usage=USAGE),
        answer(SUMMARY, usage=USAGE),
        answer("Go.", usage=USAGE),
    )
    await runtime.prompt("Count the teas. Never touch config.ini.")
    await runtime.memory().compact("the counting")
    await runtime.prompt("Go on.")
    return runtime.session


def reading(times: int) -> Callable[[object], object]:
    """What a model says that reads the same long file so often, and summarises when asked to."""
    count = 0

    def said(request: object) -> object:
        nonlocal count
        if "replaced by your summary" in repr(request):
            return answer(SUMMARY)
        count += 1
        if count > times:
            return answer("Enough.")
        return answer(call("read_file", path="long.txt", start_line=count))

    return said


async def its_window_fills(recorder: Recorder) -> str:
    (recorder.scene.project / "long.txt").write_text("a long line of tea\n" * 400)
    runtime = recorder.start(CHAT, *[reading(12)] * 40)
    await runtime.prompt("Read it. Always answer in French.")
    return runtime.session


async def old_results_are_left_out(recorder: Recorder) -> str:
    (recorder.scene.project / "long.txt").write_text("a long line of tea\n" * 4_000)
    runtime = recorder.start(LARGE, *[reading(12)] * 40)
    await runtime.prompt("Read it.")
    return runtime.session


async def the_user_steers_and_changes_the_mode(recorder: Recorder) -> str:
    runtime = recorder.start(
        GEMINI, answer(call("list_dir")), answer("Ok."), answer("Yes."), answer("Again.")
    )

    def steer(item: event.RunEvent) -> None:
        if isinstance(item, event.CallStarted):
            runtime.steer("in French please")
            runtime.steer("and short")

    runtime.subscribe(steer)
    await runtime.prompt("Go.")
    await runtime.set_mode(Mode.ASK)
    await runtime.memory().add_constraint("use tabs")
    await runtime.memory().rename("a name")
    await runtime.prompt("Go on.")
    runtime.rewinder()
    said = [
        name
        for name, entry in zip(runtime.journal.ids, runtime.journal.entries, strict=True)
        if isinstance(entry, RunFinished)
    ]
    await runtime.journal.move(said[0])
    recorder.models[0].requests.pop()
    session = runtime.session
    await runtime.close()
    again = recorder.start(GEMINI, answer("From there."), resume=session)
    await again.prompt("Another way.")
    return session


async def another_model_goes_on_after_a_kill(recorder: Recorder) -> str:
    runtime = recorder.start(ANTHROPIC, answer(call("list_dir")), answer("One."))
    await runtime.prompt("First.")
    session = runtime.session
    await runtime.close()
    path = recorder.scene.project.parent / "sessions" / f"{session}.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    cut = next(n for n, line in enumerate(lines) if b'"call_settled"' in line)
    path.write_bytes(b"".join(lines[:cut]))
    recorder.models[0].requests.pop()
    again = recorder.start(OLLAMA, answer("Two."), resume=session)
    await again.prompt("Second.")
    return session


async def answers_end_in_other_ways(recorder: Recorder) -> str:
    runtime = recorder.start(
        CHAT,
        answer("cut of", stop=StopReason.MAX_TOKENS),
        answer("no", stop=StopReason.REFUSAL),
        answer("pausing", stop=StopReason.PAUSE_TURN),
        answer("", stop=StopReason.MALFORMED_TOOL_CALL),
        answer("fine"),
        Failure(kind=ErrorKind.CONTEXT_OVERFLOW, message="too long"),
        answer(SUMMARY),
        answer("It fits.", usage=USAGE),
    )
    for text in ("One.", "Two.", "Three.", "Four."):
        await runtime.prompt(text)
    return runtime.session


SESSIONS: Mapping[str, Callable[[Recorder], Awaitable[str]]] = {
    made.__name__: made
    for made in (
        a_file_is_made_and_read,
        calls_are_wrong_in_every_way,
        it_is_stopped_midway,
        a_command_is_stopped,
        a_change_is_refused,
        answers_break_off,
        it_is_compacted_on_request,
        its_window_fills,
        old_results_are_left_out,
        the_user_steers_and_changes_the_mode,
        another_model_goes_on_after_a_kill,
        answers_end_in_other_ways,
    )
}
HOLDS: Mapping[str, tuple[type, ...]] = {
    "it_is_stopped_midway": (AnswerInterrupted,),
    "a_command_is_stopped": (Cancelled,),
    "a_change_is_refused": (Denied,),
    "answers_break_off": (AnswerAbandoned,),
    "it_is_compacted_on_request": (HistoryCompacted,),
    "its_window_fills": (HistoryCompacted,),
    "old_results_are_left_out": (ResultsElided,),
    "the_user_steers_and_changes_the_mode": (Rewound,),
    "another_model_goes_on_after_a_kill": (OutcomesLost,),
    "answers_end_in_other_ways": (HistoryCompacted,),
}
"""What a session is recorded for."""


@pytest.mark.parametrize("name", SESSIONS)
async def test_a_session_s_requests_are_those_that_were_sent_byte_for_byte_on_every_run(
    scene: "Scene", name: str
) -> None:
    recorder = Recorder(scene)
    branch = recorder.branch(await SESSIONS[name](recorder))
    assert kinds(branch) >= set(HOLDS.get(name, ()))
    before = files(scene.project.parent)
    replays: list[tuple[Replay, list[event.RunEvent]]] = []
    for _ in range(3):
        events: list[event.RunEvent] = []
        replays.append((await replay(branch, SETTINGS, scene.places, events.append), events))
    assert replays[0] == replays[1] == replays[2]
    assert files(scene.project.parent) == before
    done, _ = replays[0]
    sent = recorder.bodies()
    assert [step.sha256 for step in done.steps] == [sha256(body).hexdigest() for body in sent]
    assert [step.size for step in done.steps] == list(map(len, sent))
    assert done.entries == len(branch.records)
    killed = name == "another_model_goes_on_after_a_kill"
    words = [found.words for found in done.divergences]
    assert words == (["call call_1_0 of list_dir has no recorded outcome"] if killed else [])
    measured = sum(isinstance(entry, CacheRead) for entry in branch.entries)
    assert sum(step.same is True for step in done.steps) == measured
    assert not any(step.same is False for step in done.steps)


async def test_the_events_of_a_replay_are_those_of_the_run(scene: "Scene") -> None:
    recorder = Recorder(scene)
    branch = recorder.branch(await a_file_is_made_and_read(recorder))
    again: list[event.RunEvent] = []
    await replay(branch, SETTINGS, scene.places, again.append)
    assert list(map(plain, filter(matters, again))) == list(
        map(plain, filter(matters, scene.events))
    )


async def test_a_call_whose_outcome_is_missing_ends_its_run_there(scene: "Scene") -> None:
    branch = await recorded(scene)
    cut = [record for record in branch.records if not isinstance(record.entry, CallSettled)]
    done = await replay(Branch(branch.session, cut), SETTINGS, scene.places)
    assert "call call_1_0 of create_file has no recorded outcome" in done.divergences[0].words
    assert done.runs == 2
    assert done.entries == len(cut)


async def test_an_answer_that_is_missing_is_said_with_its_place(scene: "Scene") -> None:
    branch = await recorded(scene)
    answers = [n for n, r in enumerate(branch.records) if isinstance(r.entry, ModelAnswered)]
    cut = [record for n, record in enumerate(branch.records) if n != answers[1]]
    done = await replay(Branch(branch.session, cut), SETTINGS, scene.places)
    first = done.divergences[0]
    assert (
        first.words == "recorded: the end of the run (RunDone) after 2 steps; replayed: a request"
    )
    ended = next(r for r in branch.records if isinstance(r.entry, RunFinished))
    assert first.record == ended.id


async def test_other_entries_and_steps_than_recorded_are_said(scene: "Scene") -> None:
    branch = await recorded(scene)
    records = list(branch.records)
    ends = [n for n, r in enumerate(records) if isinstance(r.entry, RunFinished)]
    end = records[ends[0]].entry
    assert isinstance(end, RunFinished)
    records[ends[0]] = replace(records[ends[0]], entry=replace(end, steps=7))
    note = replace(records[ends[1]], entry=NoteAdded(text="x", source="progress"))
    done = await replay(Branch(branch.session, [*records[: ends[1]], note]), SETTINGS, scene.places)
    recorded_end = "recorded: the end of the run (RunDone)"
    replayed_end = "replayed: the end of the run (RunDone) after 2 steps"
    assert [found.words for found in done.divergences] == [
        f"{recorded_end} after 7 steps; {replayed_end}",
        f"recorded: a note of hame's (progress); {replayed_end}",
    ]


async def test_a_request_that_is_not_the_one_that_was_sent_is_marked(scene: "Scene") -> None:
    branch = await recorded(scene)
    records = list(branch.records)
    place = next(n for n, r in enumerate(records) if isinstance(r.entry, UserSaid))
    records[place] = replace(records[place], entry=UserSaid(message=User((Text("Other."),))))
    done = await replay(Branch(branch.session, records), SETTINGS, scene.places)
    assert [step.same for step in done.steps] == [False, False, False, False]


@pytest.mark.parametrize("name", SESSIONS)
async def test_however_records_are_lost_a_replay_comes_to_its_end(
    scene: "Scene", name: str
) -> None:
    recorder = Recorder(scene)
    branch = recorder.branch(await SESSIONS[name](recorder))
    chance = Random(name)
    for _ in range(12):
        kept = [record for record in branch.records if chance.random() > 0.2]
        with anyio.fail_after(10):
            done = await replay(Branch(branch.session, kept), SETTINGS, scene.places)
        assert done.entries == len(kept)


async def test_a_run_that_the_user_went_back_into_ends_there_without_a_difference(
    scene: "Scene",
) -> None:
    recorder = Recorder(scene)
    runtime = recorder.start(GEMINI, answer("One."), answer("Two."))
    await runtime.prompt("First.")
    said = next(
        name
        for name, entry in zip(runtime.journal.ids, runtime.journal.entries, strict=True)
        if isinstance(entry, UserSaid)
    )
    await runtime.journal.move(said)
    await runtime.prompt("Second.")
    branch = recorder.branch(runtime.session)
    done = await replay(branch, SETTINGS, scene.places)
    assert (done.runs, done.divergences, done.entries) == (2, (), len(branch.records))
    assert done.steps[0].sha256 == sha256(recorder.bodies()[0]).hexdigest()


@pytest.mark.parametrize("limit", [StepLimit(steps=1), BudgetSpent(what="cost", limit=1.0)])
async def test_a_run_that_a_limit_ended_ends_there_again(
    scene: "Scene", limit: StepLimit | BudgetSpent
) -> None:
    branch = await recorded(scene)
    records = list(branch.records)
    second = [n for n, r in enumerate(records) if isinstance(r.entry, ModelAnswered)][1]
    ended = RunFinished(result=limit, usage=Usage(), steps=1)
    cut = [*records[:second], replace(records[second], entry=ended)]
    done = await replay(Branch(branch.session, cut), SETTINGS, scene.places)
    assert (len(done.steps), done.divergences, done.entries) == (1, (), len(cut))


async def recorded(scene: "Scene") -> Branch:
    recorder = Recorder(scene)
    return recorder.branch(await a_file_is_made_and_read(recorder))


def kinds(branch: Branch) -> set[type]:
    outcomes = {type(e.outcome) for e in branch.entries if isinstance(e, CallSettled)}
    return {type(entry) for entry in branch.entries} | outcomes


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(path): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink()
    }


def matters(item: event.RunEvent) -> bool:
    """Words come in other pieces, and the runtime's own events are not the run's."""
    return not isinstance(item, event.TextDelta | event.RunStarted)


def plain(item: event.RunEvent) -> event.RunEvent:
    """An event without number and time."""
    item = replace(item, run="", seq=0)
    if isinstance(item, event.CallSettled | event.RunEnded):
        return replace(item, seconds=0.0)
    return item


async def test_a_run_into_whose_midst_the_user_went_back_is_replayed_so_far(scene: "Scene") -> None:
    recorder = Recorder(scene)
    runtime = recorder.start(
        CHAT,
        answer(call("read_file", path="teas.txt"), usage=USAGE),
        answer("Four.", usage=USAGE),
        answer("Yes.", usage=USAGE),
    )
    await runtime.prompt("Count.")
    entries, ids = runtime.journal.entries, runtime.journal.ids
    place = next(n for n, each in enumerate(entries) if isinstance(each, ModelAnswered))
    await runtime.rewind(await runtime.rewinder().plan(label=f"#{ids[place]}"))
    await runtime.prompt("Go on.")
    branch = recorder.branch(runtime.session)
    assert kinds(branch) >= {Rewound, OutcomesLost}
    done = await replay(branch, SETTINGS, scene.places)
    first, _, last = recorder.bodies()
    assert [step.sha256 for step in done.steps] == [
        sha256(body).hexdigest() for body in (first, last)
    ]
    assert done.divergences == ()
