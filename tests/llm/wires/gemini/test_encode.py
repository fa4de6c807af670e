"""Requests to Gemini."""

import json
from base64 import b64encode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
from hame.base.model import Effort, Endpoint, ModelFacts
from hame.base.ports import ModelRequest
from hame.base.tool import Argument, ArgumentKind, Effect, ToolSpec
from hame.llm.wires.gemini import CODEC
from hame.llm.wires.gemini.codec import GeminiCodec
from hame.llm.wires.gemini.generation import generation
from legal import official
from legal.gemini import check_contents

ALL = frozenset(Effort)
THIRD = ModelFacts(
    backend="google",
    model="gemini-3-pro-preview",
    wire="gemini",
    vendor="Google",
    documents=True,
    efforts=ALL,
)
SECOND = ModelFacts(
    backend="google", model="gemini-2.5-flash", wire="gemini", documents=True, efforts=ALL
)
HERE = Origin("gemini", "google", THIRD.model)
ENDPOINT = Endpoint(base_url="https://gemini.example", api_key="secret")
HI = User((Text("hi"),))
SKIP = "skip_thought_signature_validator"
CODE = Opaque(
    "gemini",
    "executableCode",
    {"executableCode": {"code": "1", "language": "PYTHON"}, "thoughtSignature": "s"},
)
SOURCES = Opaque("gemini", "citations", {"groundingMetadata": {"groundingChunks": []}})


def tool(raw: dict | None = None) -> ToolSpec:
    path = Argument(name="path", kind=ArgumentKind.EXISTING_FILE)
    return ToolSpec(
        name="read_file",
        description="Read it.",
        effect=Effect.READ,
        arguments=(path,),
        raw_schema=raw,
    )


def encode(*messages, facts=THIRD, **request) -> dict:
    sent = GeminiCodec().encode(
        ModelRequest(system="Be good.", messages=messages, **request), facts, ENDPOINT
    )
    return json.loads(sent.body)


def contents(*messages, facts=THIRD) -> list:
    return encode(*messages, facts=facts)["contents"]


def inline(media_type: str, data: bytes) -> dict:
    return {"inlineData": {"mimeType": media_type, "data": b64encode(data).decode()}}


# ---------------------------------------------------------------- the request


@pytest.mark.parametrize(
    ("base", "model", "url"),
    [
        (
            "https://g.example",
            "gemini-3-pro",
            "https://g.example/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse",
        ),
        (
            "https://g.example",
            "tunedModels/mine",
            "https://g.example/v1beta/tunedModels/mine:streamGenerateContent?alt=sse",
        ),
        (
            "https://v.example/v1/projects/p/publishers/google",
            "gemini-3-pro",
            "https://v.example/v1/projects/p/publishers/google/models/gemini-3-pro:streamGenerateContent?alt=sse",
        ),
        (
            "https://g.example/v1beta1",
            "a b",
            "https://g.example/v1beta1/models/a%20b:streamGenerateContent?alt=sse",
        ),
    ],
)
def test_the_address_names_the_model_below_a_version(base, model, url):
    facts = ModelFacts(backend="g", model=model, wire="gemini")
    sent = CODEC.encode(ModelRequest(system="", messages=(HI,)), facts, Endpoint(base_url=base))
    assert sent.method == "POST"
    assert sent.url == url
    assert dict(sent.headers) == {"content-type": "application/json"}


def test_the_key_goes_into_its_header_and_a_token_is_a_bearer():
    request = ModelRequest(system="", messages=(HI,))
    extra = Endpoint(
        base_url="https://g.example", api_key="k", headers=(("x-a", "1"),), query=(("b", "2"),)
    )
    sent = CODEC.encode(request, THIRD, extra)
    assert dict(sent.headers)["x-goog-api-key"] == "k"
    assert dict(sent.headers)["x-a"] == "1"
    assert sent.url.endswith("?alt=sse&b=2")
    token = Endpoint(base_url="https://g.example", api_key="ya29.abc")
    headers = dict(CODEC.encode(request, THIRD, token).headers)
    assert headers["authorization"] == "Bearer ya29.abc"
    assert "x-goog-api-key" not in headers


def test_the_whole_body_of_a_first_request():
    body = encode(HI, tools=(tool(),), effort=Effort.MEDIUM, max_output_tokens=500, session="s")
    assert body == {
        "systemInstruction": {"parts": [{"text": "Be good."}]},
        "tools": [
            {
                "functionDeclarations": [
                    {
                        "name": "read_file",
                        "description": "Read it.",
                        "parametersJsonSchema": {
                            "type": "object",
                            "properties": {"path": {"type": "string"}},
                            "required": ["path"],
                            "additionalProperties": False,
                        },
                    }
                ]
            }
        ],
        "generationConfig": {
            "maxOutputTokens": 500,
            "thinkingConfig": {"includeThoughts": True, "thinkingLevel": "medium"},
        },
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
    }


def test_a_body_with_nothing_but_contents_is_json():
    facts = ModelFacts(backend="g", model="gemma", wire="gemini")
    sent = CODEC.encode(ModelRequest(system="", messages=(HI,)), facts, ENDPOINT)
    assert json.loads(sent.body) == {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}


@pytest.mark.parametrize(
    ("raw", "declared"),
    [
        ({"type": "object"}, {}),
        ({"type": "object", "properties": {}, "additionalProperties": False}, {}),
        (
            {"type": "object", "additionalProperties": True},
            {"parametersJsonSchema": {"type": "object", "additionalProperties": True}},
        ),
        (
            {"properties": {"a": {"type": ["string", "null"]}}},
            {
                "parameters": {
                    "type": "OBJECT",
                    "properties": {"a": {"type": "STRING", "nullable": True}},
                }
            },
        ),
    ],
)
def test_a_schema_is_sent_as_it_is_where_it_is_understood_and_converted_elsewhere(raw, declared):
    (group,) = encode(HI, tools=(tool(raw),))["tools"]
    (found,) = group["functionDeclarations"]
    assert found == {"name": "read_file", "description": "Read it.", **declared}


# ---------------------------------------------------------------- thinking


@pytest.mark.parametrize(
    ("model", "effort", "thinking"),
    [
        (
            "gemini-3-pro-preview",
            Effort.NONE,
            {"includeThoughts": True, "thinkingLevel": "minimal"},
        ),
        ("gemini-3-pro-preview", Effort.HIGH, {"includeThoughts": True, "thinkingLevel": "high"}),
        ("gemini-3.6-flash", Effort.MAX, {"includeThoughts": True, "thinkingLevel": "xhigh"}),
        ("gemini-flash-latest", Effort.LOW, {"includeThoughts": True, "thinkingLevel": "low"}),
        ("gemini-2.5-flash", Effort.NONE, {"includeThoughts": False, "thinkingBudget": 0}),
        ("gemini-2.5-flash", Effort.MAX, {"includeThoughts": True, "thinkingBudget": 24576}),
        ("gemini-2.5-pro", Effort.NONE, {"includeThoughts": True, "thinkingBudget": 128}),
        ("gemini-2.5-pro", Effort.MAX, {"includeThoughts": True, "thinkingBudget": 32768}),
        ("gemini-2.5-pro", None, {"includeThoughts": True}),
    ],
)
def test_effort_is_a_level_or_a_budget_by_generation(model, effort, thinking):
    facts = ModelFacts(backend="g", model=model, wire="gemini", efforts=ALL)
    assert encode(HI, facts=facts, effort=effort)["generationConfig"]["thinkingConfig"] == thinking


def test_a_model_that_does_not_think_is_not_asked_to():
    facts = ModelFacts(backend="g", model="gemma-3", wire="gemini")
    assert "generationConfig" not in encode(HI, facts=facts, effort=Effort.HIGH)


@pytest.mark.parametrize(
    ("model", "number"),
    [
        ("gemini-2.5-pro", 2),
        ("models/gemini-3-pro-preview", 3),
        ("gemini-10-ultra", 10),
        ("gemini-pro-latest", 3),
        ("gemma-3-27b", 0),
    ],
)
def test_the_generation_is_in_the_name(model, number):
    assert generation(model) == number


# ---------------------------------------------------------------- messages


def test_a_users_message_is_parts():
    message = User((
        Text("look"),
        Note("linux", source="environment"),
        Image("image/png", b"png"),
        Document("application/pdf", b"%PDF"),
    ))
    assert contents(message) == [
        {
            "role": "user",
            "parts": [
                {"text": "look"},
                {"text": '<note source="environment">\nlinux\n</note>'},
                inline("image/png", b"png"),
                inline("application/pdf", b"%PDF"),
            ],
        }
    ]


def test_signatures_go_back_on_the_very_parts_they_came_with():
    answer = Assistant(
        (
            Thinking("hm", "s1"),
            Thinking("shown only"),
            Text("words", "s2"),
            Text("", "s3"),
            Image("image/png", b"png", signature="s4"),
            CODE,
            SOURCES,
            ToolCall("c1", "read_file", {"path": "a"}, signature="s5"),
            ToolCall("c2", "read_file", {"path": "b"}),
        ),
        origin=HERE,
    )
    results = ToolResults((
        ToolResult("c1", "read_file", (Text("A"),)),
        ToolResult("c2", "read_file", (Text("gone"),), is_error=True),
    ))
    _, model, user = contents(HI, answer, results)
    assert model == {
        "role": "model",
        "parts": [
            {"text": "hm", "thought": True, "thoughtSignature": "s1"},
            {"text": "words", "thoughtSignature": "s2"},
            {"text": "", "thoughtSignature": "s3"},
            {**inline("image/png", b"png"), "thoughtSignature": "s4"},
            CODE.payload,
            {
                "functionCall": {"id": "c1", "name": "read_file", "args": {"path": "a"}},
                "thoughtSignature": "s5",
            },
            {"functionCall": {"id": "c2", "name": "read_file", "args": {"path": "b"}}},
        ],
    }
    assert user["parts"] == [
        {"functionResponse": {"id": "c1", "name": "read_file", "response": {"output": "A"}}},
        {"functionResponse": {"id": "c2", "name": "read_file", "response": {"error": "gone"}}},
    ]


def test_calls_of_another_model_get_the_documented_stand_in_where_gemini_3_wants_a_signature():
    answer = Assistant((Text("ok"), ToolCall("a", "f", {}), ToolCall("b", "f", {})))
    results = ToolResults(tuple(ToolResult(name, "f", (Text("x"),)) for name in "ab"))
    parts = contents(HI, answer, results)[1]["parts"]
    assert [part.get("thoughtSignature") for part in parts] == [None, SKIP, None]
    parts = contents(HI, answer, results, facts=SECOND)[1]["parts"]
    assert not any("thoughtSignature" in part for part in parts)


def test_what_follows_results_at_once_joins_them_so_that_roles_alternate():
    call = Assistant((ToolCall("a", "f", {}),))
    results = ToolResults((ToolResult("a", "f", (Text("x"),)),))
    sent = contents(HI, call, results, User((Text("and?"),)), User((Text("well?"),)))
    assert [content["role"] for content in sent] == ["user", "model", "user"]
    assert sent[2]["parts"][1:] == [{"text": "and?"}, {"text": "well?"}]


def test_an_answer_of_which_nothing_goes_back_leaves_no_gap():
    sent = contents(HI, Assistant((SOURCES,), origin=HERE), User((Text("on"),)))
    assert sent == [{"role": "user", "parts": [{"text": "hi"}, {"text": "on"}]}]


def test_pictures_in_a_result_stand_in_it_or_after_all_results():
    call = Assistant((ToolCall("a", "f", {}), ToolCall("b", "f", {})))
    picture, odd = Image("image/png", b"png"), Image("image/bmp", b"bmp")
    results = ToolResults((
        ToolResult("a", "f", (Text("x"), picture, odd)),
        ToolResult("b", "f", (Text("y"),)),
    ))
    first, second, *rest = contents(HI, call, results)[2]["parts"]
    assert first["functionResponse"]["parts"] == [inline("image/png", b"png")]
    assert "parts" not in second["functionResponse"]
    assert rest == [{"text": "From f (a):"}, inline("image/bmp", b"bmp")]
    older = contents(HI, call, results, facts=SECOND)[2]["parts"]
    assert "parts" not in older[0]["functionResponse"]
    assert older[2:] == [
        {"text": "From f (a):"},
        inline("image/png", b"png"),
        inline("image/bmp", b"bmp"),
    ]


def test_gemini_3_searches_beside_functions_and_older_ones_only_without_them():
    body = encode(HI, tools=(tool(),), web_search=True)
    assert body["tools"][1:] == [{"googleSearch": {}}]
    assert body["toolConfig"] == {"includeServerSideToolInvocations": True}
    official.check("gemini", body)
    older = encode(HI, facts=SECOND, tools=(tool(),), web_search=True)
    assert older == encode(HI, facts=SECOND, tools=(tool(),))
    alone = encode(HI, facts=SECOND, web_search=True)
    assert alone["tools"] == [{"googleSearch": {}}]
    assert "toolConfig" not in alone
    official.check("gemini", alone)


# ---------------------------------------------------------------- properties


@pytest.mark.parametrize("facts", [SECOND, THIRD], ids=["second", "third"])
@settings(max_examples=60)
@given(data=st.data())
def test_any_history_becomes_contents_the_api_takes(histories, facts, data):
    history = data.draw(histories(facts, [CODE, SOURCES]))
    if history:
        check_contents(contents(*history, facts=facts), third=facts is THIRD)


@settings(max_examples=40)
@given(data=st.data())
def test_a_longer_conversation_begins_with_the_bytes_of_the_shorter(histories, data):
    history = data.draw(histories(THIRD, [CODE, SOURCES]))
    codec = GeminiCodec()
    earlier = b""
    for length in range(1, len(history) + 1):
        request = ModelRequest(system="s", messages=history[:length], tools=(tool(),))
        body = codec.encode(request, THIRD, ENDPOINT).body
        assert body == GeminiCodec().encode(request, THIRD, ENDPOINT).body
        assert body.startswith(earlier.removesuffix(b"]}]}"))
        earlier = body


# ---------------------------------------------------------------- lists


def test_models_are_listed_in_one_page():
    request = CODEC.list_request(ENDPOINT)
    assert request.method == "GET"
    assert request.url == "https://gemini.example/v1beta/models?pageSize=1000"
    assert dict(request.headers) == {"x-goog-api-key": "secret"}


def test_a_list_holds_the_models_that_generate_content():
    body = json.dumps({
        "models": [
            {
                "name": "models/gemini-3-pro",
                "displayName": "Gemini 3 Pro",
                "inputTokenLimit": 1000,
                "outputTokenLimit": 100,
                "supportedGenerationMethods": ["generateContent"],
            },
            {"name": "models/embed", "supportedGenerationMethods": ["embedContent"]},
            {"displayName": "nameless"},
        ]
    })
    (found,) = CODEC.decode_list(body.encode())
    assert (found.id, found.display_name) == ("gemini-3-pro", "Gemini 3 Pro")
    assert (found.context_window, found.max_output) == (1000, 100)


def test_vertex_lists_its_models_under_another_name():
    body = b'{"publisherModels": [{"name": "publishers/google/models/gemini-3-pro"}]}'
    assert [found.id for found in CODEC.decode_list(body)] == ["gemini-3-pro"]


@pytest.mark.parametrize("body", [b"<html>", b"{}", b'{"models": 1}'])
def test_what_is_no_list_of_models_is_an_error(body):
    with pytest.raises(ValueError, match="no list of models"):
        CODEC.decode_list(body)
