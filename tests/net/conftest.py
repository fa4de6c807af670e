"""Servers on real sockets that do exactly what a test says."""

import os
import shutil
import ssl
import subprocess
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.abc import SocketAttribute, SocketStream
from anyio.streams.tls import TLSListener

from hame.base.model import Timeouts
from hame.net.http import HttpClient

Handler = Callable[[SocketStream], Awaitable[None]]


class Server:
    """What a test may ask of a running server."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.connections = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1/chat"


@asynccontextmanager
async def serve(handler: Handler, *, tls: ssl.SSLContext | None = None) -> AsyncGenerator[Server]:
    """A server that gives every connection to `handler`."""
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    server = Server(listener.extra(SocketAttribute.local_port))

    async def counted(stream: SocketStream) -> None:
        server.connections += 1
        async with stream:
            try:
                await handler(stream)
            except (anyio.BrokenResourceError, anyio.EndOfStream, anyio.ClosedResourceError):
                return

    serving: Any = listener
    if tls is not None:
        serving = TLSListener(listener, ssl_context=tls, standard_compatible=False)
    async with serving, anyio.create_task_group() as tasks:
        tasks.start_soon(serving.serve, counted)
        yield server
        tasks.cancel_scope.cancel()


async def read_request(stream: SocketStream) -> bytes:
    """One request, head and body."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += await stream.receive()
    head, _, body = data.partition(b"\r\n\r\n")
    length = 0
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    while len(body) < length:
        body += await stream.receive()
    return head + b"\r\n\r\n" + body


def reply(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    """A whole response."""
    lines = [f"HTTP/1.1 {status}", f"content-length: {len(body)}", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


@pytest.fixture
async def client():
    """A client without proxies."""
    client = HttpClient(user_agent="hame-test")
    yield client
    await client.aclose()


@pytest.fixture
def quick() -> Timeouts:
    """Limits short enough to wait for."""
    return Timeouts(connect_s=2, first_byte_s=0.2, idle_s=0.2, total_s=5)


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ssl.SSLContext]:
    """A certificate for `model.test` and 127.0.0.1 (its own authority), and a server that shows it."""
    if shutil.which("openssl") is None:
        if os.environ.get("HAME_CI"):
            pytest.fail("openssl is missing: .ci/run is to install it")
        pytest.skip("openssl is not here to make a certificate")
    folder = tmp_path_factory.mktemp("tls")
    certificate, key = folder / "cert.pem", folder / "key.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
            *("-keyout", str(key), "-out", str(certificate), "-subj", "/CN=model.test"),
            *("-addext", "subjectAltName=DNS:model.test,IP:127.0.0.1"),
        ],
        check=True,
        capture_output=True,
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return certificate, context


@pytest.fixture
def serving() -> Callable[..., object]:
    """`serving(handler, tls=...)`: a server on a free port of this machine."""
    return serve


@pytest.fixture
def request_of() -> Callable[[SocketStream], Awaitable[bytes]]:
    """Reads one request from a stream."""
    return read_request


@pytest.fixture
def reply_with() -> Callable[..., bytes]:
    """Writes a response."""
    return reply
