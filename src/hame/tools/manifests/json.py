"""package.json and other JSON files, changed in place: order, indentation and all else stay."""

import json
import re
from typing import NamedTuple, cast

from hame.base.errors import ToolError
from hame.base.json import Json
from hame.tools.manifests.dependency import Dependency
from hame.tools.manifests.keys import Setting, split_key

_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


class _Member(NamedTuple):
    key: str
    start: int
    value: int
    end: int


class _Object(NamedTuple):
    """An object in the text: where it begins and ends, and its members."""

    start: int
    end: int
    members: list[_Member]

    def member(self, key: str) -> _Member | None:
        return next((member for member in self.members if member.key == key), None)


def add_dependency(text: str, dependency: Dependency) -> str:
    """Add a package in the order of the names, or change the version of one that is there.

    Raises:
        ToolError: when the file cannot be read.
    """
    key = "devDependencies" if dependency.dev else "dependencies"
    root = _read(text)
    if root.member(key) is None:
        text = _insert(text, root, key, {})
    return _put(text, [key, dependency.name], dependency.version or "*", in_order=True)


def set_value(text: str, key: str, setting: Setting | None) -> str:
    """Set a value under a key with dots; None takes it away.

    Raises:
        ToolError: when the file cannot be read, or a part of the key is no object.
    """
    parts = split_key(key)
    if setting is None:
        return _remove(text, parts)
    return _put(text, parts, setting.fitting(parts[-1], _value(text, parts)))


def _value(text: str, parts: list[str]) -> object:
    """The value under a key; None where there is none."""
    value = cast("object", json.loads(text)) if _read(text) else None
    for part in parts:
        value = cast("dict[str, object]", value).get(part) if isinstance(value, dict) else None
    return value


def _read(text: str) -> _Object:
    try:
        start = _SPACE.match(text, 0)
        return _object(text, start.end() if start else 0)
    except ValueError as error:
        raise ToolError(f"the file is no valid JSON: {error}. Nothing was changed") from error


def _object(text: str, start: int) -> _Object:
    if text[start : start + 1] != "{":
        raise ToolError("the key leads to something that is no object. Nothing was changed")
    _, end = _DECODER.raw_decode(text, start)
    members: list[_Member] = []
    at = _skip(text, start + 1)
    while text[at] == '"':
        key, after = cast("tuple[str, int]", _DECODER.raw_decode(text, at))
        value = _skip(text, _skip(text, after) + 1)
        _, value_end = _DECODER.raw_decode(text, value)
        members.append(_Member(key, at, value, value_end))
        at = _skip(text, value_end)
        if text[at] != ",":
            break
        at = _skip(text, at + 1)
    return _Object(start, end, members)


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _put(text: str, parts: list[str], value: Json, *, in_order: bool = False) -> str:
    here = _read(text)
    for part in parts[:-1]:
        member = here.member(part)
        if member is None:
            text = _insert(text, here, part, {})
            return _put(text, parts, value, in_order=in_order)
        here = _object(text, member.value)
    member = here.member(parts[-1])
    if member is None:
        return _insert(text, here, parts[-1], value, in_order=in_order)
    shown = _written(value, _indent_at(text, member.start), _unit(text))
    return text[: member.value] + shown + text[member.end :]


def _insert(text: str, here: _Object, key: str, value: Json, *, in_order: bool = False) -> str:
    unit = _unit(text)
    if not here.members:
        outer = _indent_at(text, here.start)
        pair = _pair(key, value, outer + unit, unit)
        return f"{text[: here.start]}{{\n{outer}{unit}{pair}\n{outer}}}{text[here.end :]}"
    indent = _indent_at(text, here.members[0].start)
    pair = _pair(key, value, indent, unit)
    gap = text[here.start + 1 : here.members[0].start]
    keys = [member.key for member in here.members]
    if in_order and keys == sorted(keys):
        after = next((member for member in here.members if member.key > key), None)
        if after is not None:
            return f"{text[: after.start]}{pair},{gap or ' '}{text[after.start :]}"
    end = here.members[-1].end
    return f"{text[:end]},{gap or ' '}{pair}{text[end:]}"


def _remove(text: str, parts: list[str]) -> str:
    here = _read(text)
    for part in parts[:-1]:
        member = here.member(part)
        if member is None:
            raise ToolError(f"there is no {'.'.join(parts)} to remove. Nothing was changed")
        here = _object(text, member.value)
    index = next((n for n, member in enumerate(here.members) if member.key == parts[-1]), None)
    if index is None:
        raise ToolError(f"there is no {'.'.join(parts)} to remove. Nothing was changed")
    member = here.members[index]
    if index + 1 < len(here.members):
        return text[: member.start] + text[here.members[index + 1].start :]
    if index > 0:
        return text[: here.members[index - 1].end] + text[member.end :]
    return f"{text[: here.start]}{{}}{text[here.end :]}"


def _pair(key: str, value: Json, indent: str, unit: str) -> str:
    return f"{json.dumps(key, ensure_ascii=False)}: {_written(value, indent, unit)}"


def _written(value: Json, indent: str, unit: str) -> str:
    if not isinstance(value, dict | list) or not value:
        return json.dumps(value, ensure_ascii=False)
    shown = json.dumps(value, ensure_ascii=False, indent=unit)
    return shown.replace("\n", f"\n{indent}")


def _indent_at(text: str, at: int) -> str:
    start = text.rfind("\n", 0, at) + 1
    found = re.match(r"[ \t]*", text[start:at])
    return found[0] if found else ""


def _unit(text: str) -> str:
    """One step of the file's own indentation."""
    found = re.search(r"\n([ \t]+)\S", text)
    return found[1] if found else "  "
