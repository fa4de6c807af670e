"""What a request looks like on the wire."""

import json
from itertools import pairwise
from typing import Any

import pytest
from inline_snapshot import snapshot

from hame.base.message import (
    Assistant,
    Document,
    Image,
    Message,
    Note,
    Opaque,
    StopReason,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    ToolResults,
    User,
)
from hame.base.model import CacheLifetime, Effort, Endpoint, ModelFacts, Quirk
from hame.base.ports import HttpRequest, ModelRequest
from hame.base.tool import Argument, ArgumentKind, Effect, ToolSpec
from hame.llm.wires.anthropic_messages import CODEC
from legal import official

WIRE = "anthropic_messages"
ENDPOINT = Endpoint(base_url="https://api.anthropic.com", api_key="key")
EFFORTS = frozenset({Effort.NONE, Effort.LOW, Effort.MEDIUM, Effort.HIGH, Effort.MAX})


def facts(*quirks: Quirk, **members: Any) -> ModelFacts:
    return ModelFacts(
        backend="anthropic", model="claude", wire=WIRE, quirks=frozenset(quirks), **members
    )


FACTS = facts(documents=True)
BUDGET = facts(Quirk.INTERLEAVED_THINKING, efforts=EFFORTS, max_output=64_000)
ADAPTIVE = facts(Quirk.ADAPTIVE_THINKING, efforts=EFFORTS, max_output=128_000)

READ = ToolSpec(
    name="read_file",
    description="Reads a file.",
    effect=Effect.READ,
    arguments=(Argument(name="path", kind=ArgumentKind.EXISTING_FILE, description="Where"),),
)
LIST = ToolSpec(name="list_dir", description="", effect=Effect.READ)

HELLO = User((Text("hello"),))


def send(
    request: ModelRequest, known: ModelFacts = FACTS, where: Endpoint = ENDPOINT
) -> HttpRequest:
    return CODEC.encode(request, known, where)


def encode(*messages: Message, known: ModelFacts = FACTS, **members: Any) -> Any:
    members.setdefault("system", "Be brief.")
    return json.loads(send(ModelRequest(messages=messages, **members), known).body)


def turns(*messages: Message, known: ModelFacts = FACTS) -> Any:
    """The turns without their cache marks."""
    found = encode(*messages, known=known)["messages"]
    for turn in found:
        for block in turn["content"]:
            block.pop("cache_control", None)
    return found


def headers(request: HttpRequest) -> dict[str, str]:
    return dict(request.headers)


def asks(*ids: str) -> Assistant:
    calls = tuple(ToolCall(name, "read_file", {"path": name}) for name in ids)
    return Assistant(calls, stop_reason=StopReason.TOOL_USE)


def results(*ids: str) -> ToolResults:
    return ToolResults(tuple(ToolResult(name, "read_file", (Text(f"of {name}"),)) for name in ids))


def marks(body: Any) -> list[str]:
    """Where the cache marks are, in the order in which the provider caches."""
    found = [
        f"tools.{i}" for i, tool in enumerate(body.get("tools", ())) if "cache_control" in tool
    ]
    found += [f"system.{i}" for i, b in enumerate(body.get("system", ())) if "cache_control" in b]
    for i, turn in enumerate(body["messages"]):
        found += [f"{i}.{j}" for j, b in enumerate(turn["content"]) if "cache_control" in b]
    return found


# ---------------------------------------------------------------- the whole


def test_a_request_in_full():
    body = encode(HELLO, asks("a"), results("a"), tools=(READ, LIST))
    assert body == snapshot({
        "model": "claude",
        "max_tokens": 8192,
        "stream": True,
        "tools": [
            {
                "name": "read_file",
                "description": "Reads a file.",
                "input_schema": {
                    "type": "object",
                    "properties": {"path": {"type": "string", "description": "Where"}},
                    "required": ["path"],
                    "additionalProperties": False,
                },
            },
            {
                "name": "list_dir",
                "input_schema": {"type": "object", "properties": {}, "additionalProperties": False},
                "cache_control": {"type": "ephemeral"},
            },
        ],
        "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "hello", "cache_control": {"type": "ephemeral"}}
                ],
            },
            {
                "role": "assistant",
                "content": [
                    {"type": "tool_use", "id": "a", "name": "read_file", "input": {"path": "a"}}
                ],
            },
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "a",
                        "content": "of a",
                        "cache_control": {"type": "ephemeral"},
                    }
                ],
            },
        ],
    })


def test_a_request_goes_to_messages_with_the_key_and_the_version():
    request = send(ModelRequest(system="", messages=(HELLO,)))
    assert (request.method, request.url) == ("POST", "https://api.anthropic.com/v1/messages")
    assert headers(request) == snapshot({
        "accept": "text/event-stream",
        "anthropic-version": "2023-06-01",
        "content-type": "application/json",
        "x-api-key": "key",
    })


@pytest.mark.parametrize("base", ["http://h/a", "http://h/a/", "http://h/a/v1", "http://h/a/v1/"])
def test_a_base_url_is_taken_with_and_without_its_version(base: str):
    where = Endpoint(base_url=base)
    request = send(ModelRequest(system="", messages=(HELLO,)), where=where)
    assert request.url == "http://h/a/v1/messages"
    assert "x-api-key" not in headers(request)


def test_headers_and_query_of_the_endpoint_are_sent_and_win():
    where = Endpoint(
        base_url="http://h",
        api_key="key",
        headers=(("Authorization", "Bearer t"), ("Anthropic-Version", "2030-01-01")),
        query=(("tenant", "a b"),),
    )
    request = send(ModelRequest(system="", messages=(HELLO,)), where=where)
    assert request.url == "http://h/v1/messages?tenant=a+b"
    assert headers(request)["authorization"] == "Bearer t"
    assert headers(request)["anthropic-version"] == "2030-01-01"


def test_an_empty_system_prompt_is_left_out():
    assert "system" not in encode(HELLO, system=" ")


# ---------------------------------------------------------------- tools


def raw(schema: dict) -> ToolSpec:
    return ToolSpec(name="t", description="d", effect=Effect.RUN, raw_schema=schema)


@pytest.mark.parametrize(
    ("schema", "sent"),
    [
        ({}, {"type": "object", "properties": {}}),
        (
            {
                "type": "object",
                "properties": {"a": {"$ref": "#/$defs/A"}},
                "$defs": {"A": {"type": "null"}},
            },
            {"type": "object", "properties": {"a": {"type": "null"}}},
        ),
        (
            {
                "anyOf": [
                    {"properties": {"a": {"type": "string"}, "c": {}}, "required": ["a", "c"]},
                    {"properties": {"b": {"type": "string"}, "c": {}}, "required": ["c", "b"]},
                ]
            },
            {
                "type": "object",
                "properties": {"b": {"type": "string"}, "c": {}, "a": {"type": "string"}},
                "required": ["c"],
                "description": 'anyOf: [{"properties":{"a":{"type":"string"},"c":{}},'
                '"required":["a","c"]},{"properties":{"b":{"type":"string"},"c":{}},'
                '"required":["c","b"]}].',
            },
        ),
        (
            {
                "type": "object",
                "properties": {"a": {"type": "string"}},
                "required": ["a"],
                "allOf": [{"properties": {"b": {}}, "required": ["b"]}, {"properties": {"a": {}}}],
            },
            {
                "type": "object",
                "properties": {"a": {"type": "string"}, "b": {}},
                "required": ["a", "b"],
            },
        ),
    ],
)
def test_a_schema_has_a_plain_object_at_its_top(schema: dict, sent: dict):
    assert encode(HELLO, tools=(raw(schema),))["tools"][0]["input_schema"] == sent


def test_calls_come_one_by_one_where_the_model_needs_that():
    known = facts(Quirk.NO_PARALLEL_CALLS)
    choice = {"type": "auto", "disable_parallel_tool_use": True}
    assert encode(HELLO, known=known, tools=(READ,))["tool_choice"] == choice
    assert "tool_choice" not in encode(HELLO, known=known)
    assert "tool_choice" not in encode(HELLO, tools=(READ,))


# ---------------------------------------------------------------- limits and thinking


@pytest.mark.parametrize(
    ("known", "asked", "sent"),
    [
        (facts(), None, 8192),
        (facts(), 100_000, 100_000),
        (facts(max_output=4096), None, 4096),
        (facts(max_output=4096), 8000, 4096),
        (facts(max_output=64_000), None, 32_000),
        (facts(max_output=64_000), 500, 500),
    ],
)
def test_the_output_is_always_limited(known: ModelFacts, asked: int | None, sent: int):
    assert encode(HELLO, known=known, max_output_tokens=asked)["max_tokens"] == sent


@pytest.mark.parametrize(
    ("effort", "thinking", "limit"),
    [
        (None, None, 32_000),
        (Effort.NONE, {"type": "disabled"}, 32_000),
        (Effort.LOW, {"type": "enabled", "budget_tokens": 2048}, 34_048),
        (Effort.MEDIUM, {"type": "enabled", "budget_tokens": 8192}, 40_192),
        (Effort.HIGH, {"type": "enabled", "budget_tokens": 16_384}, 48_384),
        (Effort.MAX, {"type": "enabled", "budget_tokens": 32_000}, 64_000),
    ],
)
def test_an_effort_is_a_budget_with_room_beside_the_answer(
    effort: Effort | None, thinking: dict | None, limit: int
):
    body = encode(HELLO, known=BUDGET, effort=effort)
    assert body.get("thinking") == thinking
    assert body["max_tokens"] == limit


def test_a_budget_leaves_half_of_a_limit_that_the_user_set():
    body = encode(HELLO, known=BUDGET, effort=Effort.HIGH, max_output_tokens=4000)
    assert body["thinking"]["budget_tokens"] == 2000
    assert body["max_tokens"] == 4000


def test_a_limit_too_small_for_the_least_budget_is_not_thought_about():
    assert "thinking" not in encode(HELLO, known=BUDGET, effort=Effort.HIGH, max_output_tokens=2000)


def test_thinking_between_calls_is_asked_for_where_it_must_be():
    thoughtful = ModelRequest(system="", messages=(HELLO,), effort=Effort.HIGH)
    plain = ModelRequest(system="", messages=(HELLO,))
    assert headers(send(thoughtful, BUDGET))["anthropic-beta"] == "interleaved-thinking-2025-05-14"
    assert "anthropic-beta" not in headers(send(plain, BUDGET))
    assert "anthropic-beta" not in headers(send(thoughtful, ADAPTIVE))


def test_beta_headers_of_the_endpoint_stay():
    where = Endpoint(base_url="http://h", headers=(("anthropic-beta", "mine"),))
    request = send(ModelRequest(system="", messages=(HELLO,), effort=Effort.HIGH), BUDGET, where)
    assert headers(request)["anthropic-beta"] == "mine,interleaved-thinking-2025-05-14"


@pytest.mark.parametrize(
    ("effort", "sent"),
    [
        (None, {"thinking": {"type": "adaptive", "display": "summarized"}}),
        (Effort.NONE, {"thinking": {"type": "disabled"}}),
        (
            Effort.MINIMAL,
            {
                "thinking": {"type": "adaptive", "display": "summarized"},
                "output_config": {"effort": "low"},
            },
        ),
        (
            Effort.MAX,
            {
                "thinking": {"type": "adaptive", "display": "summarized"},
                "output_config": {"effort": "max"},
            },
        ),
    ],
)
def test_a_model_that_decides_by_itself_is_told_an_effort(effort: Effort | None, sent: dict):
    known = facts(Quirk.ADAPTIVE_THINKING, efforts=frozenset(Effort))
    body = encode(HELLO, known=known, effort=effort)
    assert {key: body[key] for key in ("thinking", "output_config") if key in body} == sent


def thinks(*, text: str = "hm", signature: str | None = "s") -> Assistant:
    call = ToolCall("a", "read_file", {"path": "a"})
    return Assistant((Thinking(text, signature), call), stop_reason=StopReason.TOOL_USE)


@pytest.mark.parametrize(
    ("history", "budget"),
    [
        ((HELLO,), True),
        ((HELLO, thinks(), results("a")), True),
        ((HELLO, thinks(), results("a"), asks("b"), results("b")), True),
        ((HELLO, asks("a"), results("a")), False),
        ((HELLO, asks("a"), results("a"), thinks(), results("a")), False),
        ((HELLO, thinks(signature=None), results("a")), False),
        ((HELLO, asks("a"), results("a"), Assistant((Text("done"),)), HELLO), True),
        ((HELLO, asks("a"), results("a"), User((Text("and be quick"),))), False),
        (
            (
                HELLO,
                Assistant((
                    Opaque(WIRE, "redacted_thinking", {"type": "redacted_thinking"}),
                    Text("x"),
                )),
                HELLO,
            ),
            True,
        ),
    ],
)
def test_a_turn_that_did_not_begin_with_thinking_is_finished_without(
    history: tuple[Message, ...], budget: bool
):
    body = encode(*history, known=BUDGET, effort=Effort.HIGH)
    assert ("thinking" in body) is budget


# ---------------------------------------------------------------- the conversation


def test_all_results_of_an_answer_are_one_turn():
    found = turns(HELLO, asks("a", "b"), results("a", "b"))
    assert [turn["role"] for turn in found] == ["user", "assistant", "user"]
    assert [block["tool_use_id"] for block in found[2]["content"]] == ["a", "b"]


def test_what_the_user_says_after_results_stands_behind_them_in_the_same_turn():
    found = turns(HELLO, asks("a"), results("a"), User((Text("stop"), Note("mode: plan", "mode"))))
    assert [block["type"] for block in found[-1]["content"]] == ["tool_result", "text", "text"]
    assert found[-1]["content"][2]["text"] == '<note source="mode">\nmode: plan\n</note>'


def test_results_are_text_where_they_are_only_text():
    picture = Image("image/png", b"png")
    message = ToolResults((
        ToolResult("a", "t", (Text("one"),)),
        ToolResult("b", "t", (Text("one"), Text("two")), is_error=True),
        ToolResult("c", "t", (picture,)),
    ))
    found = turns(HELLO, asks("a", "b", "c"), message)[2]["content"]
    assert found == snapshot([
        {"type": "tool_result", "tool_use_id": "a", "content": "one"},
        {
            "type": "tool_result",
            "tool_use_id": "b",
            "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}],
            "is_error": True,
        },
        {
            "type": "tool_result",
            "tool_use_id": "c",
            "content": [
                {
                    "type": "image",
                    "source": {"type": "base64", "media_type": "image/png", "data": "cG5n"},
                }
            ],
        },
    ])


def test_pictures_and_documents_go_as_base64():
    content = (
        Image("image/png", b"png"),
        Document("application/pdf", b"pdf", name="a.pdf"),
        Document("text/plain", "grün".encode(), name=""),
    )
    assert turns(User(content))[0]["content"] == snapshot([
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "cG5n"}},
        {
            "type": "document",
            "source": {"type": "base64", "media_type": "application/pdf", "data": "cGRm"},
            "title": "a.pdf",
        },
        {
            "type": "document",
            "source": {"type": "text", "media_type": "text/plain", "data": "grün"},
        },
    ])


def test_files_the_wire_does_not_take_are_named_in_words():
    content = (
        Image("image/svg+xml", b"<svg/>", name="logo.svg"),
        Document("application/zip", b"PK"),
    )
    assert [block["text"] for block in turns(User(content))[0]["content"]] == [
        "[image/svg+xml logo.svg: not readable for this model]",
        "[application/zip: not readable for this model]",
    ]


def test_thinking_goes_back_byte_for_byte_and_in_its_place():
    redacted: dict = {"type": "redacted_thinking", "data": "=\u00e9/+"}
    answer = Assistant(
        (
            Thinking("one\n", "s=1"),
            Text("\nnow"),
            ToolCall("a", "read_file", {}),
            Thinking("", "s2"),
            Opaque(WIRE, "redacted_thinking", redacted),
            ToolCall("b", "read_file", {}),
        ),
        stop_reason=StopReason.TOOL_USE,
    )
    assert turns(HELLO, answer, results("a", "b"))[1]["content"] == [
        {"type": "thinking", "thinking": "one\n", "signature": "s=1"},
        {"type": "text", "text": "\nnow"},
        {"type": "tool_use", "id": "a", "name": "read_file", "input": {}},
        {"type": "thinking", "thinking": "", "signature": "s2"},
        redacted,
        {"type": "tool_use", "id": "b", "name": "read_file", "input": {}},
    ]


def test_unsigned_thinking_goes_back_only_to_a_server_that_wants_it():
    answer = Assistant((Thinking("hm"), Text("so")))
    assert [block["type"] for block in turns(HELLO, answer, HELLO)[1]["content"]] == ["text"]
    found = turns(HELLO, answer, HELLO, known=facts(Quirk.REASONING_REPLAY))[1]["content"]
    assert found[0] == {"type": "thinking", "thinking": "hm", "signature": ""}


def test_an_answer_does_not_end_with_thinking_or_white_space():
    thought = Assistant((Text("so \n"), Thinking("hm", "s")), stop_reason=StopReason.MAX_TOKENS)
    assert turns(HELLO, thought, HELLO)[1]["content"] == [{"type": "text", "text": "so"}]


def test_an_answer_that_holds_nothing_the_wire_takes_is_left_out():
    refusal = Opaque(WIRE, "refusal", {"type": "refusal", "explanation": "no"})
    picture = Image("image/png", b"png")
    found = turns(HELLO, Assistant((refusal,)), HELLO, Assistant((picture,)), HELLO)
    assert found == [{"role": "user", "content": [{"type": "text", "text": "hello"}] * 3}]


def test_blocks_of_another_wire_are_left_out():
    answer = Assistant((Opaque("gemini", "x", {"type": "x"}), Text("so")))
    assert turns(HELLO, answer, HELLO)[1]["content"] == [{"type": "text", "text": "so"}]


def test_sources_go_back_inside_their_text():
    citation = {"type": "char_location", "cited_text": "Grass."}
    cited = Opaque(WIRE, "citations", {"type": "citations", "citations": [citation]})
    answer = Assistant((Text("Green."), cited, Text("Really.")))
    assert turns(HELLO, answer, HELLO)[1]["content"] == [
        {"type": "text", "text": "Green.", "citations": [citation]},
        {"type": "text", "text": "Really."},
    ]
    assert turns(HELLO, Assistant((cited, Text("x"))), HELLO)[1]["content"] == [
        {"type": "text", "text": "x"}
    ]


SEARCH = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []}


def made(payload: dict) -> Opaque:
    return Opaque(WIRE, payload["type"], payload)


def test_what_the_provider_ran_goes_back_as_it_came():
    answer = Assistant((made(SEARCH), made(FOUND), Text("so")))
    assert turns(HELLO, answer, HELLO)[1]["content"][:2] == [SEARCH, FOUND]


def test_a_call_the_provider_never_ran_is_left_out_of_an_answer_that_stopped():
    answer = Assistant((Text("so"), made(SEARCH)), stop_reason=StopReason.MAX_TOKENS)
    assert turns(HELLO, answer, HELLO)[1]["content"] == [{"type": "text", "text": "so"}]


def test_a_paused_answer_goes_on_with_what_it_holds():
    paused = Assistant((Text("so"), made(SEARCH)), stop_reason=StopReason.PAUSE_TURN)
    rest = Assistant((made(FOUND), Text("done")))
    assert turns(HELLO, paused)[-1]["content"][-1] == SEARCH
    found = turns(HELLO, paused, rest, HELLO)
    assert [turn["role"] for turn in found] == ["user", "assistant", "user"]
    assert found[1]["content"][1:3] == [SEARCH, FOUND]


def test_a_paused_answer_that_never_goes_on_loses_what_was_not_run():
    paused = Assistant(
        (Text("so "), made(SEARCH), Thinking("hm", "s")), stop_reason=StopReason.PAUSE_TURN
    )
    found = turns(HELLO, paused, HELLO)
    assert found[1]["content"] == [{"type": "text", "text": "so"}]
    only = Assistant((made(SEARCH),), stop_reason=StopReason.PAUSE_TURN)
    assert [turn["role"] for turn in turns(HELLO, only, HELLO)] == ["user"]


# ---------------------------------------------------------------- the cache


def conversation(steps: int) -> tuple[Message, ...]:
    history: list[Message] = [User((Note("cwd", "environment"), Text("go")))]
    for step in range(steps):
        history += [asks(f"a{step}", f"b{step}"), results(f"a{step}", f"b{step}")]
    return tuple(history)


@pytest.mark.parametrize(
    ("steps", "moving"), [(0, ["0.1"]), (1, ["0.1", "2.1"]), (3, ["4.1", "6.1"])]
)
def test_four_marks_at_most_of_which_two_move(steps: int, moving: list[str]):
    body = encode(*conversation(steps), tools=(LIST, READ))
    assert marks(body) == ["tools.1", "system.0", *moving]


@pytest.mark.parametrize(
    ("cache", "prefix", "moving"),
    [
        (CacheLifetime.SHORT, {None}, {None}),
        (CacheLifetime.PREFIX, {"1h"}, {None}),
        (CacheLifetime.LONG, {"1h"}, {"1h"}),
    ],
)
def test_marks_last_as_long_as_is_asked_the_long_ones_first(
    cache: CacheLifetime, prefix: set[str | None], moving: set[str | None]
):
    body = encode(*conversation(3), tools=(LIST, READ), cache=cache)
    assert lifetimes(body["tools"]) | lifetimes(body["system"]) == prefix
    assert lifetimes([block for turn in body["messages"] for block in turn["content"]]) == moving
    official.check("anthropic_messages", body)
    known = facts(Quirk.NO_LONG_CACHE)
    short = encode(*conversation(3), known=known, tools=(LIST, READ), cache=cache)
    assert short == encode(*conversation(3), known=known, tools=(LIST, READ))


def lifetimes(blocks: list[dict]) -> set[str | None]:
    return {block["cache_control"].get("ttl") for block in blocks if "cache_control" in block}


def test_the_provider_searches_the_web_only_when_it_is_let():
    body = encode(HELLO, tools=(READ,), web_search=True)
    assert [tool["name"] for tool in body["tools"]] == ["read_file", "web_search"]
    assert body["tools"][1]["type"] == "web_search_20250305"
    assert marks(body)[0] == "tools.1"
    official.check("anthropic_messages", body)
    alone = encode(HELLO, web_search=True)
    assert [tool["name"] for tool in alone["tools"]] == ["web_search"]
    assert b"web_search" not in send(ModelRequest(system="s", messages=(HELLO,))).body


def test_the_last_mark_of_a_request_is_a_mark_of_the_next():
    history = conversation(3)
    before, after = encode(*history[:5]), encode(*history)
    assert marks(before)[-1] in marks(after)


def test_a_longer_conversation_begins_with_the_bytes_of_the_shorter_but_for_the_marks():
    mark = b',"cache_control":{"type":"ephemeral"}'
    history = conversation(4)
    bodies = [
        send(ModelRequest(system="s", messages=history[: 2 * n + 1], tools=(READ,))).body
        for n in range(5)
    ]
    for shorter, longer in pairwise(bodies):
        bare = shorter.replace(mark, b"").removesuffix(b"]}")
        assert longer.replace(mark, b"").startswith(bare)


def test_a_request_is_the_same_whether_or_not_its_beginning_was_written_before():
    history = conversation(3)
    request = ModelRequest(system="s", messages=history, tools=(READ,))
    for end in (1, 3, 5):
        send(ModelRequest(system="s", messages=history[:end], tools=(READ,)))
    grown = send(request).body
    fresh = type(CODEC)().encode(request, FACTS, ENDPOINT).body
    assert grown == fresh
