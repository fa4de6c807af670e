"""Undoing the content coding of a body, piece by piece.

hame asks for none (`accept-encoding: identity`: a compressed stream arrives in lumps), but some
servers and proxies compress all the same.
"""

import zlib
from typing import Protocol

_GZIP_BITS = 16 + zlib.MAX_WBITS


class Undo(Protocol):
    """Decodes one body."""

    def feed(self, chunk: bytes) -> bytes:
        """The text of a further piece.

        Raises:
            ValueError: if the body is not coded as announced.
        """
        ...


class _Plain:
    def feed(self, chunk: bytes) -> bytes:
        return chunk


class _Inflate:
    """gzip, and deflate in both of its readings (with and without the zlib header)."""

    def __init__(self, bits: int, fallback: int | None = None) -> None:
        self._bits = bits
        self._inflate = zlib.decompressobj(bits)
        self._fallback = fallback

    def feed(self, chunk: bytes) -> bytes:
        texts: list[bytes] = []
        while chunk:
            if self._inflate.eof:
                # One gzip stream after another is one body (RFC 1952, section 2.2); what else
                # follows is padding.
                if self._bits != _GZIP_BITS or not chunk.startswith(b"\x1f"):
                    break
                self._inflate = zlib.decompressobj(self._bits)
            texts.append(self._next(chunk))
            chunk = self._inflate.unused_data
        return b"".join(texts)

    def _next(self, chunk: bytes) -> bytes:
        try:
            text = self._inflate.decompress(chunk)
        except zlib.error as error:
            if self._fallback is None:
                raise ValueError(f"the body is not compressed as announced: {error}") from error
            self._bits, self._fallback = self._fallback, None
            self._inflate = zlib.decompressobj(self._bits)
            return self._next(chunk)
        self._fallback = None
        return text


def undo_coding(content_encoding: str) -> Undo:
    """The decoder for a `content-encoding` header.

    Raises:
        ValueError: for a coding that hame does not know.
    """
    match content_encoding.strip().lower():
        case "" | "identity":
            return _Plain()
        case "gzip" | "x-gzip":
            return _Inflate(_GZIP_BITS)
        case "deflate":
            return _Inflate(zlib.MAX_WBITS, fallback=-zlib.MAX_WBITS)
        case other:
            raise ValueError(f"the body is coded as {other}, which was not asked for")
