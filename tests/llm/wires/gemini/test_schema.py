"""JSON Schema in Gemini's dialect."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hame.base.json import JsonObject
from hame.llm.wires.gemini.schema import convert_schema, is_plain

NODE_KEYS = {
    "type",
    "title",
    "description",
    "nullable",
    "default",
    "example",
    "format",
    "enum",
    "properties",
    "required",
    "items",
    "anyOf",
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "minProperties",
    "maxProperties",
    "minimum",
    "maximum",
    "pattern",
}
TYPES = {"STRING", "INTEGER", "NUMBER", "BOOLEAN", "ARRAY", "OBJECT"}


def convert(schema: JsonObject) -> dict:
    return json.loads(json.dumps(convert_schema(schema)))


def member(schema: object, **root) -> dict:
    return convert({"type": "object", "properties": {"x": schema}, **root})["properties"]["x"]


def check_node(node: dict) -> None:
    """What the dialect demands of every node."""
    assert set(node) <= NODE_KEYS
    if "anyOf" in node:
        assert node["anyOf"]
        assert not {"type", "properties", "items", "enum"} & set(node)
    else:
        assert node["type"] in TYPES
    if "enum" in node:
        assert node["type"] == "STRING"
        assert all(isinstance(choice, str) for choice in node["enum"])
    if node.get("type") == "ARRAY":
        assert "items" in node
    assert set(node.get("required", ())) <= set(node.get("properties", ()))
    inner = [*node.get("properties", {}).values(), *node.get("anyOf", ())]
    for one in [*inner, *([node["items"]] if "items" in node else [])]:
        check_node(one)


# ---------------------------------------------------------------- any schema

names = st.sampled_from(["a", "b", "c"])
references = st.sampled_from([
    "#/$defs/a",
    "#/$defs/b",
    "#/properties/a",
    "#",
    "#/$defs/none",
    "http://x/y",
])
keywords: dict[str, st.SearchStrategy] = {
    "description": st.just("words"),
    "format": st.sampled_from(["uri", "date-time", "int32"]),
    "enum": st.lists(st.sampled_from(["x", "y", 1, 1.5, True, None]), min_size=1, max_size=3),
    "const": st.sampled_from(["x", 3, None, [1], {"k": 1}]),
    "default": st.just("x"),
    "minimum": st.integers(-5, 5),
    "exclusiveMinimum": st.sampled_from([0, 1.5, True]),
    "minLength": st.just(1),
    "uniqueItems": st.just(True),
    "$schema": st.just("https://json-schema.org/draft/2020-12/schema"),
    "additionalProperties": st.booleans() | st.just({"type": "string"}),
    "required": st.lists(names, max_size=2),
}


def rules(inner: st.SearchStrategy) -> st.SearchStrategy:
    kinds = st.sampled_from([
        "string",
        "integer",
        "number",
        "boolean",
        "array",
        "object",
        "null",
        ["string", "null"],
        ["integer", "array"],
        "odd",
        [],
    ])
    return st.fixed_dictionaries(
        {},
        optional={
            **keywords,
            "type": kinds,
            "$ref": references,
            "items": inner | st.lists(inner, max_size=2),
            "prefixItems": st.lists(inner, max_size=2),
            "properties": st.dictionaries(names, inner, max_size=2),
            "anyOf": st.lists(inner, max_size=2),
            "oneOf": st.lists(inner, max_size=2),
            "allOf": st.lists(inner, max_size=2),
        },
    )


schemas = st.recursive(st.booleans() | rules(st.nothing() | st.just({})), rules, max_leaves=6)


@given(st.dictionaries(names, schemas, max_size=3), st.dictionaries(names, schemas, max_size=2))
def test_any_schema_becomes_one_of_the_dialect(properties, definitions):
    schema: JsonObject = {"type": "object", "properties": properties, "$defs": definitions}
    before = json.dumps(schema)
    check_node(convert(schema))
    assert json.dumps(schema) == before


# ---------------------------------------------------------------- by kind


def test_types_are_written_large_and_requirements_kept():
    schema: JsonObject = {
        "type": "object",
        "properties": {"a": {"type": "string", "description": "A."}, "b": {"type": "integer"}},
        "required": ["a", "gone"],
        "additionalProperties": False,
    }
    assert convert(schema) == {
        "type": "OBJECT",
        "properties": {"a": {"type": "STRING", "description": "A."}, "b": {"type": "INTEGER"}},
        "required": ["a"],
    }


@pytest.mark.parametrize(
    "schema",
    [
        {"type": ["string", "null"]},
        {"anyOf": [{"type": "string"}, {"type": "null"}]},
        {"oneOf": [{"type": "null"}, {"type": "string"}]},
        {"anyOf": [{"type": "string"}, {"const": None}]},
        {"type": "string", "nullable": True},
    ],
)
def test_a_value_that_may_be_null_is_nullable(schema):
    assert member(schema) == {"type": "STRING", "nullable": True}


def test_null_among_the_choices_makes_them_nullable():
    schema: JsonObject = {"type": ["string", "null"], "enum": ["a", None]}
    assert member(schema) == {"type": "STRING", "enum": ["a"], "nullable": True}


def test_several_types_are_alternatives_each_with_its_own_keywords():
    schema: JsonObject = {"type": ["integer", "string"], "minimum": 2, "maxLength": 5}
    assert member(schema) == {
        "anyOf": [{"type": "INTEGER", "minimum": 2}, {"type": "STRING", "maxLength": 5}]
    }


def test_a_reference_is_written_out_with_what_stands_beside_it():
    definitions = {"pet": {"type": "object", "properties": {"name": {"type": "string"}}}}
    found = member({"$ref": "#/$defs/pet", "description": "Mine."}, **{"$defs": definitions})
    assert found == {
        "type": "OBJECT",
        "properties": {"name": {"type": "STRING"}},
        "description": "Mine.",
    }


def test_a_reference_may_point_anywhere_in_the_document():
    properties: JsonObject = {
        "a/b": {"type": "array", "items": {"type": "string"}},
        "copy": {"$ref": "#/properties/a~1b"},
        "first": {"$ref": "#/properties/list/anyOf/0"},
        "list": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
    }
    found = convert({"type": "object", "properties": properties})["properties"]
    assert found["copy"] == {"type": "ARRAY", "items": {"type": "STRING"}}
    assert found["first"] == {"type": "INTEGER"}


def test_a_schema_within_itself_is_written_out_twice_and_then_told_in_words():
    node = {
        "type": "object",
        "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
    }
    found = member({"$ref": "#/$defs/node"}, **{"$defs": {"node": node}})
    once = found["properties"]["children"]["items"]
    assert once["type"] == "OBJECT"
    end = once["properties"]["children"]["items"]
    assert end == {
        "type": "OBJECT",
        "description": "Nested further in the same way (#/$defs/node).",
    }


def test_a_reference_to_itself_alone_ends():
    found = member({"$ref": "#/$defs/a"}, **{"$defs": {"a": {"$ref": "#/$defs/a"}}})
    assert "Nested further" in found["description"]


def test_a_reference_that_leads_nowhere_is_any_value_and_says_so():
    found = member({"$ref": "other.json#/x"})
    assert found["description"] == "See other.json#/x."
    assert "anyOf" in found


def test_a_schema_that_explodes_is_bounded():
    definitions = {
        f"d{n}": {
            "type": "object",
            "properties": {f"p{m}": {"$ref": f"#/$defs/d{n + 1}"} for m in range(8)},
        }
        for n in range(8)
    }
    definitions["d8"] = {"type": "string"}
    written = convert({"$ref": "#/$defs/d0", "$defs": definitions})
    check_node(written)
    assert len(json.dumps(written)) < 400_000


def test_choices_that_are_no_strings_are_told_in_words():
    assert member({"type": "integer", "enum": [1, 2]}) == {
        "type": "INTEGER",
        "description": "One of: 1, 2.",
    }
    assert member({"const": "a"}) == {"type": "STRING", "enum": ["a"]}
    assert member({"enum": ["a", 1]}) == {
        "anyOf": [
            {"type": "STRING", "enum": ["a"]},
            {"type": "INTEGER", "description": "One of: 1."},
        ]
    }


def test_open_bounds_are_closed_for_integers_and_told_for_numbers():
    assert member({"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 10.5}) == {
        "type": "INTEGER",
        "minimum": 1,
        "maximum": 10,
    }
    assert member({"type": "number", "exclusiveMinimum": 0}) == {
        "type": "NUMBER",
        "description": "Greater than 0.",
    }


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({"type": "string", "format": "uri"}, "Format: uri."),
        ({"type": "array", "items": {"type": "string"}, "uniqueItems": True}, "uniqueItems: true."),
        ({"type": "integer", "multipleOf": 5}, "multipleOf: 5."),
        ({"type": "string", "not": {"const": "x"}}, 'not: {"const":"x"}.'),
        ({"type": "object", "patternProperties": {"^x": {}}}, 'patternProperties: {"^x":{}}.'),
        ({"type": "object", "additionalProperties": True}, "Other members are allowed."),
        (
            {"type": "object", "additionalProperties": {"type": "string"}},
            'Other members are allowed, each of: {"type":"string"}.',
        ),
    ],
)
def test_what_the_dialect_cannot_say_is_said_in_words(rule, words):
    assert member({**rule, "description": "D."})["description"] == f"D. {words}"


def test_what_says_nothing_about_values_is_left_out():
    rule: JsonObject = {"type": "string", "$schema": "x", "$id": "y", "$comment": "z"}
    assert member(rule) == {"type": "STRING"}


def test_known_formats_and_limits_stay():
    rule: JsonObject = {"type": "string", "format": "date-time", "minLength": 1, "pattern": "^a"}
    assert member(rule) == {
        "type": "STRING",
        "format": "date-time",
        "minLength": 1,
        "pattern": "^a",
    }


def test_a_list_keeps_what_it_holds():
    assert member({"type": "array"})["items"]["anyOf"]
    pair = member({"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}]})
    assert pair["items"] == {"anyOf": [{"type": "STRING"}, {"type": "INTEGER"}]}
    assert "by position" in pair["description"]
    same = member({"type": "array", "items": [{"type": "string"}, {"type": "string"}]})
    assert same["items"] == {"type": "STRING"}


def test_all_of_is_one_object():
    parts = [
        {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
        {"properties": {"b": {"type": "integer"}}, "required": ["b"]},
    ]
    assert member({"allOf": parts}) == {
        "type": "OBJECT",
        "properties": {"a": {"type": "STRING"}, "b": {"type": "INTEGER"}},
        "required": ["a", "b"],
    }


def test_references_in_all_of_are_followed():
    found = member(
        {"allOf": [{"$ref": "#/$defs/a"}], "description": "Mine."},
        **{"$defs": {"a": {"type": "string", "minLength": 1, "description": "Its."}}},
    )
    assert found == {"type": "STRING", "minLength": 1, "description": "Mine."}


def test_what_parts_of_all_of_say_differently_is_told_in_words():
    found = member({"type": "integer", "minimum": 1, "allOf": [{"minimum": 3, "maximum": 9}]})
    assert found == {
        "type": "INTEGER",
        "minimum": 1,
        "maximum": 9,
        "description": 'allOf: [{"minimum":3}].',
    }


def test_a_member_that_two_parts_describe_is_both():
    parts = [
        {"type": "object", "properties": {"a": {"type": "string"}}},
        {"properties": {"a": {"maxLength": 3}}},
    ]
    assert member({"allOf": parts})["properties"]["a"] == {"type": "STRING", "maxLength": 3}


@pytest.mark.parametrize("rule", [{"type": "null"}, {"const": None}, {"anyOf": [{"type": "null"}]}])
def test_a_value_that_is_always_null_says_so(rule):
    assert member(rule) == {"type": "STRING", "description": "Always null.", "nullable": True}


def test_choices_that_fit_no_type_are_told_in_words():
    found = member({"type": ["integer", "array"], "enum": ["x"]})
    assert found["description"] == 'One of: "x".'
    assert [one["type"] for one in found["anyOf"]] == ["INTEGER", "ARRAY"]


def test_alternatives_carry_what_stands_beside_them():
    rule: JsonObject = {
        "type": "object",
        "properties": {"kind": {"type": "string"}},
        "oneOf": [{"required": ["kind"]}, {"properties": {"x": {"type": "integer"}}}],
        "description": "Either.",
    }
    found = member(rule)
    assert found["description"] == "Either."
    first, second = found["anyOf"]
    assert first["required"] == ["kind"]
    assert set(second["properties"]) == {"kind", "x"}


# ---------------------------------------------------------------- plain schemas


def test_a_plain_schema_needs_no_conversion():
    schema: JsonObject = {
        "type": "object",
        "properties": {
            "a": {"type": "string", "enum": ["x"]},
            "b": {"type": "array", "items": {"type": "integer", "minimum": 1}},
            "c": {"type": "object", "properties": {}, "additionalProperties": True},
        },
        "required": ["a"],
        "additionalProperties": False,
    }
    assert is_plain(schema)


@pytest.mark.parametrize(
    "inner",
    [
        {"type": ["string", "null"]},
        {"$ref": "#/$defs/x"},
        {"type": "string", "format": "uri"},
        {"type": "integer", "enum": [1]},
        {"type": "object", "additionalProperties": {"type": "string"}},
        {"anyOf": [{"type": "string"}]},
        {},
        True,
    ],
)
def test_anything_more_is_not_plain(inner):
    assert not is_plain({"type": "object", "properties": {"x": inner}})
    assert not is_plain({"type": "array", "items": inner})
