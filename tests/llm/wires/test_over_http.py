"""The Responses and Gemini wires over real HTTP, through the client."""

import pytest

from hame.base.errors import ErrorKind
from hame.base.fold import Fold
from hame.base.message import (
    Assistant,
    Opaque,
    Origin,
    StopReason,
    Text,
    ToolCall,
    ToolResult,
    ToolResults,
    User,
)
from hame.base.model import Effort, Endpoint, ModelFacts, ModelListing, Timeouts
from hame.base.ports import ModelRequest
from hame.base.stream import Failed, StreamEvent, TextDelta
from hame.base.tool import Argument, ArgumentKind, Effect, ToolSpec
from hame.llm.asking import Line
from hame.llm.client import HttpModel, connect
from hame.llm.codecs import codec
from hame.llm.listing import list_models
from hame.net.http import HttpClient
from hame.testing import FakeClock, ScriptedServer, answer, call
from hame.testing.reply import drop, hang_mid, in_bytes, status

READ = ToolSpec(
    name="read_file",
    description="Read a file.",
    effect=Effect.READ,
    arguments=(Argument(name="path", kind=ArgumentKind.EXISTING_FILE),),
)
BASES = {"openai_responses": "/v1", "gemini": ""}


@pytest.fixture
async def http():
    client = HttpClient(user_agent="hame-test")
    yield client
    await client.aclose()


@pytest.fixture(params=BASES)
def facts(request) -> ModelFacts:
    return ModelFacts(
        backend="acme",
        model="gemini-3-x",
        wire=request.param,
        vendor="Acme",
        efforts=frozenset(Effort),
        timeouts=Timeouts(connect_s=2, first_byte_s=0.5, idle_s=0.3, total_s=10),
    )


@pytest.fixture
def model_at(http, facts):
    def make(url: str) -> HttpModel:
        line = Line(http=http, clock=FakeClock(), draw=lambda: 1.0)
        return connect(facts, Endpoint(base_url=url + BASES[facts.wire], api_key="k"), line)

    return make


async def ask(model: HttpModel, *messages) -> tuple[Fold, list[StreamEvent]]:
    fold, told = Fold(), []
    request = ModelRequest(system="Be good.", messages=messages, tools=(READ,), session="s")
    async with model.stream(request) as events:
        async for event in events:
            fold.add(event)
            told.append(event)
    return fold, told


def texts(events: list[StreamEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


async def test_a_conversation_with_tools_goes_round_and_keeps_its_beginning(model_at, facts):
    steps = [
        answer("Let me look: “ä”.", call("read_file", path="a"), call("read_file", path="b")),
        answer(call("read_file", path="c")),
        answer("All done."),
    ]
    here = Origin(facts.wire, facts.backend, facts.model)
    async with ScriptedServer(*steps) as server:
        model = model_at(server.url)
        history: list = [User((Text("Go."),))]
        said: list[Assistant] = []
        while not said or said[-1].calls:
            fold, _ = await ask(model, *history)
            said.append(fold.message(here))
            results = tuple(
                ToolResult(asked.id, asked.name, (Text("content"),)) for asked in said[-1].calls
            )
            history += [said[-1], ToolResults(results)] if results else [said[-1]]
        server.finish()
    assert [[asked.arguments for asked in one.calls] for one in said] == [
        [{"path": "a"}, {"path": "b"}],
        [{"path": "c"}],
        [],
    ]
    assert (said[0].text, said[-1].text) == ("Let me look: “ä”.", "All done.")
    assert [one.stop_reason for one in said] == [
        StopReason.TOOL_USE,
        StopReason.TOOL_USE,
        StopReason.END_TURN,
    ]
    ids = [asked.id for one in said for asked in one.calls]
    assert len(set(ids)) == len(ids)
    assert [question.kept for question in server.questions] == [None, 1.0, 1.0]


async def test_an_answer_in_single_bytes_is_the_same(model_at):
    said = answer("Wörld 😊", call("read_file", path="ü"))
    async with ScriptedServer(in_bytes(said)) as server:
        fold, _ = await ask(model_at(server.url), User((Text("hi"),)))
    message = fold.message()
    assert message.text == "Wörld 😊"
    assert [asked.arguments for asked in message.calls] == [{"path": "ü"}]


@pytest.mark.parametrize("breaks", [drop, hang_mid])
async def test_of_an_answer_that_breaks_off_all_that_arrived_is_told(model_at, breaks):
    async with ScriptedServer(breaks(answer("one two three"), at="three")) as server:
        fold, events = await ask(model_at(server.url), User((Text("hi"),)))
    assert texts(events).strip() == "one two"
    assert isinstance(events[-1], Failed)
    assert events[-1].failure.kind in {ErrorKind.NETWORK, ErrorKind.TIMEOUT}
    assert events[-1].failure.mid_stream
    assert fold.failure is events[-1]


async def test_a_refusal_by_status_is_a_failure_of_its_kind(model_at):
    async with ScriptedServer(status(401, "Incorrect API key provided.")) as server:
        _, events = await ask(model_at(server.url), User((Text("hi"),)))
    (failed,) = events
    assert isinstance(failed, Failed)
    assert failed.failure.kind is ErrorKind.AUTH


async def test_what_another_wire_left_in_the_history_is_no_obstacle(model_at):
    foreign = Assistant(
        (
            Opaque("another", "reasoning", {"type": "reasoning"}),
            Text("ok", "signed elsewhere"),
            ToolCall("id with spaces " * 9, "read_file", {"path": "a"}, signature="elsewhere"),
        ),
        origin=Origin("another", "b", "m"),
    )
    async with ScriptedServer("fine") as server:
        fold, _ = await ask(model_at(server.url), User((Text("hi"),)), foreign)
        (question,) = server.questions
    assert fold.message().text == "fine"
    assert b"elsewhere" not in question.raw
    assert b"not finished" in question.raw


async def test_the_servers_models_are_listed(http, facts):
    models = (ModelListing(id="gemini-3-x", context_window=1000),)
    async with ScriptedServer(models=models) as server:
        endpoint = Endpoint(base_url=server.url + BASES[facts.wire], api_key="k")
        found = await list_models(codec(facts.wire), endpoint, http, FakeClock())
    assert [(one.id, one.context_window) for one in found] == [("gemini-3-x", 1000)]
