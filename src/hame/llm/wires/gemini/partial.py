"""Arguments of a call that arrive in pieces, each with the place where it belongs.

Vertex can stream a call as `partialArgs`: a JSONPath and a value, strings in several pieces.
https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/function-calling
"""

import re
from itertools import pairwise

from hame.base.json import Json, JsonObject, as_list, as_object, get_bool, get_string

_STEP = re.compile(
    r"""\.(?P<name>[^.\[\]]+)|\[(?P<index>\d+)\]"""
    r"""|\['(?P<single>(?:[^'\\]|\\.)*)'\]|\["(?P<double>(?:[^"\\]|\\.)*)"\]"""
)
_ESCAPE = re.compile(r"\\(.)")
_LARGEST_INDEX = 100_000


class PartialArguments:
    """The arguments as far as they have arrived."""

    __slots__ = ("_growing", "value")

    def __init__(self, value: JsonObject) -> None:
        """Start with what came with the call itself."""
        self.value = value
        self._growing: str | None = None

    def add(self, piece: JsonObject) -> None:
        """Put one piece in its place.

        Raises:
            ValueError: if its place makes no sense.
        """
        path = get_string(piece, "jsonPath") or ""
        value = _value(piece)
        steps = _steps(path)
        holder, last = self._reach(steps)
        before = _get(holder, last)
        if isinstance(value, str) and isinstance(before, str) and self._growing == path:
            value = before + value
        _put(holder, last, value)
        self._growing = path if get_bool(piece, "willContinue") else None

    def _reach(self, steps: list[str | int]) -> tuple[Json, str | int]:
        """The object or list that holds the place, made where it is missing."""
        holder: Json = self.value
        for step, following in pairwise(steps):
            found = _get(holder, step)
            if found is None:
                found = _empty(following)
                _put(holder, step, found)
            holder = found
        return holder, steps[-1]


def _value(piece: JsonObject) -> Json:
    for key in ("stringValue", "numberValue", "boolValue"):
        if key in piece:
            return piece[key]
    return None


def _steps(path: str) -> list[str | int]:
    steps: list[str | int] = []
    position = 1
    while position < len(path):
        found = _STEP.match(path, position)
        if found is None:
            break
        position = found.end()
        if found["index"] is not None:
            steps.append(int(found["index"]))
        else:
            quoted = found["single"] if found["single"] is not None else found["double"]
            steps.append(found["name"] if quoted is None else _ESCAPE.sub(r"\1", quoted))
    if not steps or not path.startswith("$") or position < len(path):
        raise ValueError(f"no place in the arguments: {path!r}")
    return steps


def _empty(step: str | int) -> Json:
    """What can hold that place."""
    items: list[Json] = []
    members: JsonObject = {}
    return items if isinstance(step, int) else members


def _get(holder: Json, step: str | int) -> Json:
    if isinstance(step, int):
        items = as_list(holder) or []
        return items[step] if step < len(items) else None
    return (as_object(holder) or {}).get(step)


def _put(holder: Json, step: str | int, value: Json) -> None:
    items, members = as_list(holder), as_object(holder)
    if isinstance(step, int) and items is not None and step <= _LARGEST_INDEX:
        items.extend([None] * (step + 1 - len(items)))
        items[step] = value
    elif isinstance(step, str) and members is not None:
        members[step] = value
    else:
        raise ValueError(f"no such place in the arguments: {step!r}")
