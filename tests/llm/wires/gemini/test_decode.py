"""Answers of Gemini, by kind of oddity. The recorded traffic is in tests/corpus."""

import json
from base64 import b64encode
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from base.strategies import any_json
from hame.base.errors import ErrorKind
from hame.base.fold import Fold
from hame.base.message import Image, Opaque, StopReason, Text, Thinking, ToolCall
from hame.base.model import ModelFacts, Usage
from hame.base.ports import Frame
from hame.base.stream import (
    Completed,
    Failed,
    TextDelta,
    ThinkingCompleted,
    ThinkingDelta,
    ToolCallArgsDelta,
    ToolCallCompleted,
    ToolCallStarted,
    UsageReported,
)
from hame.llm.wires.gemini import CODEC

FACTS = ModelFacts(backend="google", model="gemini-3-pro", wire="gemini", vendor="Google")


def chunk(*parts: dict, finish: str | None = None, **more) -> dict:
    candidate: dict = {"content": {"role": "model", "parts": list(parts)}, "index": 0}
    if finish is not None:
        candidate["finishReason"] = finish
    return {"candidates": [candidate], "responseId": "resp", **more}


def stream(*chunks: dict) -> Any:
    decoder = CODEC.decoder(FACTS)
    told = [event for one in chunks for event in decoder.feed(Frame(json.dumps(one)))]
    return [*told, *decoder.close()]


def whole(body: object) -> Any:
    return list(CODEC.decode_body(json.dumps(body).encode(), FACTS))


def fold(events: list) -> Fold:
    folded = Fold()
    for event in events:
        folded.add(event)
    return folded


def blocks(events: list) -> Any:
    return fold(events).message().content


def call(name: str = "run", args: object = None, **more) -> dict:
    return {"functionCall": {"name": name, "args": args or {}, **more}}


def kept(kind: str, part: dict, summary: str) -> Opaque:
    return Opaque("gemini", kind, part, summary)


END = chunk(finish="STOP")


# ---------------------------------------------------------------- text and thoughts


def test_text_comes_in_chunks_and_ends_with_the_body():
    events = stream(chunk({"text": "Hel"}), chunk({"text": "lo"}, finish="STOP"))
    assert events == [TextDelta("Hel"), TextDelta("lo"), Completed(StopReason.END_TURN, "STOP")]


def test_a_reason_to_stop_on_every_chunk_does_not_end_the_answer():
    events = stream(chunk({"text": "a"}, finish="STOP"), chunk({"text": "b"}, finish="STOP"))
    assert blocks(events) == (Text("ab"),)
    assert sum(isinstance(event, Completed) for event in events) == 1


def test_thoughts_are_thinking_and_not_text():
    events = stream(chunk({"text": "Hm.", "thought": True}), chunk({"text": "Hi"}), END)
    assert events[:3] == [ThinkingDelta("Hm."), ThinkingCompleted(), TextDelta("Hi")]
    assert blocks(events) == (Thinking("Hm."), Text("Hi"))


def test_a_signature_stays_on_the_part_it_came_with():
    events = stream(
        chunk({"text": "Hm.", "thought": True, "thoughtSignature": "s1"}),
        chunk({"text": "Hi", "thoughtSignature": "s2"}),
        chunk({**call(id="c"), "thoughtSignature": "s3"}),
        END,
    )
    assert blocks(events) == (
        Thinking("Hm.", "s1"),
        Text("Hi", "s2"),
        ToolCall("c", "run", {}, signature="s3"),
    )


@pytest.mark.parametrize("part", [{"text": "", "thoughtSignature": "s"}, {"thoughtSignature": "s"}])
def test_a_signature_on_an_empty_part_is_kept(part):
    assert blocks(stream(chunk({"text": "Hi"}), chunk(part, finish="STOP"))) == (Text("Hi", "s"),)
    assert blocks(stream(chunk(call(id="c")), chunk(part), END))[1] == Text("", "s")


def test_an_empty_part_says_nothing():
    assert stream(chunk({"text": ""}), END) == [Completed(StopReason.END_TURN, "STOP")]


def test_only_the_first_candidate_counts():
    second = {"content": {"parts": [{"text": "other"}]}, "index": 1, "finishReason": "SAFETY"}
    one = chunk({"text": "Hi"}, finish="STOP")
    one["candidates"].append(second)
    assert blocks(stream(one)) == (Text("Hi"),)
    assert fold(stream(one)).stop is StopReason.END_TURN


def test_chunks_in_an_envelope_are_unpacked():
    assert blocks(stream({"response": chunk({"text": "Hi"}, finish="STOP")})) == (Text("Hi"),)


# ---------------------------------------------------------------- calls


def test_a_call_arrives_whole_and_makes_stop_mean_tool_use():
    events = stream(chunk(call(args={"a": 1}, id="c")), END)
    assert events == [
        ToolCallStarted(0, "c", "run"),
        ToolCallArgsDelta(0, '{"a":1}'),
        ToolCallCompleted(0, ToolCall("c", "run", {"a": 1})),
        Completed(StopReason.TOOL_USE, "STOP"),
    ]


def test_calls_without_ids_get_ids_that_are_their_own_in_every_answer():
    first, second = blocks(stream(chunk(call(), call()), END))
    again = blocks(stream(chunk(call(), call()), END))
    other = blocks(stream({**chunk(call()), "responseId": "another"}, END))[0]
    assert len({first.id, second.id, other.id, ""}) == 4
    assert again == (first, second)


def test_an_id_that_comes_twice_is_told_apart():
    first, second = blocks(stream(chunk(call(id="c"), call(id="c")), END))
    assert first.id == "c"
    assert second.id != "c"


@pytest.mark.parametrize("args", [None, {}])
def test_a_call_without_arguments_has_none(args):
    found = {"functionCall": {"name": "run", "args": args, "id": "c"}}
    assert blocks(stream(chunk(found), END)) == (ToolCall("c", "run", {}),)


@pytest.mark.parametrize("args", [[1], 5, False])
def test_arguments_that_are_no_object_are_never_taken_for_none(args):
    given = {"functionCall": {"name": "run", "args": args}}
    (found,) = blocks(stream(chunk(given, finish="STOP")))
    assert found.arguments is None
    assert found.malformed == json.dumps(args)


def test_arguments_as_text_are_parsed_or_kept_as_malformed():
    found = {"functionCall": {"name": "run", "args": '{"a":1}', "id": "c"}}
    broken = {"functionCall": {"name": "run", "args": '{"a":', "id": "d"}}
    assert blocks(stream(chunk(found, broken), END)) == (
        ToolCall("c", "run", {"a": 1}),
        ToolCall("d", "run", None, malformed='{"a":'),
    )


def partial(*pieces: dict, **more) -> dict:
    return chunk({"functionCall": {"partialArgs": list(pieces), **more}})


def test_a_call_in_pieces_is_put_together():
    events = stream(
        chunk({
            "functionCall": {"name": "run", "id": "c", "willContinue": True},
            "thoughtSignature": "s",
        }),
        partial(
            {"jsonPath": "$.x[0].y", "stringValue": "He", "willContinue": True}, willContinue=True
        ),
        partial({"jsonPath": "$.x[0].y", "stringValue": "llo"}, willContinue=True),
        partial({"jsonPath": "$.n", "numberValue": 2}, willContinue=True),
        chunk({"functionCall": {}}),
        END,
    )
    asked = ToolCall("c", "run", {"x": [{"y": "Hello"}], "n": 2}, signature="s")
    assert blocks(events) == (asked,)
    assert [type(event) for event in events] == [
        ToolCallStarted,
        ToolCallArgsDelta,
        ToolCallCompleted,
        Completed,
    ]


def test_a_call_that_is_never_whole_is_malformed_and_a_cut_one_is_not_told():
    begun = chunk({"functionCall": {"name": "run", "id": "c", "willContinue": True}})
    piece = partial({"jsonPath": "$.a", "numberValue": 1}, willContinue=True)
    assert blocks(stream(begun, piece, chunk(finish="MAX_TOKENS"))) == (
        ToolCall("c", "run", None, malformed='{"a":1}'),
    )
    assert blocks(stream(begun, piece)) == ()


def test_a_new_call_ends_one_that_was_still_open_as_malformed():
    begun = chunk({"functionCall": {"name": "run", "id": "c", "willContinue": True}})
    first, second = blocks(stream(begun, chunk(call("read", id="d")), END))
    assert (first.arguments, second) == (None, ToolCall("d", "read", {}))


def test_a_piece_without_a_place_makes_the_call_malformed():
    begun = chunk({"functionCall": {"name": "run", "id": "c", "willContinue": True}})
    (asked,) = blocks(stream(begun, partial({"jsonPath": "nowhere", "numberValue": 1}), END))
    assert asked.arguments is None


def test_a_call_without_a_name_is_none():
    assert blocks(stream(chunk({"functionCall": {}}), END)) == ()
    assert fold(stream(chunk({"functionCall": {}}), END)).stop is StopReason.END_TURN


# ---------------------------------------------------------------- what the provider made


def test_code_the_provider_ran_is_kept_part_by_part():
    code = {"executableCode": {"code": "print(1)", "language": "PYTHON"}, "thoughtSignature": "s"}
    result = {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1\n"}}
    search = {"toolCall": {"id": "x", "toolType": "GOOGLE_SEARCH"}, "thoughtSignature": "s"}
    assert blocks(stream(chunk(code, result), chunk(search), END)) == (
        kept("executableCode", code, "code: print(1)"),
        kept("codeExecutionResult", result, "result: 1"),
        kept("toolCall", search, "toolCall GOOGLE_SEARCH"),
    )


def test_a_picture_is_a_picture_and_other_files_are_kept():
    picture = {
        "inlineData": {"mimeType": "image/png", "data": b64encode(b"png").decode()},
        "thoughtSignature": "s",
    }
    sound = {"inlineData": {"mimeType": "audio/wav", "data": "AAAA"}}
    broken = {"inlineData": {"mimeType": "image/png", "data": "?"}}
    first, second, third = blocks(stream(chunk(picture, sound, broken), END))
    assert first == Image("image/png", b"png", signature="s")
    assert (second.kind, second.payload, second.summary) == (
        "inlineData",
        sound,
        "inlineData audio/wav",
    )
    assert third.payload == broken


def test_sources_are_kept_once_for_eyes():
    grounding = {
        "groundingChunks": [
            {"web": {"uri": "https://a.example", "title": "A"}},
            {"retrievedContext": {"uri": "https://b.example"}},
            {"maps": {}},
        ]
    }
    cited = {"citationSources": [{"uri": "https://c.example"}]}
    fetched = {"urlMetadata": [{"retrievedUrl": "https://d.example"}]}
    one = chunk({"text": "x"})
    one["candidates"][0] |= {"groundingMetadata": grounding, "urlContextMetadata": fetched}
    two = chunk(finish="STOP")
    two["candidates"][0] |= {"groundingMetadata": grounding, "citationMetadata": cited}
    answer, sources = blocks(stream(one, two))
    assert answer == Text("x")
    assert sources.kind == "citations"
    assert sources.payload["groundingMetadata"] == grounding
    names = "A, https://b.example, https://c.example, https://d.example"
    assert sources.summary == f"sources: {names}"


# ---------------------------------------------------------------- endings


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("MAX_TOKENS", StopReason.MAX_TOKENS),
        ("SAFETY", StopReason.CONTENT_FILTER),
        ("RECITATION", StopReason.CONTENT_FILTER),
        ("PROHIBITED_CONTENT", StopReason.CONTENT_FILTER),
        ("MALFORMED_FUNCTION_CALL", StopReason.MALFORMED_TOOL_CALL),
        ("UNEXPECTED_TOOL_CALL", StopReason.MALFORMED_TOOL_CALL),
        ("OTHER", StopReason.UNKNOWN),
        ("SOMETHING_NEW", StopReason.UNKNOWN),
    ],
)
def test_each_reason_to_stop_has_a_meaning(reason, stop):
    assert stream(chunk({"text": "x"}, finish=reason))[-1] == Completed(stop, reason)


def test_a_call_does_not_hide_why_the_answer_was_cut():
    assert stream(chunk(call(), finish="MAX_TOKENS"))[-1].stop_reason is StopReason.MAX_TOKENS


def test_a_blocked_prompt_is_a_content_filter():
    blocked = {"promptFeedback": {"blockReason": "SAFETY"}}
    expected = [Completed(StopReason.CONTENT_FILTER, "blockReason:SAFETY")]
    assert stream(blocked) == whole(blocked) == expected


def test_a_stream_without_a_reason_to_stop_was_cut():
    failure = stream(chunk({"text": "x"}))[-1].failure
    assert (failure.kind, failure.retryable, failure.mid_stream) == (ErrorKind.NETWORK, True, True)
    unspecified = stream(chunk({"text": "x"}, finish="FINISH_REASON_UNSPECIFIED"))[-1]
    assert unspecified.failure == failure
    assert not stream({"anything": "else"})[-1].failure.mid_stream


@pytest.mark.parametrize(
    "error",
    [
        {"error": {"code": 503, "status": "UNAVAILABLE", "message": "The model is overloaded."}},
        [{"error": {"code": 503, "status": "UNAVAILABLE", "message": "The model is overloaded."}}],
    ],
)
def test_an_error_in_the_stream_is_a_failure_of_its_kind(error):
    decoder = CODEC.decoder(FACTS)
    decoder.feed(Frame(json.dumps(chunk({"text": "x"}, finish="STOP"))))
    (failed,) = decoder.feed(Frame(json.dumps(error, indent=2)))
    assert isinstance(failed, Failed)
    assert failed.failure.kind is ErrorKind.OVERLOADED
    assert failed.failure.mid_stream
    assert not decoder.close()
    assert not decoder.feed(Frame(json.dumps(END)))


def test_a_sentinel_says_nothing_and_nonsense_is_a_broken_protocol():
    decoder = CODEC.decoder(FACTS)
    assert not decoder.feed(Frame("[DONE]"))
    (failed,) = decoder.feed(Frame("{cut"))
    assert isinstance(failed, Failed)
    assert failed.failure.kind is ErrorKind.PROTOCOL


# ---------------------------------------------------------------- tokens


def test_tokens_are_counted_once_each():
    counts = {
        "promptTokenCount": 100,
        "toolUsePromptTokenCount": 20,
        "cachedContentTokenCount": 60,
        "candidatesTokenCount": 5,
        "thoughtsTokenCount": 7,
        "totalTokenCount": 132,
    }
    usage = Usage(input_uncached=60, cache_read=60, output=12, reasoning=7)
    assert UsageReported(usage) in stream(chunk({"text": "x"}, finish="STOP", usageMetadata=counts))


def test_the_last_count_counts_and_a_chunk_without_one_changes_nothing():
    events = stream(
        chunk({"text": "x"}, usageMetadata={"promptTokenCount": 5}),
        chunk({"text": "y"}, usageMetadata={"promptTokenCount": 5, "candidatesTokenCount": 2}),
        chunk({"text": "z"}, finish="STOP", usageMetadata={"trafficType": "ON_DEMAND"}),
    )
    assert fold(events).usage == Usage(input_uncached=5, output=2)
    assert sum(isinstance(event, UsageReported) for event in events) == 2


# ---------------------------------------------------------------- whole bodies


def test_a_whole_answer_reads_like_the_stream_of_it():
    one = chunk({"text": "x"}, call(id="c"), finish="STOP")
    assert whole(one) == stream(one)


def test_a_stream_written_as_one_array_is_read():
    chunks = [chunk({"text": "a"}), chunk({"text": "b"}, finish="STOP")]
    assert whole(chunks) == stream(*chunks)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"not json", ErrorKind.PROTOCOL),
        (b"{}", ErrorKind.NETWORK),
        (b'[{"error": {"code": 429, "status": "RESOURCE_EXHAUSTED"}}]', ErrorKind.RATE_LIMIT),
    ],
)
def test_a_whole_body_that_is_no_finished_answer_fails(body, kind):
    *_, failed = CODEC.decode_body(body, FACTS)
    assert isinstance(failed, Failed)
    assert failed.failure.kind is kind
    assert not failed.failure.mid_stream


# ---------------------------------------------------------------- anything at all

_pieces = st.fixed_dictionaries(
    {},
    optional={
        "jsonPath": st.sampled_from(["$.a", "$.a[0]", "$.b.c", "x"]) | any_json,
        "stringValue": any_json,
        "numberValue": any_json,
        "willContinue": any_json,
    },
)
_calls = st.fixed_dictionaries(
    {},
    optional={
        "name": st.just("run") | any_json,
        "id": st.just("c") | any_json,
        "args": st.just({"a": 1}) | st.just("{}") | any_json,
        "partialArgs": st.lists(_pieces | any_json, max_size=2) | any_json,
        "willContinue": st.booleans() | any_json,
    },
)
_parts = st.fixed_dictionaries(
    {},
    optional={
        "text": st.text(max_size=3) | any_json,
        "thought": st.booleans() | any_json,
        "thoughtSignature": st.just("s") | any_json,
        "functionCall": _calls | any_json,
        "inlineData": st.just({"mimeType": "image/png", "data": "AAAA"}) | any_json,
        "executableCode": any_json,
    },
)
_candidates = st.fixed_dictionaries(
    {},
    optional={
        "content": st.fixed_dictionaries({
            "parts": st.lists(_parts | any_json, max_size=3) | any_json
        })
        | any_json,
        "finishReason": st.sampled_from(["STOP", "SAFETY"]) | any_json,
        "index": st.integers(0, 1) | any_json,
        "groundingMetadata": any_json,
        "citationMetadata": any_json,
    },
)
_chunks = st.fixed_dictionaries(
    {},
    optional={
        "candidates": st.lists(_candidates | any_json, max_size=2) | any_json,
        "promptFeedback": any_json,
        "usageMetadata": any_json,
        "responseId": any_json,
        "error": any_json,
    },
)


@given(st.lists(_chunks | any_json, max_size=6))
def test_whatever_a_server_sends_an_answer_ends_once_and_nothing_raises(chunks: list):
    for told in (stream(*chunks), whole(chunks)):
        ends = [event for event in told if isinstance(event, Completed | Failed)]
        assert ends == told[-1:]
        begun = [event.index for event in told if isinstance(event, ToolCallStarted)]
        whole_calls = [event.index for event in told if isinstance(event, ToolCallCompleted)]
        assert begun == list(range(len(begun)))
        assert len(set(whole_calls)) == len(whole_calls)
        fold(told).message()
