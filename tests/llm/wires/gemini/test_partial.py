"""Arguments that arrive in pieces."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hame.llm.wires.gemini.partial import PartialArguments

keys = st.text(st.characters(codec="utf-8", exclude_characters="\n"), min_size=1, max_size=4)
leaves = st.text(max_size=4) | st.integers(-9, 9) | st.booleans() | st.none()
values = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3)
        | st.dictionaries(keys, inner, min_size=1, max_size=3)
    ),
    max_leaves=8,
)


def quoted(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace("'", "\\'")
    return f"['{escaped}']"


def pieces(value: object, path: str = "$") -> list[dict]:
    """A value as a server would stream it, strings in single characters."""
    match value:
        case dict():
            return [p for name, inner in value.items() for p in pieces(inner, path + quoted(name))]
        case list():
            return [p for at, inner in enumerate(value) for p in pieces(inner, f"{path}[{at}]")]
        case str():
            parts = [
                {"jsonPath": path, "stringValue": character, "willContinue": True}
                for character in value
            ]
            return [*parts, {"jsonPath": path, "stringValue": ""}]
        case bool():
            return [{"jsonPath": path, "boolValue": value}]
        case int():
            return [{"jsonPath": path, "numberValue": value}]
        case _:
            return [{"jsonPath": path, "nullValue": "NULL_VALUE"}]


@given(st.dictionaries(keys, values, max_size=4))
def test_any_arguments_come_back_whole_from_their_pieces(arguments):
    partial = PartialArguments({})
    for piece in json.loads(json.dumps(pieces(arguments))):
        partial.add(piece)
    assert partial.value == arguments


def test_names_may_stand_bare_or_in_double_quotes():
    partial = PartialArguments({})
    partial.add({"jsonPath": '$.a["b c"].d', "numberValue": 1})
    assert partial.value == {"a": {"b c": {"d": 1}}}


def test_a_string_that_does_not_go_on_is_replaced():
    partial = PartialArguments({"a": "old"})
    partial.add({"jsonPath": "$.a", "stringValue": "new"})
    assert partial.value == {"a": "new"}


@pytest.mark.parametrize(
    "path", ["", "$", "a", "$.", "$[x]", "$.a[", "$.a[999999999]", "$[0]", "$.text.b", "$.list.b"]
)
def test_a_place_that_makes_no_sense_is_an_error(path):
    partial = PartialArguments({"text": "x", "list": []})
    with pytest.raises(ValueError, match="in the arguments"):
        partial.add({"jsonPath": path, "numberValue": 1})
