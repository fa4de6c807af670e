"""Trying a sandbox: what must fail in it, and what must work, in the very one that will be used.

One program does the trying, inside; what came of it is looked at from outside. Nothing of the user's is
touched: what may not be read or written is planted for it, with a name of its own, and taken away again.
"""

import os
import secrets
import shutil
import socket
import sys
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import anyio
import msgspec

from hame.base.confinement import Confinement, Probe, Reach
from hame.base.errors import ToolError
from hame.base.ports import Processes
from hame.base.process import Launch
from hame.base.zone import is_below, split
from hame.sandbox.private import make_private_folder
from hame.sandbox.site import Site

_LIMIT_S = 20.0
_WHERE_ALL_MAY_WRITE = ("/var/tmp", "/tmp")  # noqa: S108 - looked for, not relied on

_SCRIPT = r"""
import json, os, socket, sys
task = json.loads(sys.argv[1])
told = {}
def attempt(name, act):
    try:
        act()
        told[name] = ""
    except BaseException as error:
        told[name] = f"{type(error).__name__}: {error}"
def write(path):
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
def read(path):
    with open(path) as file:
        told["token"] = file.read()
def nameless(folder):
    os.close(os.open(folder, os.O_WRONLY | os.O_TMPFILE, 0o600))
def tcp(port):
    socket.create_connection(("127.0.0.1", port), 1).close()
def local(path):
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(1)
        client.connect(path)
for path in task["outside"]:
    attempt(path, lambda: write(path))
attempt("secret", lambda: read(task["secret"]))
attempt("tcp", lambda: tcp(task["port"]))
attempt("local", lambda: local(task["socket"]))
attempt("inside", lambda: write(os.path.join(os.environ["TMPDIR"], task["inside"])))
if task["project"]:
    attempt("project", lambda: nameless(task["project"]))
print("\n" + json.dumps(told))
"""
"""In the project it writes a file without a name, which nothing that watches the project sees."""

_CANNOT = ("PermissionError", "OSError: [Errno 30]")
"""Begins what is said of a write that was refused; a file system may also know no nameless files."""


class _Plants(msgspec.Struct, frozen=True, kw_only=True):
    """What was planted for one trial."""

    outside: str
    """A file that is not there, in a folder that the user may write; empty: there is no such folder."""
    home: str
    """The same in the home."""
    secret: str
    token: str
    """What is in it."""
    inside: str
    """Name of a file in the private folder for temporary files."""
    listeners: tuple[socket.socket, socket.socket]
    """One for TCP, and one with a path."""


async def try_reading(site: Site, processes: Processes) -> list[Probe]:
    """Try the sandbox of a command that only reads."""
    return await _try(site, processes, Confinement())


async def try_writing(site: Site, processes: Processes) -> list[Probe]:
    """Try the sandbox of a command that may write the project."""
    return await _try(site, processes, Confinement(reach=Reach.WRITE))


async def _try(site: Site, processes: Processes, confinement: Confinement) -> list[Probe]:
    project = site.paths.root if os.access(site.paths.root, os.W_OK) else ""
    try:
        with _planted(site) as plants:
            launch = _launch(plants, project, site, confinement)
            told, words = await _run(launch, processes)
            if not told:
                return [Probe("start a program", holds=False, detail=words)]
            found = [*_what_must_fail(plants, told), _inside(plants, told, site)]
    except OSError as error:
        reason = f"{error.filename or 'planting'}: {error.strerror}"
        return [Probe("set up", holds=False, detail=reason)]
    if project:
        found.append(_in_project(told["project"], writes=confinement.reach is Reach.WRITE))
    return found


def _launch(plants: _Plants, project: str, site: Site, confinement: Confinement) -> Launch:
    """The program that does the trying."""
    task = {
        "outside": [path for path in (plants.outside, plants.home) if path],
        "secret": plants.secret,
        "port": plants.listeners[0].getsockname()[1],
        "socket": plants.listeners[1].getsockname(),
        "inside": plants.inside,
        "project": project,
    }
    argv = (sys.executable, "-I", "-S", "-c", _SCRIPT, msgspec.json.encode(task).decode())
    return Launch(argv=argv, cwd=site.paths.root, confinement=confinement, label="probe")


async def _run(launch: Launch, processes: Processes) -> tuple[dict[str, str], str]:
    """What the program says of each attempt: why it failed, or nothing; else its own last words."""
    said = b""
    try:
        with anyio.fail_after(_LIMIT_S):
            async with processes.start(launch) as process:
                async for chunk in process.output():
                    said += chunk
                await process.wait()
    except ToolError as error:
        return {}, error.message
    except TimeoutError:
        return {}, f"it did not end within {_LIMIT_S:g} s"
    lines = said.decode(errors="replace").strip().splitlines()
    with suppress(msgspec.DecodeError, IndexError):
        return msgspec.json.decode(lines[-1], type=dict[str, str]), ""
    return {}, lines[0] if lines else "it ended without a word"


def _what_must_fail(plants: _Plants, told: dict[str, str]) -> Iterator[Probe]:
    for name, path in (("write outside", plants.outside), ("write home", plants.home)):
        if not path:
            yield Probe(name, holds=True, detail="there is nowhere that the user may write")
        elif os.path.lexists(path):
            yield Probe(name, holds=False, detail=f"{path} was written")
        else:
            yield Probe(name, holds=True)
    seen = plants.token in told.get("token", "")
    yield Probe("read a secret", holds=not seen, detail=f"{plants.secret} was read" if seen else "")
    heard = [
        kind
        for kind, listener in zip(("TCP", "a local socket"), plants.listeners, strict=True)
        if _was_called(listener)
    ]
    detail = f"it got through by {' and '.join(heard)}" if heard else ""
    yield Probe("connect", holds=not heard, detail=detail)


def _inside(plants: _Plants, told: dict[str, str], site: Site) -> Probe:
    there = Path(site.paths.temporary, plants.inside).exists()
    return Probe("write inside", holds=there, detail="" if there else told["inside"])


def _in_project(why: str, *, writes: bool) -> Probe:
    refused = why.startswith(_CANNOT)
    if writes:
        return Probe("write the project", holds=not refused, detail=why if refused else "")
    detail = "" if refused else f"a file was made there ({why or 'nothing kept it from that'})"
    return Probe("write while reading", holds=refused, detail=detail)


@contextmanager
def _planted(site: Site) -> Generator[_Plants]:
    """Plant it, and take all of it away.

    Raises:
        OSError: if it cannot be planted.
    """
    name = f"hame-probe-{secrets.token_hex(8)}"
    paths = site.paths
    with ExitStack() as stack:
        hidden = f"{site.scratch}/{name}"
        _make_folder(hidden, stack)
        token = secrets.token_hex(16)
        Path(hidden, "secret").write_text(token, encoding="ascii")
        # One that does not confine at all writes into the folder that it should have replaced.
        for folder in (paths.temporary, *_WHERE_ALL_MAY_WRITE):
            stack.callback(_remove, Path(folder, name))
        outside = _make_outside(name, site, stack)
        home = ""
        if paths.home and os.access(paths.home, os.W_OK) and not _may_be_written(paths.home, site):
            home = f"{paths.home}/.{name}"
            stack.callback(_remove, Path(home))
        tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        local = stack.enter_context(socket.socket(socket.AF_UNIX))
        local.bind(f"{outside or hidden}/socket")
        local.listen()
        yield _Plants(
            outside=f"{outside}/written" if outside else "",
            home=home,
            secret=f"{hidden}/secret",
            token=token,
            inside=name,
            listeners=(tcp, local),
        )


def _make_outside(name: str, site: Site, stack: ExitStack) -> str:
    """A folder of the user's that no sandbox lets be written; empty where there can be none."""
    for parent in (*_WHERE_ALL_MAY_WRITE, site.paths.root.rpartition("/")[0]):
        if parent and not _may_be_written(parent, site):
            with suppress(OSError):
                _make_folder(f"{parent}/{name}", stack)
                return f"{parent}/{name}"
    return ""


def _may_be_written(folder: str, site: Site) -> bool:
    paths = site.paths
    writable = (paths.root, *paths.added, paths.temporary, site.caches, "/dev/shm")  # noqa: S108
    return any(is_below(split(folder), place) for place in writable)


def _make_folder(path: str, stack: ExitStack) -> None:
    make_private_folder(path)
    stack.callback(shutil.rmtree, path, ignore_errors=True)


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()


def _was_called(listener: socket.socket) -> bool:
    listener.settimeout(0)
    try:
        listener.accept()[0].close()
    except BlockingIOError:
        return False
    return True
