"""References of a JSON Schema, written out in place.

Many servers and most chat templates do not follow `$ref`: what it points at would be lost. A schema
that refers to itself is written out twice within itself and then told in words.
"""

from collections.abc import Iterable

from hame.base.json import Json, JsonObject, as_list, as_object, get_string

_SCHEMAS = frozenset({
    "items",
    "additionalProperties",
    "additionalItems",
    "contains",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
    "unevaluatedItems",
    "unevaluatedProperties",
})
"""Keywords that hold a schema."""
_LISTS = frozenset({"anyOf", "oneOf", "allOf", "prefixItems", "items"})
"""Keywords that hold a list of schemas."""
_MEMBERS = frozenset({"properties", "patternProperties", "dependentSchemas"})
"""Keywords that hold schemas by name."""
_DEFINITIONS = frozenset({"$defs", "definitions"})

_LEVELS = 2
"""How often a schema that refers to itself is written out within itself."""
_MOST_NODES = 1000


def inline_references(schema: JsonObject) -> JsonObject:
    """The schema without references; the very same one where there are none."""
    if not _refers(schema):
        return schema
    return _Inlining(schema).written(schema, ())


def look_up(root: JsonObject, reference: str) -> JsonObject | None:
    """What a reference inside the document points at (RFC 6901)."""
    if not reference.startswith("#"):
        return None
    found: Json = root
    for step in reference[1:].split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        items = as_list(found)
        if items is not None:
            found = items[int(name)] if name.isdigit() and int(name) < len(items) else None
        else:
            found = (as_object(found) or {}).get(name)
    return as_object(found)


def with_note(rule: JsonObject, note: str) -> JsonObject:
    """The rule with some more words in its description; the very same one without a note."""
    if not note:
        return rule
    said = get_string(rule, "description")
    return {**rule, "description": f"{said} {note}" if said else note}


class _Inlining:
    """One document: what references point into, and how much of it was written."""

    __slots__ = ("_nodes", "_root")

    def __init__(self, root: JsonObject) -> None:
        self._root = root
        self._nodes = 0

    def node(self, value: Json, opened: tuple[str, ...]) -> Json:
        """A schema, which may also be true or false; `opened` are the references that led here."""
        rule = as_object(value)
        return value if rule is None else self.written(rule, opened)

    def written(self, rule: JsonObject, opened: tuple[str, ...]) -> JsonObject:
        """A rule, written out."""
        self._nodes += 1
        reference = get_string(rule, "$ref")
        if reference is None:
            return {
                key: self._value(key, value, opened)
                for key, value in rule.items()
                if key not in _DEFINITIONS
            }
        beside = {key: value for key, value in rule.items() if key != "$ref"}
        target = look_up(self._root, reference)
        if target is None:
            return with_note(self.written(beside, opened), f"See {reference}.")
        if opened.count(reference) >= _LEVELS or self._nodes > _MOST_NODES:
            outline = {
                key: target[key] for key in ("type", "title", "description") if key in target
            }
            return with_note(
                {**outline, **beside}, f"Nested further in the same way ({reference})."
            )
        return self.written({**target, **beside}, (*opened, reference))

    def _value(self, key: str, value: Json, opened: tuple[str, ...]) -> Json:
        items = as_list(value)
        members = as_object(value)
        if key in _LISTS and items is not None:
            return [self.node(item, opened) for item in items]
        if key in _MEMBERS and members is not None:
            return {name: self.node(member, opened) for name, member in members.items()}
        return self.node(value, opened) if key in _SCHEMAS else value


def _refers(value: Json) -> bool:
    """Whether a reference may be in it; a member of that name counts as well."""
    members = as_object(value)
    if members is not None:
        return "$ref" in members or _any_refers(members.values())
    items = as_list(value)
    return items is not None and _any_refers(items)


def _any_refers(values: Iterable[Json]) -> bool:
    return any(map(_refers, values))
