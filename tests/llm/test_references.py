"""References of a schema, written out."""

import json

from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from hame.llm.references import inline_references, look_up

PLAIN: dict = {"type": "object", "properties": {"a": {"type": "string"}}}


def test_a_schema_without_references_is_the_very_same():
    assert inline_references(PLAIN) is PLAIN


def test_references_are_followed_wherever_schemas_stand():
    one = {"$ref": "#/$defs/one"}
    schema: dict = {
        "$defs": {"one": {"type": "integer"}, "a/b": {"type": "null"}},
        "properties": {"a": one, "b": {"type": "array", "items": one}, "c": True},
        "anyOf": [one, {"$ref": "#/$defs/a~1b"}],
        "prefixItems": [one],
        "additionalProperties": one,
        "items": [one],
    }
    integer = {"type": "integer"}
    assert inline_references(schema) == {
        "properties": {"a": integer, "b": {"type": "array", "items": integer}, "c": True},
        "anyOf": [integer, {"type": "null"}],
        "prefixItems": [integer],
        "additionalProperties": integer,
        "items": [integer],
    }


def test_what_stands_beside_a_reference_counts():
    schema: dict = {
        "$defs": {"a": {"type": "string", "description": "x"}},
        "properties": {"p": {"$ref": "#/$defs/a", "description": "y"}},
    }
    assert inline_references(schema)["properties"] == {"p": {"type": "string", "description": "y"}}


def test_values_that_only_look_like_schemas_stay_as_they_are():
    schema: dict = {
        "properties": {
            "$ref": {"$ref": "#/$defs/a"},
            "x": {"default": {"$ref": "#/$defs/a"}, "enum": [{"$ref": "no"}], "$defs": {}},
        },
        "$defs": {"a": {"type": "string"}},
    }
    assert inline_references(schema) == {
        "properties": {
            "$ref": {"type": "string"},
            "x": {"default": {"$ref": "#/$defs/a"}, "enum": [{"$ref": "no"}]},
        }
    }


def test_a_schema_that_refers_to_itself_ends_in_words():
    tree = {"type": "object", "properties": {"next": {"$ref": "#/$defs/tree"}}}
    schema: dict = {"$defs": {"tree": tree}, "$ref": "#/$defs/tree"}
    assert inline_references(schema) == snapshot({
        "type": "object",
        "properties": {
            "next": {
                "type": "object",
                "properties": {
                    "next": {
                        "type": "object",
                        "description": "Nested further in the same way (#/$defs/tree).",
                    }
                },
            }
        },
    })


def test_a_reference_that_leads_nowhere_is_named():
    schema: dict = {
        "properties": {
            "a": {"$ref": "https://example.org/x"},
            "b": {"$ref": "#/nope", "type": "string"},
        }
    }
    assert inline_references(schema)["properties"] == {
        "a": {"description": "See https://example.org/x."},
        "b": {"type": "string", "description": "See #/nope."},
    }


def test_a_schema_that_would_grow_without_end_is_cut():
    branches = {f"p{n}": {"$ref": f"#/$defs/d{m}"} for n in range(8) for m in (n,)}
    schema: dict = {
        "$defs": {f"d{n}": {"type": "object", "properties": branches} for n in range(8)},
        "properties": branches,
    }
    assert len(json.dumps(inline_references(schema))) < 2_000_000


_keys = st.sampled_from(["$ref", "$defs", "properties", "items", "anyOf", "type", "a", "enum"])
_values = st.recursive(
    st.none() | st.booleans() | st.sampled_from(["#", "#/$defs/a", "#/properties/0", "x", 3]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_keys, inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(_keys, _values, max_size=4))
def test_any_object_is_written_out_to_an_end(schema):
    assert isinstance(inline_references(schema), dict)


def test_a_reference_is_looked_up_step_by_step():
    root: dict = {"a": [{"b~/c": {"type": "x"}}]}
    assert look_up(root, "#/a/0/b~0~1c") == {"type": "x"}
    for lost in ("#/a/1", "#/a/x", "#/a/0/z/y", "a", "#/a"):
        assert look_up(root, lost) is None
    assert look_up(root, "#") is root
