"""Events in, one answer out: order, interleaving, signatures, and answers that broke."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from base.strategies import json_objects, texts, values_of
from hame.base.errors import ErrorKind, Failure
from hame.base.fold import Fold
from hame.base.message import (
    AnswerBlock,
    Assistant,
    Image,
    Opaque,
    Origin,
    StopReason,
    Text,
    Thinking,
    ToolCall,
)
from hame.base.model import Usage
from hame.base.stream import (
    Completed,
    Failed,
    ImageCompleted,
    OpaqueCompleted,
    RetryScheduled,
    StreamEvent,
    TextDelta,
    ThinkingCompleted,
    ThinkingDelta,
    ToolCallArgsDelta,
    ToolCallCompleted,
    ToolCallStarted,
    UsageReported,
)
from hame.testing import events

BROKEN = Failure(kind=ErrorKind.NETWORK, message="The connection broke.")
CALL = ToolCall("c1", "read", {"path": "a"})


def fold(stream: Sequence[StreamEvent]) -> Fold:
    fold = Fold()
    for event in stream:
        fold.add(event)
    return fold


def content(*stream: StreamEvent) -> tuple[AnswerBlock, ...]:
    return fold(stream).message().content


def test_nothing_said_is_an_answer_without_content_that_did_not_end() -> None:
    message = Fold().message()
    assert message == Assistant((), stop_reason=StopReason.UNKNOWN)


def test_pieces_of_text_are_one_block() -> None:
    assert content(TextDelta("Hel"), TextDelta("lo")) == (Text("Hello"),)


def test_interleaved_thinking_keeps_its_order_and_its_signatures() -> None:
    assert content(
        ThinkingDelta("first"),
        ThinkingCompleted("s1"),
        TextDelta("I look."),
        ToolCallStarted(0, "c1", "read"),
        ToolCallArgsDelta(0, '{"path":'),
        ToolCallArgsDelta(0, '"a"}'),
        ToolCallCompleted(0, CALL),
        ThinkingDelta("second"),
        ThinkingCompleted("s2"),
        TextDelta("Done."),
    ) == (
        Thinking("first", "s1"),
        Text("I look."),
        CALL,
        Thinking("second", "s2"),
        Text("Done."),
    )


def test_two_thoughts_in_a_row_stay_two() -> None:
    assert content(
        ThinkingDelta("a"), ThinkingCompleted("1"), ThinkingDelta("b"), ThinkingCompleted(None)
    ) == (Thinking("a", "1"), Thinking("b"))


def test_an_empty_thought_counts_when_it_is_signed() -> None:
    assert content(ThinkingCompleted("sig")) == (Thinking("", "sig"),)
    assert content(TextDelta("a"), ThinkingCompleted("sig")) == (Text("a"), Thinking("", "sig"))
    assert content(ThinkingCompleted(None)) == ()


def test_text_with_a_signature_ends_with_it() -> None:
    assert content(TextDelta("a"), TextDelta("b", "sig"), TextDelta("c")) == (
        Text("ab", "sig"),
        Text("c"),
    )
    assert content(TextDelta("", "sig")) == (Text("", "sig"),)


@pytest.mark.parametrize("empty", [TextDelta(""), ThinkingDelta("")])
def test_an_empty_piece_between_the_pieces_of_a_block_does_not_split_it(empty: StreamEvent) -> None:
    assert content(ThinkingDelta("a"), empty, ThinkingDelta("b"), ThinkingCompleted("s")) == (
        Thinking("ab", "s"),
    )
    assert content(TextDelta("a"), empty, TextDelta("b")) == (Text("ab"),)


def test_a_call_that_was_begun_and_not_finished_is_no_part_of_the_answer() -> None:
    assert content(
        TextDelta("I"), ToolCallStarted(0, "c", "run"), ToolCallArgsDelta(0, '{"co')
    ) == (Text("I"),)


def test_calls_count_in_the_order_in_which_they_become_whole() -> None:
    other = ToolCall("c2", "run", {})
    assert content(
        ToolCallStarted(0, "c1", "read"),
        ToolCallStarted(1, "c2", "run"),
        ToolCallCompleted(1, other),
        ToolCallCompleted(0, CALL),
    ) == (other, CALL)


def test_blocks_made_by_the_provider_stand_where_they_came() -> None:
    opaque = Opaque("w", "search", {"id": "1"})
    image = Image("image/png", b"x")
    assert content(
        TextDelta("a"), OpaqueCompleted(opaque), TextDelta("b"), ImageCompleted(image)
    ) == (Text("a"), opaque, Text("b"), image)


def test_a_later_version_of_a_provider_s_block_takes_the_place_of_the_earlier() -> None:
    begun = Opaque("w", "search", {"id": "1", "state": "begun"})
    done = Opaque("w", "search", {"id": "1", "state": "done"})
    assert content(OpaqueCompleted(begun), TextDelta("a"), OpaqueCompleted(done)) == (
        done,
        Text("a"),
    )


@pytest.mark.parametrize(
    "other",
    [
        Opaque("v", "search", {"id": "1"}),
        Opaque("w", "code", {"id": "1"}),
        Opaque("w", "search", {"id": "2"}),
        Opaque("w", "search", {}),
    ],
)
def test_another_block_of_the_provider_s_is_another_block(other: Opaque) -> None:
    one = Opaque("w", "search", {"id": "1"})
    assert content(OpaqueCompleted(one), OpaqueCompleted(other)) == (one, other)
    nameless = Opaque("w", "search", {})
    assert content(OpaqueCompleted(nameless), OpaqueCompleted(nameless)) == (nameless, nameless)


def test_the_last_usage_counts() -> None:
    first, last = Usage(output=1), Usage(output=2)
    message = fold([UsageReported(first), TextDelta("a"), UsageReported(last)]).message()
    assert message.usage == last


def test_a_whole_answer_has_its_stop_reason_the_raw_word_and_its_origin() -> None:
    origin = Origin("w", "b", "m")
    done = fold([TextDelta("a"), Completed(StopReason.MAX_TOKENS, "length")])
    assert done.failure is None
    assert done.message(origin) == Assistant((Text("a"),), origin, StopReason.MAX_TOKENS, "length")


def test_a_broken_answer_keeps_what_arrived_and_its_failure() -> None:
    broken = fold([RetryScheduled(BROKEN, 1.0, 1), TextDelta("half"), CALLED, Failed(BROKEN)])
    assert broken.failure == Failed(BROKEN)
    assert broken.stop is None
    assert broken.message() == Assistant((Text("half"), CALL), stop_reason=StopReason.ERROR)


CALLED = ToolCallCompleted(0, CALL)


@given(st.lists(values_of(StreamEvent), max_size=12), st.integers(0, 12))
def test_asking_for_the_answer_midway_changes_nothing(stream: list[StreamEvent], at: int) -> None:
    asked = Fold()
    for event in stream[:at]:
        asked.add(event)
    assert asked.message() == asked.message() == fold(stream[:at]).message()
    for event in stream[at:]:
        asked.add(event)
    assert asked.message() == fold(stream).message()


# Neighbouring texts are one block, so the blocks of an answer alternate; thinking always ends.
signatures = st.none() | st.text(min_size=1, max_size=5)
words = texts.filter(bool)
calls = st.builds(ToolCall, id=words, name=words, arguments=json_objects)
opaques = st.builds(Opaque, wire=words, kind=words, payload=st.just({}))
blocks = st.one_of(
    st.builds(Text, words, st.text(min_size=1, max_size=5)),
    st.builds(Thinking, words, signatures),
    calls,
    opaques,
    st.builds(Image, words, st.binary(max_size=4)),
)
answers = st.lists(blocks, max_size=6).map(lambda each: Assistant(tuple(each)))


def recut(stream: list[StreamEvent], data: st.DataObject) -> list[StreamEvent]:
    """The same stream with each delta cut anywhere, and empty ones put in between."""
    again: list[StreamEvent] = []
    for event in stream:
        if isinstance(event, TextDelta | ThinkingDelta) and event.text:
            cut = data.draw(st.integers(0, len(event.text)))
            signature = event.signature if isinstance(event, TextDelta) else None
            kind = type(event)
            again += [kind(event.text[:cut]), kind(""), kind(event.text[cut:])]
            if signature is not None:
                again.append(TextDelta("", signature))
        else:
            again.append(event)
    return again


@given(answers, st.data())
def test_however_the_deltas_are_cut_the_answer_is_the_same(
    answer: Assistant, data: st.DataObject
) -> None:
    stream = list(events(answer))
    assert fold(stream).message() == answer
    assert fold(recut(stream, data)).message() == answer


@given(st.lists(values_of(StreamEvent), max_size=10))
def test_any_stream_folds_to_an_answer_without_empty_blocks(stream: list[StreamEvent]) -> None:
    for block in content(*stream):
        if isinstance(block, Text | Thinking):
            assert block.text or block.signature
