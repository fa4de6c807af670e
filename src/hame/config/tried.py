"""How models were found to call tools; kept so that each is tried once.

It can be made again, so what cannot be read or written, or was found by another kind of trial, is simply
tried again.
"""

from contextlib import suppress

import msgspec

from hame.base.model import Constraint, ToolSupport
from hame.config.whole import write_whole

_VERSION = 2
"""Of the file, and of the trial whose results it holds: what an older one found is not believed."""


class Tried(msgspec.Struct, frozen=True):
    """What was found of one model."""

    tools: ToolSupport
    constraint: Constraint | None = None


class _Kept(msgspec.Struct, frozen=True):
    version: int = _VERSION
    ways: dict[str, Tried] = {}


class _Versioned(msgspec.Struct, frozen=True):
    version: int = 1


def read_way(path: str, key: str) -> Tried | None:
    """How the model of that key calls tools; None when it was not tried yet."""
    return _read(path).ways.get(key)


def keep_way(path: str, key: str, found: Tried) -> None:
    """Keep what was found."""
    data = msgspec.json.encode(_Kept(ways=_read(path).ways | {key: found}))
    with suppress(OSError):
        write_whole(path, data)


def _read(path: str) -> _Kept:
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - pathlib is 8 ms of start
            data = file.read()
        if msgspec.json.decode(data, type=_Versioned).version == _VERSION:
            return msgspec.json.decode(data, type=_Kept)
    except (OSError, msgspec.DecodeError):
        pass
    return _Kept()
