"""One answer's body, whatever it turns out to be."""

import pytest

from hame.base.errors import ErrorKind
from hame.base.model import ModelFacts
from hame.base.stream import Completed, Failed, StreamEvent, TextDelta
from hame.llm.answer import AnswerReader
from hame.llm.codecs import codec

CHAT = ModelFacts(backend="b", model="m", wire="openai_chat", vendor="Acme")
OLLAMA = ModelFacts(backend="b", model="m", wire="ollama", vendor="Ollama")

SSE = b'data: {"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
JSON = b'{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}]}'
NDJSON = (
    b'{"message":{"role":"assistant","content":"x"},"done":false}\n'
    b'{"message":{"role":"assistant","content":""},"done":true,"done_reason":"stop"}\n'
)


def read(
    body: bytes, content_type: str = "", facts: ModelFacts = CHAT, *, step: int = 0
) -> list[StreamEvent]:
    reader = AnswerReader(codec(facts.wire), facts, content_type)
    pieces = [body[at : at + step] for at in range(0, len(body), step)] if step else [body]
    events = [event for piece in pieces for event in reader.feed(piece)] + reader.close()
    assert reader.ended
    assert reader.feed(b"more") == []
    assert reader.close() == []
    assert sum(isinstance(event, Completed | Failed) for event in events) == 1
    return events


def failure(events: list[StreamEvent]):
    assert isinstance(events[-1], Failed)
    return events[-1].failure


@pytest.mark.parametrize("step", [0, 1])
@pytest.mark.parametrize(
    ("body", "content_type", "facts"),
    [
        (SSE, "text/event-stream; charset=utf-8", CHAT),
        (SSE, "", CHAT),
        (SSE, "text/plain", CHAT),
        (b"\n\n" + SSE, "", CHAT),
        (b": comment\n\n" + SSE, "", CHAT),
        (b"\xef\xbb\xbf" + SSE, "", CHAT),
        (JSON, "application/json", CHAT),
        (JSON, "", CHAT),
        (b"\xef\xbb\xbf " + JSON, "", CHAT),
        (JSON, "text/event-stream", CHAT),
        (NDJSON, "application/x-ndjson", OLLAMA),
        (NDJSON, "", OLLAMA),
        (NDJSON, "application/json", OLLAMA),
    ],
)
def test_the_body_is_read_for_what_it_is(body, content_type, facts, step):
    events = read(body, content_type, facts, step=step)
    assert TextDelta("x") in events
    assert isinstance(events[-1], Completed)


@pytest.mark.parametrize("content_type", ["", "application/json", "text/event-stream"])
def test_an_empty_body_is_a_connection_that_closed(content_type):
    told = failure(read(b"", content_type))
    assert told.kind is ErrorKind.NETWORK
    assert told.retryable
    assert not told.mid_stream


@pytest.mark.parametrize("content_type", ["", "text/html"])
def test_a_page_is_no_answer_and_its_title_is_told(content_type):
    told = failure(read(b"<!doctype html><title>Log in</title>", content_type))
    assert told.kind is ErrorKind.PROTOCOL
    assert told.said == "Log in"
    assert not told.retryable


def test_json_that_was_cut_is_no_answer():
    assert failure(read(JSON[:-4], "application/json")).kind is ErrorKind.PROTOCOL


def test_nothing_after_the_end_is_read():
    assert [type(event) for event in read(SSE + SSE)].count(Completed) == 1


def test_an_event_without_end_is_no_answer(monkeypatch):
    monkeypatch.setattr("hame.llm.answer.MAX_EVENT_BYTES", 50)
    told = failure(read(b"[" + b"1," * 100, "application/json"))
    assert told.kind is ErrorKind.PROTOCOL


def test_an_oversized_event_in_a_stream_is_no_answer():
    reader = AnswerReader(codec("openai_chat"), CHAT, "text/event-stream")
    events: list[StreamEvent] = []
    for _ in range(70):
        events += reader.feed(b"data: " + b"x" * 1_000_000)
    assert failure(events).kind is ErrorKind.PROTOCOL


def test_a_failure_after_words_came_midway():
    body = SSE.split(b"\n\n")[0].replace(b'"stop"', b"null") + b"\n\n"
    told = failure(read(body, "text/event-stream"))
    assert told.mid_stream


@pytest.mark.parametrize("step", [0, 1])
@pytest.mark.parametrize("said", [b"Internal Server Error", b"upstream error: no route\n\nbye"])
def test_words_that_are_no_stream_are_told(said, step):
    failed = failure(read(said, "text/plain", step=step))
    assert failed.kind is ErrorKind.PROTOCOL
    assert failed.said == said.split(b"\n")[0].decode()


@pytest.mark.parametrize("step", [0, 1])
def test_lines_of_json_are_events_where_a_server_leaves_out_their_framing(step):
    lines = SSE.replace(b"data: ", b"").replace(b"\n\n", b"\n").removesuffix(b"[DONE]\n")
    ended = b'{"choices":[],"usage":{"prompt_tokens":1}}\n'
    for content_type in ("", "application/json"):
        events = read(lines + ended, content_type, step=step)
        assert TextDelta("x") in events
        assert isinstance(events[-1], Completed)
