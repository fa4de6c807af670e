"""The arguments of calls: lenient where nothing is lost, never run where they did not parse."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hame.base.json import dump
from hame.llm.arguments import parse_arguments


def read(text: str):
    call = parse_arguments("a", "f", text)
    assert (call.arguments is None) != (call.malformed is None)
    return call.arguments


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("", {}),
        (" \n", {}),
        ("null", {}),
        ("{}", {}),
        ('{"a": 1}', {"a": 1}),
        ('{"a": "x\ny\t\x01"}', {"a": "x\ny\t\x01"}),
    ],
)
def test_arguments_are_parsed(text, arguments):
    assert read(text) == arguments


@pytest.mark.parametrize("text", ['{"a":', "[1]", "7", '"x"', "{}}", '{"a":NaN}', "{'a':1}", "x"])
def test_what_is_no_json_object_is_kept_as_text(text):
    call = parse_arguments("a", "f", text, signature="s")
    assert call.arguments is None
    assert call.malformed == text
    assert call.signature == "s"


@given(
    st.dictionaries(
        st.text(max_size=5), st.text(max_size=20) | st.integers() | st.booleans(), max_size=4
    )
)
def test_what_was_written_is_read_again(arguments):
    assert read(dump(arguments)) == arguments
