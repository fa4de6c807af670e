"""A picture in a file, within what every provider takes."""

import posixpath

from hame.base.errors import PathError
from hame.base.message import Image
from hame.base.outcome import Done, TextView
from hame.base.picture import Picture, identify
from hame.base.ports import Located, ToolContext

_BYTES = 4_500_000
_SIDE = 8_000
"""Pixels; providers refuse more."""


async def read_picture(place: Located, context: ToolContext) -> Done | None:
    """The file as a picture; None when it is none.

    Raises:
        PathError: for a picture that no provider takes, or a file that cannot be read.
    """
    found = place.resolution
    data = await context.workspace.read_bytes(place, _BYTES + 1)
    picture = identify(data)
    if picture is None:
        return None
    size = size_in_words(max(found.size, len(data)))
    label = f"{picture.media_type}, {picture.width} x {picture.height} pixels, {size}"
    _require_acceptable(picture, len(data), f"{found.shown} ({label})")
    name = posixpath.basename(found.real)
    image = Image(media_type=picture.media_type, data=data, name=name)
    return Done((image,), TextView(label, title=found.shown))


def size_in_words(size: int) -> str:
    """`812 bytes`, `40 KB`, `1.5 MB`."""
    if size < 1_000:
        return f"{size} bytes"
    return f"{size / 1_000:.0f} KB" if size < 1_000_000 else f"{size / 1_000_000:.1f} MB"


def _require_acceptable(picture: Picture, size: int, label: str) -> None:
    limit = ""
    if size > _BYTES:
        limit = size_in_words(_BYTES)
    elif max(picture.width, picture.height) > _SIDE:
        limit = f"{_SIDE:,} pixels a side"
    if limit:
        raise PathError(
            f"{label} is too large to look at: the limit is {limit}. Make a smaller copy with"
            " run_command and read that."
        )
