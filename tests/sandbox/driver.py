"""Runs programs in the real sandbox, in a process of its own: as root, or as an ordinary user.

Reads one JSON object a line and answers each with one. What it needs is imported before it becomes
another user, who may not be able to read any of it.
"""

import ctypes
import importlib
import json
import os
import pkgutil
import shutil
import signal
import sys
import tempfile
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import msgspec

import hame.sandbox
from hame.base.confinement import Confinement, Level
from hame.base.errors import HameError
from hame.base.ports import Process
from hame.base.process import Launch
from hame.net.addresses import Address
from hame.net.egress import Egress
from hame.sandbox import outlet
from hame.sandbox.audited import Audited
from hame.sandbox.bubblewrap import Bubblewrap
from hame.sandbox.landlock import Landlock
from hame.sandbox.site import Site
from hame.workspace.process import LocalProcesses


def become(user: int, python: str, readable: Path) -> None:
    """Give up root for good, and be seen by one's own tools as programs of that user are.

    The relay and the Python that runs it are ones that this user may read.
    """
    shutil.copy(Path(outlet.__file__).with_name("relay.py"), readable)
    outlet.__file__ = str(readable / "outlet.py")
    sys.executable = python
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    set_dumpable = 4
    ctypes.CDLL(None).prctl(set_dumpable, 1, 0, 0, 0)


def make(mechanism: str, site: Site, environment: dict[str, str]) -> Any:
    """A mechanism as a session uses it, without the trial before; `landlock5`: as Landlock was in ABI 5."""
    if mechanism == "bubblewrap":
        gateway = Egress(resolve=look_up, allowed=is_public)
        inner = Bubblewrap(site, LocalProcesses(environment), gateway)
        return Audited(inner, site, Level.A)
    version = int(mechanism.removeprefix("landlock") or 0) or None
    return Audited(Landlock(site, version=version), site, Level.B)


async def look_up(host: str, port: int) -> Sequence[str]:
    """All names of the tests' network, and no others."""
    return ["127.0.0.2"] if host.endswith(".test") else []


def is_public(address: Address) -> bool:
    return str(address) == "127.0.0.2"


class Hame:
    """One session; what was started lives until it is ended or the driver is."""

    def __init__(self, mechanism: str, site: Site, environment: dict[str, str]) -> None:
        self._sandbox = make(mechanism, site, environment)
        self._processes = LocalProcesses(environment, self._sandbox)
        self._running: dict[str, tuple[Process, AsyncExitStack]] = {}

    async def answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        try:
            return await getattr(self, f"do_{asked.pop('do')}")(**asked)
        except HameError as error:
            return {"error": error.message}

    async def do_prepare(self) -> dict[str, Any]:
        return msgspec.to_builtins(await self._sandbox.prepare())

    async def do_run(self, limit: float, **launch: Any) -> dict[str, Any]:
        await self.do_start(name="run", **launch)
        return await self.do_wait("run", limit)

    async def do_start(
        self, name: str, confinement: dict[str, Any], **launch: Any
    ) -> dict[str, Any]:
        given = Launch(
            confinement=msgspec.convert(confinement, Confinement),
            **launch | {"argv": tuple(launch["argv"])},
        )
        stack = AsyncExitStack()
        process = await stack.enter_async_context(self._processes.start(given))
        self._running[name] = (process, stack)
        return {"pid": process.pid}

    async def do_line(self, name: str) -> dict[str, Any]:
        """The next words of a running program."""
        process, _ = self._running[name]
        async for chunk in process.output():
            return {"output": chunk.decode()}
        return {"output": ""}

    async def do_type(self, name: str, text: str) -> dict[str, Any]:
        await self._running[name][0].write(text.encode())
        return {}

    async def do_wait(self, name: str, limit: float) -> dict[str, Any]:
        process, stack = self._running.pop(name)
        try:
            said = await self._said(process, limit)
        finally:
            await stack.aclose()
        return said | {"aftermath": list(process.aftermath)}

    async def do_kill(self, name: str) -> dict[str, Any]:
        process, stack = self._running.pop(name)
        async with stack:
            await process.kill()
            ended = await process.wait()
        told = {"aftermath": list(process.aftermath)}
        return {"code": ended.code, "signal": ended.signal} | told

    async def do_leave(self, name: str) -> dict[str, Any]:
        process, stack = self._running.pop(name)
        process.leave()
        await stack.aclose()
        return {}

    async def _said(self, process: Process, limit: float) -> dict[str, Any]:
        said, ended = b"", None
        with anyio.move_on_after(limit):
            async for chunk in process.output():
                said += chunk
            ended = await process.wait()
        return {
            "output": said.decode(errors="replace"),
            "code": ended and ended.code,
            "signal": ended and ended.signal,
            "ended": ended is not None,
            "left": ended is not None and process.survivors(),
            "refused": list(process.refused),
        }


async def serve() -> None:
    """Each request names its session; the first that names one also says what it is made of."""
    sessions: dict[str, Hame] = {}
    while line := await anyio.to_thread.run_sync(sys.stdin.readline):
        asked = json.loads(line)
        name = asked.pop("session")
        if name not in sessions:
            site = msgspec.convert(asked["site"], Site)
            sessions[name] = Hame(asked["mechanism"], site, asked["environment"])
            said = {}
        else:
            said = await sessions[name].answer(asked)
        print(json.dumps(said), flush=True)


if __name__ == "__main__":
    importlib.import_module("anyio._backends._asyncio")
    for module in pkgutil.iter_modules(hame.sandbox.__path__):
        importlib.import_module(f"hame.sandbox.{module.name}")
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):  # What nohup and shells ignore.
        signal.signal(number, signal.SIG_DFL)
    with tempfile.TemporaryDirectory() as folder:
        if (user := int(sys.argv[1])) != os.geteuid():
            os.chown(folder, user, user)
            become(user, sys.argv[2], Path(folder))
        os.umask(0o022)
        anyio.run(serve)
