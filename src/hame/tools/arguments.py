"""Reading a call's arguments, and the argument declarations that several tools share.

The schema has been checked before a tool sees a call; these functions only turn what is left into
types, and are total all the same.
"""

from hame.base.errors import ArgumentError
from hame.base.json import JsonObject, get_string
from hame.base.tool import Argument, ArgumentKind


def need_string(arguments: JsonObject, name: str) -> str:
    """A text that must be there; it may be empty.

    Raises:
        ArgumentError: when it is missing or no text.
    """
    value = get_string(arguments, name)
    if value is None:
        raise ArgumentError(f"missing argument {name} (a string)")
    return value


def need_path(arguments: JsonObject, name: str = "path") -> str:
    """A path that must be there and name something.

    Raises:
        ArgumentError: when it is missing or blank.
    """
    path = need_string(arguments, name)
    if not path.strip():
        raise ArgumentError(f"{name} is empty; name a file or directory")
    return path


def folder_path(arguments: JsonObject, name: str = "path") -> str:
    """A directory argument; the project's root when it is left out."""
    return get_string(arguments, name) or "."


def folder_argument(name: str = "path") -> Argument:
    """An optional directory to look in."""
    return Argument(name=name, kind=ArgumentKind.EXISTING_DIRECTORY, required=False)
