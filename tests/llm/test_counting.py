"""Having servers count what a request would take: each in its own words, over real HTTP."""

import json
from typing import Any

import pytest

from hame.base.message import Text, User
from hame.base.model import Effort, Endpoint, ModelFacts, Quirk, ToolSupport
from hame.base.ports import ModelRequest
from hame.base.tool import Argument, ArgumentKind, Effect, ToolSpec
from hame.llm.asking import Line
from hame.llm.client import connect
from hame.net.http import HttpClient
from hame.testing import FakeClock, Received, Reply, ScriptedServer
from hame.testing.reply import status

READ = ToolSpec(
    name="read_file",
    description="Read a file.",
    effect=Effect.READ,
    arguments=(Argument(name="path", kind=ArgumentKind.EXISTING_FILE),),
)
ASKED = ModelRequest(
    system="Be kind.", messages=(User((Text("what is in a.txt?"),)),), tools=(READ,), session="s"
)


def page(value: object) -> Reply:
    return Reply(body=json.dumps(value).encode())


@pytest.fixture
async def counted():
    http = HttpClient(user_agent="test")

    async def count(pages: dict[str, Any], wire: str, **more) -> tuple[int | None, list[Received]]:
        facts = ModelFacts(backend="b", model="m", wire=wire, **more)
        async with ScriptedServer(pages=pages) as server:
            base = {"gemini": "", "ollama": "", "anthropic_messages": ""}.get(wire, "/v1")
            end = Endpoint(base_url=f"{server.url}{base}", api_key="k")
            line = Line(http=http, clock=FakeClock())
            return await connect(facts, end, line).count_tokens(ASKED), server.requests

    yield count
    await http.aclose()


async def test_messages_are_counted_without_being_answered(counted):
    pages = {"/v1/messages/count_tokens": page({"input_tokens": 321})}
    found, (asked,) = await counted(pages, "anthropic_messages", efforts=frozenset({Effort.LOW}))
    assert found == 321
    assert set(asked.body) <= {"model", "messages", "system", "tools", "thinking", "tool_choice"}
    assert {"model", "messages", "system", "tools"} <= set(asked.body)
    assert asked.headers["x-api-key"] == "k"
    assert asked.headers["anthropic-version"]


async def test_gemini_counts_the_whole_request(counted):
    pages = {"/v1beta/models/m:countTokens": page({"totalTokens": 45})}
    found, (asked,) = await counted(pages, "gemini")
    assert found == 45
    inner: Any = asked.body["generateContentRequest"]
    assert inner["model"] == "models/m"
    assert {"contents", "systemInstruction", "tools"} <= set(inner)
    assert asked.query == ""


async def test_vertex_is_told_the_members_themselves():
    http = HttpClient(user_agent="test")
    path = "/v1/projects/p/locations/l/publishers/google"
    pages = {f"{path}/models/m:countTokens": page({"totalTokens": 7})}
    async with ScriptedServer(pages=pages) as server:
        facts = ModelFacts(backend="vertex", model="m", wire="gemini")
        end = Endpoint(base_url=f"{server.url}{path}", api_key="ya29.token")
        model = connect(facts, end, Line(http=http, clock=FakeClock()))
        assert await model.count_tokens(ASKED) == 7
        assert {"contents", "systemInstruction", "tools"} <= set(server.requests[0].body)
        assert server.requests[0].headers["authorization"] == "Bearer ya29.token"
    await http.aclose()


async def test_responses_are_counted_without_being_answered(counted):
    pages = {"/v1/responses/input_tokens": page({"object": "x", "input_tokens": 99})}
    found, (asked,) = await counted(pages, "openai_responses")
    assert found == 99
    assert {"model", "input", "instructions", "tools"} <= set(asked.body)
    assert not {"stream", "store", "max_output_tokens", "prompt_cache_key"} & set(asked.body)


async def test_llama_server_renders_and_then_splits(counted):
    pages = {
        "/apply-template": page({"prompt": "<|system|>Be kind."}),
        "/tokenize": page({"tokens": list(range(17))}),
    }
    quirks = frozenset({Quirk.RENDERS_PROMPTS})
    found, (first, second) = await counted(pages, "openai_chat", quirks=quirks)
    assert found == 17
    assert set(first.body) == {"messages", "tools"}
    assert second.body == {
        "content": "<|system|>Be kind.", "add_special": True, "parse_special": True,
    }  # fmt: skip
    assert first.headers["authorization"] == second.headers["authorization"] == "Bearer k"


async def test_vllm_splits_the_messages_themselves(counted):
    pages = {"/tokenize": page({"count": 23, "tokens": [1, 2], "max_model_len": 4096})}
    quirks = frozenset({Quirk.SPLITS_MESSAGES})
    found, (asked,) = await counted(pages, "openai_chat", quirks=quirks)
    assert found == 23
    assert set(asked.body) == {"model", "messages", "tools"}


async def test_tools_that_are_told_in_words_are_counted_as_words(counted):
    pages = {"/tokenize": page({"count": 23})}
    more = {"quirks": frozenset({Quirk.SPLITS_MESSAGES}), "tools": ToolSupport.TEXT}
    _, (asked,) = await counted(pages, "openai_chat", **more)
    assert "tools" not in asked.body
    assert "read_file" in json.dumps(asked.body["messages"])


@pytest.mark.parametrize("wire", ["openai_chat", "ollama"])
async def test_a_server_that_does_not_count_is_not_asked(counted, wire):
    assert await counted({}, wire) == (None, [])


@pytest.mark.parametrize(
    "reply",
    [
        status(404, "no such place"),
        status(401, "no"),
        status(500, "broken"),
        page({"input_tokens": "many"}),
        page([]),
        Reply(body=b"<html>"),
        Reply(drop_at=-1),
    ],
)
async def test_what_is_no_count_is_none(counted, reply):
    found, asked = await counted({"/v1/messages/count_tokens": reply}, "anthropic_messages")
    assert found is None
    assert len(asked) == 1


async def test_a_rendered_prompt_that_cannot_be_split_is_not_counted(counted):
    pages = {"/apply-template": page({"prompt": "x"}), "/tokenize": page({"error": "no"})}
    quirks = frozenset({Quirk.RENDERS_PROMPTS})
    assert (await counted(pages, "openai_chat", quirks=quirks))[0] is None
