"""How much of one request the next one begins with: what a provider's cache can serve."""

from collections.abc import Sequence
from typing import cast

from hame.base.json import dump_bytes


def canonical(parts: Sequence[object]) -> bytes:
    """The parts of a request, in the order of the cache, as bytes; cache marks left out."""
    return b"\0".join(dump_bytes(_unmarked(part)) for part in parts)


def share_kept(earlier: bytes, later: bytes) -> float:
    """Share, 0 to 1, of the earlier bytes that the later ones begin with."""
    return _common(earlier, later) / len(earlier) if earlier else 1.0


def _common(one: bytes, other: bytes) -> int:
    """Length of the common beginning, found by halving: comparing slices is what Python does fast."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _unmarked(value: object) -> object:
    if isinstance(value, dict):
        members = cast("dict[str, object]", value)
        return {
            name: _unmarked(member) for name, member in members.items() if name != "cache_control"
        }
    if isinstance(value, list):
        return [_unmarked(item) for item in cast("list[object]", value)]
    return value
