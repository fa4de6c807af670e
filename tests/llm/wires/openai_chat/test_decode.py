"""What chat completions servers send, in all their dialects."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hame.base.errors import ErrorKind
from hame.base.fold import Fold
from hame.base.message import Assistant, Opaque, StopReason, Text, Thinking, ToolCall
from hame.base.model import ModelFacts, Quirk
from hame.base.ports import Frame
from hame.base.stream import Completed, Failed, StreamEvent, ToolCallStarted, UsageReported
from hame.llm.wires.openai_chat import CODEC

FACTS = ModelFacts(backend="acme", model="m", wire="openai_chat", vendor="Acme")


def decode(*chunks: object, done: bool = True) -> list[StreamEvent]:
    decoder = CODEC.decoder(FACTS)
    events: list[StreamEvent] = []
    for chunk in chunks:
        frame = chunk if isinstance(chunk, Frame) else Frame(json.dumps(chunk))
        events += decoder.feed(frame)
    if done:
        events += decoder.feed(Frame("[DONE]"))
    events += decoder.close()
    assert sum(isinstance(event, Completed | Failed) for event in events) == 1
    assert isinstance(events[-1], Completed | Failed)
    return events


def whole(body: object) -> list[StreamEvent]:
    return list(CODEC.decode_body(json.dumps(body).encode(), FACTS))


def fold(events: list[StreamEvent]) -> Assistant:
    folding = Fold()
    for event in events:
        folding.add(event)
    return folding.message()


def failure(events: list[StreamEvent]):
    assert isinstance(events[-1], Failed)
    return events[-1].failure


def delta(finish: str | None = None, **fields: object) -> dict[str, object]:
    return {"id": "c1", "choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def tool(**fields: object) -> dict[str, object]:
    name, text = fields.pop("name", None), fields.pop("text", None)
    function = {"name": name, "arguments": text}
    return {**fields, "function": {k: v for k, v in function.items() if v is not None}}


def test_text_is_joined_and_ends():
    message = fold(decode(delta(content="Hel"), delta(content="lo"), delta("stop")))
    assert message.content == (Text("Hello"),)
    assert message.stop_reason is StopReason.END_TURN
    assert message.raw_stop_reason == "stop"


@pytest.mark.parametrize("key", ["reasoning_content", "reasoning", "reasoning_text"])
def test_reasoning_comes_before_the_text_as_a_block_of_its_own(key):
    message = fold(decode(delta(**{key: "hm"}), delta(content="yes"), delta("stop")))
    assert message.content == (Thinking("hm"), Text("yes"))


def test_reasoning_under_two_names_is_read_once():
    message = fold(decode(delta(reasoning_content="hm", reasoning="hm"), delta("stop")))
    assert message.thinking == "hm"


def test_thinking_in_parts_of_the_content_is_told_from_text():
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "h"}]},
        {"type": "thinking", "thinking": "m"},
        {"type": "text", "text": "yes"},
        {"type": "reference"},
    ]
    message = fold(decode(delta(content=parts), delta("stop")))
    assert message.content == (Thinking("hm"), Text("yes"))


def test_reasoning_details_are_joined_and_kept_for_the_way_back():
    message = fold(
        decode(
            delta(reasoning_details=[{"type": "reasoning.text", "index": 0, "text": "a"}]),
            delta(reasoning_details=[{"type": "reasoning.text", "index": 0, "text": "b"}]),
            delta(reasoning_details=[{"type": "reasoning.text", "index": 0, "signature": "s"}]),
            delta(reasoning_details=[{"type": "reasoning.text", "index": 0, "text": "c"}]),
            delta(reasoning_details=[{"type": "reasoning.encrypted", "data": "x"}]),
            delta(reasoning_details=[{"type": "reasoning.encrypted", "data": "y"}]),
            delta("stop", content="yes"),
        )
    )
    assert message.thinking == "abc"
    kept = next(block for block in message.content if isinstance(block, Opaque))
    assert kept.payload["details"] == [
        {"type": "reasoning.text", "index": 0, "text": "ab", "signature": "s"},
        {"type": "reasoning.text", "index": 0, "text": "c"},
        {"type": "reasoning.encrypted", "data": "x"},
        {"type": "reasoning.encrypted", "data": "y"},
    ]


def calls(*deltas: list[dict[str, object]], finish: str = "tool_calls") -> tuple[ToolCall, ...]:
    chunks = [delta(tool_calls=pieces) for pieces in deltas]
    return fold(decode(*chunks, delta(finish))).calls


def test_pieces_of_parallel_calls_are_joined_by_index():
    found = calls(
        [tool(index=0, id="a", name="f", text="")],
        [tool(index=1, id="b", name="g", text='{"y"')],
        [tool(index=0, text='{"x":')],
        [tool(index=1, text=":2}")],
        [tool(index=0, text="1}")],
    )
    assert found == (
        ToolCall(id="a", name="f", arguments={"x": 1}),
        ToolCall(id="b", name="g", arguments={"y": 2}),
    )


def test_calls_without_an_index_are_kept_apart_by_id():
    found = calls([tool(id="a", name="f", text='{"x":1}'), tool(id="b", name="f", text='{"x":2}')])
    assert [(call.id, call.arguments) for call in found] == [("a", {"x": 1}), ("b", {"x": 2})]


def test_pieces_without_an_index_go_to_the_last_call():
    found = calls([tool(id="a", name="f", text='{"x"')], [tool(text=":1}")])
    assert found == (ToolCall(id="a", name="f", arguments={"x": 1}),)


def test_calls_with_neither_index_nor_id_are_kept_apart():
    found = calls([tool(name="f", text='{"x":1}')], [tool(name="f", text='{"x":2}')])
    assert [call.arguments for call in found] == [{"x": 1}, {"x": 2}]
    assert len({call.id for call in found}) == 2


def test_a_new_id_at_a_live_index_begins_another_call():
    found = calls(
        [tool(index=0, id="a", name="f", text="{}")], [tool(index=0, id="b", name="g", text="{}")]
    )
    assert [call.id for call in found] == ["a", "b"]


def test_one_index_for_all_calls_without_ids_keeps_them_apart():
    found = calls([tool(index=0, name="f", text="{}")], [tool(index=0, name="g", text="{}")])
    assert [call.name for call in found] == ["f", "g"]


def test_the_name_and_id_on_every_piece_are_no_new_calls():
    piece = {"index": 0, "id": "a", "name": "f"}
    found = calls([tool(**piece, text='{"x"')], [tool(**piece, text=":1}")], [tool(**piece)])
    assert found == (ToolCall(id="a", name="f", arguments={"x": 1}),)


def test_a_name_that_comes_late_begins_the_call_with_what_came_before():
    chunks = [
        delta(tool_calls=[tool(index=0, id="a", text='{"x"')]),
        delta(tool_calls=[tool(index=0, name="f", text=":1}")]),
    ]
    events = decode(*chunks, delta("tool_calls"))
    assert [event for event in events if isinstance(event, ToolCallStarted)] == [
        ToolCallStarted(0, "a", "f")
    ]
    assert fold(events).calls == (ToolCall(id="a", name="f", arguments={"x": 1}),)


def test_pieces_that_never_get_a_name_are_no_call():
    message = fold(decode(delta(tool_calls=[tool(index=0, text="{}")]), delta("tool_calls")))
    assert message.calls == ()


def test_missing_ids_are_made_the_same_way_each_time():
    first = calls([tool(index=0, name="f", text="{}")])
    again = calls([tool(index=0, name="f", text="{}")])
    assert first == again
    assert first[0].id.startswith("call_")


def test_the_same_id_twice_becomes_two():
    found = calls([tool(index=0, id="a", name="f"), tool(index=1, id="a", name="f")])
    assert [call.id for call in found] == ["a", "a_1"]


def test_arguments_may_come_as_an_object():
    found = calls([tool(index=0, id="a", name="f", text={"x": 1})])
    assert found[0].arguments == {"x": 1}


@pytest.mark.parametrize("text", ["", "null", " "])
def test_no_arguments_are_an_empty_object(text):
    assert calls([tool(index=0, id="a", name="f", text=text)])[0].arguments == {}


def test_arguments_that_are_no_json_are_kept_as_text():
    (call,) = calls([tool(index=0, id="a", name="f", text='{"x":')])
    assert call.arguments is None
    assert call.malformed == '{"x":'


def test_a_call_without_arguments_at_the_output_limit_was_cut():
    (call,) = calls([tool(index=0, id="a", name="f", text="")], finish="length")
    assert call.arguments is None


def test_the_old_function_call_is_a_call():
    chunks = [
        delta(function_call={"name": "f", "arguments": '{"x"'}),
        delta(function_call={"arguments": ":1}"}),
    ]
    (call,) = fold(decode(*chunks, delta("function_call"))).calls
    assert (call.name, call.arguments) == ("f", {"x": 1})


def test_a_custom_tools_input_is_not_run_as_arguments():
    piece: dict[str, object] = {
        "index": 0,
        "id": "a",
        "custom": {"name": "f", "input": "4 + 4"},
    }
    (call,) = calls([piece])
    assert (call.name, call.arguments, call.malformed) == ("f", None, "4 + 4")


def test_geminis_signature_stays_with_its_call():
    signature = {"google": {"thought_signature": "sig"}}
    (call,) = calls([{**tool(index=0, id="a", name="f"), "extra_content": signature}])
    assert call.signature == "sig"


def test_a_whole_message_in_a_stream_is_read():
    chunk = {"choices": [{"message": {"content": "all"}, "finish_reason": "stop"}]}
    assert fold(decode(chunk)).text == "all"


def test_the_text_of_old_completions_is_read():
    assert fold(decode({"choices": [{"text": "old", "finish_reason": "stop"}]})).text == "old"


def test_only_the_first_choice_counts():
    chunk = {"choices": [{"index": 1, "delta": {"content": "b"}}, {"delta": {"content": "a"}}]}
    assert fold(decode(chunk, delta("stop"))).text == "a"


def test_a_refusal_is_told_and_goes_back():
    message = fold(decode(delta(refusal="I can"), delta(refusal="not."), delta("stop")))
    assert message.stop_reason is StopReason.REFUSAL
    (block,) = message.content
    assert isinstance(block, Opaque)
    assert (block.kind, block.summary) == ("refusal", "I cannot.")


@pytest.mark.parametrize(
    ("raw", "stop"),
    [
        ("stop", StopReason.END_TURN),
        ("eos", StopReason.END_TURN),
        ("length", StopReason.MAX_TOKENS),
        ("content_filter", StopReason.CONTENT_FILTER),
        ("model_context_window_exceeded", StopReason.CONTEXT_FULL),
        ("MALFORMED_FUNCTION_CALL", StopReason.MALFORMED_TOOL_CALL),
        ("tool_calls", StopReason.END_TURN),
        ("brand_new", StopReason.UNKNOWN),
    ],
)
def test_the_reasons_to_stop_are_told_in_one_vocabulary(raw, stop):
    message = fold(decode(delta(content="x"), delta(raw)))
    assert message.stop_reason is stop
    assert message.raw_stop_reason == raw


def test_a_call_counts_whatever_the_reason_says():
    chunk = delta("stop", tool_calls=[tool(index=0, id="a", name="f", text="{}")])
    assert fold(decode(chunk)).stop_reason is StopReason.TOOL_USE


def test_an_empty_finish_reason_is_none():
    message = fold(decode(delta("", content="a"), delta("", content="b"), delta("stop")))
    assert message.text == "ab"


@pytest.mark.parametrize("raw", ["error", "network_error", "insufficient_system_resource"])
def test_a_server_that_broke_says_so_as_a_finish_reason(raw):
    told = failure(decode(delta(content="x"), delta(raw), done=False))
    assert told.kind is ErrorKind.SERVER_ERROR
    assert told.retryable
    assert told.mid_stream


# ---------------------------------------------------------------- ends


def test_the_mark_of_the_end_is_enough():
    assert isinstance(decode(delta(content="x"))[-1], Completed)


def test_a_finish_reason_is_enough():
    assert isinstance(decode(delta("stop", content="x"), done=False)[-1], Completed)


def test_neither_is_a_cut_stream():
    told = failure(decode(delta(content="x"), done=False))
    assert told.kind is ErrorKind.NETWORK
    assert told.retryable
    assert told.mid_stream
    assert "Acme" in told.message


def test_a_call_that_was_cut_is_never_completed():
    chunk = delta(content="x", tool_calls=[tool(index=0, id="a", name="f", text="{}")])
    assert fold(decode(chunk, done=False)).calls == ()


def test_no_byte_at_all_is_a_cut_stream():
    told = failure(decode(done=False))
    assert told.kind is ErrorKind.NETWORK
    assert not told.mid_stream


def test_nothing_follows_the_end():
    decoder = CODEC.decoder(FACTS)
    decoder.feed(Frame("[DONE]"))
    assert decoder.feed(Frame(json.dumps(delta(content="more")))) == ()
    assert decoder.close() == ()


# ---------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("frame", "kind"),
    [
        (Frame('{"error":{"message":"x","code":502}}'), ErrorKind.SERVER_ERROR),
        (Frame('{"error":"model overloaded"}'), ErrorKind.OVERLOADED),
        (Frame('{"object":"error","message":"x","code":429}'), ErrorKind.RATE_LIMIT),
        (Frame('{"message":"x","type":"overloaded_error"}', "error"), ErrorKind.OVERLOADED),
        (Frame("upstream died", "error"), ErrorKind.SERVER_ERROR),
        (Frame('{"detail":"boom"}'), ErrorKind.SERVER_ERROR),
        (
            Frame('{"choices":[{"delta":{},"finish_reason":"error","error":{"code":429}}]}'),
            ErrorKind.RATE_LIMIT,
        ),
        (Frame("<html>"), ErrorKind.PROTOCOL),
        (Frame('{"choices":'), ErrorKind.PROTOCOL),
    ],
)
def test_an_error_in_the_stream_is_a_failure(frame, kind):
    told = failure(decode(delta(content="x"), frame, done=False))
    assert told.kind is kind
    assert told.mid_stream


def test_an_error_that_is_null_is_none():
    assert fold(decode({**delta(content="x"), "error": None}, delta("stop"))).text == "x"


def test_what_follows_the_finish_reason_and_is_no_json_does_no_harm():
    events = decode(delta("stop", content="x"), Frame("bye"), Frame(""), done=False)
    assert isinstance(events[-1], Completed)


# ---------------------------------------------------------------- usage


def usage_of(counts: dict[str, object], **more: object):
    chunk = {"choices": [], "usage": counts, **more}
    events = decode(delta("stop", content="x"), chunk)
    (reported,) = (event.usage for event in events if isinstance(event, UsageReported))
    return reported


def test_usage_after_the_finish_counts_every_prompt_token_once():
    usage = usage_of({
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "total_tokens": 120,
        "prompt_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 30},
        "completion_tokens_details": {"reasoning_tokens": 15},
    })
    assert (usage.input_uncached, usage.cache_read, usage.cache_write) == (10, 60, 30)
    assert (usage.input_total, usage.output, usage.reasoning) == (100, 20, 15)


def test_reasoning_that_the_output_leaves_out_is_added():
    usage = usage_of({
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "total_tokens": 135,
        "completion_tokens_details": {"reasoning_tokens": 15},
    })
    assert usage.output == 35


@pytest.mark.parametrize(
    "counts",
    [
        {"prompt_tokens": 9, "prompt_cache_hit_tokens": 4},
        {"prompt_tokens": 9, "cached_tokens": 4},
        {"prompt_tokens": 9, "cache_read_input_tokens": 4},
    ],
)
def test_cached_tokens_have_several_names(counts):
    usage = usage_of(counts)
    assert (usage.input_uncached, usage.cache_read) == (5, 4)


@pytest.mark.parametrize(
    ("counts", "paid"),
    [
        ({"cost": 0.00014}, 140_000),
        ({"cost": 0}, 0),
        ({"cost": 1e-9, "is_byok": False, "cost_details": {"upstream_inference_cost": 3}}, 1),
        (
            {"cost": 0.001, "is_byok": True, "cost_details": {"upstream_inference_cost": 0.02}},
            21_000_000,
        ),
        (
            {"cost": 0.001, "is_byok": True, "cost_details": {"upstream_inference_cost": None}},
            1_000_000,
        ),
        ({"cost": -1}, None),
        ({"cost": "0.1"}, None),
        ({"cost": None}, None),
        ({}, None),
    ],
)
def test_the_price_paid_is_read_where_the_vendor_tells_it(counts, paid):
    chunk = {"choices": [], "usage": {"prompt_tokens": 3, **counts}}
    for quirks, expected in ((frozenset({Quirk.TELLS_COST}), paid), (frozenset(), None)):
        facts = ModelFacts(backend="b", model="m", wire="openai_chat", quirks=quirks)
        decoder = CODEC.decoder(facts)
        frames = [delta("stop", content="x"), chunk]
        events = [e for each in frames for e in decoder.feed(Frame(json.dumps(each)))]
        events += decoder.feed(Frame("[DONE]"))
        (reported,) = (event.usage for event in events if isinstance(event, UsageReported))
        assert reported.paid_nano_usd == expected


def test_groqs_usage_is_found():
    chunk = {**delta("stop", content="x"), "x_groq": {"usage": {"prompt_tokens": 3}}}
    events = decode(chunk)
    assert any(isinstance(event, UsageReported) for event in events)


# ---------------------------------------------------------------- whole bodies


def test_a_whole_body_is_read():
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x":1}'}}
    message = fold(
        whole({
            "choices": [
                {
                    "message": {"reasoning": "hm", "content": "yes", "tool_calls": [call]},
                    "finish_reason": "tool_calls",
                }
            ],
            "usage": {"prompt_tokens": 3, "completion_tokens": 4},
        })
    )
    assert (message.thinking, message.text) == ("hm", "yes")
    assert message.calls == (ToolCall(id="a", name="f", arguments={"x": 1}),)
    assert message.usage is not None


@pytest.mark.parametrize("body", [{"error": {"message": "x"}}, {"message": "x"}, ["x"], "x", 7])
def test_a_whole_body_that_is_no_answer_is_a_failure(body):
    told = failure(whole(body))
    assert not told.mid_stream


def test_a_whole_body_without_a_finish_reason_is_an_answer():
    assert fold(whole({"choices": [{"message": {"content": "x"}}]})).text == "x"


# ---------------------------------------------------------------- anything at all

values = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 600) | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from([
                *("choices", "delta", "message", "content", "tool_calls", "function", "index"),
                *("id", "name", "arguments", "finish_reason", "usage", "error", "reasoning"),
                *("reasoning_details", "type", "thinking", "refusal", "prompt_tokens"),
            ]),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@given(st.lists(values | st.text(max_size=8), max_size=6), st.booleans())
def test_anything_at_all_ends_properly(chunks, done):
    decode(*chunks, done=done)


@given(values)
def test_any_whole_body_ends_properly(body):
    events = whole(body)
    assert isinstance(events[-1], Completed | Failed)


def test_where_an_answer_has_things_from_is_kept_once_and_named():
    page = {"type": "url_citation", "url_citation": {"url": "https://example.org", "title": "E"}}
    file = {"type": "file", "file": {"name": "cv.pdf", "hash": "x"}}
    message = fold(
        decode(
            delta(content="So.", annotations=[page]), delta("stop", annotations=[page, file, {}])
        )
    )
    kept: dict = {"annotations": [page, file, {}]}
    summary = "sources: https://example.org, cv.pdf"
    assert message.content == (Text("So."), Opaque("openai_chat", "citations", kept, summary))


def test_a_name_may_come_in_pieces_or_again_and_again_and_an_id_behind_it():
    pieces = [tool(index=0, name="read_")], [tool(index=0, name="file", id="a")]
    (found,) = calls(*pieces, [tool(index=0, text='{"p":1}')])
    assert found == ToolCall("a", "read_file", {"p": 1})
    (found,) = calls(*[[tool(index=0, name="read_file", id="a", text=part)] for part in ("", "{}")])
    assert found == ToolCall("a", "read_file", {})


def test_calls_without_index_id_and_arguments_are_told_apart_by_name():
    assert [one.name for one in calls([tool(name="f")], [tool(name="g")])] == ["f", "g"]


def test_a_call_that_broke_off_before_its_arguments_was_begun():
    decoder = CODEC.decoder(FACTS)
    begun = delta(tool_calls=[tool(index=0, id="a", name="f")])
    assert list(decoder.feed(Frame(json.dumps(begun)))) == []
    started, failed = decoder.close()
    assert started == ToolCallStarted(0, "a", "f")
    assert isinstance(failed, Failed)


@pytest.mark.parametrize(
    ("finish", "stop"),
    [("tool_calls", StopReason.MALFORMED_TOOL_CALL), ("length", StopReason.MAX_TOKENS)],
)
def test_a_call_of_nothing_is_a_malformed_one(finish, stop):
    message = fold(
        decode(delta(content="Look:"), delta(tool_calls=[tool(text="{}")]), delta(finish))
    )
    assert (message.text, message.calls, message.stop_reason) == ("Look:", (), stop)


@pytest.mark.parametrize(
    ("raw", "stop"),
    [
        ("eos_token", StopReason.END_TURN),
        ("COMPLETE", StopReason.END_TURN),
        ("stop_sequence", StopReason.STOP_SEQUENCE),
        ("SAFETY", StopReason.CONTENT_FILTER),
        ("recitation", StopReason.CONTENT_FILTER),
        ("something", StopReason.UNKNOWN),
    ],
)
def test_reasons_to_stop_of_other_wires_pass_through_gateways(raw, stop):
    assert fold(decode(delta(content="x"), delta(raw))).stop_reason is stop


def test_usage_may_stand_in_the_choice():
    chunk = delta("stop")
    chunk["choices"][0]["usage"] = {"prompt_tokens": 5, "completion_tokens": 3, "cached_tokens": 2}
    usage = fold(decode(delta(content="x"), chunk)).usage
    assert usage is not None
    assert (usage.input_total, usage.cache_read, usage.output) == (5, 2, 3)


@pytest.mark.parametrize("finish", ["content_filter", "refusal", "model_length"])
def test_a_last_call_without_arguments_was_cut_where_the_answer_was(finish):
    found = calls(
        [tool(index=0, id="a", name="f")], [tool(index=1, id="b", name="g")], finish=finish
    )
    assert [one.arguments for one in found] == [{}, None]


def test_a_status_beside_the_answer_is_an_error_unless_it_is_success():
    fine = {"base_resp": {"status_code": 0, "status_msg": "success"}}
    assert isinstance(decode(delta("stop", content="x") | fine)[-1], Completed)
    refused = {"base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}}
    for events in (decode(refused), whole({"choices": None, **refused})):
        assert failure(events).kind is ErrorKind.QUOTA_EXHAUSTED
