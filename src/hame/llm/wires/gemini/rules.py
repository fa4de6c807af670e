"""Rules of a JSON Schema, read one at a time: what types, choices and references they name."""

from hame.base.json import Json, JsonObject, as_object, get_list, get_object

TYPES = ("string", "integer", "number", "boolean", "array", "object")

_NEVER_CLASH = frozenset({"properties", "required", "description", "title", "default", "example"})


def join(one: JsonObject, other: JsonObject) -> JsonObject:
    """Both rules at once, in the words of the first.

    Members and requirements are added up. What the two say differently stays under `allOf`, for the
    description to tell.
    """
    joined: JsonObject = {**other, **one}
    mine, theirs = get_object(one, "properties"), get_object(other, "properties")
    properties = {
        name: _join_members(mine, theirs, name) for name in dict.fromkeys((*mine, *theirs))
    }
    if properties:
        joined["properties"] = properties
    required = [*get_list(one, "required"), *get_list(other, "required")]
    if required:
        joined["required"] = list(dict.fromkeys(name for name in required if isinstance(name, str)))
    clash: JsonObject = {
        key: value
        for key, value in other.items()
        if key in one and one[key] != value and key not in _NEVER_CLASH
    }
    if clash:
        joined["allOf"] = [*get_list(one, "allOf"), clash]
    return joined


def _join_members(mine: JsonObject, theirs: JsonObject, name: str) -> Json:
    if name not in mine or name not in theirs or mine[name] == theirs[name]:
        return mine.get(name, theirs.get(name))
    return {"allOf": [mine[name], theirs[name]]}


def outline(rule: JsonObject) -> JsonObject:
    """A rule without what is inside it."""
    named = named_types(rule)
    left: JsonObject = {"type": named} if named else {}
    return {**left, **{key: rule[key] for key in ("title", "description") if key in rule}}


def named_types(rule: JsonObject) -> list[str]:
    """The types of a rule, also where only its other keywords tell them."""
    one = rule.get("type")
    named = (
        [one] if isinstance(one, str) else [k for k in get_list(rule, "type") if isinstance(k, str)]
    )
    known = [kind for kind in named if kind in {*TYPES, "null"}]
    if known or "type" in rule:
        return known
    if "properties" in rule or "additionalProperties" in rule:
        return ["object"]
    if "items" in rule or "prefixItems" in rule:
        return ["array"]
    found = [choice for choice in listed_choices(rule) if choice is not None]
    return [kind for kind in TYPES if found and any(fits(choice, kind) for choice in found)]


def listed_choices(rule: JsonObject) -> list[Json]:
    """The values a rule allows, where it lists them."""
    return [rule["const"]] if "const" in rule else get_list(rule, "enum")


def fits(choice: Json, kind: str) -> bool:
    """Whether a value is of a type."""
    match choice:
        case bool():
            return kind == "boolean"
        case int():
            return kind == "integer"
        case float():
            return kind == "number"
        case str():
            return kind == "string"
        case list():
            return kind == "array"
        case _:
            return kind == "object" and isinstance(choice, dict)


def is_null(branch: Json) -> bool:
    """Whether a rule allows nothing but null."""
    rule = as_object(branch) or {}
    return named_types(rule) == ["null"] or ("const" in rule and rule["const"] is None)


def is_nullable(rule: JsonObject) -> bool:
    """Whether a rule allows null beside other values."""
    return (
        "null" in named_types(rule)
        or rule.get("nullable") is True
        or (bool(listed_choices(rule)) and None in listed_choices(rule))
    )
