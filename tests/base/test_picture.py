"""Sizes of pictures from their headers."""

import struct
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hame.base.picture import Picture, identify


def png(width: int, height: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IEND", b"")


def jpeg(width: int, height: int) -> bytes:
    exif = b"\xff\xe1" + struct.pack(">H", 2 + 6) + b"Exif\0\0"
    tables = b"\xff\xc4" + struct.pack(">H", 4) + b"\0\0"
    frame = b"\xff\xff\xc2" + struct.pack(">HBHHB", 17, 8, height, width, 3) + bytes(9)
    return b"\xff\xd8" + exif + tables + frame + b"\xff\xd9"


def gif(width: int, height: int) -> bytes:
    return b"GIF89a" + struct.pack("<HH", width, height) + bytes(20)


def webp(kind: bytes, body: bytes) -> bytes:
    data = kind + struct.pack("<I", len(body)) + body
    return b"RIFF" + struct.pack("<I", 4 + len(data)) + b"WEBP" + data


def webp_lossy(width: int, height: int) -> bytes:
    return webp(b"VP8 ", b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", width, height) + bytes(8))


def webp_lossless(width: int, height: int) -> bytes:
    bits = (width - 1) | (height - 1) << 14
    return webp(b"VP8L", b"\x2f" + struct.pack("<I", bits) + bytes(8))


def webp_extended(width: int, height: int) -> bytes:
    size = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    return webp(b"VP8X", bytes(4) + size + bytes(8))


@pytest.mark.parametrize(
    ("make", "media_type"),
    [
        (png, "image/png"),
        (jpeg, "image/jpeg"),
        (gif, "image/gif"),
        (webp_lossy, "image/webp"),
        (webp_lossless, "image/webp"),
        (webp_extended, "image/webp"),
    ],
)
def test_width_and_height_are_read(make, media_type: str):
    assert identify(make(640, 479)) == Picture(media_type, 640, 479)


@pytest.mark.parametrize("make", [png, jpeg, gif, webp_lossy, webp_lossless, webp_extended])
def test_a_cut_header_is_no_picture(make):
    assert identify(make(640, 480)[:8]) is None


@pytest.mark.parametrize(
    "data", [b"", b"text", b"\xff\xd8\xff\xe0\0\0\0\0\0\0\0\0", b"RIFF0000WEBPVP8Z" + bytes(30)]
)
def test_other_bytes_are_no_picture(data: bytes):
    assert identify(data) is None


@settings(deadline=None)
@given(st.sampled_from([png, jpeg, gif, webp_lossy]), st.data())
def test_damaged_headers_never_raise(make, data: st.DataObject):
    whole = bytearray(make(320, 200))
    for _ in range(data.draw(st.integers(0, 5))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    identify(bytes(whole[: data.draw(st.integers(0, len(whole)))]))
