"""Answers of the Responses API, by kind of oddity. The recorded traffic is in tests/corpus."""

import json
from typing import Any

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
    TextDelta,
    ThinkingDelta,
    ToolCallArgsDelta,
    ToolCallCompleted,
    ToolCallStarted,
    UsageReported,
)
from hame.llm.wires.openai_responses import CODEC

FACTS = ModelFacts(backend="acme", model="m", wire="openai_responses", vendor="Acme")
MESSAGE = {"type": "message", "id": "msg_1", "role": "assistant", "content": []}
CALL = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "run", "arguments": ""}


def frames(*events: dict, name_events: bool = False) -> list[Frame]:
    return [Frame(json.dumps(event), event["type"] if name_events else "") for event in events]


def stream(*events: dict) -> Any:
    decoder = CODEC.decoder(FACTS)
    told = [event for frame in frames(*events) for event in decoder.feed(frame)]
    return [*told, *decoder.close()]


def fold(events: list) -> Fold:
    folded = Fold()
    for event in events:
        folded.add(event)
    return folded


def blocks(events: list) -> Any:
    return fold(events).message().content


def whole(response: object) -> Any:
    return list(CODEC.decode_body(json.dumps(response).encode(), FACTS))


def added(item: dict, index: int = 0) -> dict:
    return {"type": "response.output_item.added", "output_index": index, "item": item}


def done(item: dict, index: int = 0) -> dict:
    return {"type": "response.output_item.done", "output_index": index, "item": item}


def kept(item: dict, summary: str) -> Opaque:
    return Opaque("openai_responses", item["type"], item, summary)


def text(delta: str, index: int = 0, **more) -> dict:
    return {"type": "response.output_text.delta", "output_index": index, "delta": delta, **more}


def completed(*output: dict, status: str = "completed", **more) -> dict:
    response = {"id": "resp_1", "status": status, "output": list(output), **more}
    return {"type": f"response.{status}", "response": response}


def said(*parts: str, **more) -> dict:
    content = [{"type": "output_text", "text": part, "annotations": []} for part in parts]
    return {**MESSAGE, "content": content, **more}


# ---------------------------------------------------------------- text


def test_text_is_told_as_it_arrives_and_not_again_when_the_item_is_done():
    events = stream(
        added(MESSAGE), text("Hel"), text("lo"), done(said("Hello")), completed(said("Hello"))
    )
    assert [event.text for event in events if isinstance(event, TextDelta)] == ["Hel", "lo"]
    assert events[-1] == Completed(StopReason.END_TURN, "completed")


def test_text_that_never_came_in_pieces_is_told_when_the_item_is_done():
    assert blocks(stream(added(MESSAGE), done(said("Hello")), completed())) == (Text("Hello"),)
    assert blocks(stream(completed(said("Hello")))) == (Text("Hello"),)


def test_the_whole_text_adds_what_the_pieces_left_out():
    assert blocks(stream(added(MESSAGE), text("Hel"), done(said("Hello")), completed())) == (
        Text("Hello"),
    )


def test_a_stop_word_that_is_missing_in_the_whole_text_is_not_told():
    events = stream(
        added(MESSAGE), text("Hello"), text("<|end|>"), done(said("Hello")), completed()
    )
    assert blocks(events) == (Text("Hello"),)


def test_text_that_contradicts_its_pieces_stays_as_it_was_told():
    events = stream(
        added(MESSAGE), text("One"), text(" two"), text(" three"), done(said("Zero")), completed()
    )
    assert blocks(events) == (Text("One two three"),)


def test_the_last_piece_is_told_before_anything_else_happens():
    events = stream(added(MESSAGE), text("Hi"), added(CALL, 1))
    assert events[:2] == [TextDelta("Hi"), ToolCallStarted(0, "call_1", "run")]
    assert stream(added(MESSAGE), text("Hi"))[0] == TextDelta("Hi")


def test_text_without_any_item_before_it_is_still_text():
    assert blocks(stream(text("a"), text("b"), completed())) == (Text("ab"),)


def test_deltas_are_joined_by_item_id_where_servers_send_no_index():
    delta = {"type": "response.output_text.delta", "item_id": "msg_1", "delta": "x"}
    event = {"type": "response.output_item.added", "item": MESSAGE}
    assert blocks(stream(event, delta, done(said("x")), completed(said("x")))) == (Text("x"),)


def test_ids_that_differ_from_event_to_event_do_not_double_the_answer():
    events = stream(
        added({**MESSAGE, "id": "enc_1"}),
        text("Hi", item_id="enc_2"),
        done({**said("Hi"), "id": "enc_3"}),
        completed({**said("Hi"), "id": "enc_4"}),
    )
    assert blocks(events) == (Text("Hi"),)


def test_the_phase_of_a_message_is_kept_with_its_text():
    events = stream(
        added(MESSAGE),
        text("Looking."),
        done(said("Looking.", phase="commentary")),
        completed(said("Looking.", phase="commentary")),
    )
    assert blocks(events) == (Text("Looking.", "commentary"),)


def test_sources_are_kept_for_eyes():
    citation = {"type": "url_citation", "url": "https://a.example", "title": "A"}
    item = {**MESSAGE, "content": [{"type": "output_text", "text": "x", "annotations": [citation]}]}
    answer, sources = blocks(whole({"status": "completed", "output": [item]}))
    assert answer == Text("x")
    assert sources.kind == "citations"
    assert sources.payload["annotations"] == [citation]
    assert sources.summary == "sources: https://a.example, A"


# ---------------------------------------------------------------- reasoning


def test_parts_of_a_summary_are_joined_with_a_blank_line():
    item = {"type": "reasoning", "id": "rs_1", "summary": []}
    whole_item = {
        **item,
        "summary": [
            {"type": "summary_text", "text": "One."},
            {"type": "summary_text", "text": "Two."},
        ],
        "encrypted_content": "gAAA",
    }

    def delta(part: int, words: str) -> dict:
        kind = "response.reasoning_summary_text.delta"
        return {"type": kind, "output_index": 0, "summary_index": part, "delta": words}

    events = stream(
        added(item), delta(0, "On"), delta(0, "e."), delta(1, "Two."), done(whole_item), completed()
    )
    thinking, item_kept = blocks(events)
    assert thinking == Thinking("One.\n\nTwo.")
    assert item_kept.payload == whole_item
    assert blocks(stream(completed(whole_item)))[0] == thinking


def test_open_reasoning_is_thinking():
    delta = {"type": "response.reasoning_text.delta", "output_index": 0, "content_index": 0}
    content = [{"type": "reasoning_text", "text": "Hm."}]
    item = {"type": "reasoning", "id": "r", "content": content}
    events = stream(
        added({"type": "reasoning", "id": "r"}),
        {**delta, "delta": "Hm."},
        done(item),
        completed(item),
    )
    assert events[0] == ThinkingDelta("Hm.")
    assert blocks(events) == (
        Thinking("Hm."),
        kept(item, "reasoning: Hm."),
    )


def test_the_last_event_has_the_last_word_on_encrypted_reasoning():
    early = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "early"}
    late = {**early, "encrypted_content": "late"}
    call = {**CALL, "arguments": "{}"}
    events = stream(added(early), done(early), added(CALL, 1), done(call, 1), completed(late, call))
    reasoning, asked = blocks(events)
    assert reasoning.payload == late
    assert asked == ToolCall("call_1", "run", {})


def test_reasoning_that_was_only_listed_at_the_end_is_kept():
    items = [{"type": "reasoning", "id": f"rs_{n}", "summary": []} for n in range(2)]
    assert [
        block.payload for block in blocks(whole({"status": "completed", "output": items}))
    ] == items


# ---------------------------------------------------------------- calls


def arguments(delta: str, index: int = 0) -> dict:
    kind = "response.function_call_arguments.delta"
    return {"type": kind, "output_index": index, "delta": delta}


def test_a_call_is_told_piece_by_piece_and_whole():
    call = {**CALL, "arguments": '{"a":1}'}
    events = stream(added(CALL), arguments('{"a"'), arguments(":1}"), done(call), completed(call))
    assert events == [
        ToolCallStarted(0, "call_1", "run"),
        ToolCallArgsDelta(0, '{"a"'),
        ToolCallArgsDelta(0, ":1}"),
        ToolCallCompleted(0, ToolCall("call_1", "run", {"a": 1})),
        Completed(StopReason.TOOL_USE, "completed"),
    ]


def test_a_call_that_nothing_declared_done_is_whole_when_the_answer_is():
    events = stream(added(CALL), arguments('{"a":1}'), completed())
    assert blocks(events) == (ToolCall("call_1", "run", {"a": 1}),)
    call = {**CALL, "arguments": '{"a":1}'}
    assert blocks(stream(completed(call))) == (ToolCall("call_1", "run", {"a": 1}),)
    assert fold(stream(completed(call))).stop is StopReason.TOOL_USE


def test_calls_whose_pieces_are_interleaved_stay_apart():
    other = {**CALL, "id": "fc_2", "call_id": "call_2", "name": "read"}
    events = stream(
        added(CALL),
        added(other, 1),
        arguments('{"a":', 0),
        arguments('{"b":', 1),
        arguments("1}", 0),
        arguments("2}", 1),
        done({**CALL, "arguments": '{"a":1}'}, 0),
        done({**other, "arguments": '{"b":2}'}, 1),
        completed(),
    )
    assert blocks(events) == (
        ToolCall("call_1", "run", {"a": 1}),
        ToolCall("call_2", "read", {"b": 2}),
    )


def test_arguments_that_do_not_parse_make_a_malformed_call():
    call = {**CALL, "arguments": '{"a":'}
    events = stream(added(CALL), done(call), completed(call, status="incomplete"))
    assert blocks(events) == (ToolCall("call_1", "run", None, malformed='{"a":'),)


def test_arguments_given_as_an_object_are_taken():
    assert blocks(stream(completed({**CALL, "arguments": {"a": 1}}))) == (
        ToolCall("call_1", "run", {"a": 1}),
    )


def test_a_call_whose_name_comes_late_is_announced_late():
    unnamed = {**CALL, "name": ""}
    call = {**CALL, "arguments": "{}"}
    events = stream(added(unnamed), arguments("{}"), done(call), completed(call))
    assert events[0] == ToolCallStarted(0, "call_1", "run")
    assert blocks(events) == (ToolCall("call_1", "run", {}),)


def test_calls_without_ids_get_ids_of_their_own():
    bare = {"type": "function_call", "name": "run", "arguments": "{}"}
    first, second = blocks(stream(completed(bare, bare)))
    other = blocks(whole({"id": "resp_2", "status": "completed", "output": [bare]}))[0]
    assert len({first.id, second.id, other.id, ""}) == 4
    assert blocks(stream(completed(bare, bare)))[0].id == first.id


def test_a_call_id_that_comes_twice_is_told_apart():
    one = {**CALL, "arguments": "{}"}
    two = {**one, "id": "fc_2", "name": "read"}
    events = stream(
        added(CALL, 0), done(one, 0), added({**two, "arguments": ""}, 1), done(two, 1), completed()
    )
    first, second = blocks(events)
    assert (first.name, second.name) == ("run", "read")
    assert first.id != second.id


def test_the_input_of_a_custom_tool_is_text_and_never_taken_for_arguments():
    item = {"type": "custom_tool_call", "id": "ctc_1", "call_id": "c", "name": "sh", "input": "{}"}
    delta = {"type": "response.custom_tool_call_input.delta", "output_index": 0, "delta": "{}"}
    events = stream(added({**item, "input": ""}), delta, done(item), completed(item))
    assert blocks(events) == (ToolCall("c", "sh", None, malformed="{}"),)


@pytest.mark.parametrize(
    ("kind", "member", "value"),
    [
        ("local_shell_call", "action", {"type": "exec", "command": ["ls"]}),
        ("shell_call", "action", {"commands": ["ls"]}),
        ("apply_patch_call", "operation", {"type": "delete_file", "path": "x"}),
        ("computer_call", "action", {"type": "click"}),
    ],
)
def test_calls_of_built_in_tools_are_calls_by_the_name_of_their_kind(kind, member, value):
    item = {"type": kind, "id": "i", "call_id": "c", "status": "completed", member: value}
    events = stream(added({**item, member: {}}), done(item), completed(item))
    assert blocks(events) == (ToolCall("c", kind, value),)


# ---------------------------------------------------------------- what the provider ran


def test_what_the_provider_ran_is_kept_as_it_is_with_one_line_about_it():
    item = {
        "type": "web_search_call",
        "id": "ws_1",
        "status": "completed",
        "action": {"type": "search", "query": "weather\nhere"},
    }
    events = stream(added({**item, "status": "in_progress"}), done(item), completed(item))
    assert blocks(events) == (kept(item, "web search call: weather"),)
    assert fold(events).stop is StopReason.END_TURN


def test_a_kind_of_item_nobody_has_heard_of_is_kept():
    item = {"type": "telepathy_call", "id": "t_1", "status": "completed", "thought": [1]}
    assert blocks(stream(added(item), done(item), completed(item))) == (
        kept(item, "telepathy call: completed"),
    )


@pytest.mark.parametrize(
    ("item", "line"),
    [
        (
            {"type": "mcp_call", "server_label": "s", "name": "t", "arguments": "{}"},
            "mcp call: s.t {}",
        ),
        (
            {"type": "mcp_list_tools", "server_label": "s", "tools": [1, 2]},
            "mcp list tools: 2 of s",
        ),
        ({"type": "file_search_call", "queries": ["a", "b"]}, "file search call: a, b"),
        ({"type": "code_interpreter_call", "code": "x = 1\ny = 2"}, "code interpreter call: x = 1"),
        (
            {"type": "image_generation_call", "revised_prompt": "a cat"},
            "image generation call: a cat",
        ),
        ({"type": "tool_search_call", "arguments": {"q": "x"}}, 'tool search call: {"q":"x"}'),
        ({"type": "compaction", "encrypted_content": "e"}, "compaction"),
    ],
)
def test_each_kind_shows_what_is_worth_seeing_of_it(item, line):
    (block,) = blocks(whole({"status": "completed", "output": [item]}))
    assert block.summary == line
    assert block.payload == item


def test_items_keep_the_order_in_which_they_began():
    tools = [
        {"type": "mcp_list_tools", "id": f"m{n}", "server_label": "s", "tools": []}
        for n in range(2)
    ]
    full = [{**tool, "tools": [{"name": "t"}]} for tool in tools]
    events = stream(
        added(tools[0], 0),
        added(tools[1], 1),
        done(full[1], 1),
        added(MESSAGE, 2),
        text("Hi", 2),
        done(said("Hi"), 2),
        completed(*full, said("Hi")),
    )
    assert [getattr(block, "payload", block) for block in blocks(events)] == [*full, Text("Hi")]


# ---------------------------------------------------------------- endings


def test_a_refusal_is_kept_and_is_the_reason_to_stop():
    item = {**MESSAGE, "content": [{"type": "refusal", "refusal": "I cannot."}]}
    events = stream(added(MESSAGE), done(item), completed(item))
    (block,) = blocks(events)
    assert (block.kind, block.summary) == ("refusal", "I cannot.")
    assert events[-1] == Completed(StopReason.REFUSAL, "completed")


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("max_output_tokens", StopReason.MAX_TOKENS),
        ("content_filter", StopReason.CONTENT_FILTER),
        ("something_new", StopReason.UNKNOWN),
    ],
)
def test_an_incomplete_answer_says_what_cut_it(reason, stop):
    end = completed(status="incomplete", incomplete_details={"reason": reason})
    assert stream(end)[-1] == Completed(stop, f"incomplete:{reason}")


def test_tokens_are_counted_once_each():
    usage = {
        "input_tokens": 100,
        "input_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 30},
        "output_tokens": 20,
        "output_tokens_details": {"reasoning_tokens": 5},
    }
    counted = Usage(input_uncached=10, cache_read=60, cache_write=30, output=20, reasoning=5)
    assert UsageReported(counted) in stream(completed(usage=usage))
    assert not [e for e in stream(completed(usage=None)) if isinstance(e, UsageReported)]


def test_a_stream_cut_midway_is_a_retryable_network_failure():
    events = stream(added(MESSAGE), text("Hi"))
    failure = events[-1].failure
    assert (failure.kind, failure.retryable, failure.mid_stream) == (ErrorKind.NETWORK, True, True)
    assert not stream(added(MESSAGE))[-1].failure.mid_stream


def test_done_is_no_proper_end():
    decoder = CODEC.decoder(FACTS)
    assert not decoder.feed(Frame("[DONE]"))
    assert isinstance(decoder.close()[0], Failed)


def test_nothing_follows_the_end():
    decoder = CODEC.decoder(FACTS)
    for frame in frames(text("a"), completed()):
        decoder.feed(frame)
    assert not [event for frame in frames(text("b"), completed()) for event in decoder.feed(frame)]
    assert not decoder.close()


@pytest.mark.parametrize(
    "event",
    [
        {"type": "error", "code": "rate_limit_exceeded", "message": "Slow down. Try again in 2s."},
        {"type": "error", "error": {"code": "rate_limit_exceeded", "message": "Try again in 2s."}},
        {"error": {"code": "rate_limit_exceeded", "message": "Try again in 2s."}},
        {"type": "response.error", "error": {"code": "rate_limit", "message": "Try again in 2s."}},
        completed(
            status="failed", error={"code": "rate_limit_exceeded", "message": "Try again in 2s."}
        ),
    ],
)
def test_an_error_in_the_stream_is_a_failure_of_its_kind(event):
    decoder = CODEC.decoder(FACTS)
    decoder.feed(Frame(json.dumps(text("a"))))
    *_, failed = decoder.feed(Frame(json.dumps(event)))
    assert isinstance(failed, Failed)
    failure = failed.failure
    assert (failure.kind, failure.retry_after_s) == (ErrorKind.RATE_LIMIT, 2)
    assert failure.mid_stream
    assert not decoder.close()


def test_the_kind_of_an_event_may_stand_in_the_event_line_only():
    decoder = CODEC.decoder(FACTS)
    event = {"delta": "Hi", "output_index": 0}
    decoder.feed(Frame(json.dumps(event), "response.output_text.delta"))
    assert list(decoder.feed(Frame(json.dumps({"response": {}}), "response.completed"))) == [
        TextDelta("Hi"),
        Completed(StopReason.END_TURN, "completed"),
    ]


def test_an_event_that_is_no_json_object_is_a_broken_protocol():
    decoder = CODEC.decoder(FACTS)
    (failed,) = decoder.feed(Frame("<html>"))
    assert isinstance(failed, Failed)
    assert failed.failure.kind is ErrorKind.PROTOCOL


# ---------------------------------------------------------------- whole bodies


def test_a_whole_answer_reads_like_the_stream_of_it():
    output = [
        {"type": "reasoning", "id": "r", "summary": []},
        said("a", "b"),
        {**CALL, "arguments": "{}"},
    ]
    streamed = stream(completed(*output, id="resp_1"))
    assert whole({"id": "resp_1", "status": "completed", "output": output}) == streamed
    assert blocks(streamed)[1:] == (Text("ab"), ToolCall("call_1", "run", {}))


def test_a_whole_answer_may_be_wrapped_as_in_the_last_event():
    assert blocks(whole(completed(said("x")))) == (Text("x"),)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"not json", ErrorKind.PROTOCOL),
        (b"[]", ErrorKind.PROTOCOL),
        (b"{}", ErrorKind.PROTOCOL),
        (b'{"error": {"code": "rate_limit_exceeded", "message": "no"}}', ErrorKind.RATE_LIMIT),
        (b'{"status": "in_progress", "output": []}', ErrorKind.NETWORK),
        (b'{"status": "cancelled", "output": []}', ErrorKind.SERVER_ERROR),
        (b'{"status": "failed", "error": {"code": "server_error"}}', ErrorKind.SERVER_ERROR),
    ],
)
def test_a_whole_body_that_is_no_finished_answer_fails(body, kind):
    *_, failed = CODEC.decode_body(body, FACTS)
    assert isinstance(failed, Failed)
    assert failed.failure.kind is kind
    assert not failed.failure.mid_stream


# ---------------------------------------------------------------- anything at all

_kinds = st.sampled_from([
    "message",
    "reasoning",
    "function_call",
    "custom_tool_call",
    "local_shell_call",
    "web_search_call",
])
_names = st.sampled_from(["", "a", "b"])
_parts = st.fixed_dictionaries(
    {}, optional={"type": any_json, "text": any_json, "refusal": any_json, "annotations": any_json}
)
_items = st.fixed_dictionaries(
    {},
    optional={
        "type": _kinds | any_json,
        "id": _names | any_json,
        "call_id": _names | any_json,
        "name": _names | any_json,
        "arguments": st.just("{}") | any_json,
        "action": any_json,
        "phase": any_json,
        "content": st.lists(_parts | any_json, max_size=2) | any_json,
        "summary": st.lists(_parts | any_json, max_size=2) | any_json,
    },
)
_responses = st.fixed_dictionaries(
    {},
    optional={
        "id": any_json,
        "status": st.sampled_from(["completed", "incomplete", "failed", "in_progress"]) | any_json,
        "output": st.lists(_items | any_json, max_size=3) | any_json,
        "error": any_json,
        "usage": any_json,
        "incomplete_details": any_json,
    },
)
_events = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from([
            "response.created",
            "response.output_item.added",
            "response.output_item.done",
            "response.output_text.delta",
            "response.reasoning_text.delta",
            "response.function_call_arguments.delta",
            "response.custom_tool_call_input.delta",
            "response.completed",
            "error",
        ])
        | any_json,
        "output_index": st.integers(0, 2) | any_json,
        "item_id": _names | any_json,
        "item": _items | any_json,
        "delta": st.text(max_size=3) | any_json,
        "response": _responses | any_json,
        "error": any_json,
    },
)


@given(st.lists(_events | any_json, max_size=8))
def test_whatever_a_server_sends_an_answer_ends_once_and_nothing_raises(events: list):
    told = stream(*events)
    ends = [event for event in told if isinstance(event, Completed | Failed)]
    assert ends == told[-1:]
    begun = [event.index for event in told if isinstance(event, ToolCallStarted)]
    whole_calls = [event.index for event in told if isinstance(event, ToolCallCompleted)]
    assert begun == list(range(len(begun)))
    assert len(set(whole_calls)) == len(whole_calls)
    assert set(whole_calls) <= set(begun)
    fold(told).message()


@given(_responses | any_json)
def test_whatever_comes_as_a_whole_body_ends_once_and_nothing_raises(body: object):
    told = whole(body)
    ends = [event for event in told if isinstance(event, Completed | Failed)]
    assert ends == told[-1:]


INCOMPLETE = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}


@pytest.mark.parametrize("declared", [[done({**CALL, "status": "incomplete"})], []])
def test_a_call_that_was_cut_before_its_arguments_is_malformed(declared):
    end = {"type": "response.incomplete", "response": {**INCOMPLETE, "output": []}}
    cut = blocks(stream(added(CALL), *declared, end))
    assert cut == (ToolCall("call_1", "run", None, malformed=""),)


def test_calls_come_in_the_order_in_which_they_began():
    other = {**CALL, "id": "fc_2", "call_id": "call_2"}
    begun = [added(CALL, 0), added(other, 1), done(other, 1)]
    told = stream(*begun, done(CALL, 0), completed())
    assert [call.id for call in blocks(told)] == ["call_1", "call_2"]
    shell = {"type": "shell_call", "id": "sh_1", "call_id": "call_0"}
    never_done = stream(added(shell, 0), added(other, 1), done(other, 1), completed())
    assert [call.id for call in blocks(never_done)] == ["call_2"]


def test_a_call_whose_beginning_was_lost_has_the_id_of_its_item():
    told = stream({**arguments("{}"), "item_id": "fc_1"}, done(CALL), completed())
    assert blocks(told) == (ToolCall("call_1", "run", {}),)


def test_text_that_comes_only_as_done_is_told_once():
    ended = {"type": "response.output_text.done", "output_index": 0, "text": "Hey"}
    assert blocks(stream(ended, completed())) == (Text("Hey"),)
    assert blocks(stream(text("Hey"), ended, completed())) == (Text("Hey"),)


@pytest.mark.parametrize(
    "event",
    [
        {"type": "error", "code": "server_error", "message": "x"},
        {"type": "response.failed", "response": {"status": "failed", "error": {"code": "x"}}},
    ],
)
def test_what_was_said_before_an_error_is_told(event):
    assert blocks(stream(text("half"), event)) == (Text("half"),)
