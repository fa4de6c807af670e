"""Tools as Ollama reads them."""

from inline_snapshot import snapshot

from hame.base.tool import Effect, ToolSpec
from hame.llm.wires.ollama.tools import declare


def function(schema: dict) -> object:
    spec = ToolSpec(name="t", description="Do it.", effect=Effect.RUN, raw_schema=schema)
    return declare(spec)["function"]


def test_what_ollama_does_not_read_is_said_in_words():
    assert function({
        "$defs": {"size": {"type": "integer", "minimum": 1, "maximum": 9}},
        "properties": {
            "size": {"$ref": "#/$defs/size", "description": "How large."},
            "mode": {"const": "fast", "title": "Mode"},
            "either": {"oneOf": [{"type": "string", "pattern": "^a"}, {"type": "null"}]},
            "list": {
                "type": "array",
                "items": {"type": "string", "minLength": 2},
                "minItems": 1,
            },
            "inner": {
                "type": "object",
                "properties": {"x": {"type": "number", "default": 3}},
                "required": ["x"],
            },
            "any": True,
            "odd": {"enum": "x", "description": 7, "items": [{"type": "string"}]},
        },
        "required": ["size"],
        "not": {"required": ["any"]},
    }) == snapshot({
        "name": "t",
        "description": 'Do it. not: {"required":["any"]}.',
        "parameters": {
            "properties": {
                "size": {"type": "integer", "description": "How large. minimum: 1. maximum: 9."},
                "mode": {"enum": ["fast"]},
                "either": {
                    "anyOf": [{"type": "string", "description": 'pattern: "^a".'}, {"type": "null"}]
                },
                "list": {
                    "type": "array",
                    "items": {"type": "string", "description": "minLength: 2."},
                    "description": "minItems: 1.",
                },
                "inner": {
                    "type": "object",
                    "properties": {"x": {"type": "number", "description": "default: 3."}},
                    "description": 'required: ["x"].',
                },
                "any": {},
                "odd": {"items": [{"type": "string"}]},
            },
            "required": ["size"],
            "type": "object",
        },
    })
