"""The way out for confined programs: exactly the hosts that were granted (T61, T62, T63, T65)."""

import os
import ssl
import stat
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.abc import Listener, SocketAttribute, SocketStream
from anyio.streams.tls import TLSListener, TLSStream
from hypothesis import given, settings
from hypothesis import strategies as st

from hame.base.errors import ToolError
from hame.net import exchange, tunnel
from hame.net.addresses import Address
from hame.net.egress import MOST_REFUSALS, Egress
from net.conftest import read_request, reply


class World:
    """A public server at 127.0.0.2, a private one at 127.0.0.1, on one port, and who they are called."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder
        self.port = port
        self.looked_up: list[str] = []
        self.public: list[bytes] = []
        """Heads and bodies of the requests that the public server got."""
        self.private: list[bytes] = []
        self.names: dict[str, list[Sequence[str]]] = {}
        self.unforeseen: list[Exception] = []
        self.handle: Callable[[SocketStream], Awaitable[object]] | None = None

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        """Several answers for a name are given one after another, the last for ever."""
        self.looked_up.append(host)
        found = self.names.get(host, [["127.0.0.2"]])
        return found.pop(0) if len(found) > 1 else found[0]

    @property
    def socket(self) -> str:
        return str(self.folder / "way-out")

    def mode(self) -> int | None:
        """Type and mode of what is at the socket's path; None: nothing is."""
        try:
            return os.lstat(self.socket).st_mode
        except FileNotFoundError:
            return None

    def egress(self, **more: object) -> Egress:
        return Egress(
            resolve=self.resolve, allowed=is_second, report=self.unforeseen.append, **more
        )

    @asynccontextmanager
    async def open(
        self, *hosts: str, **more: object
    ) -> AsyncGenerator[Callable[[], Sequence[str]]]:
        given = [host.replace(":PORT", f":{self.port}") for host in hosts]
        async with self.egress(**more).open(self.socket, given) as refused:
            yield refused

    async def say(self, data: bytes) -> bytes:
        """Everything that is answered to these bytes."""
        with anyio.fail_after(20):
            async with await anyio.connect_unix(self.socket) as stream:
                await stream.send(data)
                return await drain(stream)

    async def connect(self, target: str, early: bytes = b"") -> tuple[bytes, SocketStream]:
        """Ask for a tunnel; the head of the answer, and the stream."""
        stream = await anyio.connect_unix(self.socket)
        await stream.send(connect_head(target) + early)
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += await stream.receive(1)
        return head, stream

    async def get(self, url: str, *headers: str) -> bytes:
        lines = [f"GET {url} HTTP/1.1", "host: ignored.test", *headers, "", ""]
        return await self.say("\r\n".join(lines).encode())

    async def at_public(self, stream: SocketStream) -> None:
        async with stream:
            try:
                if self.handle is not None:
                    await self.handle(stream)
                    return
                self.public.append(await read_request(stream))
                await stream.send(reply(b"public"))
            except (anyio.BrokenResourceError, anyio.EndOfStream):
                return

    async def at_private(self, stream: SocketStream) -> None:
        async with stream:
            try:
                self.private.append(await read_request(stream))
                await stream.send(reply(b"private"))
            except (anyio.BrokenResourceError, anyio.EndOfStream):
                self.private.append(b"connected")


def is_second(address: Address) -> bool:
    return str(address) in {"127.0.0.2", "127.0.0.3"}


def connect_head(target: str) -> bytes:
    return f"CONNECT {target} HTTP/1.1\r\nhost: {target}\r\n\r\n".encode("latin-1", "replace")


def descriptors() -> int:
    """How many are open in this process."""
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


async def drain(stream: SocketStream) -> bytes:
    data = bytearray()
    try:
        while True:
            data += await stream.receive()
    except (anyio.EndOfStream, anyio.BrokenResourceError):
        return bytes(data)


@pytest.fixture
async def world(tmp_path: Path) -> AsyncGenerator[World]:
    folder = tmp_path / "private"
    folder.mkdir(mode=0o700)
    private = await anyio.create_tcp_listener(local_host="127.0.0.1")
    port = private.extra(SocketAttribute.local_port)
    public = await anyio.create_tcp_listener(local_host="127.0.0.2", local_port=port)
    world = World(folder, port)
    async with private, public, anyio.create_task_group() as tasks:
        tasks.start_soon(private.serve, world.at_private)
        tasks.start_soon(public.serve, world.at_public)
        yield world
        tasks.cancel_scope.cancel()
    assert world.unforeseen == []


# ---------------------------------------------------------------- which hosts


async def test_a_host_that_was_granted_is_tunnelled_to(world: World) -> None:
    async with world.open("good.test:PORT") as refused:
        head, stream = await world.connect(f"good.test:{world.port}")
        assert head.startswith(b"HTTP/1.1 200 ")
        async with stream:
            await stream.send(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
            assert (await drain(stream)).endswith(b"public")
        assert refused() == ()
    assert world.looked_up == ["good.test"]


async def test_a_plain_request_is_sent_on_to_the_host_it_names(world: World) -> None:
    async with world.open("good.test:PORT"):
        answer = await world.get(f"http://good.test:{world.port}/a?b=c", "x-one: 1", "te: trailers")
    assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
    assert answer.endswith(b"public")
    (asked,) = world.public
    assert asked.startswith(b"GET /a?b=c HTTP/1.1\r\n")
    assert f"host: good.test:{world.port}\r\n".encode() in asked
    assert b"x-one: 1\r\n" in asked
    assert b"ignored.test" not in asked
    assert b"trailers" not in asked


GRANTED = ("good.test", "*.wild.test", "1.1.1.1", "other.test:8443")
REFUSED_TARGETS = [
    # another name, before, behind or around the one that was granted
    "evil.test:443", "good.test.evil.test:443", "evilgood.test:443", "evil-good.test:443",
    "good.tes:443", "good.testx:443", "ood.test:443", "www.good.test:443", "wild.test:443",
    "evilwild.test:443", "x.wild.test.evil.test:443", "*.wild.test:443", ".wild.test:443",
    "x..wild.test:443", "good.test,evil.test:443", "good.test;evil.test:443",
    # ports
    "good.test:22", "good.test:8443", "good.test:0", "good.test:", "good.test", "good.test:443:443",
    "good.test:65979", "good.test:443a", "good.test:0443", "good.test:+443", "other.test:443",
    # who asks
    "user@good.test:443", "good.test@evil.test:443", "good.test:443@evil.test:443",
    "good.test:x@evil.test:443", "evil.test:443#good.test:443", "evil.test:443?good.test:443",
    "evil.test:443/good.test", "evil.test\\good.test:443", "evil.test\\@good.test:443",
    # other writings
    "good.test.:443", "good.test..:443", "good%2etest:443", "good%2Etest:443", "evil.test%00.good.test:443",
    "evil.test%23.wild.test:443", "xn--good-9b0a.test:443", "g\u00f6\u00f6d.test:443",
    "[good.test]:443", "'good.test':443", "https://good.test:443", "//good.test:443", "good.test/:443",
    # addresses
    "1.1.1.2:443", "1.1.1.10:443", "1.1.257:443", "16843009:443", "0x1010101:443", "01.1.1.1:443",
    "1.1.1.1.:443", "[::ffff:1.1.1.1]:443", "127.0.0.1:443", "[::1]:443", "localhost:443", "0:443",
    "0.0.0.0:443", "[::]:443", "169.254.169.254:80", "[fe80::1%25eth0]:443", "metadata.internal:80",
    "*:443", "-:443", ":443", "",
]  # fmt: skip


@pytest.mark.parametrize("target", REFUSED_TARGETS)
async def test_a_tunnel_to_what_was_not_granted_is_refused(world: World, target: str) -> None:
    async with world.open(*GRANTED):
        answer = await world.say(connect_head(target))
    assert answer.split(b" ")[1] in {b"400", b"403"}
    assert world.looked_up == []
    assert world.public == world.private == []


REFUSED_URLS = [
    "http://evil.test/", "http://good.test.evil.test/", "http://evilgood.test/", "http://wild.test/",
    "http://good.test@evil.test/", "http://good.test:80@evil.test/", "http://user:word@good.test/",
    "http://@good.test/", "http://good.test:8080/", "http://good.test:/", "http://good.test:080/",
    "http://evil.test#good.test/", "http://evil.test#@good.test/", "http://good.test#@evil.test/",
    "http://evil.test?good.test", "http://evil.test?@good.test/", "http://evil.test/@good.test/",
    "http://evil.test\\.good.test/", "http://evil.test\\@good.test/", "http://good.test\\@evil.test/",
    "http:\\\\good.test/", "http:/good.test/", "http:good.test/", "http:///good.test/", "http://",
    "http:///", "//good.test/", "good.test/", "/", "*", "good.test:80", "https://good.test/",
    "ftp://good.test/", "file:///etc/passwd", "javascript://good.test/", "httpx://good.test/",
    "http://good.test./", "http://good%2etest/", "http://good.test%2f@evil.test/",
    "http://good.test%00.evil.test/", "http://good.test%09/", "http://[good.test]/",
    "http://2130706433/", "http://0x7f.1/", "http://127.0.0.1/", "http://127.1/", "http://[::1]/",
    "http://localhost/", "http://169.254.169.254/latest/meta-data/", "http://xn--good-9b0a.test/",
    "http://GOOD.test.evil.TEST/", "http://good.test/#fragment",
]  # fmt: skip


@pytest.mark.parametrize("url", REFUSED_URLS)
async def test_a_plain_request_for_what_was_not_granted_is_refused(world: World, url: str) -> None:
    async with world.open(*GRANTED):
        answer = await world.get(url)
    assert answer.split(b" ")[1] in {b"400", b"403"}
    assert world.looked_up == []
    assert world.public == world.private == []


@pytest.mark.parametrize(
    "target",
    [
        "good.test:443", "good.test:80", "GOOD.Test:443", "x.wild.test:443", "a.b.wild.test:80",
        "other.test:8443", "xn--nxasmq6b.wild.test:443",
    ],
)  # fmt: skip
async def test_what_was_granted_is_looked_up_in_lower_case_once(world: World, target: str) -> None:
    async with world.open(*GRANTED):
        answer = await world.say(connect_head(target))
    # Nobody listens there: what is said is that, and not that it may not be asked.
    assert answer.startswith(b"HTTP/1.1 502 ")
    assert world.looked_up == [target.lower().rpartition(":")[0]]


@pytest.mark.parametrize("byte", range(256))
async def test_no_byte_in_a_name_leads_anywhere_else(world: World, byte: int) -> None:
    known = b"abcdefghijklmnopqrstuvwxyz0123456789-."
    seen: list[bytes] = []
    async with world.open("good.test", "*.good.test"):
        for name in (
            b"evil.test%c.good.test",
            b"good.test%cevil.test",
            b"%cgood.test",
            b"good.test%c",
        ):
            target = name.replace(b"%c", bytes([byte]))
            head = b"CONNECT %s:443 HTTP/1.1\r\nhost: x\r\n\r\n" % target
            answer = await world.say(head)
            plain = await world.say(b"GET http://%s/ HTTP/1.1\r\nhost: x\r\n\r\n" % target)
            seen += [answer.split(b" ")[1], plain.split(b" ")[1]]
    for name in world.looked_up:
        assert name == "good.test" or name.endswith(".good.test")
        assert all(letter in known for letter in name.encode())
    letter = bytes([byte]).lower()
    if letter not in known and byte not in b":/?":
        # A name may end at `:`, `/` and `?`; nothing else but its own letters is ever let through.
        assert not {b"200", b"502"}.intersection(seen)


async def test_an_empty_list_lets_nothing_through(world: World) -> None:
    async with world.open() as refused:
        assert b" 403 " in await world.say(connect_head("good.test:443"))
        assert b" 403 " in await world.get("http://good.test/")
        assert refused() == ("good.test",)
    assert world.looked_up == []


async def test_a_list_with_what_is_no_entry_opens_nothing(world: World) -> None:
    for wrong in ("", "*", "*.com", "good.test.", "http://good.test", "good.test\0"):
        with pytest.raises(ToolError, match="granted"):
            async with world.open("good.test", wrong):
                pass
    assert world.mode() is None


# ---------------------------------------------------------------- which addresses


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.0.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "::1",
        "::ffff:127.0.0.1", "64:ff9b::7f00:1", "fd00::1", "fe80::1%lo", "nonsense", "",
        "100.100.100.200", "fd00:ec2::254", "::ffff:10.0.0.1", "::ffff:100.100.100.200",
    ],
)  # fmt: skip
@pytest.mark.parametrize("others", [[], ["127.0.0.2"]])
async def test_a_name_that_leads_to_a_private_address_is_refused(
    world: World, address: str, others: list[str]
) -> None:
    """What may be offered next is an ordinary address of a private network, and nothing else."""
    world.names["good.test"] = [[*others, address]]
    async with world.open("good.test:PORT") as refused:
        answer = await world.say(connect_head(f"good.test:{world.port}"))
        plain = await world.get(f"http://good.test:{world.port}/")
        plain_address = address.removeprefix("::ffff:")
        offered = {"10.0.0.1", "192.168.1.1", "100.64.0.1", "fd00::1"} & {plain_address}
        written = [f"[{each}]" if ":" in each else each for each in offered]
        assert refused() == tuple(f"{each}:{world.port}" for each in written)
    assert answer.startswith(b"HTTP/1.1 403 ")
    assert plain.startswith(b"HTTP/1.1 403 ")
    assert b"good.test is not on the public network" in answer
    assert world.public == world.private == []


async def test_a_name_may_lead_to_a_private_address_that_was_granted_too(world: World) -> None:
    more = {"grantable": lambda address: str(address) == "127.0.0.1"}
    world.names["good.test"] = [["127.0.0.1"]]
    asked = f"http://good.test:{world.port}/"
    async with world.open("good.test:PORT", **more) as refused:
        assert b" 403 " in await world.get(asked)
        assert refused() == (f"127.0.0.1:{world.port}",)
    async with world.open("good.test:PORT", "127.0.0.1:PORT", **more) as refused:
        assert (await world.get(asked)).endswith(b"private")
        head, stream = await world.connect(f"good.test:{world.port}")
        assert head.startswith(b"HTTP/1.1 200 ")
        await stream.aclose()
        assert refused() == ()
    for other in ("127.0.0.1:1", "127.0.0.3:PORT"):
        async with world.open("good.test:PORT", other, **more):
            assert b" 403 " in await world.get(asked)
    # An address that was granted gives no name anything; nor does what may never be granted so.
    async with world.open("127.0.0.1:PORT", **more):
        assert b" 403 " in await world.get(asked)
    async with world.open("good.test:PORT", "127.0.0.1:PORT"):
        assert b" 403 " in await world.get(asked)


async def test_what_is_connected_to_is_the_address_that_was_checked(world: World) -> None:
    """The second answer of a name server that changes its mind is never asked for."""
    world.names["good.test"] = [["127.0.0.2"], ["127.0.0.1"]]
    async with world.open("good.test:PORT"):
        answer = await world.get(f"http://good.test:{world.port}/")
        assert answer.endswith(b"public")
        again = await world.get(f"http://good.test:{world.port}/")
        assert b" 403 " in again
    assert world.looked_up == ["good.test", "good.test"]
    assert world.private == []


async def test_all_addresses_are_tried_in_turn(world: World) -> None:
    world.names["good.test"] = [["127.0.0.3", "127.0.0.2"]]
    async with world.open("good.test:PORT"):
        assert (await world.get(f"http://good.test:{world.port}/")).endswith(b"public")


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "LOCALHOST", "db.localhost"])
async def test_this_machine_is_reached_at_the_port_the_user_named(world: World, name: str) -> None:
    async with world.open(f"{name.lower()}:PORT") as refused:
        head, stream = await world.connect(f"{name}:{world.port}")
        async with stream:
            assert b" 200 " in head
            await stream.send(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
            assert (await drain(stream)).endswith(b"private")
        assert b" 403 " in await world.say(connect_head(f"{name}:{world.port + 1}"))
        assert refused() == (f"{name.lower()}:{world.port + 1}",)
    assert world.looked_up == []


async def test_localhost_without_a_port_is_not_this_machine_as_a_whole(world: World) -> None:
    world.names["localhost"] = [["127.0.0.1"]]
    async with world.open("localhost"):
        assert b" 403 " in await world.say(connect_head("localhost:80"))
    assert world.private == []


async def test_an_address_the_user_named_is_not_looked_up_under_another_name(world: World) -> None:
    world.names["good.test"] = [["127.0.0.1"]]
    async with world.open("127.0.0.1:PORT", "good.test:PORT"):
        assert b" 403 " in await world.say(connect_head(f"good.test:{world.port}"))
    assert world.private == []


# ---------------------------------------------------------------- what is refused


async def test_what_was_refused_is_named_as_it_would_be_granted(world: World) -> None:
    async with world.open("good.test:PORT") as refused:
        answer = await world.say(connect_head("Evil.test:443"))
        assert answer.endswith(b"evil.test:443 is not among the hosts granted to this command.\n")
        for target in ("evil.test:80", "evil.test:8443", "10.0.0.1:443", "[fd00::1]:22"):
            await world.say(connect_head(target))
        await world.get("http://plain.test/?evil.test")
        await world.say(connect_head("bad_name.test:443"))
        assert refused() == (
            "evil.test", "evil.test:8443", "10.0.0.1", "[fd00::1]:22", "plain.test",
        )  # fmt: skip


async def test_only_so_many_refusals_are_remembered(world: World) -> None:
    async with world.open() as refused:
        for number in range(MOST_REFUSALS + 5):
            await world.say(connect_head(f"h{number}.test:443"))
        assert refused()[0] == "h0.test"
        assert len(refused()) == MOST_REFUSALS


async def test_the_client_follows_redirects_and_is_judged_anew(world: World) -> None:
    async def redirect(stream: SocketStream) -> None:
        await read_request(stream)
        await stream.send(reply(b"", "location: http://evil.test/", status="302 Found"))

    world.handle = redirect
    async with world.open("good.test:PORT") as refused:
        answer = await world.get(f"http://good.test:{world.port}/")
        assert answer.startswith(b"HTTP/1.1 302 ")
        assert b"location: http://evil.test/\r\n" in answer
        assert refused() == ()
        assert b" 403 " in await world.get("http://evil.test/")


async def test_a_host_that_is_not_there_is_not_one_that_is_refused(world: World) -> None:
    world.names["good.test"] = [[]]
    async with world.open("good.test") as refused:
        answer = await world.say(connect_head("good.test:443"))
        assert answer.startswith(b"HTTP/1.1 502 ")
        assert b"cannot be found" in answer
        assert refused() == ()


async def test_one_connection_carries_one_request(world: World) -> None:
    async with world.open("good.test:PORT"):
        url = f"http://good.test:{world.port}/"
        one = f"GET {url} HTTP/1.1\r\nhost: x\r\n\r\n"
        two = "GET http://evil.test/ HTTP/1.1\r\nhost: x\r\n\r\n"
        answer = await world.say((one + two).encode())
    assert answer.count(b"HTTP/1.1 ") == 1
    assert b"connection: close" in answer.lower()
    assert len(world.public) == 1
    assert b"evil.test" not in world.public[0]


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"\r\n\r\n",
        b"\x00" * 100,
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"\x05\x01\x00",
        b"GET http://good.test/\r\n\r\n",
        b"GET http://good.test/ HTTP/1.1\r\n\r\n",
        b"GET http://good.test/ HTTP/x.y\r\nhost: x\r\n\r\n",
        b"GET  http://good.test/ HTTP/1.1\r\nhost: x\r\n\r\n",
        b"CONNECT good.test:443 HTTP/1.1\r\nhost : x\r\n\r\n",
        b"CONNECT good.test:443 HTTP/1.1\r\nhost: x\r\nhost: y\r\n\r\n",
        b"POST http://good.test/ HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
        b"POST http://good.test/ HTTP/1.1\r\nhost: x\r\ntransfer-encoding: gzip, chunked\r\n\r\n",
        b"CONNECT good.test:443 HTTP/1.1\r\nx: " + b"y" * 100_000 + b"\r\n\r\n",
        b"x" * 1_000_000,
    ],
    ids=range(15),
)
async def test_what_is_no_request_is_answered_or_closed(world: World, head: bytes) -> None:
    async with world.open("good.test"):
        stream = await anyio.connect_unix(world.socket)
        async with stream:
            with anyio.fail_after(10):
                try:
                    await stream.send(head)
                    await stream.send_eof()
                except (anyio.BrokenResourceError, OSError):
                    pass
                answer = await drain(stream)
    assert answer == b"" or answer.split(b" ")[1] in {b"400", b"501", b"431"}
    assert world.looked_up == []


@given(st.binary(max_size=300), st.booleans())
@settings(max_examples=300)
def test_nothing_a_program_sends_breaks_the_proxy(data: bytes, ask: bool) -> None:
    """Noise alone, or noise in a tunnel and after it."""
    start = b"CONNECT good.test:443 HTTP/1.1\r\n" if ask else b""

    async def say() -> list[Exception]:
        with tempfile.TemporaryDirectory() as folder:
            world = World(Path(folder), 1)
            async with world.open("good.test"):
                stream = await anyio.connect_unix(world.socket)
                async with stream:
                    with anyio.fail_after(10):
                        await stream.send(start + data)
                        await stream.send_eof()
                        await drain(stream)
            return world.unforeseen

    assert anyio.run(say) == []


# ---------------------------------------------------------------- bytes


async def test_each_direction_of_a_tunnel_is_closed_for_itself(world: World) -> None:
    async def late(stream: SocketStream) -> None:
        got = await drain(stream)  # Until the client has closed its direction.
        await stream.send(b"got " + got)
        await stream.send_eof()

    world.handle = late
    async with world.open("good.test:PORT"):
        _, stream = await world.connect(f"good.test:{world.port}", early=b"early ")
        async with stream:
            await stream.send(b"late")
            await stream.send_eof()
            assert await drain(stream) == b"got early late"


async def test_a_server_that_speaks_first_is_heard(world: World) -> None:
    async def greet(stream: SocketStream) -> None:
        await stream.send(b"220 hello")

    world.handle = greet
    async with world.open("good.test:PORT"):
        _, stream = await world.connect(f"good.test:{world.port}")
        async with stream:
            assert await drain(stream) == b"220 hello"


BIG = os.urandom(1 << 20) * 24


async def test_a_big_body_passes_a_tunnel_both_ways(world: World) -> None:
    async def echo(stream: SocketStream) -> None:
        async for data in stream:
            await stream.send(data)
        await stream.send_eof()

    world.handle = echo
    async with world.open("good.test:PORT"):
        _, stream = await world.connect(f"good.test:{world.port}")
        async with stream, anyio.create_task_group() as tasks:

            async def send() -> None:
                await stream.send(BIG)
                await stream.send_eof()

            tasks.start_soon(send)
            assert await drain(stream) == BIG


@pytest.mark.parametrize("chunked", [False, True])
async def test_a_big_plain_body_passes_both_ways(world: World, chunked: bool) -> None:
    seen: list[bytes] = []

    async def count(stream: SocketStream) -> None:
        data = await stream.receive()
        while b"\r\n\r\n" not in data:
            data += await stream.receive()
        head, _, rest = data.partition(b"\r\n\r\n")
        body = bytearray(rest)
        seen.append(head.lower())
        end = b"0\r\n\r\n" if chunked else None
        while (not body.endswith(end)) if end else (len(body) < len(BIG)):
            body += await stream.receive()
        await stream.send(reply(BIG))

    world.handle = count
    url = f"http://good.test:{world.port}/upload"
    framing = "transfer-encoding: chunked" if chunked else f"content-length: {len(BIG)}"
    head = f"POST {url} HTTP/1.1\r\nhost: x\r\n{framing}\r\n\r\n".encode()
    body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(BIG), BIG) if chunked else BIG
    async with world.open("good.test:PORT"):
        answer = await world.say(head + body)
    assert answer.partition(b"\r\n\r\n")[2] == BIG
    assert framing.encode() in seen[0]


async def test_a_response_without_a_length_ends_where_it_ends(world: World) -> None:
    async def stream_out(stream: SocketStream) -> None:
        await read_request(stream)
        await stream.send(b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.0 200 OK\r\n\r\none")
        await stream.send(b" two")

    world.handle = stream_out
    async with world.open("good.test:PORT"):
        new = await world.get(f"http://good.test:{world.port}/")
        old = await world.say(f"GET http://good.test:{world.port}/ HTTP/1.0\r\n\r\n".encode())
    assert b"transfer-encoding: chunked" in new.lower()
    assert new.endswith(b"0\r\n\r\n")
    assert old.partition(b"\r\n\r\n")[2] == b"one two"


async def test_who_waits_for_leave_to_send_a_body_gets_it(world: World) -> None:
    head = (
        f"PUT http://good.test:{world.port}/ HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\n"
        "expect: 100-continue\r\n\r\n"
    )
    async with world.open("good.test:PORT"):
        stream = await anyio.connect_unix(world.socket)
        async with stream:
            await stream.send(head.encode())
            assert (await stream.receive()).startswith(b"HTTP/1.1 100 ")
            await stream.send(b"body")
            assert (await drain(stream)).endswith(b"public")
    assert world.public[0].endswith(b"\r\n\r\nbody")
    assert b"expect" not in world.public[0]


async def test_a_server_that_answers_without_reading_is_heard(world: World) -> None:
    async def refuse(stream: SocketStream) -> None:
        await stream.receive(100)
        await stream.send(reply(b"too large", status="413 Content Too Large"))
        await stream.send_eof()
        with anyio.move_on_after(5):
            await drain(stream)

    world.handle = refuse
    url = f"http://good.test:{world.port}/"
    head = f"POST {url} HTTP/1.1\r\nhost: x\r\ncontent-length: {len(BIG)}\r\n\r\n".encode()
    async with world.open("good.test:PORT"):
        stream = await anyio.connect_unix(world.socket)
        async with stream, anyio.create_task_group() as tasks:

            async def send() -> None:
                try:
                    await stream.send(head + BIG)
                except anyio.BrokenResourceError:
                    return

            tasks.start_soon(send)
            assert (await drain(stream)).endswith(b"too large")


@pytest.mark.parametrize(
    "garbage", [b"", b"SSH-2.0-x\r\n", b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n"]
)
async def test_a_server_that_does_not_answer_is_said(world: World, garbage: bytes) -> None:
    async def break_off(stream: SocketStream) -> None:
        await read_request(stream)
        await stream.send(garbage)

    world.handle = break_off
    async with world.open("good.test:PORT"):
        answer = await world.get(f"http://good.test:{world.port}/")
    assert answer.startswith(b"HTTP/1.1 502 ")
    assert answer.endswith(b"closed the connection without an answer.\n")


async def test_many_connections_at_once(world: World) -> None:
    """More than are served at a time: the others wait their turn."""
    good = evil = 0

    async def ask(number: int) -> None:
        nonlocal good, evil
        name = "good" if number % 2 else "evil"
        answer = await world.get(f"http://{name}.test:{world.port}/{number}")
        good += answer.endswith(b"public")
        evil += b" 403 " in answer

    async with world.open("good.test:PORT"), anyio.create_task_group() as tasks:
        for number in range(300):
            tasks.start_soon(ask, number)
    assert (good, evil) == (150, 150)
    assert len(world.public) == 150


async def test_a_client_that_never_finishes_its_request_holds_no_one_up(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchange, "HEAD_S", 0.3)
    async with world.open("good.test:PORT"):
        slow = await anyio.connect_unix(world.socket)
        async with slow:
            await slow.send(b"GET http://good.test")
            assert (await world.get(f"http://good.test:{world.port}/")).endswith(b"public")
            with anyio.fail_after(10):
                assert await drain(slow) == b""


async def test_a_tunnel_in_which_nobody_speaks_ends(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tunnel, "IDLE_S", 0.3)
    ended = anyio.Event()

    async def wait(stream: SocketStream) -> None:
        await drain(stream)
        ended.set()

    world.handle = wait
    async with world.open("good.test:PORT"):
        _, stream = await world.connect(f"good.test:{world.port}")
        async with stream:
            with anyio.fail_after(10):
                assert await drain(stream) == b""
                await ended.wait()


async def test_a_slow_tunnel_lives_as_long_as_somebody_speaks(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tunnel, "IDLE_S", 2.0)

    async def drip(stream: SocketStream) -> None:
        for _ in range(10):
            await stream.send(b".")
            await anyio.sleep(0.3)

    world.handle = drip
    async with world.open("good.test:PORT"):
        _, stream = await world.connect(f"good.test:{world.port}")
        async with stream:
            assert await drain(stream) == b"." * 10


# ---------------------------------------------------------------- the socket


async def test_only_the_user_can_reach_the_socket(world: World) -> None:
    before = os.umask(0)
    try:
        async with world.open("good.test"):
            assert world.mode() == stat.S_IFSOCK | 0o600
    finally:
        os.umask(before)
    assert world.mode() is None


async def test_no_socket_is_put_where_others_may_enter(world: World, tmp_path: Path) -> None:
    for mode in (0o755, 0o710, 0o701, 0o777):
        world.folder.chmod(mode)
        with pytest.raises(ToolError, match="open to others"):
            async with world.open("good.test"):
                pass
    link = tmp_path / "link"
    world.folder.chmod(0o700)
    link.symlink_to(world.folder)
    world.folder = link
    with pytest.raises(ToolError, match="no socket"):
        async with world.open("good.test"):
            pass
    world.folder = tmp_path / "missing"
    with pytest.raises(ToolError, match="no socket"):
        async with world.open("good.test"):
            pass


async def test_nothing_that_is_there_is_replaced(world: World) -> None:
    world.folder.joinpath("way-out").write_bytes(b"mine")
    with pytest.raises(ToolError, match="no socket"):
        async with world.open("good.test"):
            pass
    assert world.folder.joinpath("way-out").read_bytes() == b"mine"


async def test_a_long_path_is_no_obstacle(world: World) -> None:
    deep = world.folder / ("d" * 120)
    deep.mkdir(mode=0o700)
    world.folder = deep
    async with world.open("good.test:PORT"):
        assert world.mode() == stat.S_IFSOCK | 0o600
        held = os.open(deep, os.O_RDONLY)
        try:
            stream = await anyio.connect_unix(f"/proc/self/fd/{held}/way-out")
        finally:
            os.close(held)
        async with stream:
            await stream.send(connect_head("evil.test:443"))
            assert b" 403 " in await drain(stream)
    assert list(deep.iterdir()) == []


async def test_leaving_ends_every_connection_and_may_happen_in_another_task(world: World) -> None:
    before = descriptors()
    context = world.egress().open(world.socket, [f"good.test:{world.port}"])
    refused = await context.__aenter__()
    world.handle = drain
    tunnels = [(await world.connect(f"good.test:{world.port}"))[1] for _ in range(5)]
    await world.say(connect_head("evil.test:443"))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(context.__aexit__, None, None, None)
    with anyio.fail_after(5):
        for stream in tunnels:
            assert await drain(stream) == b""
            await stream.aclose()
    assert refused() == ("evil.test",)
    assert descriptors() <= before


async def test_two_programs_have_each_their_own_grants(world: World) -> None:
    other = world.folder / "other"
    async with world.open("good.test:PORT"), world.egress().open(str(other), []) as refused:
        assert (await world.get(f"http://good.test:{world.port}/")).endswith(b"public")
        stream = await anyio.connect_unix(str(other))
        async with stream:
            await stream.send(connect_head(f"good.test:{world.port}"))
            assert b" 403 " in await drain(stream)
        assert refused() == (f"good.test:{world.port}",)


# ---------------------------------------------------------------- the user's own proxy


class Proxy:
    """The user's own proxy: HTTP with a user name, or SOCKS; connects to 127.0.0.2 whoever is asked for."""

    def __init__(self, target: int) -> None:
        self.target = target
        self.asked: list[bytes] = []
        self.port = 0
        self.refuse = False
        self.serve = self.http

    async def http(self, stream: SocketStream) -> None:
        async with stream:
            head = await read_request(stream)
            self.asked.append(head)
            if self.refuse:
                await stream.send(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")
            elif head.startswith(b"CONNECT "):
                await self.join(stream, b"HTTP/1.1 200 Fine\r\nx: y\r\n\r\n")
            else:
                await stream.send(reply(b"by the proxy"))

    async def socks(self, stream: SocketStream) -> None:
        async with stream:
            _, count = await stream.receive(2)
            methods = await stream.receive(count)
            await stream.send(b"\x05" + methods[:1])
            if methods == b"\x02":
                self.asked.append(await stream.receive())
                await stream.send(b"\x01\x00")
            self.asked.append(await stream.receive())
            if self.refuse:
                await stream.send(b"\x05\x02\x00\x01" + bytes(6))
                return
            await self.join(stream, b"\x05\x00\x00\x03\x04name\x00\x00")

    async def join(self, stream: SocketStream, accept: bytes) -> None:
        other = await anyio.connect_tcp("127.0.0.2", self.target)
        await stream.send(accept)

        async def copy(one: SocketStream, two: SocketStream) -> None:
            data = await drain(one)
            try:
                await two.send(data)
                await two.send_eof()
            except NotImplementedError:
                await two.aclose()  # TLS has no half-close.
            except (anyio.BrokenResourceError, OSError):
                return

        async with other, anyio.create_task_group() as tasks:
            tasks.start_soon(copy, other, stream)

            async def feed() -> None:
                try:
                    while True:
                        await other.send(await stream.receive())
                except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
                    return

            await feed()


@pytest.fixture
async def proxy(world: World) -> AsyncGenerator[Proxy]:
    proxy = Proxy(world.port)
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    proxy.port = listener.extra(SocketAttribute.local_port)
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(serve_by, listener, proxy)
        yield proxy
        tasks.cancel_scope.cancel()


async def serve_by(listener: Listener[Any], proxy: Proxy) -> None:
    async def handle(stream: SocketStream) -> None:
        try:
            await proxy.serve(stream)
        except (anyio.BrokenResourceError, anyio.EndOfStream, anyio.ClosedResourceError):
            return

    await listener.serve(handle)


async def through(world: World, target: str) -> bytes:
    head, stream = await world.connect(target)
    async with stream:
        if b" 200 " not in head:
            return head + await drain(stream)
        await stream.send(b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
        return await drain(stream)


async def test_the_users_proxy_is_asked_for_the_tunnel(world: World, proxy: Proxy) -> None:
    url = f"http://user:p%40ss@127.0.0.1:{proxy.port}"
    async with world.open("good.test:PORT", proxy=url) as refused:
        assert (await through(world, f"good.test:{world.port}")).endswith(b"public")
        assert b" 403 " in await through(world, f"evil.test:{world.port}")
        assert refused() == (f"evil.test:{world.port}",)
    (asked,) = proxy.asked
    assert asked.startswith(f"CONNECT good.test:{world.port} HTTP/1.1\r\n".encode())
    assert b"proxy-authorization: basic dxnlcjpwqhnz\r\n" in asked.lower()


async def test_the_users_proxy_gets_plain_requests_whole(world: World, proxy: Proxy) -> None:
    environment = {"http_proxy": f"http://user:word@127.0.0.1:{proxy.port}"}
    async with world.open("good.test", environment=environment):
        answer = await world.get("http://good.test/a?b", "proxy-authorization: Basic stolen")
    assert answer.endswith(b"by the proxy")
    (asked,) = proxy.asked
    assert asked.startswith(b"GET http://good.test/a?b HTTP/1.1\r\n")
    assert b"host: good.test\r\n" in asked
    assert b"stolen" not in asked
    assert b"proxy-authorization: Basic dXNlcjp3b3Jk\r\n" in asked


@pytest.mark.parametrize("scheme", ["socks5", "socks5h"])
@pytest.mark.parametrize("user", ["", "user:word@"])
async def test_a_socks_proxy_is_asked_by_name(
    world: World, proxy: Proxy, scheme: str, user: str
) -> None:
    proxy.serve = proxy.socks
    environment = {"ALL_PROXY": f"{scheme}://{user}127.0.0.1:{proxy.port}"}
    async with world.open("good.test:PORT", environment=environment):
        assert (await through(world, f"good.test:{world.port}")).endswith(b"public")
    if user:
        assert proxy.asked.pop(0) == b"\x01\x04user\x04word"
    assert proxy.asked == [b"\x05\x01\x00\x03\x09good.test" + world.port.to_bytes(2, "big")]


async def test_a_proxy_that_refuses_is_said(world: World, proxy: Proxy) -> None:
    proxy.refuse = True
    async with world.open("good.test:PORT", proxy=f"http://127.0.0.1:{proxy.port}") as refused:
        answer = await through(world, f"good.test:{world.port}")
        assert b" 502 " in answer
        assert b"the proxy refused: status 407" in answer
        assert refused() == ()
    proxy.serve = proxy.socks
    async with world.open("good.test:PORT", proxy=f"socks5://127.0.0.1:{proxy.port}"):
        assert b"SOCKS reply 2" in await through(world, f"good.test:{world.port}")


@pytest.mark.parametrize(
    "url", ["ftp://127.0.0.1", "http://", "http://127.0.0.1:port", "http://[::1"]
)
async def test_a_proxy_that_cannot_be_used_is_said(world: World, url: str) -> None:
    async with world.open("good.test:PORT", proxy=url):
        answer = await through(world, f"good.test:{world.port}")
    assert b" 502 " in answer
    assert b"proxy" in answer


async def test_a_proxy_that_is_not_there_is_said(world: World) -> None:
    async with world.open("good.test:PORT", proxy=f"http://127.0.0.3:{world.port}"):
        answer = await through(world, f"good.test:{world.port}")
    assert b" 502 " in answer
    assert f"127.0.0.3:{world.port}".encode() in answer


async def test_hosts_that_need_no_proxy_are_reached_without(world: World, proxy: Proxy) -> None:
    environment = {"ALL_PROXY": f"http://127.0.0.1:{proxy.port}", "NO_PROXY": "good.test"}
    async with world.open("good.test:PORT", "localhost:PORT", environment=environment):
        assert (await through(world, f"good.test:{world.port}")).endswith(b"public")
        assert (await through(world, f"localhost:{world.port}")).endswith(b"private")
    assert proxy.asked == []


async def test_a_private_name_is_not_asked_of_the_users_proxy_either(
    world: World, proxy: Proxy
) -> None:
    world.names["good.test"] = [["10.0.0.1"]]
    async with world.open("good.test:PORT", proxy=f"http://127.0.0.1:{proxy.port}"):
        assert b" 403 " in await through(world, f"good.test:{world.port}")
    assert proxy.asked == []


async def test_a_name_that_only_the_proxy_knows_is_left_to_it(world: World, proxy: Proxy) -> None:
    world.names["good.test"] = [[]]
    async with world.open("good.test:PORT", proxy=f"http://127.0.0.1:{proxy.port}"):
        assert (await through(world, f"good.test:{world.port}")).endswith(b"public")


async def test_a_proxy_that_speaks_tls_is_one_that_is_trusted(
    world: World, proxy: Proxy, authority: tuple[Path, ssl.SSLContext]
) -> None:
    certificate, context = authority
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    port = listener.extra(SocketAttribute.local_port)
    wrapped = TLSListener(listener, ssl_context=context, standard_compatible=False)
    url = f"https://127.0.0.1:{port}"
    async with wrapped, anyio.create_task_group() as tasks:
        tasks.start_soon(serve_by, wrapped, proxy)
        async with world.open("good.test:PORT", proxy=url, ca_file=str(certificate)):
            assert (await through(world, f"good.test:{world.port}")).endswith(b"public")
        async with world.open("good.test:PORT", proxy=url):
            answer = await through(world, f"good.test:{world.port}")
            assert b" 502 " in answer
            assert b"not trusted" in answer
        tasks.cancel_scope.cancel()


async def test_tls_goes_from_end_to_end(
    world: World, authority: tuple[Path, ssl.SSLContext]
) -> None:
    certificate, context = authority
    listener = await anyio.create_tcp_listener(local_host="127.0.0.2")
    port = listener.extra(SocketAttribute.local_port)

    async def handle(stream: TLSStream) -> None:
        async with stream:
            await stream.send(b"secret for " + await stream.receive())

    wrapped = TLSListener(listener, ssl_context=context, standard_compatible=False)
    async with wrapped, anyio.create_task_group() as tasks:
        tasks.start_soon(wrapped.serve, handle)
        async with world.open(f"model.test:{port}"):
            head, stream = await world.connect(f"model.test:{port}")
            assert b" 200 " in head
            trust = ssl.create_default_context(cafile=str(certificate))
            secure = await TLSStream.wrap(
                stream, hostname="model.test", ssl_context=trust, standard_compatible=False
            )
            async with secure:
                await secure.send(b"you")
                assert await secure.receive() == b"secret for you"
        tasks.cancel_scope.cancel()
