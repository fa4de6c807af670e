"""The ways in which a JSON value names a tool and its arguments."""

from collections.abc import Container, Mapping, Sequence

import msgspec

from hame.base.json import Json, JsonObject, as_list, as_object, get_string
from hame.base.tool import ToolSpec
from hame.llm.textcalls.values import read_object

_NAMES = ("name", "tool", "tool_name", "function", "action", "recipient_name")
_ARGUMENTS = (
    "arguments", "parameters", "args", "input", "tool_input", "action_input", "kwargs", "params",
)  # fmt: skip
_BESIDE = frozenset({*_NAMES, *_ARGUMENTS, "id", "type", "tool_call_id", "call_id", "thought"})
"""Members that a call may have; any other makes it something else."""
_PREFIXES = ("functions.", "function.", "default_api.", "tools.", "tool.")


class Spoken(msgspec.Struct, frozen=True):
    """A call as it was read."""

    name: str
    arguments: JsonObject | None
    """None: they were there and could not be read."""
    raw: str = ""
    """The text of the arguments, where they could not be read."""


def plain_name(name: str) -> str:
    """A tool's name without what some dialects put around it: `functions.read_file:0`."""
    name = name.strip().strip("\"'`")
    for prefix in _PREFIXES:
        name = name.removeprefix(prefix)
    head, colon, number = name.rpartition(":")
    return head if colon and number.isdigit() else name


def calls_in(value: Json, tools: Container[str] = ()) -> list[Spoken] | None:
    """The calls that a value stands for; None when it is something else.

    `{"read_file": {...}}` is one only of these tools.
    """
    items = as_list(value)
    if items is None:
        entry = as_object(value)
        wrapped = as_list(entry.get("tool_calls")) if entry is not None else None
        items = wrapped if wrapped is not None else [value]
    found = [_call_in(item) or _keyed(item, tools) for item in items]
    calls = [call for call in found if call is not None]
    return calls if calls and len(calls) == len(items) else None


def _call_in(value: Json) -> Spoken | None:
    entry = as_object(value)
    if entry is None:
        return None
    inner = as_object(entry.get("function"))
    if inner is not None:
        return _call_in(inner) if set(entry) <= _BESIDE else None
    key = next((key for key in _NAMES if isinstance(entry.get(key), str)), None)
    if key is None or not set(entry) <= _BESIDE:
        return None
    held = next((name for name in _ARGUMENTS if name in entry), None)
    if held is None:
        # A name alone is a call only where a type says so, or of a tool without arguments.
        return Spoken(plain_name(str(entry[key])), {}) if len(entry) == 1 else None
    return _with_arguments(plain_name(str(entry[key])), entry[held])


def _keyed(value: Json, tools: Container[str]) -> Spoken | None:
    entry = as_object(value)
    if entry is None or len(entry) != 1:
        return None
    ((name, given),) = entry.items()
    arguments = as_object(given)
    return Spoken(name, arguments) if name in tools and arguments is not None else None


def _with_arguments(name: str, given: Json) -> Spoken | None:
    if given is None or given == "":
        return Spoken(name, {})
    if isinstance(given, str):
        arguments = read_object(given)
        return Spoken(name, arguments, "" if arguments is not None else given)
    arguments = as_object(given)
    return Spoken(name, arguments) if arguments is not None else None


def typed(texts: Mapping[str, str], spec: ToolSpec | None) -> JsonObject:
    """Arguments that were given as bare texts, read as what the tool's schema wants of them."""
    properties = as_object(spec.schema().get("properties")) if spec is not None else None
    return {name: _typed(text, (properties or {}).get(name)) for name, text in texts.items()}


def _typed(text: str, schema: Json) -> Json:
    if get_string(schema, "type") in {None, "string"}:
        return text
    try:
        return msgspec.json.decode(text.strip())
    except msgspec.DecodeError:
        # Left as it is: the check against the schema tells the model what is wrong.
        return {"true": True, "false": False}.get(text.strip().lower(), text)


def named(specs: Sequence[ToolSpec]) -> dict[str, ToolSpec]:
    """The tools by name."""
    return {spec.name: spec for spec in specs}
