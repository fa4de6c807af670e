"""Events of Messages -> what the model said."""

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from base.strategies import any_json
from hame.base.errors import ErrorKind
from hame.base.fold import Fold
from hame.base.message import Opaque, StopReason, Text, Thinking, ToolCall
from hame.base.model import ModelFacts, Usage
from hame.base.ports import Frame
from hame.base.stream import (
    Completed,
    Failed,
    StreamEvent,
    ToolCallArgsDelta,
    ToolCallCompleted,
    ToolCallStarted,
)
from hame.llm.wires.anthropic_messages import CODEC

FACTS = ModelFacts(
    backend="anthropic", model="claude", wire="anthropic_messages", vendor="Anthropic"
)

START = {
    "type": "message_start",
    "message": {"id": "msg_1", "usage": {"input_tokens": 10, "output_tokens": 1}},
}
STOP = {"type": "message_stop"}


def begin(index: int, **block: object) -> dict:
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: int, kind: str, **members: object) -> dict:
    return {
        "type": "content_block_delta",
        "index": index,
        "delta": {"type": kind, **members},
    }


def end(index: int) -> dict:
    return {"type": "content_block_stop", "index": index}


def stopped(reason: str | None, **more: object) -> dict:
    return {"type": "message_delta", "delta": {"stop_reason": reason, **more}, "usage": {}}


def decode(*events: dict | str, close: bool = True) -> list[StreamEvent]:
    decoder = CODEC.decoder(FACTS)
    said: list[StreamEvent] = []
    for event in events:
        said += decoder.feed(Frame(event if isinstance(event, str) else json.dumps(event)))
    return [*said, *decoder.close()] if close else said


def blocks(events: Sequence[StreamEvent]) -> tuple:
    fold = Fold()
    for event in events:
        fold.add(event)
    return fold.message().content


def failure(events: Sequence[StreamEvent]):
    last = events[-1]
    assert isinstance(last, Failed)
    return last.failure


def ending(events: Sequence[StreamEvent]) -> Completed:
    last = events[-1]
    assert isinstance(last, Completed)
    return last


def test_blocks_keep_the_order_in_which_the_model_sent_them():
    said = blocks(
        decode(
            START,
            begin(0, type="thinking", thinking="", signature=""),
            delta(0, "thinking_delta", thinking="first"),
            delta(0, "signature_delta", signature="s1"),
            end(0),
            begin(1, type="text", text=""),
            delta(1, "text_delta", text="now"),
            end(1),
            begin(2, type="tool_use", id="t1", name="read", input={}),
            delta(2, "input_json_delta", partial_json='{"path"'),
            delta(2, "input_json_delta", partial_json=':"a"}'),
            end(2),
            begin(3, type="thinking", thinking=""),
            delta(3, "thinking_delta", thinking="second"),
            delta(3, "signature_delta", signature="s2"),
            end(3),
            stopped("tool_use"),
            STOP,
        )
    )
    assert said == (
        Thinking("first", "s1"),
        Text("now"),
        ToolCall("t1", "read", {"path": "a"}),
        Thinking("second", "s2"),
    )


def test_a_signature_in_pieces_is_one_signature():
    said = blocks(
        decode(
            begin(0, type="thinking", thinking=""),
            delta(0, "thinking_delta", thinking="hm"),
            delta(0, "signature_delta", signature="ab"),
            delta(0, "signature_delta", signature="cd"),
            end(0),
        )
    )
    assert said == (Thinking("hm", "abcd"),)


def test_thinking_whose_text_is_withheld_keeps_its_signature():
    said = blocks(
        decode(
            begin(0, type="thinking", thinking="", signature=""),
            delta(0, "signature_delta", signature="sealed"),
            end(0),
        )
    )
    assert said == (Thinking("", "sealed"),)


def test_two_blocks_of_thinking_in_a_row_stay_two():
    said = blocks(
        decode(
            begin(0, type="thinking", thinking="one", signature="a"),
            end(0),
            begin(1, type="thinking", thinking="two", signature="b"),
            end(1),
        )
    )
    assert said == (Thinking("one", "a"), Thinking("two", "b"))


def test_redacted_thinking_is_kept_as_it_is():
    said = blocks(decode(begin(0, type="redacted_thinking", data="xyz"), end(0)))
    assert said == (
        Opaque(
            "anthropic_messages",
            "redacted_thinking",
            {"type": "redacted_thinking", "data": "xyz"},
            "redacted thinking",
        ),
    )


@pytest.mark.parametrize(
    ("block", "summary"),
    [
        (
            {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "x y"}},
            "web_search: x y",
        ),
        (
            {"type": "server_tool_use", "id": "s", "name": "code", "input": {"a": "b", "c": "d"}},
            'code: {"a":"b","c":"d"}',
        ),
        (
            {"type": "mcp_tool_use", "id": "m", "name": "ask", "server_name": "w", "input": {}},
            "ask",
        ),
        (
            {
                "type": "web_search_tool_result",
                "tool_use_id": "s",
                "content": [{"title": "One"}, {"title": "Two"}],
            },
            "web search tool result: 2 items: One, Two",
        ),
        (
            {
                "type": "web_search_tool_result",
                "tool_use_id": "s",
                "content": {"type": "web_search_tool_result_error", "error_code": "unavailable"},
            },
            "web search tool result: unavailable",
        ),
        (
            {
                "type": "bash_code_execution_tool_result",
                "tool_use_id": "s",
                "content": {"type": "bash_code_execution_result", "stdout": "42\nmore"},
            },
            "bash code execution tool result: 42",
        ),
        (
            {"type": "mcp_tool_result", "content": [{"type": "text", "text": "said"}]},
            "mcp tool result: said",
        ),
        ({"type": "mcp_tool_result", "content": [{"type": "image"}]}, "mcp tool result: 1 item"),
        (
            {
                "type": "tool_search_tool_result",
                "content": {"tool_references": [{"tool_name": "a"}, {"tool_name": "b"}]},
            },
            "tool search tool result: 2 items",
        ),
        (
            {"type": "fallback", "from": {"model": "big"}, "to": {"model": "small"}},
            "fallback: big -> small",
        ),
        ({"type": "compaction", "content": "The story so far"}, "compaction: The story so far"),
        ({"type": "container_upload", "file_id": "f"}, "container upload"),
        ({"type": "something_new", "content": 7}, "something new"),
    ],
)
def test_what_the_provider_made_is_kept_whole_and_told_in_one_line(block: dict, summary: str):
    (kept,) = blocks(decode(begin(0, **block), end(0)))
    assert kept == Opaque("anthropic_messages", block["type"], block, summary)


def test_the_input_of_a_tool_the_provider_runs_arrives_in_pieces():
    said = blocks(
        decode(
            begin(0, type="server_tool_use", id="s", name="web_search", input={}),
            delta(0, "input_json_delta", partial_json=""),
            delta(0, "input_json_delta", partial_json='{"query":'),
            delta(0, "input_json_delta", partial_json='"weather"}'),
            end(0),
        )
    )
    assert said[0].payload["input"] == {"query": "weather"}


def test_the_input_of_a_tool_the_provider_runs_that_is_no_json_is_left_empty():
    said = blocks(
        decode(
            begin(0, type="server_tool_use", id="s", name="web_search", input={}),
            delta(0, "input_json_delta", partial_json='{"query'),
            end(0),
        )
    )
    assert said[0].payload["input"] == {}


def test_deltas_of_an_unknown_block_are_joined_into_it():
    said = blocks(
        decode(
            begin(0, type="novel", content=None, notes=[1], size=1),
            delta(0, "novel_delta", content="a"),
            delta(0, "novel_delta", content="b", notes=[2], size=2),
            end(0),
        )
    )
    assert said[0].payload == {"type": "novel", "content": "ab", "notes": [1, 2], "size": 2}


def test_the_sources_of_a_text_are_kept_behind_it():
    citation = {"type": "char_location", "cited_text": "Grass.", "document_title": "Colours"}
    said = blocks(
        decode(
            begin(0, type="text", text="", citations=[]),
            delta(0, "citations_delta", citation=citation),
            delta(0, "text_delta", text="Green."),
            end(0),
        )
    )
    assert said[0] == Text("Green.")
    assert said[1].kind == "citations"
    assert said[1].payload["citations"] == [citation]
    assert said[1].summary == "sources: Colours"


# ---------------------------------------------------------------- calls


def test_a_call_without_arguments_has_no_arguments():
    said = blocks(
        decode(
            begin(0, type="tool_use", id="t", name="now", input={}),
            delta(0, "input_json_delta", partial_json=""),
            end(0),
        )
    )
    assert said == (ToolCall("t", "now", {}),)


@pytest.mark.parametrize("given", [{"path": "a"}, '{"path": "a"}'])
def test_arguments_may_come_whole_with_the_start_of_a_call(given: object):
    events = decode(begin(0, type="tool_use", id="t", name="read", input=given), end(0))
    assert blocks(events) == (ToolCall("t", "read", {"path": "a"}),)
    assert any(isinstance(event, ToolCallArgsDelta) for event in events)


def test_a_start_that_names_no_input_is_a_call_without_arguments_until_they_come():
    said = blocks(
        decode(
            begin(0, type="tool_use", id="t", name="read"),
            delta(0, "input_json_delta", partial_json='{"path":"a"}'),
            end(0),
            begin(1, type="tool_use", id="u", name="now"),
            end(1),
        )
    )
    assert said == (ToolCall("t", "read", {"path": "a"}), ToolCall("u", "now", {}))


@pytest.mark.parametrize("raw", ['{"path": "a', '["a"]', "path=a", '{"path": NaN}'])
def test_arguments_that_are_no_json_object_are_kept_as_text(raw: str):
    said = blocks(
        decode(
            begin(0, type="tool_use", id="t", name="read", input={}),
            delta(0, "input_json_delta", partial_json=raw),
            end(0),
            stopped("max_tokens"),
            STOP,
        )
    )
    assert said == (ToolCall("t", "read", None, malformed=raw),)


def test_a_call_that_was_cut_off_never_enters_the_answer():
    events = decode(
        START,
        begin(0, type="tool_use", id="t", name="read", input={}),
        delta(0, "input_json_delta", partial_json='{"path":"a"}'),
    )
    assert blocks(events) == ()
    assert failure(events).kind is ErrorKind.NETWORK
    assert failure(events).mid_stream


def test_calls_are_numbered_in_the_order_they_begin():
    events = decode(
        begin(3, type="tool_use", id="a", name="x", input={}),
        end(3),
        begin(5, type="tool_use", id="b", name="y", input={}),
        end(5),
    )
    started = [event.index for event in events if isinstance(event, ToolCallStarted)]
    completed = [event.index for event in events if isinstance(event, ToolCallCompleted)]
    assert started == completed == [0, 1]


def test_calls_whose_pieces_are_interleaved_are_kept_apart():
    said = blocks(
        decode(
            begin(0, type="tool_use", id="a", name="x", input={}),
            begin(1, type="tool_use", id="b", name="y", input={}),
            delta(0, "input_json_delta", partial_json='{"n":'),
            delta(1, "input_json_delta", partial_json='{"n":'),
            delta(0, "input_json_delta", partial_json="0}"),
            delta(1, "input_json_delta", partial_json="1}"),
            end(0),
            end(1),
        )
    )
    assert said == (ToolCall("a", "x", {"n": 0}), ToolCall("b", "y", {"n": 1}))


def test_calls_without_ids_get_ids_that_differ():
    call = {"type": "tool_use", "name": "now", "input": {}}
    first = blocks(decode(START, begin(0, **call), end(0), begin(1, **call), end(1)))
    assert first[0].id != first[1].id
    assert all(call.id for call in first)


def test_a_call_without_a_name_is_still_a_call():
    (call,) = blocks(decode(begin(0, type="tool_use", id="t", input={}), end(0)))
    assert call.name == "unknown"


# ---------------------------------------------------------------- the end


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("end_turn", StopReason.END_TURN),
        ("max_tokens", StopReason.MAX_TOKENS),
        ("stop_sequence", StopReason.STOP_SEQUENCE),
        ("refusal", StopReason.REFUSAL),
        ("pause_turn", StopReason.PAUSE_TURN),
        ("model_context_window_exceeded", StopReason.CONTEXT_FULL),
        ("something_new", StopReason.UNKNOWN),
        (None, StopReason.END_TURN),
    ],
)
def test_the_reason_to_stop_is_told_in_both_words(raw: str | None, reason: StopReason):
    events = decode(START, begin(0, type="text", text="hi"), end(0), stopped(raw), STOP)
    assert ending(events) == Completed(reason, raw)


def test_an_answer_with_calls_that_says_it_ended_asks_for_tools():
    call = begin(0, type="tool_use", id="t", name="now", input={})
    assert ending(decode(call, end(0), stopped("end_turn"), STOP)).stop_reason is (
        StopReason.TOOL_USE
    )


def test_the_words_of_a_refusal_are_kept_for_eyes():
    events = decode(
        START,
        stopped("refusal", stop_details={"type": "refusal", "explanation": "Against the policy."}),
        STOP,
    )
    (kept,) = blocks(events)
    assert (kept.kind, kept.summary) == ("refusal", "Against the policy.")


def test_blocks_left_open_are_whole_when_the_answer_is():
    events = decode(
        begin(0, type="text", text=""),
        delta(0, "text_delta", text="hi"),
        begin(1, type="tool_use", id="t", name="now", input={}),
        stopped("tool_use"),
        STOP,
    )
    assert blocks(events) == (Text("hi"), ToolCall("t", "now", {}))


def test_a_block_that_begins_where_another_is_open_ends_it():
    events = decode(
        begin(0, type="tool_use", id="a", name="x", input={}),
        begin(0, type="tool_use", id="b", name="y", input={}),
        end(0),
    )
    assert [call.id for call in blocks(events)] == ["a", "b"]


def test_deltas_whose_start_was_lost_still_count():
    said = blocks(
        decode(
            delta(0, "thinking_delta", thinking="hm"),
            delta(0, "signature_delta", signature="s"),
            end(0),
            delta(1, "text_delta", text="hi"),
            delta(2, "input_json_delta", partial_json="{}"),
            end(2),
        )
    )
    assert said == (Thinking("hm", "s"), Text("hi"))


def test_pings_and_unknown_events_say_nothing():
    assert decode({"type": "ping", "cost": "0"}, {"type": "novel"}, {"x": 1}, close=False) == []


def test_the_event_line_is_asked_where_the_data_has_no_type():
    decoder = CODEC.decoder(FACTS)
    decoder.feed(
        Frame('{"index":0,"delta":{"type":"text_delta","text":"hi"}}', "content_block_delta")
    )
    events = decoder.feed(Frame("{}", "message_stop"))
    assert isinstance(events[-1], Completed)


def test_nothing_follows_the_end():
    decoder = CODEC.decoder(FACTS)
    decoder.feed(Frame(json.dumps(STOP)))
    assert list(decoder.feed(Frame(json.dumps(begin(0, type="text", text="late"))))) == []
    assert list(decoder.close()) == []


def test_a_done_line_ends_an_answer_whose_reason_was_told():
    assert ending(decode(stopped("end_turn"), "[DONE]")).stop_reason is StopReason.END_TURN
    assert failure(decode(START, "[DONE]")).kind is ErrorKind.NETWORK


# ---------------------------------------------------------------- failures


def test_a_stream_cut_midway_is_a_retryable_network_failure():
    found = failure(decode(START, begin(0, type="text", text="half"), stopped("end_turn")))
    assert (found.kind, found.retryable, found.mid_stream) == (ErrorKind.NETWORK, True, True)


def test_a_stream_cut_before_anything_was_said_is_not_midway():
    assert not failure(decode(START, begin(0, type="text", text=""))).mid_stream


def test_an_error_in_the_stream_is_classified():
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    found = failure(decode(START, begin(0, type="text", text="half"), error))
    assert (found.kind, found.retryable, found.mid_stream) == (ErrorKind.OVERLOADED, True, True)
    assert found.provider == "Anthropic"
    assert failure(decode(START, error)).mid_stream is False


@pytest.mark.parametrize(
    "error", [{"error": {"type": "api_error", "message": "boom"}}, {"error": "boom"}]
)
def test_an_error_without_its_envelope_is_an_error_too(error: dict):
    assert failure(decode(error)).said == "boom"


def test_what_is_no_json_is_a_protocol_failure():
    found = failure(decode(START, begin(0, type="text", text="half"), "<html>oops</html>"))
    assert (found.kind, found.retryable) == (ErrorKind.PROTOCOL, True)


# ---------------------------------------------------------------- whole answers


def whole(**members: object) -> list[StreamEvent]:
    return list(CODEC.decode_body(json.dumps(members).encode(), FACTS))


def test_a_whole_answer_says_what_its_stream_would_have_said():
    events = whole(
        id="msg_1",
        content=[
            {"type": "thinking", "thinking": "hm", "signature": "s"},
            {"type": "text", "text": "now"},
            {"type": "tool_use", "id": "t", "name": "read", "input": {"path": "a"}},
        ],
        stop_reason="tool_use",
        usage={"input_tokens": 3, "output_tokens": 4},
    )
    fold = Fold()
    for event in events:
        fold.add(event)
    assert fold.message().content == (
        Thinking("hm", "s"),
        Text("now"),
        ToolCall("t", "read", {"path": "a"}),
    )
    assert fold.usage == Usage(input_uncached=3, output=4)
    assert ending(events) == Completed(StopReason.TOOL_USE, "tool_use")


def test_an_error_with_status_200_is_a_failure():
    events = whole(type="error", error={"type": "api_error", "message": "boom"})
    assert failure(events).kind is ErrorKind.SERVER_ERROR


@pytest.mark.parametrize("body", [b"<html></html>", b"[]", b'{"status":"ok"}'])
def test_a_body_that_is_no_answer_is_a_protocol_failure(body: bytes):
    assert failure(CODEC.decode_body(body, FACTS)).kind is ErrorKind.PROTOCOL


# ---------------------------------------------------------------- anything at all

_types = [
    *("message_start", "content_block_start", "content_block_delta", "content_block_stop"),
    *("message_delta", "message_stop", "error", "ping", "text", "thinking", "tool_use", "novel"),
    *("text_delta", "thinking_delta", "signature_delta", "input_json_delta", "citations_delta"),
]
_members = st.fixed_dictionaries(
    {"type": st.sampled_from(_types) | any_json},
    optional=dict.fromkeys(
        ("index", "id", "name", "input", "text", "partial_json", "citation", "usage"), any_json
    ),
)
_events = st.fixed_dictionaries(
    {"type": st.sampled_from(_types) | any_json},
    optional={
        "index": st.integers(-1, 2) | any_json,
        "content_block": _members | any_json,
        "delta": _members | any_json,
        "message": _members | any_json,
        "usage": any_json,
        "error": any_json,
    },
)


@given(st.lists(_events | any_json, max_size=8))
def test_whatever_a_server_sends_an_answer_ends_once_and_nothing_raises(events: list):
    said = decode(*[json.dumps(event) for event in events])
    ends = [event for event in said if isinstance(event, Completed | Failed)]
    assert ends == said[-1:]


@given(_members | any_json)
def test_whatever_body_comes_an_answer_ends_once_and_nothing_raises(body: object):
    said = list(CODEC.decode_body(json.dumps(body).encode(), FACTS))
    ends = [event for event in said if isinstance(event, Completed | Failed)]
    assert ends == said[-1:]


@pytest.mark.parametrize("reason", ["max_tokens", "refusal", "model_context_window_exceeded"])
@pytest.mark.parametrize("pieces", [[], ["", " "]])
def test_a_last_call_without_arguments_was_cut_where_the_answer_was(pieces, reason):
    call = [begin(0, type="tool_use", id="t", name="now", input={})]
    call += [delta(0, "input_json_delta", partial_json=piece) for piece in pieces] + [end(0)]
    cut = blocks(decode(START, *call, stopped(reason), STOP))
    assert cut == (ToolCall("t", "now", None, malformed=""),)
    whole = (ToolCall("t", "now", {}),)
    assert blocks(decode(START, *call, stopped("tool_use"), STOP)) == whole
    after = [begin(1, type="text", text="and"), end(1)]
    found = blocks(decode(START, *call, *after, stopped("max_tokens"), STOP))
    assert found == (*whole, Text("and"))
