"""JSON Schemas in the dialects that providers demand."""

from hame.base.json import Json, JsonObject, as_list, as_object, get_list, get_object, get_string


def strict_schema(schema: JsonObject) -> JsonObject:
    """A schema in OpenAI's strict subset: every member required, optional ones may be null.

    See https://platform.openai.com/docs/guides/structured-outputs#supported-schemas
    """
    strict: JsonObject = {key: _strict_value(value) for key, value in schema.items()}
    if get_string(schema, "type") != "object":
        return strict
    properties = get_object(schema, "properties")
    required = get_list(schema, "required")
    strict["properties"] = {
        name: _strict_member(member, optional=name not in required)
        for name, member in properties.items()
    }
    strict["required"] = list(properties)
    strict["additionalProperties"] = False
    return strict


def _strict_value(value: Json) -> Json:
    inner = as_object(value)
    if inner is not None:
        return strict_schema(inner)
    items = as_list(value)
    return [_strict_value(item) for item in items] if items is not None else value


def _strict_member(member: Json, *, optional: bool) -> Json:
    rule = as_object(member)
    if rule is None:
        return member
    strict = strict_schema(rule)
    kind = strict.get("type")
    if not optional or not isinstance(kind, str):
        return strict
    nullable: JsonObject = {**strict, "type": [kind, "null"]}
    choices = get_list(strict, "enum")
    return {**nullable, "enum": [*choices, None]} if choices else nullable
