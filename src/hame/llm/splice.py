"""Joining what is written anew in a request with what was written before."""

from collections.abc import Sequence

from hame.base.json import JsonObject, dump_bytes


def splice(head: JsonObject, member: str, items: Sequence[bytes]) -> bytes:
    """A JSON object: the members of `head`, then a list of items that are JSON already.

    A long conversation is copied once: joining twice costs milliseconds in a megabyte.
    """
    start = dump_bytes(head)[:-1] + (b"," if head else b"") + f'"{member}":['.encode()
    if not items:
        return start + b"]}"
    pieces = list(items)
    pieces[0] = start + pieces[0]
    pieces[-1] += b"]}"
    return b",".join(pieces)
