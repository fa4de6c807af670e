"""The HTTP client against real sockets, well-behaved and not."""

import gzip
import os
import socket
import struct
import sys
import time
import zlib

import anyio
import pytest

from hame.base.errors import ErrorKind, ModelError
from hame.base.model import Timeouts
from hame.base.ports import HttpRequest
from hame.net.http import HttpClient, preload

USUAL = Timeouts(connect_s=5, first_byte_s=5, idle_s=5, total_s=20)


def post(url: str, body: bytes = b"{}", *headers: tuple[str, str]) -> HttpRequest:
    return HttpRequest(method="POST", url=url, headers=headers, body=body)


async def fetch(client: HttpClient, request: HttpRequest, timeouts: Timeouts = USUAL):
    async with client.send(request, timeouts) as response:
        body = b"".join([chunk async for chunk in response.chunks()])
        return response.status, response.headers, body


async def failure_of(client: HttpClient, request: HttpRequest, timeouts: Timeouts = USUAL):
    with pytest.raises(ModelError) as caught:
        await fetch(client, request, timeouts)
    return caught.value.failure


async def test_a_request_goes_out_whole_and_the_answer_comes_back(
    client, serving, request_of, reply_with
):
    seen: list[bytes] = []

    async def handle(stream):
        seen.append(await request_of(stream))
        await stream.send(reply_with(b"fine", "X-Thing: 1", "x-thing: 2", status="418 Teapot"))

    async with serving(handle) as server:
        request = post(server.url, b'{"a":1}', ("authorization", "Bearer k"))
        status, headers, body = await fetch(client, request)
    assert (status, body) == (418, b"fine")
    assert headers["x-thing"] == "1, 2"
    head, _, sent = seen[0].partition(b"\r\n\r\n")
    assert sent == b'{"a":1}'
    lines = head.decode().lower().split("\r\n")
    assert lines[0] == "post /v1/chat http/1.1"
    assert f"host: 127.0.0.1:{server.port}" in lines
    assert "authorization: bearer k" in lines
    assert "content-length: 7" in lines
    assert "user-agent: hame-test" in lines


async def test_pieces_arrive_as_they_are_sent(client, serving, request_of):
    async def handle(stream):
        await request_of(stream)
        await stream.send(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
        await stream.send(b"3\r\none\r\n")
        await anyio.sleep(0.1)
        await stream.send(b"3\r\ntwo\r\n0\r\n\r\n")

    async with serving(handle) as server, client.send(post(server.url), USUAL) as response:
        pieces = [piece async for piece in response.chunks()]
    assert pieces == [b"one", b"two"]


async def test_connections_are_used_again(client, serving, request_of, reply_with):
    async def handle(stream):
        while True:
            await request_of(stream)
            await stream.send(reply_with(b"fine"))

    async with serving(handle) as server:
        for _ in range(3):
            await fetch(client, post(server.url))
        assert server.connections == 1


async def test_a_redirect_is_not_followed(client, serving, request_of, reply_with):
    async def handle(stream):
        await request_of(stream)
        await stream.send(reply_with(b"", "location: http://evil.test/", status="307 Temporary"))

    async with serving(handle) as server:
        status, headers, _ = await fetch(client, post(server.url, b"{}", ("authorization", "k")))
        assert status == 307
        assert headers["location"] == "http://evil.test/"
        assert server.connections == 1


async def test_a_server_that_never_answers_is_a_timeout(client, serving, quick):
    async def handle(stream):
        await anyio.sleep_forever()

    async with serving(handle) as server:
        begun = time.monotonic()
        failure = await failure_of(client, post(server.url), quick)
        assert time.monotonic() - begun < 2
    assert failure.kind is ErrorKind.TIMEOUT
    assert failure.retryable
    assert "sent nothing for 0.2 s" in failure.message
    assert "--first-byte-timeout" in failure.hint


async def test_headers_without_a_body_are_not_yet_the_first_byte(client, serving, quick):
    async def handle(stream):
        await stream.receive()
        await stream.send(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
        await anyio.sleep_forever()

    async with serving(handle) as server:
        failure = await failure_of(client, post(server.url), quick)
    assert failure.kind is ErrorKind.TIMEOUT
    assert "sent nothing" in failure.message


async def test_silence_in_the_middle_is_a_timeout_that_names_the_idle_limit(client, serving, quick):
    async def handle(stream):
        await stream.receive()
        await stream.send(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\none\r\n")
        await anyio.sleep_forever()

    async with serving(handle) as server, client.send(post(server.url), quick) as response:
        pieces = response.chunks()
        assert await anext(pieces) == b"one"
        with pytest.raises(ModelError) as caught:
            await anext(pieces)
    assert caught.value.failure.kind is ErrorKind.TIMEOUT
    assert "--idle-timeout" in caught.value.failure.hint


async def test_an_answer_that_never_ends_is_cut_at_the_total(client, serving):
    async def handle(stream):
        await stream.receive()
        await stream.send(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
        while True:
            await stream.send(b"1\r\n.\r\n")
            await anyio.sleep(0.02)

    limits = Timeouts(connect_s=2, first_byte_s=2, idle_s=2, total_s=0.3)
    async with serving(handle) as server:
        failure = await failure_of(client, post(server.url), limits)
    assert failure.kind is ErrorKind.TIMEOUT
    assert not failure.retryable
    assert "longer than 0.3 s" in failure.message


async def test_a_large_request_may_take_longer_than_the_first_byte(client, serving, reply_with):
    size = 30_000_000

    async def handle(stream):
        stream._transport.pause_reading()
        await anyio.sleep(2.2)
        stream._transport.resume_reading()
        received = 0
        while received < size:
            received += len(await stream.receive(1_000_000))
        await stream.send(reply_with(b"fine"))

    limits = Timeouts(connect_s=2, first_byte_s=2, idle_s=3, total_s=20)
    async with serving(handle) as server:
        status, _, body = await fetch(client, post(server.url, b"x" * size), limits)
    assert (status, body) == (200, b"fine")


async def test_a_server_that_takes_no_more_of_a_request_is_a_timeout(client):
    limits = Timeouts(connect_s=2, first_byte_s=5, idle_s=0.3, total_s=20)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/"
        failure = await failure_of(client, post(url, b"x" * 30_000_000), limits)
    assert failure.kind is ErrorKind.TIMEOUT
    assert "took no more of the request" in failure.message


async def test_leaving_early_closes_the_connection_at_once(client, serving, request_of):
    closed = anyio.Event()

    async def handle(stream):
        await request_of(stream)
        await stream.send(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\none\r\n")
        try:
            await stream.receive()
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            closed.set()

    async with serving(handle) as server:
        async with client.send(post(server.url), USUAL) as response:
            async for _ in response.chunks():
                break
        with anyio.fail_after(2):
            await closed.wait()


async def test_cancelling_closes_the_connection_at_once(client, serving, request_of):
    closed = anyio.Event()

    async def handle(stream):
        await request_of(stream)
        try:
            await stream.receive()
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            closed.set()

    async with serving(handle) as server:
        with anyio.move_on_after(0.1) as scope:
            await fetch(client, post(server.url))
        assert scope.cancelled_caught
        with anyio.fail_after(2):
            await closed.wait()


async def test_a_connection_that_is_reset_midway_is_a_retryable_network_failure(
    client, serving, request_of
):
    async def handle(stream):
        await request_of(stream)
        await stream.send(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\none\r\n")
        raw = stream.extra(anyio.abc.SocketAttribute.raw_socket)
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    async with serving(handle) as server:
        failure = await failure_of(client, post(server.url))
    assert failure.kind is ErrorKind.NETWORK
    assert failure.retryable


async def test_a_body_that_ends_too_early_is_a_network_failure(client, serving, request_of):
    async def handle(stream):
        await request_of(stream)
        await stream.send(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf")

    async with serving(handle) as server:
        failure = await failure_of(client, post(server.url))
    assert failure.kind is ErrorKind.NETWORK
    assert "before the answer was complete" in failure.message


async def test_a_server_that_speaks_no_http_is_a_network_failure(client, serving):
    async def handle(stream):
        await stream.receive()
        await stream.send(b"220 smtp.example ready\r\n\r\n")

    async with serving(handle) as server:
        failure = await failure_of(client, post(server.url))
    assert failure.kind is ErrorKind.NETWORK


async def test_nothing_listening_here_is_told_and_not_retried(client):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    failure = await failure_of(client, post(f"http://127.0.0.1:{port}/v1"))
    assert failure.kind is ErrorKind.NETWORK
    assert failure.message == f"Nothing is listening at http://127.0.0.1:{port}."
    assert "Start the server" in failure.hint
    assert not failure.retryable


async def test_a_name_that_does_not_exist_is_told(client):
    failure = await failure_of(client, post("http://no-such-host.invalid/v1"))
    assert failure.kind is ErrorKind.NETWORK
    assert "cannot be found" in failure.message
    assert "spelling" in failure.hint


async def test_https_to_a_server_without_tls_is_told(client, serving):
    async def handle(stream):
        await stream.receive()
        await stream.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    async with serving(handle) as server:
        failure = await failure_of(client, post(f"https://127.0.0.1:{server.port}/"))
    assert failure.kind is ErrorKind.NETWORK
    assert "does not speak TLS" in failure.message
    assert "http://" in failure.hint
    assert not failure.retryable


async def test_an_untrusted_certificate_is_refused_and_told(client, serving, authority):
    async def handle(stream):
        await stream.receive()

    async with serving(handle, tls=authority[1]) as server:
        failure = await failure_of(client, post(f"https://127.0.0.1:{server.port}/"))
    assert failure.kind is ErrorKind.NETWORK
    assert "not trusted" in failure.message
    assert "ca_file" in failure.hint
    assert not failure.retryable


async def test_a_certificate_of_the_users_own_file_is_trusted(
    serving, request_of, reply_with, authority
):
    async def handle(stream):
        await request_of(stream)
        await stream.send(reply_with(b"secret"))

    certificate, context = authority
    client = HttpClient(user_agent="t", ca_file=str(certificate))
    async with serving(handle, tls=context) as server:
        url = f"https://127.0.0.1:{server.port}/"
        client.warm(url)
        _, _, body = await fetch(client, post(url))
    await client.aclose()
    assert body == b"secret"


@pytest.mark.parametrize("content", [None, "no certificate"])
async def test_a_ca_file_that_cannot_be_read_is_named(tmp_path, content):
    path = tmp_path / "ca.pem"
    if content is not None:
        path.write_text(content)
    client = HttpClient(user_agent="t", ca_file=str(path))
    client.warm("https://127.0.0.1:1/")
    failure = await failure_of(client, post("https://127.0.0.1:1/"))
    assert str(path) in failure.message


async def test_a_ca_file_that_is_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "ca.pem")
    client = HttpClient(user_agent="t", ca_file=str(tmp_path / "ca.pem"))
    failure = await failure_of(client, post("https://127.0.0.1:1/"))
    assert "it is not a file" in failure.message


async def test_plain_http_loads_no_certificates(client, serving, request_of, reply_with):
    async def handle(stream):
        await request_of(stream)
        await stream.send(reply_with(b"fine"))

    async with serving(handle) as server:
        client.warm(server.url)
        await fetch(client, post(server.url))
    assert not client._trust.is_ready


@pytest.mark.parametrize(
    ("coding", "encode"),
    [
        ("gzip", gzip.compress),
        ("deflate", zlib.compress),
        ("deflate", lambda data: zlib.compress(data)[2:-4]),
        ("identity", lambda data: data),
        ("gzip", lambda data: gzip.compress(data[:100]) + gzip.compress(data[100:])),
        ("gzip", lambda data: gzip.compress(data) + b"\0" * 7),
    ],
)
async def test_a_coded_body_is_decoded(client, serving, request_of, reply_with, coding, encode):
    text = b"data: {}\n\n" * 500

    async def handle(stream):
        await request_of(stream)
        await stream.send(reply_with(encode(text), f"content-encoding: {coding}"))

    async with serving(handle) as server:
        _, _, body = await fetch(client, post(server.url))
    assert body == text


@pytest.mark.parametrize(("coding", "said"), [("br", "coded as br"), ("gzip", "not compressed")])
async def test_a_body_that_cannot_be_decoded_is_told(
    client, serving, request_of, reply_with, coding, said
):
    async def handle(stream):
        await request_of(stream)
        await stream.send(reply_with(b"plain", f"content-encoding: {coding}"))

    async with serving(handle) as server:
        failure = await failure_of(client, post(server.url))
    assert failure.kind is ErrorKind.NETWORK
    assert said in failure.message


@pytest.mark.parametrize(
    "request_",
    [
        post("ftp://host/"),
        post("127.0.0.1:8080/v1"),
        post("http://127.0.0.1:1/", b"{}", ("authorization", "Bearer k\n")),
        post("http://127.0.0.1:1/", b"{}", ("authorization", "Bearer “k”")),
        post("http://127.0.0.1:1/ü"),
        post("http://127.0.0.1:port/"),
    ],
)
async def test_what_cannot_be_sent_is_told_before_it_is(client, request_):
    failure = await failure_of(client, request_)
    assert failure.kind is ErrorKind.INVALID_REQUEST
    assert "base URL" in failure.hint


async def test_a_proxy_gets_the_requests_for_other_machines(serving, request_of, reply_with):
    seen: list[bytes] = []

    async def handle(stream):
        seen.append(await request_of(stream))
        await stream.send(reply_with(b"proxied"))

    async with serving(handle) as proxy:
        address = f"http://me:p%40ss@127.0.0.1:{proxy.port}"
        client = HttpClient(user_agent="t", environment={"HTTP_PROXY": address})
        _, _, body = await fetch(client, post("http://model.test/v1"))
        await client.aclose()
    assert body == b"proxied"
    assert seen[0].startswith(b"POST http://model.test/v1 HTTP/1.1\r\n")
    assert b"Basic bWU6cEBzcw==" in seen[0]


async def test_https_goes_through_a_proxys_tunnel(serving, request_of, reply_with, authority):
    certificate, context = authority

    async def answer(stream):
        await request_of(stream)
        await stream.send(reply_with(b"tunnelled"))

    async with serving(answer, tls=context) as server:

        async def tunnel(stream):
            head = await request_of(stream)
            assert head.startswith(b"CONNECT model.test:443 HTTP/1.1")
            await stream.send(b"HTTP/1.1 200 Connected\r\n\r\n")
            inner = await anyio.connect_tcp("127.0.0.1", server.port)
            async with inner, anyio.create_task_group() as tasks:
                tasks.start_soon(pump, stream, inner)
                await pump(inner, stream)
                tasks.cancel_scope.cancel()

        async with serving(tunnel) as proxy:
            client = HttpClient(
                user_agent="t", proxy=f"http://127.0.0.1:{proxy.port}", ca_file=str(certificate)
            )
            _, _, body = await fetch(client, post("https://model.test/v1"))
            await client.aclose()
    assert body == b"tunnelled"


async def pump(source, target) -> None:
    try:
        while True:
            await target.send(await source.receive())
    except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
        return


async def test_a_proxy_that_refuses_is_named(serving, request_of, reply_with):
    async def handle(stream):
        await request_of(stream)
        await stream.send(reply_with(b"", status="407 Proxy Authentication Required"))

    async with serving(handle) as proxy:
        client = HttpClient(user_agent="t", proxy=f"http://127.0.0.1:{proxy.port}")
        failure = await failure_of(client, post("https://model.test/v1"))
        await client.aclose()
    assert failure.kind is ErrorKind.NETWORK
    assert f"The proxy http://127.0.0.1:{proxy.port} refused" in failure.message


async def test_a_socks_proxy_without_its_package_is_told():
    client = HttpClient(user_agent="t", proxy="socks5://127.0.0.1:1")
    if "socksio" in sys.modules:
        pytest.skip("socksio is installed here")
    failure = await failure_of(client, post("http://model.test/"))
    assert "socksio" in failure.message


def test_preloading_imports_the_engine():
    preload()
    assert "httpcore2" in sys.modules
