"""Lines of /api/chat -> what the model said."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from base.strategies import any_json
from hame.base.errors import ErrorKind
from hame.base.fold import Fold
from hame.base.message import StopReason, Text, Thinking, ToolCall
from hame.base.model import ModelFacts, Usage
from hame.base.ports import Frame
from hame.base.stream import Completed, Failed, StreamEvent, ToolCallCompleted, ToolCallStarted
from hame.llm.wires.ollama import CODEC

FACTS = ModelFacts(backend="ollama", model="qwen3", wire="ollama", vendor="Ollama")


def line(*, done: bool = False, more: dict | None = None, **message: object) -> dict:
    head = {"model": "qwen3", "created_at": "2026-01-01T00:00:00.000000001Z"}
    return {**head, "message": {"role": "assistant", **message}, "done": done, **(more or {})}


def last(reason: str | None = "stop", **more: object) -> dict:
    told = {"done_reason": reason} if reason else {}
    return line(done=True, content="", more={**told, **more})


def decode(*lines: dict | str) -> list[StreamEvent]:
    decoder = CODEC.decoder(FACTS)
    said: list[StreamEvent] = []
    for each in lines:
        said += decoder.feed(Frame(each if isinstance(each, str) else json.dumps(each)))
    return [*said, *decoder.close()]


def folded(events: Sequence[StreamEvent]) -> Fold:
    fold = Fold()
    for event in events:
        fold.add(event)
    return fold


def blocks(events: Sequence[StreamEvent]) -> tuple:
    return folded(events).message().content


def failure(events: Sequence[StreamEvent]):
    final = events[-1]
    assert isinstance(final, Failed)
    return final.failure


def call(name: str | None, arguments: object, **more: object) -> Any:
    function = {"arguments": arguments, **({"name": name} if name else {})}
    return {"function": function, **more}


def test_thinking_text_and_calls_stand_in_the_order_they_came():
    events = decode(
        line(thinking="hm"),
        line(thinking=" so"),
        line(content="Let me "),
        line(content="look."),
        line(content="", tool_calls=[call("read", {"path": "a"}, id="c1")]),
        last(),
    )
    assert blocks(events) == (
        Thinking("hm so"),
        Text("Let me look."),
        ToolCall("c1", "read", {"path": "a"}),
    )
    assert events[-1] == Completed(StopReason.TOOL_USE, "stop")


def test_thinking_that_comes_back_is_a_block_of_its_own():
    said = blocks(decode(line(thinking="a"), line(content="b"), line(thinking="c"), last()))
    assert said == (Thinking("a"), Text("b"), Thinking("c"))


def test_words_of_the_last_line_count():
    assert blocks(decode(line(content="all", done=True, more={"done_reason": "stop"}))) == (
        Text("all"),
    )


def test_blank_lines_say_nothing():
    assert blocks(decode(line(content="a"), "", "  ", last())) == (Text("a"),)


def test_calls_without_ids_get_ids_that_are_never_alike():
    now = line(content="", tool_calls=[call("now", {}), call("now", {})])
    later = {**now, "created_at": "2026-01-01T00:00:00.000000002Z"}
    ids = [made.id for first in (now, later) for made in blocks(decode(first, last()))]
    assert len(set(ids)) == 4
    assert ids[:2] == [made.id for made in blocks(decode(now, last()))]


def test_calls_are_numbered_over_all_lines():
    events = decode(
        line(tool_calls=[call("a", {})]), line(tool_calls=[call("b", {}), call("c", {})]), last()
    )
    assert [e.index for e in events if isinstance(e, ToolCallStarted)] == [0, 1, 2]
    assert [e.index for e in events if isinstance(e, ToolCallCompleted)] == [0, 1, 2]


@pytest.mark.parametrize(
    ("given", "arguments", "malformed"),
    [
        ({"a": 1}, {"a": 1}, None),
        ('{"a": 1}', {"a": 1}, None),
        (None, {}, None),
        ("", {}, None),
        ("a=1", None, "a=1"),
        ([1], None, "[1]"),
    ],
)
def test_arguments_are_an_object_or_are_kept_as_text(
    given: object, arguments: dict | None, malformed: str | None
):
    (made,) = blocks(decode(line(tool_calls=[call("t", given, id="c")]), last()))
    assert made == ToolCall("c", "t", arguments, malformed)


def test_a_call_without_a_name_is_still_a_call():
    (made,) = blocks(decode(line(tool_calls=[call(None, {}, id="c")]), last()))
    assert made.name == "unknown"


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("stop", StopReason.END_TURN),
        ("length", StopReason.MAX_TOKENS),
        ("tool_calls", StopReason.TOOL_USE),
        ("load", StopReason.UNKNOWN),
        (None, StopReason.END_TURN),
    ],
)
def test_the_reason_to_stop_is_told_in_both_words(raw: str | None, reason: StopReason):
    assert decode(line(content="a"), last(raw))[-1] == Completed(reason, raw)


def test_calls_cut_by_the_limit_do_not_hide_it():
    events = decode(line(tool_calls=[call("a", {})]), last("length"))
    assert events[-1] == Completed(StopReason.MAX_TOKENS, "length")


@pytest.mark.parametrize(
    ("counts", "usage"),
    [
        ({"prompt_eval_count": 7, "eval_count": 3}, Usage(input_uncached=7, output=3)),
        ({"eval_count": 3}, Usage(output=3)),
        ({}, None),
    ],
)
def test_the_last_line_counts_the_tokens(counts: dict, usage: Usage | None):
    assert folded(decode(line(content="a"), last(**counts))).usage == usage


# ---------------------------------------------------------------- failures


def test_a_stream_cut_midway_is_a_retryable_network_failure():
    found = failure(decode(line(content="half")))
    assert (found.kind, found.retryable, found.mid_stream) == (ErrorKind.NETWORK, True, True)
    assert not failure(decode()).mid_stream


def test_an_error_line_after_200_is_classified():
    found = failure(decode(line(content="half"), {"error": "unexpected EOF"}))
    assert (found.kind, found.retryable, found.mid_stream) == (ErrorKind.SERVER_ERROR, True, True)
    assert found.said == "unexpected EOF"


def test_an_error_that_is_its_own_key_is_an_error_too():
    found = failure(decode({"error parsing tool call": "raw='{'"}))
    assert found.said == "error parsing tool call: raw='{'"


def test_nothing_follows_the_end():
    decoder = CODEC.decoder(FACTS)
    decoder.feed(Frame(json.dumps(last())))
    assert list(decoder.feed(Frame(json.dumps(line(content="late"))))) == []
    assert list(decoder.close()) == []


def test_what_is_no_json_is_a_protocol_failure():
    assert failure(decode(line(content="a"), "<html>")).kind is ErrorKind.PROTOCOL


# ---------------------------------------------------------------- whole answers


def test_a_whole_answer_is_one_line():
    body = json.dumps(line(content="hi", thinking="hm", done=True, more={"done_reason": "stop"}))
    events = CODEC.decode_body(body.encode(), FACTS)
    assert blocks(events) == (Thinking("hm"), Text("hi"))
    assert events[-1] == Completed(StopReason.END_TURN, "stop")


def test_a_whole_answer_that_is_not_done_was_cut():
    body = json.dumps(line(content="hi")).encode()
    assert failure(CODEC.decode_body(body, FACTS)).kind is ErrorKind.NETWORK


@pytest.mark.parametrize("body", [b"<html></html>", b"[]"])
def test_a_body_that_is_no_answer_is_a_protocol_failure(body: bytes):
    assert failure(CODEC.decode_body(body, FACTS)).kind is ErrorKind.PROTOCOL


# ---------------------------------------------------------------- anything at all

_call = st.fixed_dictionaries(
    {
        "function": st.fixed_dictionaries({}, optional={"name": any_json, "arguments": any_json})
        | any_json
    },
    optional={"id": any_json},
)
_message = st.fixed_dictionaries(
    {},
    optional={
        "content": st.text(max_size=3) | any_json,
        "thinking": st.text(max_size=3) | any_json,
        "tool_calls": st.lists(_call | any_json, max_size=2) | any_json,
    },
)
_lines = st.fixed_dictionaries(
    {},
    optional={
        "message": _message | any_json,
        "done": st.booleans() | any_json,
        "done_reason": any_json,
        "error": any_json,
        "eval_count": any_json,
        "created_at": any_json,
    },
)


@given(st.lists(_lines | any_json, max_size=6))
def test_whatever_a_server_sends_an_answer_ends_once_and_nothing_raises(lines: list):
    said = decode(*[json.dumps(each) for each in lines])
    ends = [event for event in said if isinstance(event, Completed | Failed)]
    assert ends == said[-1:]
