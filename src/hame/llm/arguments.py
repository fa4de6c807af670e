"""The text of a call's arguments -> a ToolCall.

Arguments that are no JSON object are kept as text and never run. The one leniency loses nothing:
models write literal newlines and tabs inside strings, which JSON forbids and everybody can read.
"""

import json
from typing import NoReturn

from hame.base.json import JsonObject, as_object, dump, parse
from hame.base.message import ToolCall


def parse_arguments(
    call_id: str, name: str, text: str, *, signature: str | None = None
) -> ToolCall:
    """A call with its arguments parsed; no text at all, and `null`, are no arguments."""
    if text.strip() in {"", "null"}:
        return ToolCall(id=call_id, name=name, arguments={}, signature=signature)
    arguments = _read(text)
    if arguments is None:
        return ToolCall(id=call_id, name=name, arguments=None, malformed=text, signature=signature)
    return ToolCall(id=call_id, name=name, arguments=arguments, signature=signature)


def _read(text: str) -> JsonObject | None:
    try:
        return as_object(parse(text))
    except ValueError:
        pass
    try:
        found = as_object(json.loads(text, strict=False, parse_constant=_refuse))
        dump(found)
    except (ValueError, RecursionError):
        return None
    return found


def _refuse(word: str) -> NoReturn:
    """NaN and Infinity are not JSON.

    Raises:
        ValueError: always.
    """
    raise ValueError(word)
