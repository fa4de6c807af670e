"""Bytes to text and back, losing none.

UTF-8, with or without a byte-order mark, and UTF-16 with one; anything else that looks like text is
read as Windows-1252, or Latin-1 where that has no letter for a byte, so that every byte a change
does not touch goes back as it was.
"""

import codecs

from hame.base.errors import PathError
from hame.base.path import FileText

SAMPLE = 8192
"""Bytes looked at for a NUL, which no text has."""

_MARKS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_MARK_OF = {encoding: mark for mark, encoding in _MARKS}
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\v\f\r\b\x1b")) + b"\x7f"
_CONTROL_SHARE = 0.02
"""More control characters than this among legacy bytes, and it is no text."""


def digest_of(data: bytes) -> str:
    """Hash by which the bytes of a file are known again."""
    from hashlib import blake2b

    return blake2b(data, digest_size=16).hexdigest()


def decode(data: bytes, shown: str) -> FileText:
    """A file's bytes as text, with its line endings as they are.

    Raises:
        PathError: for a binary file.
    """
    text, encoding, bom = _decode(data, shown)
    return FileText(text=text, encoding=encoding, bom=bom, digest=digest_of(data))


def encode(text: str, like: FileText | None, shown: str) -> bytes:
    """Text as bytes in the encoding of `like`, or UTF-8.

    Raises:
        PathError: for characters that the encoding does not have.
    """
    encoding = like.encoding if like is not None else "utf-8"
    mark = _MARK_OF.get(encoding, b"") if like is not None and like.bom else b""
    try:
        return mark + text.encode(encoding)
    except UnicodeEncodeError as error:
        letter = text[error.start]
        raise PathError(
            f"cannot write {shown}: the file is in {encoding}, which has no "
            f"U+{ord(letter):04X} ({letter!a}); nothing was changed"
        ) from error


def looks_binary(data: bytes) -> bool:
    """Whether the beginning of a file holds a NUL and no UTF-16 mark says why."""
    return b"\0" in data[:SAMPLE] and not data.startswith((
        codecs.BOM_UTF16_LE,
        codecs.BOM_UTF16_BE,
    ))


def decode_line(data: bytes) -> str:
    """One line of a large file, perhaps cut in the middle of a letter."""
    try:
        return codecs.getincrementaldecoder("utf-8")().decode(data)
    except UnicodeDecodeError:
        return _legacy(data)[0]


def _decode(data: bytes, shown: str) -> tuple[str, str, bool]:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            try:
                text = data[len(mark) :].decode(encoding)
            except UnicodeDecodeError:
                break
            if "\0" in text[:SAMPLE]:
                break
            return text, encoding, True
    if looks_binary(data):
        raise _binary(data, shown)
    try:
        return data.decode("utf-8"), "utf-8", False
    except UnicodeDecodeError:
        return _decode_legacy(data, shown)


def _decode_legacy(data: bytes, shown: str) -> tuple[str, str, bool]:
    controls = len(data) - len(data.translate(None, _CONTROLS))
    if b"\0" in data[:SAMPLE] or controls > _CONTROL_SHARE * len(data):
        raise _binary(data, shown)
    return *_legacy(data), False


def _legacy(data: bytes) -> tuple[str, str]:
    try:
        return data.decode("cp1252"), "cp1252"
    except UnicodeDecodeError:
        return data.decode("latin-1"), "latin-1"


def _binary(data: bytes, shown: str) -> PathError:
    return PathError(f"{shown} is a binary file ({len(data):,} bytes), not text")
