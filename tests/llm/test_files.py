"""Pictures and documents that a provider would refuse."""

import struct
import zlib

import pytest

from hame.base.message import Assistant, Document, Image, Text, ToolResult, ToolResults, User
from hame.base.model import ModelFacts
from hame.llm.files import digest, files_in, why_left_out


def png(width: int, height: int, size: int = 0) -> bytes:
    """A picture's beginning, of that many bytes."""
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunk = struct.pack(">I", len(head)) + b"IHDR" + head
    data = b"\x89PNG\r\n\x1a\n" + chunk + struct.pack(">I", zlib.crc32(b"IHDR" + head))
    return data.ljust(size, b"\0")


def facts(wire: str = "openai_chat", **members: object) -> ModelFacts:
    return ModelFacts(backend="b", model="m", wire=wire, **members)


@pytest.mark.parametrize(
    ("file", "known", "reason"),
    [
        (Image("image/png", png(10, 10)), facts(), ""),
        (Image("image/png", b"odd"), facts(), ""),
        (Image("image/png", png(10, 10)), facts(images=False), "does not take images"),
        (Image("image/bmp", b"BM"), facts(), "does not take image/bmp"),
        (Image("image/gif", b"GIF89a"), facts("gemini"), "does not take image/gif"),
        (Image("image/heic", b"x"), facts("gemini"), ""),
        (Image("image/png", png(8001, 9)), facts(), "8001 x 9 pixels; at most 8,000 a side"),
        (Image("image/png", png(9, 9, 4_000_000)), facts(), ""),
        (
            Image("image/png", png(9, 9, 4_000_000)),
            facts("anthropic_messages"),
            "4.0 MB; at most 3.9 MB are taken",
        ),
        (Document("application/pdf", b"%PDF"), facts(), "does not take documents"),
        (Document("application/pdf", b"%PDF"), facts(documents=True), ""),
        (Document("application/pdf", bytes(20_000_001)), facts(documents=True), "20.0 MB; at most"),
    ],
)
def test_a_file_that_would_be_refused_is_left_out_with_the_reason(file, known, reason):
    found = why_left_out(file, known)
    assert (reason in found) if reason else found == ""


def test_files_are_found_where_users_and_tools_put_them():
    one, two, three = (Image("image/png", data) for data in (b"1", b"2", b"3"))
    messages = (
        User((Text("hi"), one)),
        Assistant((three,)),
        ToolResults((ToolResult("c", "f", (Text("x"), two)),)),
    )
    assert list(files_in(messages)) == [one, two]
    assert digest(one) != digest(two)
