"""Reports of one answer's tokens are joined."""

from hame.base.model import Usage
from hame.llm.wires.anthropic_messages.usage import Counter


def count(*reports: dict) -> Usage | None:
    counter = Counter()
    found = None
    for report in reports:
        found = counter.add(report)
    return found


def test_the_first_report_counts_the_prompt_and_the_last_the_answer():
    assert count({"input_tokens": 9, "output_tokens": 1}, {"output_tokens": 40}) == Usage(
        input_uncached=9, output=40
    )


def test_cache_counts_stand_beside_the_uncached_prompt():
    usage = count({
        "input_tokens": 4,
        "cache_read_input_tokens": 100,
        "cache_creation_input_tokens": 7,
        "output_tokens": 2,
    })
    assert usage == Usage(input_uncached=4, cache_read=100, cache_write=7, output=2)
    assert usage is not None
    assert usage.input_total == 111


def test_cache_writes_are_told_apart_by_lifetime():
    lifetimes = {"ephemeral_5m_input_tokens": 3, "ephemeral_1h_input_tokens": 4}
    start = {"input_tokens": 1, "cache_creation_input_tokens": 7, "cache_creation": lifetimes}
    usage = count(start, {"cache_creation_input_tokens": 9, "input_tokens": 1, "output_tokens": 2})
    assert usage == Usage(input_uncached=1, cache_write=5, cache_write_long=4, output=2)


def test_a_later_count_of_the_prompt_replaces_an_earlier_one_even_by_less():
    start = {"input_tokens": 100, "cache_read_input_tokens": 55_096, "output_tokens": 7}
    end = {"input_tokens": 181, "cache_read_input_tokens": 0, "output_tokens": 8}
    assert count(start, end) == Usage(input_uncached=181, output=8)


def test_a_last_report_that_did_not_count_the_prompt_does_not_erase_it():
    start = {"input_tokens": 100, "output_tokens": 1}
    assert count(start, {"input_tokens": 0, "output_tokens": 8}) == Usage(
        input_uncached=100, output=8
    )


def test_thinking_is_counted_within_the_output():
    details = {"thinking_tokens": 5}
    assert count({"output_tokens": 9, "output_tokens_details": details}) == Usage(
        output=9, reasoning=5
    )


def test_a_report_that_counts_nothing_is_none():
    assert count({}) is None
    assert count({"service_tier": "standard", "input_tokens": None}) is None
