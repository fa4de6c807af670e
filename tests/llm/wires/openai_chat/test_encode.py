"""What is sent to chat completions servers."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hame.base.message import (
    Assistant,
    Document,
    Image,
    Message,
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
from hame.llm.wires.openai_chat import CODEC
from hame.llm.wires.openai_chat.codec import ChatCodec
from legal import official
from legal.openai_chat import check

HERE = Endpoint(base_url="https://acme.test/v1", api_key="k")
HI = User((Text("hi"),))
READ = ToolSpec(
    name="read_file",
    description="Read a file.",
    effect=Effect.READ,
    arguments=(
        Argument(name="path", kind=ArgumentKind.EXISTING_FILE),
        Argument(name="line", kind=ArgumentKind.NUMBER, type="integer", required=False),
        Argument(name="mode", kind=ArgumentKind.CHOICE, choices=("a", "b"), required=False),
    ),
)


def facts(*quirks: Quirk, **more: Any) -> ModelFacts:
    return ModelFacts(
        backend="acme", model="m", wire="openai_chat", quirks=frozenset(quirks), **more
    )


def body(*messages: Message, of: ModelFacts | None = None, **more: Any) -> dict[str, Any]:
    request = ModelRequest(system=more.pop("system", ""), messages=messages, **more)
    return json.loads(CODEC.encode(request, of or facts(), HERE).body)


def messages(*given_messages: Message, of: ModelFacts | None = None) -> list[dict[str, Any]]:
    return body(*given_messages, of=of)["messages"]


def asks(call_id: str = "a", **more: Any) -> Assistant:
    return Assistant((ToolCall(id=call_id, name="read_file", arguments={"path": "x"}, **more),))


def test_a_request_goes_to_its_place_with_its_key():
    endpoint = Endpoint(
        base_url="https://acme.test/v1",
        api_key="k",
        headers=(("x-title", "hame"),),
        query=(("api-version", "1"),),
    )
    request = CODEC.encode(ModelRequest(system="s", messages=(HI,)), facts(), endpoint)
    assert request.method == "POST"
    assert request.url == "https://acme.test/v1/chat/completions?api-version=1"
    assert ("authorization", "Bearer k") in request.headers
    assert ("x-title", "hame") in request.headers
    assert ("content-type", "application/json") in request.headers


def test_without_a_key_none_is_sent():
    endpoint = Endpoint(base_url="http://127.0.0.1:1/v1")
    request = CODEC.encode(ModelRequest(system="s", messages=(HI,)), facts(), endpoint)
    assert not any(name == "authorization" for name, _ in request.headers)


def test_the_body_asks_for_a_stream_with_usage():
    sent = body(HI, system="Be kind.")
    assert sent["model"] == "m"
    assert sent["stream"] is True
    assert sent["stream_options"] == {"include_usage": True}
    assert sent["messages"] == [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "hi"},
    ]
    assert "tools" not in sent
    assert "max_tokens" not in sent
    assert "reasoning_effort" not in sent


def test_quirks_change_names_and_leave_members_out():
    sent = body(
        HI,
        system="s",
        session="s1",
        max_output_tokens=9,
        tools=(READ,),
        of=facts(
            Quirk.MAX_COMPLETION_TOKENS,
            Quirk.NO_STREAM_USAGE,
            Quirk.DEVELOPER_ROLE,
            Quirk.PROMPT_CACHE_KEY,
            Quirk.NO_PARALLEL_CALLS,
        ),
    )
    assert sent["max_completion_tokens"] == 9
    assert "max_tokens" not in sent
    assert "stream_options" not in sent
    assert sent["messages"][0]["role"] == "developer"
    assert sent["prompt_cache_key"] == "s1"
    assert sent["parallel_tool_calls"] is False


@pytest.mark.parametrize(
    ("asked", "most", "sent"),
    [(None, None, None), (9, None, 9), (None, 9, 9), (None, 99_999, 32_000), (99, 50, 50)],
)
def test_the_output_limit_is_the_users_within_the_models(asked, most, sent):
    limited = body(HI, max_output_tokens=asked, of=facts(max_output=most))
    assert limited.get("max_tokens") == sent


@pytest.mark.parametrize(
    ("asked", "sent"),
    [(Effort.LOW, "low"), (Effort.MAX, "xhigh"), (Effort.NONE, "low"), (None, None)],
)
def test_the_effort_is_the_nearest_the_model_takes(asked, sent):
    of = facts(efforts=frozenset({Effort.LOW, Effort.MEDIUM, Effort.MAX}))
    assert body(HI, effort=asked, of=of).get("reasoning_effort") == sent


def test_an_effort_is_not_sent_to_a_model_that_takes_none():
    assert "reasoning_effort" not in body(HI, effort=Effort.HIGH)


# ---------------------------------------------------------------- messages


def test_notes_are_told_apart_from_the_users_words():
    user = User((Note("cwd: /x", source="environment"), Text("hi"), Note("n")))
    (sent,) = messages(user)
    assert sent["content"] == (
        '<note source="environment">\ncwd: /x\n</note>\n\nhi\n\n<note>\nn\n</note>'
    )


def test_pictures_and_documents_go_as_parts():
    picture = Image("image/png", b"png")
    paper = Document("application/pdf", b"pdf", "a.pdf")
    (sent,) = messages(User((Text("see"), picture, paper)))
    assert sent["content"] == [
        {"type": "text", "text": "see"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,cG5n"}},
        {
            "type": "file",
            "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,cGRm"},
        },
    ]


def test_an_answer_with_a_call_has_no_empty_content():
    sent = messages(HI, asks())[1]
    assert sent["content"] is None
    assert sent["tool_calls"] == [
        {
            "id": "a",
            "type": "function",
            "function": {"name": "read_file", "arguments": '{"path":"x"}'},
        }
    ]


def test_results_are_a_message_each():
    results = ToolResults((
        ToolResult(call_id="a", name="f", content=(Text("fine"), Text("more"))),
        ToolResult(call_id="b", name="g", content=(Text("no file"),), is_error=True),
        ToolResult(call_id="c", name="h", content=(Text("Error: x"),), is_error=True),
        ToolResult(call_id="d", name="i", content=()),
    ))
    assert messages(results) == [
        {"role": "tool", "tool_call_id": "a", "content": "fine\nmore"},
        {"role": "tool", "tool_call_id": "b", "content": "Error: no file"},
        {"role": "tool", "tool_call_id": "c", "content": "Error: x"},
        {"role": "tool", "tool_call_id": "d", "content": "(no output)"},
    ]
    named = messages(results, of=facts(Quirk.TOOL_NAME_IN_RESULT))
    assert [message["name"] for message in named] == ["f", "g", "h", "i"]


def test_pictures_of_results_follow_in_a_message_of_the_users():
    picture = Image("image/png", b"png")
    results = ToolResults((
        ToolResult(call_id="a", name="f", content=(Text("see"), picture)),
        ToolResult(call_id="b", name="g", content=(Text("fine"),)),
    ))
    sent = messages(results)
    assert [message["role"] for message in sent] == ["tool", "tool", "user"]
    assert sent[2]["content"][0] == {"type": "text", "text": "From f (a):"}
    assert sent[2]["content"][1]["type"] == "image_url"


def test_a_refusal_goes_back_as_its_words():
    refusal = Opaque("openai_chat", "refusal", {"refusal": "No."}, summary="No.")
    assert messages(HI, Assistant((refusal,)))[1]["content"] == "No."


def test_thinking_goes_back_only_where_it_is_wanted():
    answer = Assistant((Thinking("hm"), *asks().content))
    assert "reasoning_content" not in messages(HI, answer)[1]
    replayed = messages(HI, answer, of=facts(Quirk.REASONING_REPLAY))
    assert replayed[1]["reasoning_content"] == "hm"
    alone = Assistant((Thinking("hm"), Text("yes")))
    assert "reasoning_content" not in messages(HI, alone, of=facts(Quirk.REASONING_REPLAY))[1]


def test_reasoning_details_go_back_unchanged_where_they_are_wanted():
    details = [{"type": "reasoning.encrypted", "data": "x"}]
    kept = Opaque("openai_chat", "reasoning_details", {"details": details})
    answer = Assistant((kept, Text("yes")))
    assert "reasoning_details" not in messages(HI, answer)[1]
    replayed = messages(HI, answer, of=facts(Quirk.REASONING_DETAILS))
    assert replayed[1]["reasoning_details"] == details


def test_a_signature_goes_back_where_gemini_looks_for_it():
    sent = messages(HI, asks(signature="sig"))[1]["tool_calls"][0]
    assert sent["extra_content"] == {"google": {"thought_signature": "sig"}}


def test_an_answer_stands_between_results_and_the_user_where_they_may_not_meet():
    results = ToolResults((ToolResult(call_id="a", name="f", content=(Text("x"),)),))
    mistral = facts(Quirk.ALTERNATING_ROLES)
    roles = [message["role"] for message in messages(HI, asks(), results, HI, of=mistral)]
    assert roles == ["user", "assistant", "tool", "assistant", "user"]
    roles = [message["role"] for message in messages(HI, asks(), results, HI)]
    assert roles == ["user", "assistant", "tool", "user"]


# ---------------------------------------------------------------- tools


def test_tools_are_declared_with_their_schema():
    (sent,) = body(HI, tools=(READ,))["tools"]
    assert sent["type"] == "function"
    assert sent["function"]["name"] == "read_file"
    assert sent["function"]["parameters"] == READ.schema()


def test_a_schema_without_properties_gets_an_empty_set():
    bare = ToolSpec(name="ping", description="", effect=Effect.READ, raw_schema={})
    (sent,) = body(HI, tools=(bare,))["tools"]
    assert sent["function"]["parameters"] == {"type": "object", "properties": {}}


def test_strict_schemas_require_every_member_and_let_optional_ones_be_null():
    (sent,) = body(HI, tools=(READ,), of=facts(Quirk.STRICT_SCHEMA))["tools"]
    function = sent["function"]
    assert function["strict"] is True
    assert function["parameters"]["required"] == ["path", "line", "mode"]
    properties = function["parameters"]["properties"]
    assert properties["path"]["type"] == "string"
    assert properties["line"]["type"] == ["integer", "null"]
    assert properties["mode"]["enum"] == ["a", "b", None]


# ---------------------------------------------------------------- the stable prefix


def sent_bytes(codec: ChatCodec, history: tuple[Message, ...]) -> bytes:
    request = ModelRequest(system="Be kind.", messages=history, tools=(READ,), session="s")
    return codec.encode(request, facts(), HERE).body


def test_a_longer_conversation_begins_with_the_bytes_of_the_shorter():
    codec = ChatCodec()
    history: tuple[Message, ...] = (HI,)
    before = sent_bytes(codec, history)
    for number in range(20):
        results = ToolResults((ToolResult(call_id=f"c{number}", name="f", content=(Text("x"),)),))
        history = (*history, asks(f"c{number}"), results)
        after = sent_bytes(codec, history)
        assert after.startswith(before.removesuffix(b"]}"))
        assert after == sent_bytes(ChatCodec(), history)
        before = after


def test_a_message_is_written_once_however_long_the_conversation_grows():
    class Counted(ChatCodec):
        pass

    codec = Counted()
    history: tuple[Message, ...] = (HI,)
    pages = []
    for number in range(5):
        history = (*history, asks(f"c{number}"))
        request = ModelRequest(system="", messages=history)
        codec.encode(request, facts(), HERE)
        pages.append(codec._written.page(request, facts()).pieces)
    first = pages[0][0]
    assert all(page[0] is first for page in pages)


texts = st.text(max_size=10) | st.just("bad \ud83d end")
blocks = st.builds(Text, texts) | st.builds(Note, texts, texts)
texts_only = st.lists(
    st.builds(lambda content: User(tuple(content)), st.lists(blocks, min_size=1, max_size=3))
    | st.builds(
        lambda text, args: Assistant((
            Text(text),
            ToolCall(id="a", name="f", arguments=args),
        )),
        texts,
        st.dictionaries(texts, texts, max_size=2),
    )
    | st.builds(
        lambda text: ToolResults((ToolResult(call_id="a", name="f", content=(Text(text),)),)),
        texts,
    ),
    max_size=6,
).map(tuple)


@settings(max_examples=50)
@given(texts_only)
def test_any_text_can_be_sent(history):
    sent = messages(*history)
    assert all(message["role"] in {"user", "assistant", "tool"} for message in sent)


DETAILS = Opaque("openai_chat", "reasoning_details", {"details": [{"type": "reasoning.text"}]})
MODELS = [
    facts(),
    facts(Quirk.ALTERNATING_ROLES, Quirk.SHORT_CALL_IDS, Quirk.TOOL_NAME_IN_RESULT, images=False),
    facts(Quirk.ALTERNATING_ROLES, documents=True),
    facts(Quirk.REASONING_REPLAY, Quirk.REASONING_DETAILS, documents=True, max_output=900),
    facts(Quirk.STRICT_SCHEMA, Quirk.MAX_COMPLETION_TOKENS, Quirk.PROMPT_CACHE_KEY),
]


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(data=st.data(), of=st.sampled_from(MODELS))
def test_any_history_becomes_a_request_that_servers_take(histories, data, of):
    history = data.draw(histories(of, [DETAILS]))
    if history:
        sent = body(*history, of=of, tools=(READ,), system="s", session="s")
        check(sent, of)
        official.check("openai_chat", sent)


# ---------------------------------------------------------------- lists of models


def test_the_list_is_asked_for_with_the_key():
    request = CODEC.list_request(HERE)
    assert (request.method, request.url) == ("GET", "https://acme.test/v1/models")
    assert ("authorization", "Bearer k") in request.headers
    assert request.body == b""


@pytest.mark.parametrize(
    "listed",
    [
        {"data": [{"id": "a", "owned_by": "o"}, {"id": "b"}]},
        {"models": [{"id": "a", "owned_by": "o"}, {"name": "b"}]},
        [{"id": "a", "owned_by": "o"}, {"id": "b"}, {"x": 1}, 7],
    ],
)
def test_lists_come_in_several_shapes(listed):
    found = CODEC.decode_list(json.dumps(listed).encode())
    assert [model.id for model in found] == ["a", "b"]
    assert found[0].owned_by == "o"


@pytest.mark.parametrize(
    ("entry", "window", "most"),
    [
        ({"context_length": 9, "top_provider": {"max_completion_tokens": 3}}, 9, 3),
        ({"context_window": 9, "max_completion_tokens": 3}, 9, 3),
        ({"max_model_len": 9}, 9, None),
        ({"meta": {"n_ctx_train": 9}}, 9, None),
        ({}, None, None),
    ],
)
def test_lists_tell_windows_and_limits_in_several_ways(entry, window, most):
    (found,) = CODEC.decode_list(json.dumps({"data": [{"id": "a", **entry}]}).encode())
    assert (found.context_window, found.max_output) == (window, most)


@pytest.mark.parametrize("listed", [b"{}", b'"x"', b"<html>", b'{"data":{}}'])
def test_what_is_no_list_is_an_error(listed):
    with pytest.raises(ValueError, match=r"."):
        CODEC.decode_list(listed)


def test_an_answer_of_this_model_decodes_and_goes_back_the_same():
    origin = Origin("openai_chat", "acme", "m")
    answer = Assistant((Text("yes"), *asks().content), origin=origin)
    sent = messages(HI, answer)[1]
    chunk = {"choices": [{"message": sent, "finish_reason": "tool_calls"}]}
    events = CODEC.decode_body(json.dumps(chunk).encode(), facts())
    from hame.base.fold import Fold

    fold = Fold()
    for event in events:
        fold.add(event)
    assert fold.message(origin).content == answer.content
