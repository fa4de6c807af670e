"""Arguments of a call against its schema: what is converted, what is refused, in which words."""

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from base.strategies import json_objects, json_values
from hame.base.errors import ArgumentError
from hame.base.json import JsonObject, dump
from hame.base.schema import check_arguments
from hame.base.tool import Argument, ArgumentKind, ToolSpec, object_schema


def schema(rule: object, *, required: bool = True) -> JsonObject:
    """A schema with the one member `x`."""
    base: JsonObject = {
        "type": "object",
        "properties": {"x": rule},
        "additionalProperties": False,
    }
    return {**base, "required": ["x"]} if required else base


def checked(rule: JsonObject, value: object) -> object:
    return check_arguments({"x": value}, schema(rule))["x"]


def problem(rule: JsonObject, value: object) -> str:
    with pytest.raises(ArgumentError) as caught:
        check_arguments({"x": value}, schema(rule))
    return str(caught.value)


def outcome(arguments: JsonObject, rule: JsonObject) -> tuple[JsonObject, str]:
    """What the arguments become, or the words they are refused with."""
    try:
        return check_arguments(arguments, rule), ""
    except ArgumentError as error:
        return {}, str(error)


STRING: JsonObject = {"type": "string"}
INTEGER: JsonObject = {"type": "integer"}
NUMBER: JsonObject = {"type": "number"}
BOOLEAN: JsonObject = {"type": "boolean"}
STRINGS: JsonObject = {"type": "array", "items": STRING}
INTEGERS: JsonObject = {"type": "array", "items": INTEGER}
NULL: JsonObject = {"type": "null"}
POINT: JsonObject = {
    "type": "object",
    "properties": {"left": INTEGER, "top": INTEGER},
    "required": ["left"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("rule", "value"),
    [
        (STRING, ""),
        (STRING, "3"),
        (INTEGER, 3),
        (INTEGER, 10**30),
        (NUMBER, 3),
        (NUMBER, 3.5),
        (BOOLEAN, False),
        (NULL, None),
        (STRINGS, []),
        (STRINGS, ["a", "b"]),
        (POINT, {"left": 1}),
        (POINT, {"left": 1, "top": 2}),
        ({}, None),
        ({}, {"any": ["thing"]}),
        ({"type": ["string", "null"]}, None),
        ({"type": ["integer", "string"]}, "3"),
        ({"type": "blob"}, "kinds nobody knows are left to the tool"),
        ({"anyOf": [INTEGER, STRING]}, "3"),
        ({"oneOf": [STRINGS, STRING]}, "a"),
        ({"anyOf": [STRING, NULL]}, None),
        ({"enum": ["a", 1, None]}, None),
        ({"const": {"a": [1]}}, {"a": [1]}),
        ({"enum": [1]}, 1.0),
        ({"type": "array"}, [1, "a", None]),
        ({"type": "object"}, {"a": None}),
        ({"pattern": "^x", "format": "uri", "type": "string"}, "left to the tool"),
    ],
)  # fmt: skip
def test_what_fits_is_passed_on_as_it_is(rule: JsonObject, value: object) -> None:
    assert dump(checked(rule, value)) == dump(value)


@pytest.mark.parametrize(
    ("rule", "value", "becomes"),
    [
        (INTEGER, "3", 3),
        (INTEGER, " -12 ", -12),
        (INTEGER, 3.0, 3),
        (NUMBER, "3.5", 3.5),
        (NUMBER, "4", 4),
        (BOOLEAN, "true", True),
        (BOOLEAN, "false", False),
        (STRINGS, "a", ["a"]),
        (STRINGS, "3", ["3"]),
        (STRINGS, '["a", "b"]', ["a", "b"]),
        (INTEGERS, 3, [3]),
        (INTEGERS, "[1, 2]", [1, 2]),
        (INTEGERS, ["1", 2.0], [1, 2]),
        ({"type": "array", "items": BOOLEAN}, True, [True]),
        ({"type": "array", "items": POINT}, {"left": "1"}, [{"left": 1}]),
        ({"type": "array", "items": POINT}, '[{"left": 1}]', [{"left": 1}]),
        (POINT, '{"left": 1}', {"left": 1}),
        (POINT, {"left": 1, "top": None}, {"left": 1}),
        ({"type": ["integer", "null"]}, "3", 3),
        ({"anyOf": [INTEGER, NULL]}, "3", 3),
        ({"anyOf": [NULL, INTEGERS]}, 7, [7]),
        ({"type": "integer", "enum": [1, 2]}, "2", 2),
        ({"type": "integer", "minimum": 2}, "2", 2),
    ],
)
def test_what_loses_nothing_is_converted(rule: JsonObject, value: object, becomes: object) -> None:
    assert dump(checked(rule, value)) == dump(becomes)


@pytest.mark.parametrize(
    ("rule", "value", "words"),
    [
        (STRING, 3, "x should be a string, not 3"),
        (STRING, None, "x should be a string, not null"),
        (STRING, True, "x should be a string, not true or false"),
        (STRING, [], "x should be a string, not a list"),
        (STRING, {}, "x should be a string, not an object"),
        (INTEGER, "three", 'x should be an integer, not "three"'),
        (INTEGER, "3.5", 'x should be an integer, not "3.5"'),
        (INTEGER, 3.5, "x should be an integer, not 3.5"),
        (INTEGER, True, "x should be an integer, not true or false"),
        (INTEGER, "", 'x should be an integer, not ""'),
        (NUMBER, "NaN", 'x should be a number, not "NaN"'),
        (BOOLEAN, "yes", 'x should be true or false, not "yes"'),
        (BOOLEAN, 1, "x should be true or false, not 1"),
        (BOOLEAN, None, "x should be true or false, not null"),
        (STRINGS, None, "x should be a list, not null"),
        (POINT, "left", 'x should be an object, not "left"'),
        (POINT, [], "x should be an object, not a list"),
        (NULL, 1, "x should be null, not 1"),
        ({"type": ["string", "null"]}, 3, "x should be a string or null, not 3"),
        ({"type": ["integer", "blob"]}, 3, ""),
        (STRING, "x", ""),
        (INTEGER, "y" * 99, f'x should be an integer, not "{"y" * 56}...'),
        (STRINGS, ["a", 1, None], "x[1] should be a string, not 1; x[2] should be a string, not null"),
        (POINT, {}, "missing argument x.left (an integer)"),
        (POINT, {"left": 1, "z": 1}, "unknown argument x.z (there are: left, top)"),
        (
            {"type": "array", "items": POINT},
            [{"left": 1}, {"left": []}],
            "x[1].left should be an integer, not a list",
        ),
        ({"enum": ["a", "b"]}, "c", 'x should be one of "a", "b", not "c"'),
        ({"enum": [1]}, True, "x should be one of 1, not true"),
        ({"enum": [True]}, 1, "x should be one of true, not 1"),
        ({"const": "a"}, "b", 'x should be "a"'),
        ({"const": 1}, True, "x should be 1"),
        ({**INTEGER, "minimum": 1}, 0, "x should be at least 1"),
        ({**INTEGER, "maximum": 1_000_000}, 1_000_001, "x should be at most 1000000"),
        ({**NUMBER, "minimum": 0.5}, 0.25, "x should be at least 0.5"),
        ({**STRING, "minLength": 2}, "a", "x should be at least 2 characters"),
        ({**STRING, "maxLength": 2}, "abc", "x should be at most 2 characters"),
        ({**STRINGS, "minItems": 1}, [], "x should be at least 1 items"),
        ({**STRINGS, "maxItems": 1}, ["a", "b"], "x should be at most 1 items"),
        ({"anyOf": [INTEGER, POINT]}, "a", 'x should be an integer, not "a"'),
        ({"oneOf": [STRING, POINT]}, {"top": 1}, "x should be a string, not an object"),
        (
            {"anyOf": [{**POINT, "required": ["left", "top"]}, POINT]},
            {},
            "missing argument x.left (an integer)",
        ),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_by_name(rule: JsonObject, value: object, words: str) -> None:
    if words:
        assert problem(rule, value) == words
    else:
        assert checked(rule, value) == value


def test_a_missing_member_says_what_it_should_be() -> None:
    rule: JsonObject = {
        "properties": {"path": STRING, "many": STRINGS, "any": {}},
        "required": ["path", "many", "any", "unheard"],
    }
    with pytest.raises(ArgumentError) as caught:
        check_arguments({}, rule)
    assert str(caught.value) == (
        "missing argument path (a string); missing argument many (a list);"
        " missing argument any (a value); missing argument unheard (a value)"
    )


def test_an_unknown_member_names_those_there_are() -> None:
    with pytest.raises(ArgumentError, match=r"unknown argument y \(there are: x\)"):
        check_arguments({"x": "a", "y": 1}, schema(STRING))
    with pytest.raises(ArgumentError, match=r"unknown argument y \(there are: none\)"):
        check_arguments({"y": 1}, {"additionalProperties": False})


def test_an_unknown_member_passes_where_the_schema_is_open() -> None:
    assert check_arguments({"y": [1]}, {"properties": {"x": STRING}}) == {"y": [1]}
    assert check_arguments({"y": 1}, {}) == {"y": 1}


def test_a_member_whose_rule_is_true_may_be_anything() -> None:
    assert check_arguments({"x": [1]}, schema(True)) == {"x": [1]}


def test_null_is_absent_where_the_member_is_optional() -> None:
    assert check_arguments({"x": None}, schema(STRING, required=False)) == {}


@pytest.mark.parametrize(
    "rule", [NULL, {"type": ["string", "null"]}, {"anyOf": [STRING, {"oneOf": [NULL]}]}]
)
def test_null_stays_where_the_member_may_be_null(rule: JsonObject) -> None:
    assert check_arguments({"x": None}, schema(rule, required=False)) == {"x": None}


def test_a_long_wrong_choice_is_shortened() -> None:
    words = problem({"enum": ["a"]}, "z" * 1000)
    assert len(words) < 120


@given(json_objects)
def test_what_is_given_is_never_changed_itself(arguments: JsonObject) -> None:
    before = dump(arguments)
    rule: JsonObject = {"properties": dict.fromkeys(arguments, INTEGER)}
    with suppress(ArgumentError):
        check_arguments(arguments, rule)
    assert dump(arguments) == before


rules = st.recursive(
    st.sampled_from([STRING, INTEGER, NUMBER, BOOLEAN, NULL, {}]),
    lambda inner: st.one_of(
        inner.map(lambda rule: {"type": "array", "items": rule}),
        inner.map(lambda rule: {"type": "object", "properties": {"a": rule}}),
        st.lists(inner, min_size=1, max_size=3).map(lambda rules: {"anyOf": rules}),
    ),
    max_leaves=4,
)


@given(rules, json_values)
@settings(max_examples=300)
def test_what_was_converted_fits_and_is_not_converted_again(
    rule: JsonObject, value: object
) -> None:
    once, words = outcome({"x": value}, schema(rule))
    if words:
        assert words.startswith(("x", "missing argument x", "unknown argument x"))
        return
    assert dump(check_arguments(once, schema(rule))) == dump(once)


@given(json_values, json_values)
def test_any_schema_is_borne(arguments: object, rule: object) -> None:
    """A contributed tool's schema is somebody else's; it may be wrong, it may not break the run."""
    schemas: list[JsonObject] = [
        {"properties": {"x": rule}, "required": ["x", 1]},
        {"properties": rule, "required": rule},
    ]
    for each in schemas:
        checked, words = outcome({"x": arguments}, each)
        assert words or "x" in checked or arguments is None


# ------------------------------------------------------------ schemas that tools declare


def test_a_declared_argument_is_written_as_json_schema() -> None:
    todo = Argument(
        name="items",
        kind=ArgumentKind.ITEMS,
        type="array",
        description="What is to be done.",
        items=(
            Argument(name="text", kind=ArgumentKind.WORDS),
            Argument(
                name="state",
                kind=ArgumentKind.CHOICE,
                choices=("open", "done"),
                required=False,
            ),
        ),
    )
    assert todo.schema() == {
        "type": "array",
        "description": "What is to be done.",
        "items": {
            "type": "object",
            "properties": {
                "text": {"type": "string"},
                "state": {"type": "string", "enum": ["open", "done"]},
            },
            "required": ["text"],
            "additionalProperties": False,
        },
    }


def test_a_list_without_declared_items_is_of_strings() -> None:
    paths = Argument(name="paths", kind=ArgumentKind.EXISTING_PATH, type="array")
    assert paths.schema() == {"type": "array", "items": {"type": "string"}}


def test_an_object_without_required_members_has_no_such_list() -> None:
    assert object_schema(()) == {
        "type": "object",
        "properties": {},
        "additionalProperties": False,
    }


def test_a_contributed_schema_takes_the_place_of_the_arguments() -> None:
    from hame.base.tool import Effect

    argument = Argument(name="x", kind=ArgumentKind.NUMBER, type="integer")
    own = ToolSpec(name="t", description="", effect=Effect.READ, arguments=(argument,))
    assert own.schema() == object_schema((argument,))
    assert own.argument("x") is argument
    assert own.argument("y") is None
    raw: JsonObject = {"type": "object"}
    contributed = ToolSpec(name="t", description="", effect=Effect.READ, raw_schema=raw)
    assert contributed.schema() is raw
