"""A served model in the one-line protocol, over real HTTP: held by its server, and never believed."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from hame.base.errors import ConfigError, ErrorKind
from hame.base.message import (
    Assistant,
    Message,
    StopReason,
    Text,
    Thinking,
    ToolResult,
    ToolResults,
    User,
)
from hame.base.model import Constraint, Endpoint, ModelFacts, ToolSupport, Usage
from hame.base.ports import ModelRequest
from hame.base.stream import (
    Completed,
    Failed,
    RetryScheduled,
    StreamEvent,
    TextDelta,
    ToolCallCompleted,
    UsageReported,
)
from hame.llm.asking import Line
from hame.llm.client import connect
from hame.local.masked import MaskedModel
from hame.testing import FakeClock, ScriptedModel, ScriptedServer, answer, call
from hame.testing.reply import status
from local.conftest import TOOLS, MemoryIndex

INDEX = MemoryIndex(
    {"config.txt": "retries=1\nport=8080\n", "src/util.py": "def foo(x):\n    return x\n"},
    "make test",
)
QUESTION = User((Text("What is the port in config.txt?"),))
READ = (
    QUESTION,
    Assistant((call("read_file", path="config.txt"),)),
    ToolResults((ToolResult("", "read_file", (Text("1\tretries=1\n2\tport=8080"),)),)),
)


def request(*messages: Message) -> ModelRequest:
    return ModelRequest(system="ignored", messages=messages, tools=TOOLS, session="s")


@pytest.fixture
def model_at(http):
    def make(url: str, constraint: Constraint, wire: str = "openai_chat") -> MaskedModel:
        facts = ModelFacts(
            backend="lab", model="tiny", wire=wire, vendor="Lab", tools=ToolSupport.MASKED,
            constraint=constraint, context_window=4096,
        )  # fmt: skip
        base = url if wire == "ollama" else f"{url}/v1"
        line = Line(http=http, clock=FakeClock(), draw=lambda: 1.0)
        return MaskedModel(connect(facts, Endpoint(base_url=base), line), INDEX)

    return make


async def ask(model: MaskedModel, *messages: Message) -> Sequence[StreamEvent]:
    async with model.stream(request(*messages)) as events:
        return [event async for event in events]


def calls(events: Sequence[StreamEvent]) -> list[tuple[str, object]]:
    return [
        (event.call.name, event.call.arguments)
        for event in events
        if isinstance(event, ToolCallCompleted)
    ]


def step(line: str) -> str:
    return json.dumps({"step": line})


FORMS: dict[Constraint, tuple[Callable[[str], str], Callable[[Any], str]]] = {
    Constraint.GBNF: (str, lambda body: body["grammar"]),
    Constraint.CHOICE: (str, lambda body: "\n".join(body["structured_outputs"]["choice"])),
    Constraint.GUIDED_CHOICE: (str, lambda body: "\n".join(body["guided_choice"])),
    Constraint.REGEX: (str, lambda body: body["regex"]),
    Constraint.SCHEMA: (step, lambda body: json.dumps(body["response_format"])),
}


@pytest.mark.parametrize("constraint", Constraint)
async def test_a_line_becomes_a_call_and_an_answer_ends_the_turn(model_at, constraint):
    said, told = FORMS[constraint]
    steps = answer(said("read config.txt")), answer(said("say 8080"))
    async with ScriptedServer(*steps) as server:
        model = model_at(server.url, constraint)
        events = await ask(model, QUESTION)
        assert calls(events) == [("read_file", {"path": "config.txt"})]
        assert events[-1] == Completed(StopReason.TOOL_USE)
        events = await ask(model, *READ)
        assert events[0] == TextDelta("8080")
        assert events[-1] == Completed(StopReason.END_TURN)
        server.finish()
        first, second = (question.body for question in server.questions)
    assert "read " in told(first)
    assert "config" in told(first)
    assert "etc" not in told(first)
    assert "say " in told(second)
    assert first["temperature"] == 0.0
    assert "tools" not in first
    # What is the same in every request stands before what is not: the server keeps it.
    assert second["messages"][: len(first["messages"])] == first["messages"]
    assert second["messages"][-1] == {
        "role": "user", "content": "Result: retries=1\nport=8080",
    }  # fmt: skip


async def test_ollama_is_told_of_the_lines_by_its_format(model_at):
    async with ScriptedServer(answer(step("read config.txt"))) as server:
        events = await ask(model_at(server.url, Constraint.SCHEMA, "ollama"), QUESTION)
        body: Any = server.questions[0].body
    assert calls(events) == [("read_file", {"path": "config.txt"})]
    assert "read config.txt" in body["format"]["properties"]["step"]["enum"]
    assert body["options"]["temperature"] == 0.0


async def test_the_usage_of_both_tries_is_counted(model_at):
    usage = Usage(input_uncached=10, output=3)
    tries = [answer(text, usage=usage) for text in ("list /etc", "read config.txt")]
    async with ScriptedServer(*tries) as server:
        events = await ask(model_at(server.url, Constraint.GBNF), QUESTION)
    assert [event.usage for event in events if isinstance(event, UsageReported)] == [usage + usage]


@pytest.mark.parametrize(
    "said",
    [
        answer("list /etc"),
        answer(""),
        answer("Sure! read config.txt"),
        answer(call("read_file", path="/etc/passwd")),
        answer("read config.txt", stop=StopReason.MAX_TOKENS),
        answer(step("read config.txt")),
    ],
)
async def test_what_the_lines_do_not_hold_is_never_run(model_at, said):
    async with ScriptedServer(said, said) as server:
        events = await ask(model_at(server.url, Constraint.GBNF), QUESTION)
        server.finish()
    assert [type(event) for event in events] == [Failed]
    assert events[0].failure.kind is ErrorKind.PROTOCOL
    assert "--no-tools" in events[0].failure.hint


async def test_where_nothing_is_left_to_do_the_server_is_not_asked(model_at):
    async with ScriptedServer() as server:
        model = model_at(server.url, Constraint.GBNF)
        events = await ask(model, User((Text("Write me a poem"),)))
        server.finish()
        with pytest.raises(ConfigError):
            model.encode(request(User((Text("Write me a poem"),))))
    assert isinstance(events[0], TextDelta)
    assert events[0].text.startswith("lab/tiny found nothing it can do with that.")


async def test_waits_and_failures_of_the_server_are_passed_on(model_at):
    steps = status(429, "slow down", retry_after=1), status(401, "no such key")
    async with ScriptedServer(*steps) as server:
        events = await ask(model_at(server.url, Constraint.GBNF), QUESTION)
    assert [type(event) for event in events] == [RetryScheduled, Failed]
    assert events[1].failure.kind is ErrorKind.AUTH


async def test_what_would_be_sent_is_what_is_sent(model_at):
    async with ScriptedServer(answer("read config.txt")) as server:
        model = model_at(server.url, Constraint.GBNF)
        shown = model.encode(request(QUESTION))
        await ask(model, QUESTION)
        assert server.questions[0].raw == shown.body
    with pytest.raises(ConfigError):
        MaskedModel(ScriptedModel(), INDEX).encode(request(QUESTION))


async def test_a_line_that_its_server_takes_for_thinking_counts_as_well(model_at):
    async with ScriptedServer(answer(Thinking("read config.txt"))) as server:
        events = await ask(model_at(server.url, Constraint.GBNF), QUESTION)
    assert calls(events) == [("read_file", {"path": "config.txt"})]
