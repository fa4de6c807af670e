"""Commands of one session meet on one loopback, from which nothing leads anywhere."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.cage import Cage, caged, python_inside

SERVER = """
import socket, sys
server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
print(server.getsockname()[1], flush=True)
while True:
    server.accept()[0].send(b"hello\\n")
"""


@pytest.fixture
def mechanism() -> str:
    return "bubblewrap"


@pytest.fixture
def serving(cage: Cage) -> Iterator[int]:
    """The port of a server that a command has started, which goes on."""
    cage.begin("", argv=[python_inside(), "-Ic", SERVER, "0"], name="server")
    yield int(cage.line("server"))
    cage.end("server")


def ask(port: int) -> str:
    return f"exec 3<>/dev/tcp/127.0.0.1/{port} && head -1 <&3"


def test_a_server_is_reached_from_later_commands(cage: Cage, serving: int):
    assert cage.run(ask(serving)).lines == ["hello"]
    assert cage.run(ask(serving), pty=True).lines == ["hello"]


def test_a_server_that_is_kept_is_reached_too(cage: Cage):
    log = cage.write(cage.temporary / "log", "")
    argv = [python_inside(), "-Ic", SERVER, "0"]
    cage.begin("", argv=argv, name="server", keep=True, output=str(log))
    while not (said := log.read_text()).endswith("\n"):
        assert cage.run("sleep 0.01").ok
    assert cage.run(ask(int(said))).lines == ["hello"]
    cage.end("server")


def test_what_only_reads_does_not_reach_it(cage: Cage, serving: int):
    said = cage.run(ask(serving), "read")
    assert "hello" not in said.output
    assert not said.ok


def test_another_session_does_not_reach_it(cage: Cage, serving: int):
    with caged(cage.driver) as other:
        assert "refused" in other.run(ask(serving)).output


def test_nobody_takes_the_way_out_of_another_command(cage: Cage):
    """Seen failing with a relay on the shared loopback: its port is there for all."""
    cage.begin("echo up; sleep 60", name="granted", hosts=["good.test:80"])
    assert cage.line("granted") == "up\n"
    assert "refused" in cage.run(ask(3128)).output
    cage.end("granted")


def test_users_and_descriptors_are_those_of_any_sandbox(cage: Cage):
    """Seen failing with a holder that has a /dev of its own: everybody is root inside."""
    said = cage.run("id -u; id -g; readlink /proc/self/fd/*")
    assert said.lines[:2] == [str(cage.user), str(cage.user)]
    read = cage.run("id -u; id -g; readlink /proc/self/fd/*", "read")
    assert [re.sub(r"\d+", "N", line) for line in said.lines] == [
        re.sub(r"\d+", "N", line) for line in read.lines
    ]


def test_it_is_one_that_hame_is_not_in(cage: Cage):
    look = "readlink /proc/self/ns/net"
    shared, again = cage.run(look), cage.run(look)
    own = cage.run(look, "outside")
    assert shared.output == again.output != own.output
    assert cage.run(look, hosts=["good.test:80"]).output not in {shared.output, own.output}
    assert cage.run(look, "read").output not in {shared.output, own.output}


@pytest.mark.parametrize("way", ["absent", "broken", "pretending"])
def test_without_it_each_command_has_its_own(cage: Cage, way: str):
    """Seen failing, for one that only pretends to enter, without the look at where that leads."""
    folder = cage.write("programs/nsenter", "#!/bin/sh\nexit 1\n", 0o755).parent
    if way == "absent":
        (folder / "nsenter").unlink()
    elif way == "pretending":
        script = '#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done; shift; exec "$@"\n'
        (folder / "nsenter").write_text(script)
    program = shutil.which("bwrap")
    assert program
    Path(folder, "bwrap").symlink_to(program)
    cage.search_path = str(folder)
    cage.begin("", argv=[python_inside(), "-Ic", SERVER, "0"], name="server")
    port = int(cage.line("server"))
    assert "refused" in cage.run(ask(port)).output
    look = "readlink /proc/self/ns/net"
    assert cage.run(look).output != cage.run(look, "outside").output
    cage.end("server")
