"""How models were found to call tools; kept so that each is tried once.

It can be made again, so what cannot be read or written is simply tried again.
"""

from contextlib import suppress

import msgspec

from hame.base.model import ToolSupport
from hame.config.whole import write_whole


class _Tried(msgspec.Struct, frozen=True):
    version: int = 1
    ways: dict[str, ToolSupport] = {}


def read_way(path: str, key: str) -> ToolSupport | None:
    """How the model of that key calls tools; None when it was not tried yet."""
    return _read(path).ways.get(key)


def keep_way(path: str, key: str, way: ToolSupport) -> None:
    """Keep what was found."""
    data = msgspec.json.encode(_Tried(ways=_read(path).ways | {key: way}))
    with suppress(OSError):
        write_whole(path, data)


def _read(path: str) -> _Tried:
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - as above
            return msgspec.json.decode(file.read(), type=_Tried)
    except (OSError, msgspec.DecodeError):
        return _Tried()
