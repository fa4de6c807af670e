"""Reading JSON that somebody else wrote, and writing our own."""

import json
import math
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from base.strategies import json_values
from hame.base.json import (
    as_list,
    as_object,
    dump,
    dump_bytes,
    get_bool,
    get_int,
    get_list,
    get_number,
    get_object,
    get_objects,
    get_string,
    parse,
    parse_object,
)


@given(json_values)
def test_what_is_written_is_read_again(value: object) -> None:
    assert parse(dump(value)) == value
    assert parse(dump_bytes(value)) == value


@given(json_values)
def test_what_is_written_is_json_to_others_too(value: object) -> None:
    assert json.loads(dump(value)) == value


def test_objects_are_written_compactly_and_in_their_order() -> None:
    assert dump({"b": 1, "a": [1.5, "ü", None, True]}) == '{"b":1,"a":[1.5,"ü",null,true]}'
    assert dump_bytes({"ü": 1}) == '{"ü":1}'.encode()


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "{", '{"a":1', '{"a":1,}', "[1 2]", "nul", "NaN", "Infinity", "'a'", '"a', "1e999",
        "\0\0\0", '{"a":1}{"b":2}', "\ud800", '"\\x"', '"\\ud800', '["\\ud800", NaN]',
    ],
)  # fmt: skip
def test_what_is_no_json_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse(text)
    assert parse_object(text) is None


@given(st.text() | st.binary())
def test_any_text_is_read_or_is_a_value_error(data: str | bytes) -> None:
    try:
        value = parse(data)
    except ValueError:
        assert parse_object(data) is None
    else:
        assert as_object(value) == parse_object(data)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('"a\\ud83d\\ude00b"', "a😀b"),
        ('"a\\ud83d b"', "a\ufffd b"),
        ('"\\ude00"', "\ufffd"),
        ('"\\ud83d\\ud83d\\ude00"', "\ufffd😀"),
        ('{"k\\uDFFF":["\\ud800\\n"]}', {"k\ufffd": ["\ufffd\n"]}),
        ('"\\\\ud800 \\udc00"', "\\ud800 \ufffd"),
        ('"\ud83d\ude00 \ud83d"', "😀 \ufffd"),
    ],
)
def test_half_of_a_surrogate_pair_becomes_the_replacement_character(
    text: str, value: object
) -> None:
    assert parse(text) == value
    if text.isascii():
        assert parse(text.encode()) == value


def test_bytes_that_are_no_utf_8_are_a_value_error() -> None:
    for data in (b'"\xff"', b'"\xed\xa0\x80"', b"\xff\xfe\x00\x00"):
        with pytest.raises(ValueError, match="utf-8"):
            parse(data)


@given(st.recursive(st.text(st.characters()), lambda x: st.lists(x) | st.tuples(x, x)))
def test_whatever_text_there_is_can_be_written(value: object) -> None:
    assert parse(dump(value)) is not None


def test_names_of_objects_are_mended_too() -> None:
    assert dump({"a\udce9": {1: "\udce9"}}) == '{"a�":{"1":"�"}}'


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "[" * 201 + "]" * 201])
def test_what_is_nested_deeper_than_anybody_means_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"nested too deeply|truncated"):
        parse(text)


@pytest.mark.parametrize("depth", [1, 199, 200])
def test_two_hundred_levels_are_read(depth: int) -> None:
    assert parse("[" * depth + "]" * depth) is not None
    assert parse('{"a":' * depth + "1" + "}" * depth) is not None


def test_many_brackets_are_not_depth() -> None:
    value = [[{"a": []}]] * 1000
    assert parse(dump(value)) == value
    assert parse(dump_bytes(value)) == value


def test_a_large_text_is_checked_quickly() -> None:
    data = dump_bytes([{"a": [1, {"b": "c"}]}] * 100_000)
    start = time.process_time()
    parse(data)
    assert time.process_time() - start < 3


ANYTHING = [None, True, False, 0, 1, -3, 1.0, 1.5, "", "text", [], [1], {}, {"a": 1}, 10**30]
SOURCES = [*ANYTHING, *({"k": value} for value in ANYTHING)]


@pytest.mark.parametrize("source", SOURCES, ids=repr)
def test_every_access_is_total(source: object) -> None:
    """The wrong type reads as absent, whatever the source is."""
    under = source.get("k") if isinstance(source, dict) else None
    assert get_object(source, "k") == (under if isinstance(under, dict) else {})
    assert get_list(source, "k") == (under if isinstance(under, list) else [])
    assert get_string(source, "k") == (under if isinstance(under, str) else None)
    assert get_bool(source, "k") is (under if isinstance(under, bool) else None)
    assert as_object(source) == (source if isinstance(source, dict) else None)
    assert as_list(source) == (source if isinstance(source, list) else None)


@pytest.mark.parametrize(
    ("value", "integer", "number"),
    [
        (3, 3, 3.0),
        (3.0, 3, 3.0),
        (3.5, None, 3.5),
        (True, None, None),
        ("3", None, None),
        (None, None, None),
        (math.inf, None, math.inf),
        (2**70, 2**70, float(2**70)),
    ],
)
def test_numbers_are_numbers_and_booleans_are_not(
    value: object, integer: int | None, number: float | None
) -> None:
    assert get_int({"k": value}, "k") == integer
    assert get_number({"k": value}, "k") == number


@settings(max_examples=20)
@given(st.lists(json_values))
def test_of_a_list_only_the_objects_are_taken(values: list[object]) -> None:
    assert get_objects({"k": values}, "k") == [each for each in values if isinstance(each, dict)]


def test_an_integer_too_large_for_a_float_is_no_number() -> None:
    assert get_number({"k": 10**400}, "k") is None
