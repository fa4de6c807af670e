"""A session begun on one wire goes on on every other; each request is one its server takes.

The session holds what sessions hold: thinking, parallel calls, a call that the user refused, one that
could not be read, an answer that was cut, one that the model refused, one that was stopped while it
was being said, and calls that were stopped while they ran.
"""

from collections.abc import Callable, Sequence
from typing import Any

from hame.app.runtime import Runtime
from hame.base import entry, event
from hame.base.message import Opaque, StopReason, Thinking, ToolCall
from hame.base.outcome import Cancelled, Denied, Done
from hame.base.question import Answer, Choice
from hame.base.run import RunDone, Stopped
from hame.base.settings import Mode
from hame.testing import ScriptedServer, answer, call
from hame.testing.reply import Received, drop, hang_mid
from legal.wires import check_request

A, B = call("read_file", path="a.txt"), call("read_file", path="b.txt")
SIGNATURE, SEAL = "c2lnbmF0dXJlLW9mLXRoZS1vdGhlcg==", "c2VhbA=="
THOUGHT = Thinking("Two files, then.", SIGNATURE)
SECRET_THOUGHT = Opaque(
    "anthropic_messages", "redacted_thinking", {"type": "redacted_thinking", "data": "ZW5j"}
)
SEALED = ToolCall("", "read_file", {"path": "a.txt"}, signature=SEAL)
BROKEN = ToolCall("", "read_file", None, malformed='{"path": "a')
SIGNED = {"anthropic_messages": SIGNATURE, "openai_responses": SIGNATURE, "gemini": SEAL}
"""What a wire wants back from its own model."""


def steps(wire: str) -> list[Any]:
    """What the first model says, its requests in order."""
    thought = [THOUGHT, SECRET_THOUGHT] if wire == "anthropic_messages" else [THOUGHT]
    return [
        answer(*thought, "Let me read both.", SEALED if wire == "gemini" else A, B),
        answer(Thinking("Now I write."), call("write_file", path="c.txt", content="x")),
        answer(BROKEN) if wire != "gemini" else answer(A),
        drop(answer("I have read ", "both files and ", A), at="files"),
        answer("I have read both files."),
        answer("I cannot help with that.", stop=StopReason.REFUSAL),
        hang_mid(answer(THOUGHT, "It would take too long to say"), at="long"),
        answer("Running.", call("run_command", command="sleep 60"), B),
    ]


def going_on() -> list[Any]:
    """What the second model says."""
    return [answer(THOUGHT, "Again.", A, B), answer("Done.")]


class Watcher:
    """Answers questions with no, and stops a run where it is told to."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.stop_at: Callable[[event.RunEvent], bool] = lambda _: False
        runtime.subscribe(self.see)

    def see(self, item: event.RunEvent) -> None:
        if isinstance(item, event.QuestionAsked):
            self.runtime.answer(item.question.id, Answer(choice=Choice.NO))
        if self.stop_at(item):
            self.runtime.cancel()


async def record(runtime: Runtime) -> None:
    """Play the whole first part."""
    watcher = Watcher(runtime)
    first = await runtime.prompt("Read a.txt and b.txt, and write c.txt.")
    assert first.result == RunDone(text="I have read both files.")
    refused = await runtime.prompt("Now something forbidden.")
    assert type(refused.result).__name__ in {"Refused", "RunDone"}
    watcher.stop_at = lambda item: isinstance(item, event.TextDelta) and "take" in item.text
    assert isinstance((await runtime.prompt("Say it.")).result, Stopped)
    await runtime.set_mode(Mode.AUTO)
    watcher.stop_at = lambda item: (
        isinstance(item, event.CallStarted) and item.tool == "run_command"
    )
    assert isinstance((await runtime.prompt("Run it.")).result, Stopped)
    check_recorded(runtime.journal.entries)


def check_recorded(entries: Sequence[entry.Entry]) -> None:
    """Everything that makes a history hard is in it."""
    kinds = [type(item) for item in entries]
    assert entry.AnswerAbandoned in kinds
    assert entry.AnswerInterrupted in kinds
    outcomes = [item.outcome for item in entries if isinstance(item, entry.CallSettled)]
    assert {type(outcome) for outcome in outcomes} >= {Done, Denied, Cancelled}


def check_all(questions: list[Received], runtime: Runtime) -> None:
    model = runtime._model
    assert model is not None
    for question in questions:
        assert question.wire == model.facts.wire
        check_request(question.body, model.facts)


async def test_a_session_goes_on_on_any_wire(house, wire, models, pages):
    async with ScriptedServer(*steps(wire), pages=pages) as server:
        runtime = await house.open(server.url, models[wire], mode=Mode.ASK, interactive=True)
        await record(runtime)
        server.finish()
        check_all(server.questions, runtime)
        session = runtime.session
        await runtime.close()
    for other in models:
        async with ScriptedServer(*going_on(), pages=pages) as server:
            again = await house.copy(other).open(server.url, models[wire], resume=session)
            await again.set_model(models[other])
            ended = await again.prompt("Go on.")
            assert ended.result == RunDone(text="Done."), other
            server.finish()
            check_all(server.questions, again)
            assert server.questions[1].kept == 1.0
            first = server.questions[0].raw.decode()
            returned = {seal for seal in SIGNED.values() if seal in first}
            assert returned == ({SIGNED[wire]} if other == wire in SIGNED else set()), other
            await again.close()


async def test_one_session_may_change_its_wire_at_every_turn(house, models, pages):
    order = [*models, *models]
    async with ScriptedServer(*[said for _ in order for said in going_on()], pages=pages) as server:
        runtime = await house.open(server.url, models[order[0]])
        asked = 0
        for wire in order:
            await runtime.set_model(models[wire])
            ended = await runtime.prompt(f"Now you, {wire}.")
            assert ended.result == RunDone(text="Done.")
            check_all(server.questions[asked:], runtime)
            asked = len(server.questions)
        server.finish()
