"""Whatever the history, once repaired, the request is one that the API takes.

Two judges: the rules of the wire in `legal`, and the parameter types of the official SDK where it is
installed.
"""

import json
from typing import Any

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
    StopReason,
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
from hame.llm.repair import Repair
from hame.llm.wires.anthropic_messages import CODEC
from legal import official
from legal.anthropic_messages import check

WIRE = "anthropic_messages"
OWN = Origin(WIRE, "anthropic", "claude")
FOREIGN = Origin("openai_chat", "acme", "m")
ENDPOINT = Endpoint(base_url="http://h")

# ---------------------------------------------------------------- histories

texts = st.sampled_from(["", " ", "\n\n", "hi", "hi \n", "wörld 😊", "bad \ud83d end"]) | st.text(
    max_size=8
)
ids = st.sampled_from(["a", "b", "c", "", "call:1", "x" * 50, "toolu_01"])
names = st.sampled_from(["read_file", "bad name", "", "n" * 70, "mcp.tool/x"])
arguments = st.none() | st.dictionaries(texts, texts | st.integers() | st.lists(texts), max_size=2)
images = st.builds(
    Image, st.sampled_from(["image/png", "image/webp", "image/bmp"]), st.binary(max_size=4), texts
)
documents = st.builds(
    Document,
    st.sampled_from(["application/pdf", "text/plain", "application/zip"]),
    st.binary(max_size=4),
    texts,
)


def call(call_id: str, name: str, given_arguments: dict | None) -> ToolCall:
    malformed = '{"a": ' if given_arguments is None else None
    return ToolCall(call_id, name, given_arguments, malformed)


def opaque(wire: str, payload: dict) -> Opaque:
    return Opaque(wire, payload["type"], payload)


payloads = st.sampled_from([
    {"type": "redacted_thinking", "data": "x"},
    {"type": "server_tool_use", "id": "srv1", "name": "web_search", "input": {"query": "x"}},
    {"type": "server_tool_use", "id": "srv2", "name": "web_search", "input": {"query": "y"}},
    {"type": "web_search_tool_result", "tool_use_id": "srv1", "content": []},
    {
        "type": "citations",
        "citations": [
            {
                "type": "char_location",
                "cited_text": "x",
                "document_index": 0,
                "document_title": None,
                "start_char_index": 0,
                "end_char_index": 1,
            }
        ],
    },
    {"type": "refusal", "explanation": "no"},
])
answers = st.builds(
    lambda content, origin, stop: Assistant(tuple(content), origin, stop),
    st.lists(
        st.builds(Text, texts)
        | st.builds(Thinking, texts, st.none() | st.just("sig"))
        | st.builds(opaque, st.sampled_from([WIRE, WIRE, "gemini"]), payloads)
        | st.builds(call, ids, names, arguments)
        | images,
        max_size=5,
    ),
    st.sampled_from([OWN, OWN, FOREIGN, None]),
    st.sampled_from(StopReason),
)
users = st.builds(
    lambda content: User(tuple(content)),
    st.lists(
        st.builds(Text, texts) | st.builds(Note, texts, texts) | images | documents, max_size=3
    ),
)
results = st.builds(
    lambda found: ToolResults(tuple(found)),
    st.lists(
        st.builds(
            lambda call_id, name, content, is_error: ToolResult(
                call_id, name, tuple(content), is_error
            ),
            ids,
            names,
            st.lists(st.builds(Text, texts) | images | documents, max_size=2),
            st.booleans(),
        ),
        max_size=3,
    ),
)
histories = st.lists(users | answers | answers | results, max_size=9).map(
    lambda found: (User((Text("go"),)), *found)
)


def a_model(*quirks: Quirk, **members: Any) -> ModelFacts:
    return ModelFacts(
        backend="anthropic", model="claude", wire=WIRE, quirks=frozenset(quirks), **members
    )


models = st.sampled_from([
    a_model(),
    a_model(documents=True, efforts=frozenset({Effort.LOW, Effort.HIGH}), max_output=64_000),
    a_model(Quirk.ADAPTIVE_THINKING, efforts=frozenset(Effort), images=False),
    a_model(Quirk.NO_PARALLEL_CALLS, Quirk.REASONING_REPLAY, Quirk.ALTERNATING_ROLES),
])
efforts = st.none() | st.sampled_from(Effort)

TOOLS = (
    ToolSpec(
        name="read_file",
        description="Reads.",
        effect=Effect.READ,
        arguments=(Argument(name="path", kind=ArgumentKind.EXISTING_FILE),),
    ),
    ToolSpec(name="odd", description="", effect=Effect.RUN, raw_schema={"anyOf": [{}]}),
)


def send(
    history: tuple[Message, ...], facts: ModelFacts, effort: Effort | None, limit: int | None
) -> Any:
    request = ModelRequest(
        system="Be brief.",
        messages=Repair(facts)(history),
        tools=TOOLS,
        effort=effort,
        max_output_tokens=limit,
    )
    return json.loads(CODEC.encode(request, facts, ENDPOINT).body)


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
@given(histories, models, efforts, st.none() | st.sampled_from([600, 3000, 50_000]))
def test_any_repaired_history_is_a_legal_request(history, facts, effort, limit):
    check(send(history, facts, effort, limit), facts)


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(histories, models)
def test_a_growing_history_keeps_what_was_sent_but_for_the_marks(history, facts):
    messages = Repair(facts)(history)
    whole = bare(messages, facts)
    ends = [at + 1 for at, message in enumerate(messages) if not isinstance(message, Assistant)]
    for end in ends:
        assert whole.startswith(bare(messages[:end], facts).removesuffix(b"]}]}"))


def bare(messages: tuple[Message, ...], facts: ModelFacts) -> bytes:
    """A body without its marks, the same from a codec that wrote the beginning and from a new one."""
    request = ModelRequest(system="s", messages=messages, tools=TOOLS)
    body = CODEC.encode(request, facts, ENDPOINT).body
    assert body == type(CODEC)().encode(request, facts, ENDPOINT).body
    return body.replace(b',"cache_control":{"type":"ephemeral"}', b"")


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(histories, models, efforts)
def test_any_repaired_history_fits_the_official_types(history, facts, effort):
    official.check(WIRE, send(history, facts, effort, None))
