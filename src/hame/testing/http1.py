"""As much of an HTTP/1.1 server as a test needs (RFC 9112): requests in, a response out, faults."""

from http import HTTPStatus

import msgspec
from anyio import BrokenResourceError, ClosedResourceError, EndOfStream, IncompleteRead
from anyio.abc import ByteStream
from anyio.streams.buffered import BufferedByteReceiveStream

_HEAD_LIMIT = 1 << 18
"""Bytes of a request's head."""


class RequestHead(msgspec.Struct, frozen=True):
    """A request without its body."""

    method: str
    target: str
    headers: dict[str, str]
    """Names in lower case; of several with one name, the last."""


async def read_request(
    stream: ByteStream, buffer: BufferedByteReceiveStream
) -> tuple[RequestHead, bytes] | None:
    """The next request on a connection; None when the client has left."""
    try:
        head = _parse_head(await buffer.receive_until(b"\r\n\r\n", _HEAD_LIMIT))
        if head.headers.get("expect", "").lower() == "100-continue":
            await stream.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        return head, await _read_body(head, buffer)
    except (EndOfStream, IncompleteRead, BrokenResourceError, ClosedResourceError):
        return None


def _parse_head(data: bytes) -> RequestHead:
    first, *lines = data.decode("latin-1").split("\r\n")
    method, target, _ = (*first.split(" "), "", "")[:3]
    headers = {
        name.strip().lower(): value.strip()
        for name, separator, value in (line.partition(":") for line in lines)
        if separator
    }
    return RequestHead(method, target, headers)


async def _read_body(head: RequestHead, buffer: BufferedByteReceiveStream) -> bytes:
    if "chunked" not in head.headers.get("transfer-encoding", "").lower():
        return await buffer.receive_exactly(int(head.headers.get("content-length", "0")))
    body = b""
    while True:
        line = await buffer.receive_until(b"\r\n", _HEAD_LIMIT)
        size = int(line.split(b";")[0], 16)
        body += await buffer.receive_exactly(size)
        await buffer.receive_until(b"\r\n", _HEAD_LIMIT)
        if size == 0:
            return body


def response_head(status: int, headers: list[tuple[str, str]], length: int | None) -> bytes:
    """The head of a response; without a length the body is sent in chunks."""
    known = {each.value: each.phrase for each in HTTPStatus}
    framing = (
        ("Transfer-Encoding", "chunked") if length is None else ("Content-Length", str(length))
    )
    lines = [
        f"HTTP/1.1 {status} {known.get(status, 'Status')}",
        *(f"{name}: {value}" for name, value in (*headers, framing)),
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def chunk(data: bytes) -> bytes:
    """One chunk of a body that is sent in chunks; empty data ends it."""
    return b"%x\r\n%s\r\n" % (len(data), data)
