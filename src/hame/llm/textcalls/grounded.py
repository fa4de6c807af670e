"""Answers held to what exists: a path in a call is one of the project's, or one that was named.

A model cannot then invent a path. What was named in this turn is allowed as well: hidden files, and
those of other folders, are in no list of the project's.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias, assert_never

from msgspec.structs import replace

from hame.base.json import JsonObject
from hame.base.message import Assistant, Message, Text, ToolResults, User
from hame.base.tool import Argument, ArgumentKind, ToolSpec, object_schema

Existing: TypeAlias = Callable[[ArgumentKind], Sequence[str]]
"""What exists of a kind; nothing where it is not known, or too much to be listed."""

_KINDS = frozenset({
    ArgumentKind.EXISTING_FILE, ArgumentKind.EXISTING_DIRECTORY, ArgumentKind.EXISTING_PATH,
})  # fmt: skip
_MOST_NAMED = 100
_LONGEST = 200
"""Characters."""
_PATH = re.compile(r"(?<![\w./~@+-])[\w./~@+-]*[./][\w./~@+-]*")


def nothing_known(_: ArgumentKind) -> Sequence[str]:
    """Stands for a project that is not known: any path may be written."""
    return ()


def grounded(spec: ToolSpec, existing: Existing, named: Sequence[str]) -> JsonObject:
    """JSON Schema of a tool's arguments, paths held to what exists or was named."""
    if spec.raw_schema is not None:
        return spec.schema()
    return object_schema(tuple(_grounded(argument, existing, named) for argument in spec.arguments))


def named_paths(messages: Sequence[Message]) -> tuple[str, ...]:
    """What looks like a path in the user's last message and in the results since, the newest first."""
    found: dict[str, None] = {}
    for path in _paths(messages):
        found[path] = None
        if len(found) == _MOST_NAMED:
            break
    return tuple(found)


def _grounded(argument: Argument, existing: Existing, named: Sequence[str]) -> Argument:
    if argument.kind not in _KINDS or argument.type != "string" or argument.choices:
        return argument
    found = existing(argument.kind)
    return replace(argument, choices=tuple(dict.fromkeys((*found, *named)))) if found else argument


def _paths(messages: Sequence[Message]) -> Iterator[str]:
    for text in _texts_of_turn(messages):
        for match in _PATH.finditer(text):
            path = match[0].rstrip(".")
            if path.strip("./~") and ("/" in path or "." in path) and len(path) <= _LONGEST:
                yield path


def _texts_of_turn(messages: Sequence[Message]) -> list[str]:
    """The user's words first: results may hold any number of paths."""
    found: list[str] = []
    for message in reversed(messages):
        match message:
            case User(content=content):
                return [block.text for block in content if isinstance(block, Text)] + found
            case ToolResults(results=results):
                blocks = (block for result in results for block in result.content)
                found += [block.text for block in blocks if isinstance(block, Text)]
            case Assistant():
                pass
            case _:
                assert_never(message)
    return found
