"""Line endings: matched as equal, kept as they are (B001, B002)."""

from hypothesis import given, settings
from hypothesis import strategies as st

from hame.tools.endings import EvenText, even, only_crlf
from hame.tools.matching.exact import find_spans, without_overlaps

MIXED = st.lists(
    st.tuples(st.sampled_from(["a", "bb", "", "c d", "x\ry"]), st.sampled_from(["\n", "\r\n"])),
    max_size=12,
).map(lambda lines: "".join(line + ending for line, ending in lines))


@settings(deadline=None)
@given(MIXED, st.data())
def test_every_place_leads_back_to_the_original(text: str, data: st.DataObject):
    source = EvenText(text)
    end = data.draw(st.integers(0, len(source.text)))
    start = data.draw(st.integers(0, end))
    part = text[source.original_index(start) : source.original_index(end)]
    assert even(part) == source.text[start:end]


@settings(deadline=None)
@given(MIXED, st.data())
def test_replacing_a_part_by_itself_keeps_every_byte(text: str, data: st.DataObject):
    source = EvenText(text)
    end = data.draw(st.integers(0, len(source.text)))
    start = data.draw(st.integers(0, end))
    one, other = source.original_index(start), source.original_index(end)
    assert source.adapt(one, other, source.text[start:end]) == text[one:other]


def test_new_lines_take_the_ending_of_their_place():
    crlf = EvenText("a\r\nb\r\n")
    assert crlf.adapt(0, 1, "x\ny") == "x\r\ny"
    lf_part = EvenText("a\nb\r\nc\n")
    assert lf_part.adapt(0, 1, "x\ny") == "x\ny"
    assert lf_part.adapt(2, 3, "x\ny") == "x\r\ny"


def test_at_the_end_without_a_newline_the_line_before_decides():
    assert EvenText("a\r\nb").adapt(3, 4, "b\nc") == "b\r\nc"


def test_in_mixed_endings_lines_that_stay_keep_theirs():
    text = "one\r\ntwo\nthree\r\nfour\n"
    source = EvenText(text)
    wanted = "one\ntwo\nnew\nthree\nFOUR\n"
    assert source.adapt(0, len(text), wanted) == "one\r\ntwo\nnew\nthree\r\nFOUR\n"


def test_an_lf_file_gets_lf_whatever_the_model_writes():
    assert EvenText("a\nb\n").adapt(0, 1, "x\r\ny") == "x\ny"


def test_a_file_is_crlf_only_when_all_of_it_is():
    assert only_crlf("a\r\nb\r\n")
    assert not only_crlf("a\r\nb\n")
    assert not only_crlf("ab")


@settings(deadline=None)
@given(MIXED, st.sampled_from(["a\nbb", "\n", "a", "x\ry\n", "c d\n\n"]))
def test_what_is_found_reads_as_what_was_asked(text: str, old: str):
    source = EvenText(text)
    for start, end in find_spans(source.text, old):
        assert even(text[source.original_index(start) : source.original_index(end)]) == old


def test_overlapping_places_all_count_and_are_replaced_in_turn():
    spans = find_spans("aaa", "aa")
    assert [tuple(span) for span in spans] == [(0, 2), (1, 3)]
    assert [tuple(span) for span in without_overlaps(spans)] == [(0, 2)]


def test_nothing_is_nowhere():
    assert find_spans("abc", "") == []
