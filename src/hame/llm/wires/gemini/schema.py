"""JSON Schema -> the schema dialect of Gemini's function declarations.

https://ai.google.dev/api/caching#Schema is a subset of OpenAPI 3.0: no references, one type per node,
`nullable` instead of a null type, enums of strings. What the dialect cannot say is said in words in
the node's description, so that the model still knows it; the harness checks the call against the
original schema anyway.
"""

from hame.base.json import (
    Json,
    JsonObject,
    as_list,
    as_object,
    dump,
    get_list,
    get_number,
    get_object,
    get_objects,
    get_string,
)
from hame.llm.references import look_up
from hame.llm.wires.gemini.rules import (
    fits,
    is_null,
    is_nullable,
    join,
    listed_choices,
    named_types,
    outline,
)

_PLAIN = frozenset({
    "type",
    "title",
    "description",
    "enum",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
})
"""Keywords that Gemini reads as JSON Schema, too."""

_KEPT = (
    "title",
    "default",
    "example",
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "minProperties",
    "maxProperties",
    "minimum",
    "maximum",
    "pattern",
)
_FORMATS = {
    "string": {"enum", "date-time"},
    "integer": {"int32", "int64"},
    "number": {"float", "double"},
}
_HANDLED = frozenset({
    *_KEPT,
    "type",
    "description",
    "enum",
    "const",
    "format",
    "nullable",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "prefixItems",
    "anyOf",
    "oneOf",
    "allOf",
    "$ref",
    "exclusiveMinimum",
    "exclusiveMaximum",
})
_SAYS_NOTHING = frozenset({
    "$schema",
    "$id",
    "$anchor",
    "$comment",
    "$defs",
    "definitions",
    "deprecated",
    "readOnly",
    "writeOnly",
})
_TYPE_KEYS = {
    "string": {"minLength", "maxLength", "pattern", "format", "enum"},
    "integer": {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "format", "enum"},
    "number": {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "format", "enum"},
    "boolean": {"enum"},
    "array": {"items", "prefixItems", "minItems", "maxItems"},
    "object": {"properties", "required", "additionalProperties", "minProperties", "maxProperties"},
}
_ANYTHING: tuple[JsonObject, ...] = (
    {"type": "STRING"},
    {"type": "NUMBER"},
    {"type": "BOOLEAN"},
    {"type": "OBJECT"},
    {"type": "ARRAY", "items": {"type": "STRING"}},
)
_LEVELS_OF_ONE_REFERENCE = 2
"""How often a schema that refers to itself is written out within itself."""
_MOST_NODES = 1000


def is_plain(schema: Json) -> bool:
    """Whether Gemini understands a schema as the JSON Schema it is."""
    rule = as_object(schema)
    if rule is None or not set(rule) <= _PLAIN or not isinstance(rule.get("type"), str):
        return False
    if not all(isinstance(choice, str) for choice in get_list(rule, "enum")):
        return False
    extra = rule.get("additionalProperties", False)
    inner = [*get_object(rule, "properties").values()]
    inner += [rule["items"]] if "items" in rule else []
    return isinstance(extra, bool) and all(is_plain(member) for member in inner)


def convert_schema(schema: JsonObject) -> JsonObject:
    """The schema in Gemini's dialect."""
    return _Conversion(schema).node(schema, ())


class _Conversion:
    """One conversion: the document that references point into, and how much was written."""

    __slots__ = ("_nodes", "_root")

    def __init__(self, root: JsonObject) -> None:
        self._root = root
        self._nodes = 0

    def node(self, schema: Json, opened: tuple[str, ...]) -> JsonObject:
        """One schema; `opened` are the references that led here."""
        self._nodes += 1
        rule, opened, notes = self._flatten(as_object(schema) or {}, opened)
        if self._nodes > _MOST_NODES:
            rule = outline(rule)
        written = self._written(rule, opened, notes)
        nullable = is_nullable(rule) or any(map(is_null, _branches_of(rule)))
        return _describe(written, rule, notes, nullable=nullable)

    def _written(self, rule: JsonObject, opened: tuple[str, ...], notes: list[str]) -> JsonObject:
        """A rule without its description."""
        branches = _branches_of(rule)
        named = [kind for kind in named_types(rule) if kind != "null"]
        if is_null(rule) or (branches and all(map(is_null, branches))):
            notes.append("Always null.")
            return {"type": "STRING"}
        if branches:
            return self._branches(rule, branches, opened)
        if len(named) == 1:
            return self._typed(named[0], rule, opened, notes)
        return {"anyOf": self._alternatives(named, rule, opened, notes)}

    def _flatten(
        self, rule: JsonObject, opened: tuple[str, ...]
    ) -> tuple[JsonObject, tuple[str, ...], list[str]]:
        """A rule with its references followed and its `allOf` folded in."""
        rule, opened, stopped = self._resolve(rule, opened)
        notes = [stopped] if stopped else []
        parts = get_objects(rule, "allOf")
        rule = {key: value for key, value in rule.items() if key != "allOf"}
        for part in parts:
            inner, opened, found = self._flatten(part, opened)
            rule = join(rule, inner)
            notes += found
        return rule, opened, notes

    def _resolve(
        self, rule: JsonObject, opened: tuple[str, ...]
    ) -> tuple[JsonObject, tuple[str, ...], str]:
        """Follow references; also says in words where following stopped."""
        while (reference := get_string(rule, "$ref")) is not None:
            target = look_up(self._root, reference)
            beside = {key: value for key, value in rule.items() if key != "$ref"}
            if target is None:
                return beside, opened, f"See {reference}."
            rule = {**target, **beside}
            if opened.count(reference) >= _LEVELS_OF_ONE_REFERENCE:
                return outline(rule), opened, f"Nested further in the same way ({reference})."
            opened = (*opened, reference)
        return rule, opened, ""

    def _typed(
        self, kind: str, rule: JsonObject, opened: tuple[str, ...], notes: list[str]
    ) -> JsonObject:
        written: JsonObject = {"type": kind.upper()}
        for key in _KEPT:
            if key in rule and (key in _TYPE_KEYS[kind] or key in {"title", "default", "example"}):
                written[key] = rule[key]
        if get_string(rule, "format") in _FORMATS.get(kind, set()):
            written["format"] = rule["format"]
        choices = [choice for choice in listed_choices(rule) if choice is not None]
        if choices and kind == "string" and all(isinstance(choice, str) for choice in choices):
            written["enum"] = choices
        elif choices:
            notes.append(f"One of: {', '.join(map(dump, choices))}.")
        if kind == "integer":
            _close_bounds(rule, written)
        if kind == "object":
            written |= self._members(rule, opened)
        if kind == "array":
            written["items"] = self._items(rule, opened, notes)
        return written

    def _members(self, rule: JsonObject, opened: tuple[str, ...]) -> JsonObject:
        members = {
            name: self.node(member, opened)
            for name, member in get_object(rule, "properties").items()
        }
        if not members:
            return {}
        required = [name for name in get_list(rule, "required") if name in members]
        return {"properties": members, **({"required": required} if required else {})}

    def _items(self, rule: JsonObject, opened: tuple[str, ...], notes: list[str]) -> JsonObject:
        """What an array holds: one schema for all of it, the positions of a tuple told in words."""
        items = rule.get("items")
        positions = as_list(items) or get_list(rule, "prefixItems")
        if positions:
            notes.append(f"The items by position: {dump(positions)}.")
            found = [self.node(position, opened) for position in positions]
            distinct = [one for place, one in enumerate(found) if one not in found[:place]]
            return distinct[0] if len(distinct) == 1 else {"anyOf": distinct}
        return self.node(items, opened)

    def _branches(
        self, rule: JsonObject, branches: list[Json], opened: tuple[str, ...]
    ) -> JsonObject:
        """Alternatives, each with what stands beside them; a single one needs no list."""
        beside = {
            key: value
            for key, value in rule.items()
            if key not in {"anyOf", "oneOf", "description"}
        }
        found = [
            self.node(join(beside, as_object(branch) or {}), opened)
            for branch in branches
            if not is_null(branch)
        ]
        return dict(found[0]) if len(found) == 1 else {"anyOf": found}

    def _alternatives(
        self, kinds: list[str], rule: JsonObject, opened: tuple[str, ...], notes: list[str]
    ) -> list[JsonObject]:
        """One alternative for each type; any value at all where none is named."""
        if not kinds:
            return [dict(one) for one in _ANYTHING]
        listed = [choice for choice in listed_choices(rule) if choice is not None]
        fitting = {kind: [choice for choice in listed if fits(choice, kind)] for kind in kinds}
        if listed and not any(fitting.values()):
            notes.append(f"One of: {', '.join(map(dump, listed))}.")
            listed = []
        alternatives: list[JsonObject] = []
        for kind in kinds:
            own = {
                key: value
                for key, value in rule.items()
                if key in _TYPE_KEYS[kind] and key != "enum"
            }
            chosen: JsonObject = {"enum": fitting[kind]} if listed else {}
            if fitting[kind] or not listed:
                alternatives.append(self.node({**own, **chosen, "type": kind}, opened))
        return alternatives


def _branches_of(rule: JsonObject) -> list[Json]:
    return [*get_list(rule, "anyOf"), *get_list(rule, "oneOf")]


# ---------------------------------------------------------------- saying it in words


def _close_bounds(rule: JsonObject, written: JsonObject) -> None:
    """For integers, an open bound is the closed one next to it."""
    low, high = get_number(rule, "exclusiveMinimum"), get_number(rule, "exclusiveMaximum")
    if low is not None:
        written["minimum"] = int(low // 1) + 1
    if high is not None:
        written["maximum"] = -int(-high // 1) - 1


def _describe(
    written: JsonObject, rule: JsonObject, notes: list[str], *, nullable: bool
) -> JsonObject:
    said = [get_string(rule, "description"), get_string(written, "description")]
    said += notes
    said += _unsaid(rule, written)
    text = " ".join(dict.fromkeys(filter(None, said)))
    if text:
        written["description"] = text
    if nullable:
        written["nullable"] = True
    return written


def _unsaid(rule: JsonObject, written: JsonObject) -> list[str]:
    """The keywords that the dialect has no room for, in words."""
    notes: list[str] = []
    kind = (get_string(written, "type") or "").lower()
    form = get_string(rule, "format")
    if form and "format" not in written and "anyOf" not in written:
        notes.append(f"Format: {form}.")
    if kind != "integer":
        for key, words in (("exclusiveMinimum", "Greater than"), ("exclusiveMaximum", "Less than")):
            if (bound := get_number(rule, key)) is not None:
                notes.append(f"{words} {bound:g}.")
    extra = get_object(rule, "additionalProperties")
    if kind == "object" and (extra or rule.get("additionalProperties") is True):
        shape = f", each of: {dump(extra)}" if extra else ""
        notes.append(f"Other members are allowed{shape}.")
    for key, value in rule.items():
        if key == "allOf" or key not in _HANDLED | _SAYS_NOTHING:
            notes.append(f"{key}: {dump(value)}.")
    return notes
