"""The same texts as they arrive, in pieces of any size: words flow, calls never show."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hame.base.fold import Fold
from hame.base.message import Assistant, StopReason, ToolCall
from hame.base.stream import Completed, StreamEvent, TextDelta, ToolCallCompleted, ToolCallStarted
from hame.llm.textcalls.reading import read_answer
from hame.llm.textcalls.sieve import Sieve
from llm.textcalls.test_reading import BROKEN, CHANGED, RIGHT, TOOLS, WORDS


def sifted(
    pieces: list[str], stop: StopReason = StopReason.END_TURN
) -> tuple[Assistant, list[StreamEvent]]:
    sieve, fold = Sieve(TOOLS, "r1"), Fold()
    events: list[StreamEvent] = []
    for event in [*map(TextDelta, pieces), Completed(stop)]:
        events += sieve.feed(event)
    for event in events:
        fold.add(event)
    return fold.message(), events


def cuts(text: str) -> list[list[str]]:
    """Whole, letter by letter, and in halves at every place."""
    halves = [[text[:at], text[at:]] for at in range(1, len(text), 11)]
    return [[text], list(text), *halves]


@pytest.mark.parametrize("name", RIGHT)
def test_a_call_comes_out_as_a_call_however_it_arrives(name):
    text, expected = RIGHT[name]
    for pieces in cuts(text):
        answer, _ = sifted(pieces)
        assert [(call.name, call.arguments) for call in answer.calls] == expected
        assert answer.stop_reason is StopReason.TOOL_USE
        assert answer.text.split() == read_answer(text, TOOLS).words.split()
        assert len({call.id for call in answer.calls}) == len(expected)


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_broken_is_never_shown(name):
    for pieces in cuts(BROKEN[name]):
        answer, _ = sifted(pieces)
        assert all(call.arguments is None for call in answer.calls)
        assert answer.calls or answer.stop_reason is StopReason.MALFORMED_TOOL_CALL
        assert "{" not in answer.text
        assert "<" not in answer.text


@pytest.mark.parametrize("name", sorted(set(WORDS) - {"harmony answer"}))
def test_words_come_out_as_they_went_in(name):
    for pieces in cuts(WORDS[name]):
        answer, _ = sifted(pieces)
        assert answer.calls == ()
        assert answer.text == CHANGED.get(name, WORDS[name])
        assert answer.stop_reason is StopReason.END_TURN


def test_words_flow_while_they_arrive():
    text = "First I look.\n\n```rust\nfn main() { let x = 1; }\n```\nThat is all there is to say.\n"
    _, events = sifted(list(text))
    shown = [event for event in events if isinstance(event, TextDelta)]
    assert len(shown) > 40
    late = text.rstrip()[-30:]
    assert late.endswith("".join(event.text for event in shown[-10:]).strip())


def test_a_long_call_costs_no_more_for_every_piece():
    text = '<tool_call>{"name":"write_file","arguments":{"path":"p","content":"' + "x" * 400_000
    answer, _ = sifted([text[at : at + 20] for at in range(0, len(text), 20)])
    assert answer.stop_reason is StopReason.MALFORMED_TOOL_CALL


def test_a_call_of_the_servers_own_is_not_doubled_by_its_text():
    call = ToolCall(id="c1", name="list_dir", arguments={})
    sieve, fold = Sieve(TOOLS, "r1"), Fold()
    text = 'Looking.\n<tool_call>{"name":"list_dir","arguments":{}}</tool_call>'
    for event in (
        TextDelta(text),
        ToolCallStarted(0, "c1", "list_dir"),
        ToolCallCompleted(0, call),
        Completed(StopReason.TOOL_USE),
    ):
        for out in sieve.feed(event):
            fold.add(out)
    answer = fold.message()
    assert answer.calls == (call,)
    assert answer.text.strip() == "Looking."


def test_an_answer_that_hit_its_limit_within_a_call_stays_truncated():
    answer, _ = sifted(['<tool_call>{"name": "write_file", "argu'], StopReason.MAX_TOKENS)
    assert answer.stop_reason is StopReason.MAX_TOKENS
    assert answer.text == ""


def test_an_answer_held_to_the_schema_is_words_or_a_call():
    for text, said, calls in (
        ('{"say": "All {done} <b>here</b>."}', "All {done} <b>here</b>.", []),
        ('{"tool": "read_file", "arguments": {"path": "a.txt"}}', "", ["read_file"]),
    ):
        sieve, fold = Sieve(TOOLS, "r1", opaque=True), Fold()
        for event in [*map(TextDelta, text), Completed(StopReason.END_TURN)]:
            for out in sieve.feed(event):
                fold.add(out)
        answer = fold.message()
        assert answer.text == said
        assert [call.name for call in answer.calls] == calls


@given(st.lists(st.text(alphabet=" \n`{}[]<>|/_abcAction:tool\"'(", max_size=12), max_size=20))
def test_whatever_arrives_is_the_same_in_pieces_and_whole(pieces):
    one, _ = sifted(pieces)
    whole, _ = sifted(["".join(pieces)])
    assert one.calls == whole.calls
    assert one.stop_reason is whole.stop_reason
    assert one.text == whole.text
