"""Bytes to frames, however they were cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hame.base.ports import Frame
from hame.llm.frames import NdjsonFrames, SseFrames


def read_sse(*chunks: bytes, limit: int = 1_000_000) -> list[Frame]:
    frames = SseFrames(limit)
    return [*(frame for chunk in chunks for frame in frames.feed(chunk)), *frames.close()]


def read_ndjson(*chunks: bytes, limit: int = 1_000_000) -> list[Frame]:
    frames = NdjsonFrames(limit)
    return [*(frame for chunk in chunks for frame in frames.feed(chunk)), *frames.close()]


def data_of(frames: list[Frame]) -> list[str]:
    return [frame.data for frame in frames]


@pytest.mark.parametrize("ending", [b"\n", b"\r\n", b"\r"])
def test_lines_may_end_in_any_of_three_ways(ending):
    body = ending.join([b"event: a", b"data: 1", b"", b"data: 2", b"", b""])
    assert read_sse(body) == [Frame("1", "a"), Frame("2")]


def test_a_byte_order_mark_is_no_data():
    assert read_sse(b"\xef\xbb\xbfdata: 1\n\n") == [Frame("1")]
    assert read_sse(b"\xef", b"\xbb", b"\xbf", b"data: 1\n\n") == [Frame("1")]


def test_comments_and_unknown_fields_are_left_out():
    body = b": keep-alive\n\nid: 7\nretry: 9\nfoo\ndata: 1\n\n:\n\n"
    assert read_sse(body) == [Frame("1")]


def test_data_of_several_lines_is_joined():
    assert read_sse(b"data: {\ndata:  1\ndata\ndata: }\n\n") == [Frame("{\n 1\n\n}")]


def test_only_one_space_after_the_colon_is_dropped():
    assert data_of(read_sse(b"data:1\n\ndata:  2\n\n")) == ["1", " 2"]


def test_an_event_without_data_is_none_and_its_name_is_forgotten():
    assert read_sse(b"event: ping\n\ndata: 1\n\n") == [Frame("1")]


def test_the_last_event_counts_without_its_blank_line():
    assert data_of(read_sse(b'data: {"a":1}')) == ['{"a":1}']
    assert data_of(read_sse(b"data: [DONE]")) == ["[DONE]"]
    assert data_of(read_sse(b"data: words\n")) == ["words"]


def test_an_event_that_was_cut_inside_its_json_is_dropped():
    assert data_of(read_sse(b'data: {"a":1}\n\ndata: {"b":')) == ['{"a":1}']
    assert data_of(read_sse(b'data: {"a":1}\n\ndata: {"b":"\xe2\x80')) == ['{"a":1}']


def test_a_bare_object_in_the_stream_is_an_event():
    body = b'data: {"a":1}\n\n{\n  "error": {\n    "code": 499\n  }\n}\n'
    assert data_of(read_sse(body)) == ['{"a":1}', '{\n  "error": {\n    "code": 499\n  }\n}']
    assert data_of(read_sse(b"[DONE]\n\n")) == ["[DONE]"]


def test_a_character_that_was_cut_in_two_stays_whole():
    body = "data: “Héllo” 😊\n\n".encode()
    for at in range(len(body)):
        assert data_of(read_sse(body[:at], body[at:])) == ["“Héllo” 😊"]


def test_bytes_that_are_no_text_are_replaced():
    assert data_of(read_sse(b"data: a\xffb\n\n")) == ["a\ufffdb"]


def test_an_event_that_is_too_large_is_an_error():
    with pytest.raises(ValueError, match="larger than 100 bytes"):
        read_sse(b"data: " + b"x" * 200, limit=100)
    with pytest.raises(ValueError, match="larger than 100 bytes"):
        read_sse(*[b"data: " + b"x" * 40 + b"\n"] * 4, limit=100)
    with pytest.raises(ValueError, match="larger than 100 bytes"):
        read_ndjson(b"x" * 60, b"x" * 60, limit=100)


def test_each_line_of_ndjson_is_a_frame():
    assert data_of(read_ndjson(b'{"a":1}\n\r\n  \n{"b":2}\r\n{"c":3}')) == [
        '{"a":1}',
        '{"b":2}',
        '{"c":3}',
    ]


def test_a_line_of_ndjson_that_was_cut_is_dropped():
    assert data_of(read_ndjson(b'{"a":1}\n{"b":')) == ['{"a":1}']
    assert read_ndjson(b"") == []


lines = st.sampled_from([
    b"data: {}",
    b"data: [DONE]",
    b"event: x",
    b": c",
    b"",
    b"",
    b'{"a":',
    b"data",
    b"\xe2\x80",
]) | st.binary(max_size=6)
bodies = st.lists(st.tuples(lines, st.sampled_from([b"\n", b"\r\n", b"\r"])), max_size=12).map(
    lambda parts: b"".join(line + end for line, end in parts)
)


@given(bodies, st.lists(st.integers(1, 9), min_size=1, max_size=30))
def test_how_a_body_was_cut_does_not_matter(body, steps):
    pieces, at, turn = [], 0, 0
    while at < len(body):
        step = steps[turn % len(steps)]
        pieces.append(body[at : at + step])
        at, turn = at + step, turn + 1
    assert read_sse(*pieces) == read_sse(body)
    assert read_ndjson(*pieces) == read_ndjson(body)


def test_events_whose_blank_line_is_left_out_stay_apart():
    assert data_of(read_sse(b'data: {"a":1}\ndata: {"b":2}\ndata: [DONE]\n\n')) == [
        '{"a":1}',
        '{"b":2}',
        "[DONE]",
    ]
    assert data_of(read_sse(b'data: {"a":\ndata: 1}\n\n')) == ['{"a":\n1}']
