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
_TYPES = ("string", "integer", "number", "boolean", "array", "object")
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
        rule, opened, stopped = self._resolve(as_object(schema) or {}, opened)
        rule = _merge_all(rule)
        notes = [stopped] if stopped else []
        if stopped or self._nodes > _MOST_NODES:
            rule = _outline(rule)
        branches = [*get_list(rule, "anyOf"), *get_list(rule, "oneOf")]
        kinds = [kind for kind in _kinds(rule) if kind != "null"]
        nullable = _is_nullable(rule)
        written: JsonObject
        if branches:
            written = self._branches(rule, branches, opened)
            nullable = nullable or any(_is_null(branch) for branch in branches)
        elif len(kinds) == 1:
            written = self._typed(kinds[0], rule, opened, notes)
        else:
            written = {"anyOf": self._alternatives(kinds, rule, opened)}
        return _describe(written, rule, notes, nullable=nullable)

    def _resolve(
        self, rule: JsonObject, opened: tuple[str, ...]
    ) -> tuple[JsonObject, tuple[str, ...], str]:
        """Follow references; also says in words where following stopped."""
        while (reference := get_string(rule, "$ref")) is not None:
            target = _look_up(self._root, reference)
            beside = {key: value for key, value in rule.items() if key != "$ref"}
            if target is None:
                return beside, opened, f"See {reference}."
            rule = {**target, **beside}
            if opened.count(reference) >= _LEVELS_OF_ONE_REFERENCE:
                rule.pop("$ref", None)
                return rule, opened, f"Nested further in the same way ({reference})."
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
        choices = [choice for choice in _choices(rule) if choice is not None]
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
        found: list[JsonObject] = []
        for branch in branches:
            if not _is_null(branch):
                inner = as_object(branch) or {}
                found.append(self.node(_join(beside, inner), opened))
        return dict(found[0]) if len(found) == 1 else {"anyOf": found}

    def _alternatives(
        self, kinds: list[str], rule: JsonObject, opened: tuple[str, ...]
    ) -> list[JsonObject]:
        """One alternative for each type; any value at all where none is named."""
        if not kinds:
            return [dict(one) for one in _ANYTHING]
        shared = {key: rule[key] for key in ("enum", "const") if key in rule}
        alternatives: list[JsonObject] = []
        for kind in kinds:
            own = {key: rule[key] for key in _TYPE_KEYS[kind] if key in rule}
            fitting = [choice for choice in _choices(shared) if _fits(choice, kind)]
            narrowed: JsonObject = {**own, "type": kind}
            if shared:
                narrowed["enum"] = fitting
            if fitting or not shared:
                alternatives.append(self.node(narrowed, opened))
        return alternatives


# ---------------------------------------------------------------- reading a rule


def _look_up(root: JsonObject, reference: str) -> JsonObject | None:
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


def _merge_all(rule: JsonObject) -> JsonObject:
    """A rule with its `allOf` folded in, where the parts are plain."""
    parts = get_objects(rule, "allOf")
    if not parts or any("$ref" in part or "allOf" in part for part in parts):
        return rule
    merged = {key: value for key, value in rule.items() if key != "allOf"}
    for part in parts:
        merged = _join(merged, part)
    return merged


def _join(one: JsonObject, other: JsonObject) -> JsonObject:
    """Both rules at once; members and requirements are added up."""
    joined: JsonObject = {**one, **other}
    properties = {**get_object(one, "properties"), **get_object(other, "properties")}
    if properties:
        joined["properties"] = properties
    required = [*get_list(one, "required"), *get_list(other, "required")]
    if required:
        joined["required"] = list(dict.fromkeys(name for name in required if isinstance(name, str)))
    return joined


def _outline(rule: JsonObject) -> JsonObject:
    """A rule without what is inside it."""
    kinds = _kinds(rule)
    outline: JsonObject = {"type": kinds} if kinds else {}
    return {**outline, **{key: rule[key] for key in ("title", "description") if key in rule}}


def _kinds(rule: JsonObject) -> list[str]:
    """The types of a rule, also where only its other keywords tell them."""
    one = rule.get("type")
    named = (
        [one] if isinstance(one, str) else [k for k in get_list(rule, "type") if isinstance(k, str)]
    )
    known = [kind for kind in named if kind in {*_TYPES, "null"}]
    if known or "type" in rule:
        return known
    if "properties" in rule or "additionalProperties" in rule:
        return ["object"]
    if "items" in rule or "prefixItems" in rule:
        return ["array"]
    choices = [choice for choice in _choices(rule) if choice is not None]
    return [kind for kind in _TYPES if choices and any(_fits(choice, kind) for choice in choices)]


def _choices(rule: JsonObject) -> list[Json]:
    return [rule["const"]] if "const" in rule else get_list(rule, "enum")


def _fits(choice: Json, kind: str) -> bool:
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


def _is_null(branch: Json) -> bool:
    rule = as_object(branch) or {}
    return _kinds(rule) == ["null"] or ("const" in rule and rule["const"] is None)


def _is_nullable(rule: JsonObject) -> bool:
    return (
        "null" in _kinds(rule)
        or rule.get("nullable") is True
        or (bool(_choices(rule)) and None in _choices(rule))
    )


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
