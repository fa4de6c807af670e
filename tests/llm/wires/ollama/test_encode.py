"""What a request to /api/chat looks like."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
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
from hame.base.model import Effort, Endpoint, ModelFacts, ModelListing
from hame.base.ports import HttpRequest, ModelRequest
from hame.base.tool import Argument, ArgumentKind, Effect, ToolSpec
from hame.llm.codecs import codec
from hame.llm.repair import Repair
from hame.llm.wires.ollama import CODEC
from legal import official
from legal.ollama import check_messages

ENDPOINT = Endpoint(base_url="http://127.0.0.1:11434")
HELLO = User((Text("hello"),))
READ = ToolSpec(
    name="read_file",
    description="Reads a file.",
    effect=Effect.READ,
    arguments=(Argument(name="path", kind=ArgumentKind.EXISTING_FILE),),
)
ANSWER = Assistant(
    (Thinking("hm"), Text("Let me look."), ToolCall("c1", "read_file", {"path": "a"})),
    stop_reason=StopReason.TOOL_USE,
)
RESULT = ToolResults((ToolResult("c1", "read_file", (Text("no such file"),), is_error=True),))


def facts(**members: Any) -> ModelFacts:
    return ModelFacts(backend="ollama", model="qwen3", wire="ollama", **members)


FACTS = facts(context_window=32_768)


def send(
    request: ModelRequest, known: ModelFacts = FACTS, where: Endpoint = ENDPOINT
) -> HttpRequest:
    return CODEC.encode(request, known, where)


def encode(*messages: Message, known: ModelFacts = FACTS, **members: Any) -> Any:
    members.setdefault("system", "Be brief.")
    return json.loads(send(ModelRequest(messages=messages, **members), known).body)


def said(*messages: Message, known: ModelFacts = FACTS) -> Any:
    return encode(*messages, known=known, system="")["messages"]


def test_a_request_in_full():
    assert encode(HELLO, ANSWER, RESULT, tools=(READ,)) == snapshot({
        "model": "qwen3",
        "stream": True,
        "options": {"num_ctx": 32768},
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "read_file",
                    "description": "Reads a file.",
                    "parameters": {
                        "type": "object",
                        "properties": {"path": {"type": "string"}},
                        "required": ["path"],
                        "additionalProperties": False,
                    },
                },
            }
        ],
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "hello"},
            {
                "role": "assistant",
                "content": "Let me look.",
                "thinking": "hm",
                "tool_calls": [
                    {"id": "c1", "function": {"name": "read_file", "arguments": {"path": "a"}}}
                ],
            },
            {
                "role": "tool",
                "tool_name": "read_file",
                "tool_call_id": "c1",
                "content": "Error: no such file",
            },
        ],
    })


def test_a_request_streams_from_chat():
    request = send(ModelRequest(system="", messages=(HELLO,)))
    assert (request.method, request.url) == ("POST", "http://127.0.0.1:11434/api/chat")
    assert dict(request.headers) == {
        "accept": "application/x-ndjson",
        "content-type": "application/json",
    }


@pytest.mark.parametrize("base", ["http://h", "http://h/", "http://h/api", "http://h/v1/"])
def test_a_base_url_is_taken_as_people_write_it(base: str):
    where = Endpoint(base_url=base, api_key="key", headers=(("X-A", "b"),), query=(("c", "d"),))
    request = send(ModelRequest(system="", messages=(HELLO,)), where=where)
    assert request.url == "http://h/api/chat?c=d"
    assert dict(request.headers)["authorization"] == "Bearer key"
    assert dict(request.headers)["x-a"] == "b"


def test_the_window_is_sent_with_every_request_and_never_changes():
    sizes = {
        encode(*history)["options"]["num_ctx"] for history in ((HELLO,), (HELLO, ANSWER, RESULT))
    }
    assert sizes == {32_768}


def test_what_is_not_known_is_left_to_the_server():
    body = encode(HELLO, known=facts(), system=" ")
    assert body == {
        "model": "qwen3",
        "stream": True,
        "messages": [{"role": "user", "content": "hello"}],
    }


def test_the_limit_of_an_answer_is_num_predict():
    assert encode(HELLO, known=facts(), max_output_tokens=100)["options"] == {"num_predict": 100}


LEVELS = frozenset({Effort.LOW, Effort.MEDIUM, Effort.HIGH})
SWITCH = frozenset({Effort.NONE, Effort.HIGH})


@pytest.mark.parametrize(
    ("efforts", "effort", "think"),
    [
        (frozenset[Effort](), Effort.HIGH, None),
        (SWITCH, None, None),
        (SWITCH, Effort.NONE, False),
        (SWITCH, Effort.MEDIUM, True),
        (LEVELS, Effort.LOW, "low"),
        (LEVELS, Effort.MEDIUM, "medium"),
        (LEVELS, Effort.MAX, "high"),
        (frozenset(Effort), Effort.MINIMAL, "low"),
    ],
)
def test_an_effort_is_a_switch_or_a_level(
    efforts: frozenset[Effort], effort: Effort | None, think: bool | str | None
):
    assert encode(HELLO, known=facts(efforts=efforts), effort=effort).get("think") == think


def test_a_schema_that_ollama_cannot_read_is_made_readable():
    schema: dict = {"properties": {"any": True, "path": {"type": "string"}}, "required": ["path"]}
    odd = ToolSpec(name="t", description="d", effect=Effect.RUN, raw_schema=schema)
    assert encode(HELLO, tools=(odd,))["tools"][0]["function"]["parameters"] == {
        "type": "object",
        "properties": {"any": {}, "path": {"type": "string"}},
        "required": ["path"],
    }


def test_pictures_travel_beside_the_text():
    content = (Text("what is this?"), Image("image/png", b"png"), Note("x", "mode"))
    assert said(User(content)) == [
        {
            "role": "user",
            "content": 'what is this?\n\n<note source="mode">\nx\n</note>',
            "images": ["cG5n"],
        }
    ]


def test_pictures_in_results_travel_with_them():
    seen = ToolResults((ToolResult("c1", "read_file", (Image("image/png", b"png"),)),))
    assert said(HELLO, ANSWER, seen)[-1] == {
        "role": "tool",
        "tool_name": "read_file",
        "tool_call_id": "c1",
        "content": "[image/png]",
        "images": ["cG5n"],
    }


def test_documents_are_named_in_words():
    paper = Document("application/pdf", b"pdf", name="a.pdf")
    words = "[application/pdf a.pdf: not readable for this model]"
    assert said(User((Text("see"), paper)))[0]["content"] == f"see\n\n{words}"
    found = said(HELLO, ANSWER, ToolResults((ToolResult("c1", "read_file", (paper,)),)))
    assert found[-1]["content"] == words


def test_each_result_is_a_message():
    both = Assistant((ToolCall("a", "x", {}), ToolCall("b", "y", {})))
    results = ToolResults((ToolResult("a", "x", (Text("1"),)), ToolResult("b", "y", (Text("2"),))))
    assert [(m["role"], m.get("tool_name")) for m in said(HELLO, both, results)] == [
        ("user", None),
        ("assistant", None),
        ("tool", "x"),
        ("tool", "y"),
    ]


def test_an_answer_that_holds_nothing_the_wire_takes_is_left_out():
    made = Opaque("ollama", "refusal", {})
    found = said(HELLO, Assistant((made,)), HELLO, Assistant((Thinking("hm"),)), HELLO)
    assert [message["role"] for message in found] == ["user", "user", "user"]


# ---------------------------------------------------------------- the prefix


def test_a_longer_conversation_begins_with_the_bytes_of_the_shorter():
    history: list[Message] = [HELLO]
    for _ in range(3):
        history += [ANSWER, RESULT]
    bodies = [
        send(ModelRequest(system="s", messages=tuple(history[:end]), tools=(READ,))).body
        for end in (1, 3, 5, 7)
    ]
    for shorter, longer in pairwise(bodies):
        assert longer.startswith(shorter.removesuffix(b"]}"))


texts = st.sampled_from(["", " ", "hi", "bad \ud83d"]) | st.text(max_size=5)
answers = st.builds(
    lambda content: Assistant(tuple(content)),
    st.lists(
        st.builds(Text, texts)
        | st.builds(Thinking, texts)
        | st.builds(
            ToolCall,
            st.sampled_from(["a", "b"]),
            st.sampled_from(["t", "", "a b"]),
            st.dictionaries(texts, texts, max_size=1),
        ),
        max_size=3,
    ),
)
users = st.builds(lambda text: User((Text(text),)), texts)
results = st.builds(
    lambda call_id, text: ToolResults((ToolResult(call_id, "t", (Text(text),)),)),
    st.sampled_from(["a", "b"]),
    texts,
)


@given(st.lists(users | answers | results, max_size=8))
def test_any_repaired_history_pairs_calls_with_results(history: list[Message]):
    messages = Repair(FACTS)((HELLO, *history))
    check_messages(said(*messages), FACTS)


def test_a_request_fits_the_official_types():
    picture = User((Text("see"), Image("image/png", b"png")))
    official.check("ollama", encode(picture, ANSWER, RESULT, tools=(READ,)))


# ---------------------------------------------------------------- lists


def test_the_wire_has_its_name_and_its_framing():
    found = codec("ollama")
    assert (found.name, found.framing) == ("ollama", "ndjson")


def test_models_are_listed_from_tags():
    request = CODEC.list_request(ENDPOINT)
    assert (request.method, request.url) == ("GET", "http://127.0.0.1:11434/api/tags")
    assert dict(request.headers) == {"accept": "application/json"}
    body = b'{"models": [{"name": "qwen3:4b", "size": 1}, {"model": "gemma3:1b"}, {}]}'
    assert CODEC.decode_list(body) == [
        ModelListing(id="qwen3:4b", display_name="qwen3:4b"),
        ModelListing(id="gemma3:1b", display_name="gemma3:1b"),
    ]


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"models": 1}'])
def test_what_is_no_list_of_models_is_refused(body: bytes):
    with pytest.raises(ValueError, match="no list of models"):
        CODEC.decode_list(body)
