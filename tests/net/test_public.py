"""The public web: no request of a model's reaches a private address (issue E, shows 4; T61, T65)."""

import gzip
import zlib
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from ipaddress import ip_address

import anyio
import pytest
from anyio.abc import SocketAttribute, SocketStream

from hame.base.errors import ToolError
from hame.base.web import WebRequest
from hame.net.addresses import is_public
from hame.net.destination import read_destination
from hame.net.public import PublicWeb
from net.conftest import read_request, reply

PRIVATE = [
    "127.0.0.1", "127.9.9.9", "0.0.0.0", "0.1.2.3", "10.0.0.1", "172.16.0.1", "172.31.255.255",
    "192.168.1.1", "169.254.169.254", "169.254.170.2", "100.64.0.1", "100.100.100.200",
    "192.0.0.192", "192.0.2.1", "198.18.0.1", "198.51.100.7", "203.0.113.9", "224.0.0.1",
    "239.255.255.250", "240.0.0.1", "255.255.255.255", "168.63.129.16", "192.88.99.1",
    "::", "::1", "::7f00:1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254",
    "64:ff9b::127.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "2002:7f00:1::", "2002:a00:1::1",
    "2001::1", "2001:db8::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fec0::1", "ff02::1",
    "100::1", "3fff::1", "5f00::1",
]  # fmt: skip
PUBLIC = [
    "1.1.1.1", "8.8.8.8", "93.184.216.34", "172.32.0.1", "100.128.0.1", "192.0.1.1",
    "2606:4700:4700::1111", "2a00:1450:4001::1", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8",
    "2002:808:808::1",
]  # fmt: skip


@pytest.mark.parametrize("address", PRIVATE)
def test_this_address_is_not_public(address: str) -> None:
    assert not is_public(ip_address(address))


@pytest.mark.parametrize("address", PUBLIC)
def test_this_address_is_public(address: str) -> None:
    assert is_public(ip_address(address))


REFUSED_URLS = [
    "ftp://example.com/", "file:///etc/passwd", "gopher://example.com/", "javascript:alert(1)", "",
    "http://", "http:///path", "//example.com/", "example.com", "http://user@example.com/",
    "http://example.com@127.0.0.1/", "http://example.com:80@127.0.0.1/", "http://2130706433/",
    "http://0x7f000001/", "http://0x7f.0.0.1/", "http://0177.0.0.1/", "http://127.1/",
    "http://127.0.1/", "http://1/", "http://example.0x7f/", "http://127.0.0.1%00.example.com/",
    "http://exa%6dple.com/", "http://%31%32%37.0.0.1/", "http://example.com\\@127.0.0.1/",
    "http://127.0.0.1\\.example.com/", "http://exam ple.com/", "http://example.com\t/",
    "http://example.com\r\nHost: x/", "http://[fe80::1%25eth0]/", "http://[::1/", "http://::1/",
    "http://example.com:99999/", "http://example.com:port/", "http://-example.com/",
    "http://exam_ple..com/", "http://" + "a" * 64 + ".com/", "http://" + "a." * 130 + "com/",
    "http://\u2028example.com/", "http://example\u3002\u3002com/",
]  # fmt: skip


@pytest.mark.parametrize("url", REFUSED_URLS)
def test_a_url_that_can_be_read_in_two_ways_is_refused(url: str) -> None:
    with pytest.raises(ToolError):
        read_destination(url)


@pytest.mark.parametrize(
    ("url", "host", "origin"),
    [
        ("http://EXAMPLE.com./a", "example.com", "http://example.com"),
        ("https://example.com:443/", "example.com", "https://example.com"),
        ("https://example.com:8443/?q=1#part", "example.com", "https://example.com:8443"),
        ("http://münchen.example/", "xn--mnchen-3ya.example", "http://xn--mnchen-3ya.example"),
        ("http://[2606:4700::1]:8080/", "2606:4700::1", "http://[2606:4700::1]:8080"),
        ("http://127.0.0.1/", "127.0.0.1", "http://127.0.0.1"),
        # Full-width and other digits are what they look like.
        ("http://\uff11\uff12\uff17.\uff10.\uff10.\uff11/", "127.0.0.1", "http://127.0.0.1"),
        ("http://①②⑦.⓪.⓪.①/", "127.0.0.1", "http://127.0.0.1"),
        ("http://[::ffff:7f00:1]/", "::ffff:7f00:1", "http://[::ffff:7f00:1]"),
    ],
)
def test_a_url_is_read_in_one_way(url: str, host: str, origin: str) -> None:
    place = read_destination(url)
    assert place.host == host
    assert place.origin == origin
    assert place.url.isascii()
    assert "#" not in place.url


class Net:
    """A public server at 127.0.0.2 and a private one at 127.0.0.1, both on one port."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.asked: list[bytes] = []
        self.private_connections = 0
        self.answers: dict[bytes, bytes] = {}
        self.names: dict[str, list[Sequence[str]]] = {"public.test": [["127.0.0.2"]]}

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        """Several answers for a name are given one after another, the last for ever."""
        found = self.names.get(host, [[]])
        return found.pop(0) if len(found) > 1 else found[0]

    def web(self, **more: object) -> PublicWeb:
        return PublicWeb(
            user_agent="hame-test",
            resolve=self.resolve,
            allowed=lambda address: str(address) in {"127.0.0.2", "::ffff:127.0.0.2"},
            **more,
        )

    async def public(self, stream: SocketStream) -> None:
        async with stream:
            with anyio.move_on_after(5):
                request = await read_request(stream)
                self.asked.append(request)
                path = request.split(b" ")[1]
                answer = self.answers.get(path, reply(b"nothing", status="404 Not Found"))
                try:
                    await stream.send(answer)
                except anyio.BrokenResourceError:
                    return

    async def private(self, stream: SocketStream) -> None:
        self.private_connections += 1
        await stream.aclose()


@asynccontextmanager
async def network() -> AsyncGenerator[Net]:
    private = await anyio.create_tcp_listener(local_host="127.0.0.1")
    port = private.extra(SocketAttribute.local_port)
    public = await anyio.create_tcp_listener(local_host="127.0.0.2", local_port=port)
    net = Net(port)
    async with private, public, anyio.create_task_group() as tasks:
        tasks.start_soon(private.serve, net.private)
        tasks.start_soon(public.serve, net.public)
        yield net
        tasks.cancel_scope.cancel()


async def test_a_public_host_is_asked_by_name_at_the_address_that_was_checked() -> None:
    async with network() as net:
        net.answers[b"/a?b=c"] = reply(b"hello", "content-type: text/plain")
        got = await net.web().fetch(WebRequest(url=f"http://public.test:{net.port}/a?b=c"))
    assert (got.status, got.body, got.cut) == (200, b"hello", False)
    assert got.header("content-type") == "text/plain"
    assert f"host: public.test:{net.port}".encode() in net.asked[0].lower()


ATTACKS = [
    "127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[64:ff9b::7f00:1]",
    "localhost", "private.test", "mixed.test", "mapped.test", "10.0.0.1", "169.254.169.254",
]  # fmt: skip


@pytest.mark.parametrize("host", ATTACKS)
@pytest.mark.parametrize("way", ["straight", "redirect"])
async def test_no_private_address_is_reached(host: str, way: str) -> None:
    async with network() as net:
        net.names |= {
            "localhost": [["127.0.0.1"]],
            "private.test": [["127.0.0.1"]],
            "mixed.test": [["127.0.0.2", "127.0.0.1"]],
            "mapped.test": [["::ffff:127.0.0.1"]],
        }
        target = f"http://{host}:{net.port}/"
        if way == "redirect":
            net.answers[b"/go"] = reply(b"", f"location: {target}", status="302 Found")
            got = await net.web().fetch(WebRequest(url=f"http://public.test:{net.port}/go"))
            assert got.elsewhere == read_destination(target).url
        else:
            with pytest.raises(ToolError):
                await net.web().fetch(WebRequest(url=target, timeout_s=3))
        assert net.private_connections == 0


async def test_a_name_that_changes_its_address_is_not_followed_there() -> None:
    async with network() as net:
        net.names["rebinding.test"] = [["127.0.0.2"], ["127.0.0.1"]]
        net.answers[b"/"] = reply(b"", "location: /again", status="302 Found")
        net.answers[b"/again"] = reply(b"in")
        with pytest.raises(ToolError, match="not on the public network"):
            await net.web().fetch(WebRequest(url=f"http://rebinding.test:{net.port}/"))
        assert len(net.asked) == 1
        assert net.private_connections == 0


async def test_redirects_within_the_host_are_followed_and_counted() -> None:
    async with network() as net:
        net.answers[b"/a"] = reply(b"", "location: /b", status="301 Moved")
        net.answers[b"/b"] = reply(b"there")
        net.answers[b"/loop"] = reply(b"", "location: /loop", status="302 Found")
        web = net.web()
        base = f"http://public.test:{net.port}"
        got = await web.fetch(WebRequest(url=f"{base}/a"))
        assert (got.url, got.body) == (f"{base}/b", b"there")
        with pytest.raises(ToolError, match="redirects"):
            await web.fetch(WebRequest(url=f"{base}/loop"))
        assert len(net.asked) == 2 + 6


@pytest.mark.parametrize(
    "location", ["http://other.test/", "https://other.test/x", "//other.test/", "ftp://x/",
                 "http://public.test@127.0.0.1/", "file:///etc/passwd"]
)  # fmt: skip
async def test_a_redirect_to_elsewhere_is_told_or_refused_but_not_followed(location: str) -> None:
    async with network() as net:
        net.answers[b"/"] = reply(b"", f"location: {location}", status="302 Found")
        request = WebRequest(url=f"http://public.test:{net.port}/")
        if "other.test" in location:
            got = await net.web().fetch(request)
            assert got.elsewhere.endswith(("other.test/", "other.test/x"))
        else:
            with pytest.raises(ToolError):
                await net.web().fetch(request)
        assert len(net.asked) == 1


async def test_a_posted_body_goes_once_and_not_after_a_see_other() -> None:
    async with network() as net:
        net.answers[b"/form"] = reply(b"", "location: /done", status="303 See Other")
        net.answers[b"/done"] = reply(b"ok")
        request = WebRequest(
            url=f"http://public.test:{net.port}/form", method="POST", body=b"secret=1"
        )
        assert (await net.web().fetch(request)).body == b"ok"
    assert net.asked[0].startswith(b"POST /form")
    assert net.asked[0].endswith(b"secret=1")
    assert net.asked[1].startswith(b"GET /done")
    assert b"secret" not in net.asked[1]


async def test_size_and_time_are_capped() -> None:
    async with network() as net:
        net.answers[b"/big"] = reply(b"x" * 300_000)
        bomb = zlib.compress(b"\0" * 200_000_000, 9)
        net.answers[b"/bomb"] = reply(bomb, "content-encoding: deflate")
        base = f"http://public.test:{net.port}"
        got = await net.web().fetch(WebRequest(url=f"{base}/big", max_bytes=1000))
        assert (len(got.body), got.cut) == (1000, True)
        got = await net.web().fetch(WebRequest(url=f"{base}/bomb", max_bytes=5_000_000))
        assert (len(got.body), got.cut) == (5_000_000, True)

    async with network() as net:
        net.answers[b"/slow"] = b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n12"
        with pytest.raises(ToolError):
            await net.web().fetch(
                WebRequest(url=f"http://public.test:{net.port}/slow", timeout_s=0.3)
            )


async def test_a_compressed_body_is_decoded() -> None:
    async with network() as net:
        net.answers[b"/"] = reply(gzip.compress(b"hello"), "content-encoding: gzip")
        got = await net.web().fetch(WebRequest(url=f"http://public.test:{net.port}/"))
    assert got.body == b"hello"


@pytest.mark.parametrize(
    "header", [("Host", "x"), ("Content-Length", "5"), ("X", "a\r\nB: c"), ("Connection", "x")]
)
async def test_headers_that_would_change_the_request_are_refused(header: tuple[str, str]) -> None:
    async with network() as net:
        with pytest.raises(ToolError, match="cannot be set"):
            await net.web().fetch(
                WebRequest(url=f"http://public.test:{net.port}/", headers=(header,))
            )
        assert net.asked == []


async def test_a_host_without_an_address_is_an_error_with_its_name() -> None:
    async with network() as net:
        with pytest.raises(ToolError, match=r"nowhere\.test"):
            await net.web().fetch(WebRequest(url="http://nowhere.test/"))


async def test_through_a_proxy_a_host_known_to_be_private_is_refused_too() -> None:
    async with network() as net:
        net.names["private.test"] = [["127.0.0.1"]]
        web = net.web(proxy=f"http://127.0.0.2:{net.port}")
        net.answers[b"http://public.test/"] = reply(b"by proxy")
        assert (await web.fetch(WebRequest(url="http://public.test/"))).body == b"by proxy"
        with pytest.raises(ToolError):
            await web.fetch(WebRequest(url="http://private.test/"))
        with pytest.raises(ToolError):
            await web.fetch(WebRequest(url="http://169.254.169.254/latest/meta-data"))
        assert len(net.asked) == 1
