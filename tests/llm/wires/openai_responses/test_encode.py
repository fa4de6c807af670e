"""Requests to the Responses API."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hame.base.json import JsonObject
from hame.base.message import (
    Assistant,
    Document,
    Image,
    Note,
    Opaque,
    Origin,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    ToolResults,
    User,
)
from hame.base.model import Effort, Endpoint, ModelFacts, Quirk
from hame.base.ports import ModelRequest
from hame.base.tool import Argument, ArgumentKind, Effect, ToolSpec
from hame.llm.wires.openai_responses import CODEC
from hame.llm.wires.openai_responses.codec import ResponsesCodec
from hame.llm.wires.openai_responses.tools import allows_strict
from legal import official
from legal.openai_responses import check_items

FACTS = ModelFacts(
    backend="openai",
    model="gpt-x",
    wire="openai_responses",
    vendor="OpenAI",
    documents=True,
    efforts=frozenset({Effort.LOW, Effort.MEDIUM, Effort.HIGH}),
)
PLAIN = ModelFacts(backend="lmstudio", model="local", wire="openai_responses")
HERE = Origin("openai_responses", "openai", "gpt-x")
ENDPOINT = Endpoint(base_url="https://api.example/v1", api_key="secret")
PATH = Argument(name="path", kind=ArgumentKind.EXISTING_FILE)
LINES = Argument(name="lines", kind=ArgumentKind.NUMBER, type="integer", required=False)

REASONING = Opaque(
    "openai_responses",
    "reasoning",
    {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "thought"}],
        "content": None,
        "encrypted_content": "gAAA==",
        "status": "completed",
    },
)
SEARCH = Opaque(
    "openai_responses",
    "web_search_call",
    {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"query": "x"}},
)


def tool(*arguments: Argument, raw: dict | None = None) -> ToolSpec:
    return ToolSpec(
        name="read_file",
        description="Read it.",
        effect=Effect.READ,
        arguments=arguments,
        raw_schema=raw,
    )


def encode(*messages, facts=FACTS, codec=CODEC, **request) -> dict:
    sent = codec.encode(
        ModelRequest(system="Be good.", messages=messages, **request), facts, ENDPOINT
    )
    return json.loads(sent.body)


def items(*messages, facts=FACTS) -> list:
    return encode(*messages, facts=facts)["input"]


def said(text: str) -> dict:
    """A message of the model's own."""
    part = {"type": "output_text", "text": text}
    return {"type": "message", "role": "assistant", "content": [part]}


HI = User((Text("hi"),))


# ---------------------------------------------------------------- the request


def test_a_request_goes_below_the_base_url_with_the_key_as_a_bearer_token():
    endpoint = Endpoint(
        base_url="https://x.example/v1",
        api_key="secret",
        headers=(("x-extra", "1"),),
        query=(("api-version", "preview"),),
    )
    sent = CODEC.encode(ModelRequest(system="", messages=(HI,)), FACTS, endpoint)
    assert sent.method == "POST"
    assert sent.url == "https://x.example/v1/responses?api-version=preview"
    headers = dict(sent.headers)
    assert headers["authorization"] == "Bearer secret"
    assert headers["content-type"] == "application/json"
    assert headers["x-extra"] == "1"


def test_without_a_key_no_authorization_is_sent():
    sent = CODEC.encode(
        ModelRequest(system="", messages=(HI,)), FACTS, Endpoint(base_url="http://localhost/v1")
    )
    assert "authorization" not in dict(sent.headers)


def test_the_whole_body_of_a_first_request():
    body = encode(
        HI, tools=(tool(PATH),), session="s1", effort=Effort.MEDIUM, max_output_tokens=500
    )
    assert body == {
        "model": "gpt-x",
        "stream": True,
        "store": False,
        "prompt_cache_key": "s1",
        "reasoning": {"effort": "medium", "summary": "auto"},
        "include": ["reasoning.encrypted_content"],
        "max_output_tokens": 500,
        "instructions": "Be good.",
        "tools": [
            {
                "type": "function",
                "name": "read_file",
                "description": "Read it.",
                "parameters": {
                    "type": "object",
                    "properties": {"path": {"type": "string"}},
                    "required": ["path"],
                    "additionalProperties": False,
                },
                "strict": True,
            }
        ],
        "input": [{"role": "user", "content": "hi"}],
    }


def test_a_model_that_does_not_reason_is_asked_nothing_about_reasoning():
    body = encode(HI, facts=PLAIN, effort=Effort.HIGH)
    assert not {"reasoning", "include", "max_output_tokens", "prompt_cache_key"} & set(body)


def test_effort_is_the_nearest_level_the_model_takes():
    assert encode(HI, effort=Effort.MAX)["reasoning"]["effort"] == "high"
    assert encode(HI, effort=Effort.NONE)["reasoning"]["effort"] == "low"
    assert "effort" not in encode(HI)["reasoning"]


def test_a_session_name_that_is_too_long_for_a_cache_key_is_hashed_always_the_same():
    first, second = (encode(HI, session="s" * 100)["prompt_cache_key"] for _ in range(2))
    assert first == second
    assert len(first) == 64


def test_one_call_at_a_time_where_the_vendor_knows_no_parallel_calls():
    facts = ModelFacts(
        backend="b", model="m", wire="openai_responses", quirks=frozenset({Quirk.NO_PARALLEL_CALLS})
    )
    assert encode(HI, facts=facts, tools=(tool(PATH),))["parallel_tool_calls"] is False


# ---------------------------------------------------------------- tools


def test_strict_is_said_either_way():
    declared = encode(HI, tools=(tool(PATH), tool(PATH, LINES)))["tools"]
    assert [one["strict"] for one in declared] == [True, False]


def test_a_tool_without_arguments_still_has_properties():
    (declared,) = encode(HI, tools=(tool(raw={"type": "object"}),))["tools"]
    assert declared["parameters"] == {"type": "object", "properties": {}}
    assert declared["strict"] is False


@pytest.mark.parametrize(
    ("member", "strict"),
    [
        ({"type": "string", "enum": ["a"]}, True),
        ({"type": ["string", "null"]}, True),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, True),
        ({"type": "array", "items": {"type": "integer"}}, True),
        ({"type": "string", "format": "uri"}, False),
        ({"$ref": "#/$defs/x"}, False),
        ({}, False),
        (True, False),
        ({"type": "array", "items": {}}, False),
        ({"type": "object", "properties": {"a": {"type": "string"}}}, False),
        (
            {
                "type": "object",
                "properties": {"a": {"type": "string"}},
                "required": ["a"],
                "additionalProperties": False,
            },
            True,
        ),
        ({"type": "object", "additionalProperties": {"type": "string"}, "required": []}, False),
    ],
)
def test_strict_only_where_the_schema_lies_in_the_strict_subset(member, strict):
    schema: JsonObject = {
        "type": "object",
        "properties": {"x": member},
        "required": ["x"],
        "additionalProperties": False,
    }
    assert allows_strict(schema) is strict


# ---------------------------------------------------------------- messages


def test_notes_and_words_of_one_message_are_one_text():
    (item,) = items(User((Text("fix it"), Note("linux", source="environment"))))
    assert item == {
        "role": "user",
        "content": 'fix it\n\n<note source="environment">\nlinux\n</note>',
    }


def test_pictures_and_documents_go_as_data_urls():
    picture, paper = Image("image/png", b"abc"), Document("application/pdf", b"%PDF")
    (item,) = items(User((Text("look"), picture, paper)))
    assert item["content"] == [
        {"type": "input_text", "text": "look"},
        {"type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,YWJj"},
        {
            "type": "input_file",
            "filename": "document.pdf",
            "file_data": "data:application/pdf;base64,JVBERg==",
        },
    ]


def test_reasoning_goes_back_unchanged_before_the_call_it_led_to():
    answer = Assistant(
        (Thinking("thought"), REASONING, ToolCall("call_1", "read_file", {"path": "a"})),
        origin=HERE,
    )
    result = ToolResults((ToolResult("call_1", "read_file", (Text("text"),)),))
    assert items(HI, answer, result)[1:] == [
        {
            "type": "reasoning",
            "id": "rs_1",
            "summary": [{"type": "summary_text", "text": "thought"}],
            "encrypted_content": "gAAA==",
        },
        {
            "type": "function_call",
            "call_id": "call_1",
            "name": "read_file",
            "arguments": '{"path":"a"}',
        },
        {"type": "function_call_output", "call_id": "call_1", "output": "text"},
    ]


def test_open_reasoning_goes_back_and_reasoning_that_holds_nothing_does_not():
    content = [{"type": "reasoning_text", "text": "thinking"}]
    open_one = Opaque(
        "openai_responses", "reasoning", {"type": "reasoning", "id": "r1", "content": content}
    )
    empty = Opaque(
        "openai_responses", "reasoning", {"type": "reasoning", "id": "r2", "summary": []}
    )
    sent = items(HI, Assistant((open_one, Text("a")), origin=HERE), HI)
    assert sent[1] == {"type": "reasoning", "id": "r1", "content": content, "summary": []}
    sent = items(HI, Assistant((empty, Text("a")), origin=HERE), HI)
    assert sent[1] == said("a")


def test_reasoning_that_nothing_follows_is_left_out():
    answer = Assistant((REASONING, Text("words"), REASONING), origin=HERE)
    sent = items(HI, answer, HI)
    assert [item.get("type", item.get("role")) for item in sent] == [
        "user",
        "reasoning",
        "message",
        "user",
    ]


def test_the_phase_of_a_message_goes_back_with_its_text_and_other_signatures_do_not():
    answer = Assistant((Text("a", "commentary"), Text("b", "another wire's")), origin=HERE)
    assert items(HI, answer, HI)[1:3] == [
        {**said("a"), "phase": "commentary"},
        said("b"),
    ]


def test_what_the_provider_ran_goes_back_as_it_came_and_hames_own_blocks_stay():
    answer = Assistant(
        (
            SEARCH,
            Text("found"),
            Opaque("openai_responses", "citations", {"type": "citations", "annotations": []}),
            Opaque("openai_responses", "shell_call_output", {"type": "shell_call_output"}),
            Image("image/png", b"made"),
        ),
        origin=HERE,
    )
    assert items(HI, answer, HI)[1:-1] == [
        SEARCH.payload,
        said("found"),
    ]


def test_a_refusal_goes_back_as_the_words_it_was_made_in():
    refusal = Opaque("openai_responses", "refusal", {"type": "refusal"}, summary="I will not.")
    assert items(HI, Assistant((refusal,), origin=HERE), HI)[1] == {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "refusal", "refusal": "I will not."}],
    }


def test_a_failed_result_says_so_and_pictures_stand_in_the_result():
    call = ToolCall("c", "look", {})
    picture = Image("image/png", b"abc")
    result = ToolResults((ToolResult("c", "look", (Text("gone"), picture), is_error=True),))
    assert items(HI, Assistant((call,), origin=HERE), result)[-1]["output"] == [
        {"type": "input_text", "text": "Error: gone"},
        {"type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,YWJj"},
    ]


def test_the_provider_searches_the_web_only_when_it_is_let():
    body = encode(HI, tools=(tool(PATH),), web_search=True)
    assert [one["type"] for one in body["tools"]] == ["function", "web_search"]
    official.check("openai_responses", body)
    assert encode(HI, web_search=True)["tools"] == [{"type": "web_search"}]
    assert "tools" not in encode(HI)


# ---------------------------------------------------------------- properties


@given(data=st.data())
def test_any_history_becomes_items_the_api_takes(histories, data):
    history = data.draw(histories(FACTS, [REASONING, SEARCH]))
    if history:
        check_items(items(*history))


@settings(max_examples=40)
@given(data=st.data())
def test_a_longer_conversation_begins_with_the_bytes_of_the_shorter(histories, data):
    history = data.draw(histories(FACTS, [REASONING, SEARCH]))
    codec = ResponsesCodec()
    earlier = b""
    for length in range(1, len(history) + 1):
        request = ModelRequest(system="s", messages=history[:length], tools=(tool(PATH),))
        body = codec.encode(request, FACTS, ENDPOINT).body
        assert body == ResponsesCodec().encode(request, FACTS, ENDPOINT).body
        assert body.startswith(earlier.removesuffix(b"]}"))
        earlier = body


# ---------------------------------------------------------------- lists


def test_models_are_listed_by_the_server():
    request = CODEC.list_request(ENDPOINT)
    assert (request.method, request.url) == ("GET", "https://api.example/v1/models")
    assert dict(request.headers)["authorization"] == "Bearer secret"


def test_a_list_of_models_is_read_with_what_it_says_of_them():
    body = json.dumps({
        "data": [
            {"id": "gpt-x", "owned_by": "openai"},
            {"id": "big", "name": "Big", "context_length": 1000, "top_provider": {}},
            {"object": "model"},
        ]
    })
    first, second = CODEC.decode_list(body.encode())
    assert (first.id, first.owned_by) == ("gpt-x", "openai")
    assert (second.display_name, second.context_window) == ("Big", 1000)


@pytest.mark.parametrize("body", [b"<html>", b"{}", b'"x"'])
def test_what_is_no_list_of_models_is_an_error(body):
    with pytest.raises(ValueError, match=r"list of models|malformed|expected|invalid"):
        CODEC.decode_list(body)
