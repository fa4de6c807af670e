"""Tools as OpenAI-compatible servers want them declared."""

from hame.base.json import JsonObject, get_object
from hame.base.model import ModelFacts, Quirk
from hame.base.tool import ToolSpec
from hame.llm.references import inline_references
from hame.llm.schemas import strict_schema


def declare(spec: ToolSpec, facts: ModelFacts) -> JsonObject:
    """One tool. A schema without properties is refused by some servers, so it gets an empty set."""
    schema = inline_references(spec.schema())
    function: JsonObject = {"name": spec.name, "description": spec.description}
    if Quirk.STRICT_SCHEMA in facts.quirks and spec.raw_schema is None:
        function |= {"parameters": strict_schema(schema), "strict": True}
    else:
        whole = {"type": "object", **schema}
        function["parameters"] = {**whole, "properties": get_object(schema, "properties")}
    return {"type": "function", "function": function}
