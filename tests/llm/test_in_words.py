"""Models without calls of their own, over real HTTP: tools in words, calls out of words, what heals."""

import json
from typing import Any

import pytest

from hame.base.fold import Fold
from hame.base.json import get_objects
from hame.base.message import Assistant, StopReason, Text, ToolCall, ToolResult, ToolResults, User
from hame.base.model import Endpoint, ModelFacts, Quirk, ToolSupport
from hame.base.ports import ModelRequest
from hame.base.stream import RetryScheduled
from hame.base.tool import Argument, ArgumentKind, Effect, ToolSpec
from hame.llm.asking import Line
from hame.llm.client import HttpModel, connect
from hame.net.http import HttpClient
from hame.testing import FakeClock, Reply, ScriptedServer, answer
from hame.testing.reply import status

READ = ToolSpec(
    name="read_file",
    description="Read a file.",
    effect=Effect.READ,
    arguments=(Argument(name="path", kind=ArgumentKind.EXISTING_FILE),),
)
CALL = ToolCall(id="c1", name="read_file", arguments={"path": "a.txt"})
HISTORY = (
    User((Text("what is in a.txt?"),)),
    Assistant((Text("I look."), CALL), stop_reason=StopReason.TOOL_USE),
    ToolResults((ToolResult("c1", "read_file", (Text("three names"),)),)),
)
ASKED = ModelRequest(system="Be kind.", messages=HISTORY[:1], tools=(READ,))
PRINTED = '<tool_call>\n{"name": "read_file", "arguments": {"path": "a.txt"}}\n</tool_call>'


def facts(wire: str = "openai_chat", **more) -> ModelFacts:
    quirks = frozenset({Quirk.PRINTS_CALLS})
    return ModelFacts(backend="lab", model="m", wire=wire, vendor="Lab", quirks=quirks, **more)


@pytest.fixture
async def http():
    client = HttpClient(user_agent="hame-test")
    yield client
    await client.aclose()


@pytest.fixture
def model_at(http):
    def make(url: str, known: ModelFacts) -> HttpModel:
        line = Line(http=http, clock=FakeClock(), draw=lambda: 1.0)
        base = url if known.wire == "ollama" else f"{url}/v1"
        return connect(known, Endpoint(base_url=base), line)

    return make


async def ask(model: HttpModel, request: ModelRequest = ASKED) -> Assistant:
    fold = Fold()
    async with model.stream(request) as events:
        async for event in events:
            assert not isinstance(event, RetryScheduled), "healing waits for nothing"
            fold.add(event)
    assert fold.failure is None
    return fold.message()


def asked_for(message: Assistant) -> list[tuple[str, object]]:
    return [(call.name, call.arguments) for call in message.calls]


async def test_a_call_printed_in_place_of_a_native_one_is_a_call(model_at):
    async with ScriptedServer(answer(PRINTED)) as server:
        message = await ask(model_at(server.url, facts()))
        assert server.questions[0].body["tools"]
    assert asked_for(message) == [("read_file", {"path": "a.txt"})]
    assert message.text == ""
    assert message.stop_reason is StopReason.TOOL_USE


async def test_what_a_vendors_own_service_says_is_left_as_it_is(model_at):
    plain = ModelFacts(backend="b", model="m", wire="openai_chat")
    async with ScriptedServer(answer(PRINTED)) as server:
        message = await ask(model_at(server.url, plain))
    assert message.calls == ()
    assert message.text == PRINTED


async def test_tools_in_words_go_into_the_prompt_and_the_history(model_at):
    async with ScriptedServer(answer(PRINTED), answer("Three names.")) as server:
        model = model_at(server.url, facts(tools=ToolSupport.TEXT))
        assert asked_for(await ask(model)) == [("read_file", {"path": "a.txt"})]
        assert (
            await ask(model, ModelRequest(system="Be kind.", messages=HISTORY, tools=(READ,)))
        ).text
        bodies: list[Any] = [question.body for question in server.questions]
        first, second = bodies
    assert "tools" not in first
    system, *messages = get_objects(second, "messages")
    assert system["content"].startswith("Be kind.")
    assert '"name":"read_file"' in str(system["content"])
    assert [message["role"] for message in messages] == ["user", "assistant", "user"]
    assert '{"name":"read_file","arguments":{"path":"a.txt"}}' in str(messages[1]["content"])
    assert "three names" in json.dumps(messages[2])
    # The prefix that the server keeps is the same.
    assert second["messages"][:2] == first["messages"]


async def test_an_answer_held_to_a_schema_is_a_call_or_words(model_at):
    said = '{"tool": "read_file", "arguments": {"path": "a.txt"}}', '{"say": "Three names."}'
    for wire in ("openai_chat", "ollama"):
        async with ScriptedServer(*map(answer, said)) as server:
            model = model_at(server.url, facts(wire, tools=ToolSupport.SCHEMA))
            assert asked_for(await ask(model)) == [("read_file", {"path": "a.txt"})]
            assert (await ask(model)).text == "Three names."
            body = server.questions[0].body
        shape = (
            body["format"] if wire == "ollama" else body["response_format"]["json_schema"]["schema"]
        )
        assert shape["anyOf"][0]["properties"]["tool"] == {"const": "read_file"}
        assert shape["anyOf"][1]["required"] == ["say"]


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (400, "registry.ollama.ai/library/gemma2:2b does not support tools"),
        (
            400,
            '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
        ),
        (500, "error parsing tool call: raw='{\"path\": '"),
        (500, "tools param requires --jinja flag"),
    ],
)
@pytest.mark.parametrize("wire", ["openai_chat", "ollama"])
async def test_a_server_that_takes_no_tools_is_told_of_them_in_words(model_at, wire, code, words):
    async with ScriptedServer(status(code, words), answer(PRINTED), answer("ok")) as server:
        model = model_at(server.url, facts(wire))
        assert asked_for(await ask(model)) == [("read_file", {"path": "a.txt"})]
        assert (await ask(model)).text == "ok"
        assert ["tools" in question.body for question in server.questions] == [True, False, False]
    assert model.taught.tools is ToolSupport.TEXT


@pytest.mark.parametrize(
    "words",
    [
        "llama runner process has terminated: exit status 2",
        "model runner has unexpectedly stopped, this may be due to resource limitations",
        "llama runner process has terminated: cudaMalloc failed: out of memory",
    ],
)
async def test_a_runner_that_crashed_is_asked_once_more_without_the_gpu(model_at, words):
    async with ScriptedServer(status(500, words), answer("fine")) as server:
        assert (
            await ask(model_at(server.url, facts("ollama", context_window=8192)))
        ).text == "fine"
        first, second = (question.body["options"] for question in server.questions)
    assert first == {"num_ctx": 8192}
    assert second == {"num_ctx": 8192, "num_gpu": 0}


async def test_a_runner_that_crashes_without_the_gpu_too_is_a_failure(model_at):
    crashed = status(500, "llama runner process has terminated")
    async with ScriptedServer(*[crashed] * 9) as server:
        model, fold = model_at(server.url, facts("ollama", num_gpu=0)), Fold()
        async with model.stream(ASKED) as events:
            async for event in events:
                fold.add(event)
    assert fold.failure is not None
    assert "runner" in fold.failure.failure.said


async def test_ollama_is_told_how_many_layers_and_how_long(model_at):
    for given, sent in (("30m", "30m"), ("-1", -1)):
        async with ScriptedServer(answer("ok")) as server:
            known = facts("ollama", num_gpu=12, keep_alive=given, context_window=4096)
            await ask(model_at(server.url, known))
            body = server.questions[0].body
        assert body["options"] == {"num_ctx": 4096, "num_gpu": 12}
        assert body["keep_alive"] == sent


async def test_a_server_that_takes_no_schema_is_asked_in_words(model_at):
    refusal = Reply(status=400, message="response_format type json_schema is not supported")
    async with ScriptedServer(refusal, answer(PRINTED)) as server:
        message = await ask(model_at(server.url, facts(tools=ToolSupport.SCHEMA)))
        assert "response_format" not in server.questions[1].body
    assert asked_for(message) == [("read_file", {"path": "a.txt"})]
