"""Bytes to text and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hame.base.errors import PathError
from hame.workspace.textcode import decode, encode, looks_binary

MARKS = [b"", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"]


@given(data=st.builds(bytes.__add__, st.sampled_from(MARKS), st.binary(max_size=300)))
def test_every_file_that_counts_as_text_goes_back_as_it_was(data: bytes) -> None:
    try:
        file = decode(data, "a.txt")
    except PathError:
        return
    assert encode(file.text, file, "a.txt") == data


@given(text=st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
def test_every_unicode_text_is_read_as_it_was_written(text: str) -> None:
    file = decode(encode(text, None, "a.txt"), "a.txt")
    assert (file.text, file.bom) == (text.removeprefix("\ufeff"), text.startswith("\ufeff"))


@given(
    before=st.text("abc é", max_size=50),
    byte=st.integers(0x80, 0xFF),
    after=st.text("xyz\n", max_size=50),
)
def test_a_byte_that_is_not_touched_by_a_change_stays(before: str, byte: int, after: str) -> None:
    data = before.encode("latin-1") + bytes([byte]) + after.encode()
    file = decode(data, "a.txt")
    changed = encode(file.text + "!", file, "a.txt")
    if file.encoding != "utf-8":
        assert changed == data + b"!"


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (b"plain", "utf-8"),
        (b"99\x99", "cp1252"),
        (b"\x81\xe9", "latin-1"),
        (b"\xff\xfea", "cp1252"),
        ("wide".encode("utf-16"), "utf-16-le"),
    ],
)
def test_the_encoding_is_told(data: bytes, encoding: str) -> None:
    assert decode(data, "a.txt").encoding == encoding


@pytest.mark.parametrize(
    "data",
    [
        b"a\0b",
        b"x" * 8191 + b"\0",
        b"\x7fELF\x02\x01\x01\x00",
        bytes(range(1, 256)),
        b"\xff\xfe\0\0a\0\0\0",
        b"\xff\xfe\0\xd8",
    ],
)
def test_binary_data_is_refused_with_its_size(data: bytes) -> None:
    with pytest.raises(PathError, match=f"binary file \\({len(data):,} bytes\\)"):
        decode(data, "a.bin")


def test_a_nul_far_into_a_file_does_not_make_it_binary() -> None:
    assert decode(b"a" * 8192 + b"\0", "a.txt").text.endswith("\0")


def test_a_beginning_looks_binary_by_a_nul_alone() -> None:
    assert looks_binary(b"a\0")
    assert not looks_binary(b"\xff\xfea\0")
