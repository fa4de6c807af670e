"""Tools as Ollama reads them.

Its server parses a schema into a structure of its own and hands that to the model's template: a keyword
that the structure lacks is dropped without a word, and a value of another type fails the whole request.
https://github.com/ollama/ollama/blob/main/api/types.go (ToolFunctionParameters, ToolProperty)
"""

from collections.abc import Iterator

from hame.base.json import (
    Json,
    JsonObject,
    as_list,
    as_object,
    dump,
    get_list,
    get_object,
    get_string,
)
from hame.base.tool import ToolSpec
from hame.llm.references import inline_references, with_note

_TOP = frozenset({"type", "required", "properties", "description", "additionalProperties"})
_READ = frozenset({"type", "description", "enum", "items", "anyOf", "properties"})
_SAYS_NOTHING = frozenset({
    "$schema",
    "$id",
    "$anchor",
    "$comment",
    "title",
    "additionalProperties",
    "deprecated",
    "readOnly",
    "writeOnly",
})
"""Not worth a word; an unknown member is refused by the harness in any case."""


def declare(spec: ToolSpec) -> JsonObject:
    """One tool; what the top of its schema says beyond its members goes into its description."""
    parameters = _parameters(inline_references(spec.schema()))
    about = get_string(parameters, "description") or ""
    parameters.pop("description", None)
    function: JsonObject = {"name": spec.name, "description": spec.description}
    function = with_note(function, about)
    return {"type": "function", "function": {**function, "parameters": parameters}}


def _parameters(schema: JsonObject) -> JsonObject:
    members = get_object(schema, "properties").items()
    readable: JsonObject = {name: _member(member) for name, member in members}
    return _said_in_words({**schema, "type": "object", "properties": readable}, _TOP)


def _member(member: Json) -> JsonObject:
    """One member, in the words that Ollama keeps."""
    rule = as_object(member)
    if rule is None:
        return {}
    written = dict(rule)
    if "const" in written:
        written["enum"] = [written.pop("const")]
    if "oneOf" in written and "anyOf" not in written:
        written["anyOf"] = written.pop("oneOf")
    written |= dict(_inner(written))
    return _said_in_words(written, _READ)


def _inner(rule: JsonObject) -> Iterator[tuple[str, Json]]:
    """The parts of a rule that are rules themselves."""
    if "properties" in rule:
        members = get_object(rule, "properties").items()
        yield "properties", {name: _member(member) for name, member in members}
    if "anyOf" in rule:
        yield "anyOf", [_member(branch) for branch in get_list(rule, "anyOf")]
    if as_object(rule.get("items")) is not None:
        yield "items", _member(rule["items"])


def _said_in_words(rule: JsonObject, read: frozenset[str]) -> JsonObject:
    """The keywords that are read; the others as words in the description."""
    written: JsonObject = {key: value for key, value in rule.items() if key in read}
    if get_string(written, "description") is None:
        written.pop("description", None)
    if "enum" in written and as_list(written["enum"]) is None:
        del written["enum"]
    unread = (key for key in rule if key not in read | _SAYS_NOTHING)
    said = " ".join(f"{key}: {dump(rule[key])}." for key in unread)
    return with_note(written, said)
