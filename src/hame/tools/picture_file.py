"""A picture in a file, within what every provider takes."""

import posixpath

from hame.base.errors import PathError
from hame.base.message import Image
from hame.base.outcome import Done, TextView
from hame.base.picture import MOST_BYTES, MOST_SIDE, Picture, identify
from hame.base.ports import Located, ToolContext

_SCALERS = (
    ("magick", "magick {source} -resize {width}x{height} {copy}"),
    ("convert", "convert {source} -resize {width}x{height} {copy}"),
    ("gm", "gm convert {source} -resize {width}x{height} {copy}"),
    ("vipsthumbnail", "vipsthumbnail {source} --size {width}x{height} -o {copy}"),
    ("sips", "sips -z {height} {width} {source} --out {copy}"),
    ("ffmpeg", "ffmpeg -v error -i {source} -vf scale={width}:{height} {copy}"),
)
"""Programs that make a picture smaller, the surest first, and how each is told to."""


async def read_picture(place: Located, context: ToolContext) -> Done | None:
    """The file as a picture; None when it is none.

    Raises:
        PathError: for a picture that no provider takes, or a file that cannot be read.
    """
    found = place.resolution
    data = await context.workspace.read_bytes(place, MOST_BYTES + 1)
    picture = identify(data)
    if picture is None:
        return None
    size = size_in_words(max(found.size, len(data)))
    label = f"{picture.media_type}, {picture.width} x {picture.height} pixels, {size}"
    _require_acceptable(picture, max(found.size, len(data)), found.shown, label)
    name = posixpath.basename(found.real)
    image = Image(media_type=picture.media_type, data=data, name=name)
    return Done((image,), TextView(label, title=found.shown))


def size_in_words(size: int) -> str:
    """`812 bytes`, `40 KB`, `1.5 MB`."""
    if size < 1_000:
        return f"{size} bytes"
    return f"{size / 1_000:.0f} KB" if size < 1_000_000 else f"{size / 1_000_000:.1f} MB"


def _require_acceptable(picture: Picture, size: int, shown: str, label: str) -> None:
    limit = ""
    if size > MOST_BYTES:
        limit = size_in_words(MOST_BYTES)
    elif max(picture.width, picture.height) > MOST_SIDE:
        limit = f"{MOST_SIDE:,} pixels a side"
    if limit:
        raise PathError(
            f"{shown} ({label}) is too large to look at: the limit is {limit}. "
            + _how_to_shrink(picture, size, shown)
        )


def _how_to_shrink(picture: Picture, size: int, shown: str) -> str:
    """What to run for a copy that is small enough, by a program that is here."""
    import shutil
    from shlex import quote

    program = next((how for name, how in _SCALERS if shutil.which(name)), None)
    if program is None:
        names = ", ".join(name for name, _ in _SCALERS)
        return f"No program that scales pictures is here ({names}): ask the user for a smaller one."
    # The bytes go roughly with the pixels; the rest is room for pictures in which they do not.
    by_bytes = 0.9 * (MOST_BYTES / size) ** 0.5 if size > MOST_BYTES else 1.0
    scale = min(by_bytes, MOST_SIDE / max(picture.width, picture.height))
    source = f"./{shown}" if shown.startswith("-") else shown
    stem, suffix = posixpath.splitext(source)
    command = program.format(
        source=quote(source),
        copy=quote(f"{stem}-small{suffix}"),
        width=max(1, int(picture.width * scale)),
        height=max(1, int(picture.height * scale)),
    )
    return f"Make a smaller copy with run_command and read that: {command}"
