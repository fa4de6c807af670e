"""Tools as the Responses wire wants them declared.

`strict` is said either way: left out, the server would rewrite the schema as a strict one.
https://platform.openai.com/docs/guides/function-calling#strict-mode
"""

from hame.base.json import Json, JsonObject, as_list, as_object, get_list, get_object, get_objects
from hame.base.tool import ToolSpec
from hame.llm.references import inline_references

_STRICT_KEYS = frozenset({
    "type",
    "description",
    "title",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "enum",
    "const",
    "anyOf",
    "minimum",
    "maximum",
    "minItems",
    "maxItems",
})


def declare(spec: ToolSpec) -> JsonObject:
    """One tool."""
    schema = inline_references(spec.schema())
    whole: JsonObject = {"type": "object", **schema, "properties": get_object(schema, "properties")}
    return {
        "type": "function",
        "name": spec.name,
        "description": spec.description,
        "parameters": whole,
        "strict": schema.get("type") == "object" and allows_strict(schema),
    }


def allows_strict(schema: JsonObject) -> bool:
    """Whether a schema lies in the strict subset as it is: every object closed, every member required."""
    if not set(schema) <= _STRICT_KEYS or not _closed(schema):
        return False
    inner: list[Json] = [*get_object(schema, "properties").values(), *get_objects(schema, "anyOf")]
    if "items" in schema:
        inner.append(schema["items"])
    rules = [as_object(rule) for rule in inner]
    return all(rule is not None and _typed(rule) and allows_strict(rule) for rule in rules)


def _typed(rule: JsonObject) -> bool:
    return bool(rule.get("type") or rule.get("anyOf") or rule.get("enum"))


def _closed(schema: JsonObject) -> bool:
    kinds = as_list(schema.get("type")) or [schema.get("type")]
    if "object" not in kinds and "properties" not in schema:
        return True
    required = {name for name in get_list(schema, "required") if isinstance(name, str)}
    exact = "required" in schema and required == set(get_object(schema, "properties"))
    return exact and schema.get("additionalProperties") is False
