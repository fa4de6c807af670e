"""Runs commands in a sandbox whose only way out is hame's proxy, in a process of its own.

As root, or as an ordinary user, which it becomes once all that is needed was imported. Reads one JSON
object a line and answers each with one. The machines of the tests' network are at 127.0.0.2 (HTTP, and
HTTPS where there is a certificate); what is at 127.0.0.1 is this machine's own.
"""

import asyncio
import ctypes
import importlib
import json
import os
import ssl
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
from anyio.abc import ByteStream, SocketAttribute
from anyio.streams.tls import TLSListener

from hame.net.addresses import Address
from hame.net.egress import Egress
from hame.sandbox.outlet import outlet_options, proxy_environment, relay_argv
from hame.sandbox.seccomp import Sockets, program

BIG = 20 << 20
"""Bytes of the longest answer."""


def become(user: int) -> None:
    """Give up root for good."""
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # PR_SET_DUMPABLE


def memory_file(data: bytes) -> int:
    descriptor = os.memfd_create("filter")
    os.write(descriptor, data)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


async def resolve(host: str, port: int) -> Sequence[str]:
    """All names of the tests' network, and no others."""
    return ["127.0.0.2"] if host.endswith(".test") else []


def is_public(address: Address) -> bool:
    return str(address) == "127.0.0.2"


async def answer_http(stream: ByteStream) -> None:
    """`/big` is long; all else is told back."""
    async with stream:
        try:
            head = b""
            while b"\r\n\r\n" not in head:
                head += await stream.receive()
            path = head.split(b" ")[1]
            body = bytes(BIG) if path == b"/big" else b"public " + path
            await stream.send(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            return


async def answer_line(stream: ByteStream) -> None:
    """What this machine has to say to itself: a greeting, the line that came, and the end."""
    async with stream:
        line = b""
        try:
            await stream.send(b"hello\n")
            while not line.endswith(b"\n"):
                line += await stream.receive()
            await stream.send(b"private " + line)
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            return


class WayOut:
    """The network of the tests and the sandboxes in it."""

    def __init__(self, folder: Path, relay: str, python: str) -> None:
        self._folder = folder
        self._relay = relay
        self._python = python
        self._egress = Egress(resolve=resolve, allowed=is_public)
        self._ports: dict[str, int] = {}

    async def serve(self, stack: AsyncExitStack, tls: ssl.SSLContext | None) -> dict[str, int]:
        """Start the machines; their ports."""
        listeners: list[Any] = []
        for name, host, handler in (
            ("http", "127.0.0.2", answer_http),
            ("own", "127.0.0.1", answer_line),
            ("https", "127.0.0.2", answer_http),
        ):
            listener: Any = await anyio.create_tcp_listener(local_host=host)
            self._ports[name] = listener.extra(SocketAttribute.local_port)
            if name == "https" and tls is not None:
                listener = TLSListener(listener, ssl_context=tls, standard_compatible=False)
            await stack.enter_async_context(listener)
            listeners.append((listener, handler))
        tasks = await stack.enter_async_context(anyio.create_task_group())
        stack.callback(tasks.cancel_scope.cancel)
        for listener, handler in listeners:
            tasks.start_soon(listener.serve, handler)
        return self._ports

    async def run(
        self,
        command: str,
        hosts: Sequence[str] = (),
        *,
        stdin: str = "",
        env: dict[str, str] | None = None,
        powers: Sequence[str] = (),
        limit: float = 30,
    ) -> dict[str, Any]:
        """Run a shell command to its end."""
        path = str(self._folder / "proxy")
        inside = ["/bin/bash", "--noprofile", "--norc", "-c", command]
        given = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/nowhere", **(env or {})}
        async with self._egress.open(path, hosts) as refused:
            relay = relay_argv(inside, hosts)
            filters = [memory_file(program(each)) for each in (Sockets.LOOPBACK, Sockets.RELAY)]
            argv = [
                "bwrap",
                *self._apart(),
                *(word for each in powers for word in ("--cap-add", each)),
            ]
            argv += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/run"]
            argv += ["--perms", "0555", "--tmpfs", "/proc/1"]
            options = outlet_options(path, filters[0])
            options[1] = self._relay
            argv += [*options, "--seccomp", str(filters[1]), "--", self._python, *relay[1:]]
            process = await asyncio.create_subprocess_exec(
                *argv,
                env=given | proxy_environment(given),
                pass_fds=filters,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            for each in filters:
                os.close(each)
            output = b""
            with anyio.move_on_after(limit) as scope:
                output, _ = await process.communicate(stdin.encode())
            if scope.cancelled_caught:
                process.kill()
                output, _ = await process.communicate()
            return {
                "code": process.returncode,
                "output": output.decode(errors="replace"),
                "late": scope.cancelled_caught,
                "refused": list(refused()),
            }

    def _apart(self) -> Sequence[str]:
        base = [
            "--die-with-parent",
            "--new-session",
            "--unshare-pid",
            "--unshare-net",
            "--unshare-ipc",
        ]
        if os.geteuid() == 0:
            return [*base, "--cap-drop", "ALL"]
        return [*base, "--unshare-user", "--disable-userns"]


async def main(start: dict[str, Any], tls: ssl.SSLContext | None) -> None:
    with tempfile.TemporaryDirectory(prefix="hame-", dir="/var/tmp") as folder:
        way = WayOut(Path(folder), start["relay"], start["python"])
        async with AsyncExitStack() as stack:
            print(json.dumps(await way.serve(stack, tls)), flush=True)
            while line := await anyio.to_thread.run_sync(sys.stdin.readline):
                print(json.dumps(await way.run(**json.loads(line))), flush=True)


if __name__ == "__main__":
    start = json.loads(sys.stdin.readline())
    tls = None
    if start["certificate"]:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(start["certificate"])
    for late in ("concurrent.futures.thread", "anyio._backends._asyncio", "encodings.idna"):
        importlib.import_module(late)
    if start["user"] != os.geteuid():
        become(start["user"])
    anyio.run(main, start, tls)
