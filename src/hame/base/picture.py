"""What kind of picture some bytes are and how large it is, read from the file's own header.

PNG: https://www.w3.org/TR/png-3/#11IHDR; GIF: https://www.w3.org/Graphics/GIF/spec-gif89a.txt
section 18; JPEG: ITU-T T.81 section B.2.2; WebP: https://www.rfc-editor.org/rfc/rfc9649 section 2.
"""

import msgspec

PICTURE_SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".gif", ".webp"})

MOST_BYTES = 3_900_000
"""Bytes of a picture that every provider takes: Anthropic's 5 MiB of base64 are the fewest."""
MOST_SIDE = 8_000
"""Pixels of a side that every provider takes."""

_FRAME_HEADERS = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""JPEG markers SOF0 to SOF15, without DHT, JPG and DAC, which lie among them."""


class Picture(msgspec.Struct, frozen=True):
    """A picture's format and size in pixels."""

    media_type: str
    width: int
    height: int


def identify(data: bytes) -> Picture | None:
    """The picture these bytes are; None when they are none of the four formats, or cut short."""
    size: tuple[int, int] | None = None
    media_type = ""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        media_type, size = "image/png", _pair(data, 16, 4, "big")
    elif data.startswith((b"GIF87a", b"GIF89a")):
        media_type, size = "image/gif", _pair(data, 6, 2, "little")
    elif data.startswith(b"\xff\xd8\xff"):
        media_type, size = "image/jpeg", _jpeg_size(data)
    elif data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        media_type, size = "image/webp", _webp_size(data)
    return Picture(media_type, *size) if size else None


def _pair(data: bytes, at: int, width: int, order: str) -> tuple[int, int] | None:
    if len(data) < at + 2 * width:
        return None
    big = order == "big"
    first, second = data[at : at + width], data[at + width : at + 2 * width]
    return int.from_bytes(first, "big" if big else "little"), int.from_bytes(
        second, "big" if big else "little"
    )


def _jpeg_size(data: bytes) -> tuple[int, int] | None:
    at = 2
    while at + 9 <= len(data):
        if data[at] != 0xFF:
            return None
        marker = data[at + 1]
        if marker == 0xFF:
            at += 1
            continue
        if marker in _FRAME_HEADERS:
            size = _pair(data, at + 5, 2, "big")
            return (size[1], size[0]) if size else None
        if 0xD0 <= marker <= 0xD9 or marker == 0x01:
            at += 2
            continue
        at += 2 + max(int.from_bytes(data[at + 2 : at + 4], "big"), 2)
    return None


def _webp_size(data: bytes) -> tuple[int, int] | None:
    if len(data) < 30:
        return None
    match data[12:16]:
        case b"VP8 ":
            size = _pair(data, 26, 2, "little")
            return (size[0] & 0x3FFF, size[1] & 0x3FFF) if size else None
        case b"VP8L":
            bits = int.from_bytes(data[21:25], "little")
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8X":
            size = _pair(data, 24, 3, "little")
            return (size[0] + 1, size[1] + 1) if size else None
        case _:
            return None
