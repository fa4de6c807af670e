"""What a recorded response means, as one JSON object."""

import json

from hame.base.model import ModelFacts
from hame.llm.codecs import codec
from hame.llm.meaning import read_meaning

FACTS = ModelFacts(backend="b", model="m", wire="openai_chat", vendor="Acme")


def meaning(body: object, *, status: int = 200, chunks: list[bytes] | None = None):
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return read_meaning(
        codec("openai_chat"), FACTS, status=status, headers={}, body=raw, chunks=chunks
    )


def sse(*chunks: object, done: bool = True) -> bytes:
    lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
    return "".join([*lines, "data: [DONE]\n\n" if done else ""]).encode()


CALL = {"index": 0, "id": "a", "function": {"name": "f", "arguments": '{"x":'}}


def test_an_answer_is_complete():
    read = meaning(sse({"choices": [{"delta": {"content": "x"}, "finish_reason": "stop"}]}))
    assert read["text"] == "x"
    assert read["complete"] is True
    assert read["stop_reason"] == "end_turn"
    assert read["usage"] is None
    assert "error" not in read


def test_a_call_that_does_not_parse_is_shown_with_its_text():
    chunk = {"choices": [{"delta": {"tool_calls": [CALL]}, "finish_reason": "tool_calls"}]}
    (call,) = meaning(sse(chunk))["tool_calls"]  # pyright: ignore[reportGeneralTypeIssues]
    assert call == {
        "id": "a",
        "name": "f",
        "args": None,
        "raw_args": '{"x":',
        "args_valid_json": False,
    }


def test_a_stream_that_was_cut_is_not_complete_and_not_executable():
    read = meaning(sse({"choices": [{"delta": {"tool_calls": [CALL]}}]}, done=False))
    assert read["complete"] is False
    assert read["stop_reason"] is None
    assert read["executable"] is False
    assert read["tool_calls"] == []
    assert read["partial_tool_calls"] == [{"id": "a", "name": "f", "raw_args": '{"x":'}]
    assert read["notes"]


def test_an_error_is_told_with_what_to_do():
    read = meaning({"error": {"message": "slow down, try again in 7s"}}, status=429)
    error = read["error"]
    assert isinstance(error, dict)
    assert error["category"] == "rate_limit"
    assert error["retry_after_s"] == 7.0
    assert error["http_status"] == 429
    assert error["hint"]
    assert read["stop_reason"] == "error"


def test_what_must_go_back_is_shown_by_length_and_hash():
    details = [{"type": "reasoning.encrypted", "format": "f", "data": "secret"}]
    delta = {"reasoning_details": details, "refusal": "No."}
    read = meaning(sse({"choices": [{"delta": delta, "finish_reason": "stop"}]}))
    assert read["refusal"] == "No."
    assert read["reasoning_details"] == [
        {
            "type": "reasoning.encrypted",
            "format": "f",
            "data_len": 6,
            "data_sha": "2bb80d537b1da3e3",
            "text_len": 0,
        }
    ]
    assert "secret" not in json.dumps(read)


def test_the_pieces_are_what_is_read():
    body = sse({"choices": [{"delta": {"content": "x"}, "finish_reason": "stop"}]})
    assert meaning(b"", chunks=[body[:9], body[9:]])["text"] == "x"
