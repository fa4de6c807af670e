"""Programs to which hosts were granted: they reach those, and nothing else by any other way."""

import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from typing_extensions import override

from sandbox.cage import Cage, python_inside


@pytest.fixture
def mechanism() -> str:
    return "bubblewrap"


class Site(BaseHTTPRequestHandler):
    """A public server."""

    def do_GET(self) -> None:
        body = f"public {self.path}\n".encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    @override
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def port() -> Iterator[int]:
    """A public server's."""
    server = ThreadingHTTPServer(("127.0.0.2", 0), Site)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.server_port
    server.shutdown()
    thread.join()
    server.server_close()


def get(cage: Cage, url: str, *hosts: str, **more: object):
    script = (
        "import sys, urllib.request\n"
        "try: print(urllib.request.urlopen(sys.argv[1], timeout=10).read().decode(), end='')\n"
        "except OSError as error: print(getattr(error, 'code', 'failed'))\n"
    )
    return cage.run("", argv=[python_inside(), "-I", "-c", script, url], hosts=hosts, **more)


def test_a_host_that_was_granted_is_reached_and_no_other(cage: Cage, port: int):
    said = get(cage, f"http://site.test:{port}/a", f"site.test:{port}")
    assert (said.output, said.code, said.refused) == ("public /a\n", 0, [])
    said = get(cage, f"http://other.test:{port}/a", f"site.test:{port}")
    assert (said.output, said.refused) == ("403\n", [f"other.test:{port}"])
    assert get(cage, f"http://site.test:{port}/a").output == "failed\n"


def test_with_hosts_there_is_still_no_other_way(cage: Cage, port: int):
    """Seen failing with one filter, that of the relay, for all: a socket with a path answers."""
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(cage.root / "s"))
    server.listen()
    (cage.root / "s").chmod(0o777)
    script = (
        "import socket\n"
        "def tried(act):\n"
        "    try: act(); print('through')\n"
        "    except OSError as error: print(error.errno)\n"
        "tried(lambda: socket.socket(socket.AF_UNIX).connect('s'))\n"
        "tried(lambda: socket.socket(socket.AF_UNIX).connect('/run/hame/proxy'))\n"
        f"tried(lambda: socket.create_connection(('127.0.0.2', {port}), 3))\n"
        "tried(lambda: socket.getaddrinfo('site.test', 80))\n"
    )
    said = cage.run("", argv=[python_inside(), "-I", "-c", script], hosts=[f"site.test:{port}"])
    server.close()
    assert said.lines[:2] == ["1", "1"]
    assert "through" not in said.output


def test_what_has_the_right_to_sockets_is_not_taken_over(cage: Cage, port: int):
    """Seen failing without the empty folder over /proc/1: the memory of bubblewrap's process opens."""
    script = (
        "import glob, os\n"
        "for path in sorted(glob.glob('/proc/[0-9]*/mem') + glob.glob('/proc/[0-9]*/task/*/mem')):\n"
        "    try: os.close(os.open(path, os.O_RDWR))\n"
        "    except OSError: continue\n"
        "    status = open(path.replace('/mem', '/status')).read()\n"
        "    print(status.split('Seccomp_filters:')[1].split()[0])\n"
    )
    said = cage.run("", argv=[python_inside(), "-I", "-c", script], hosts=[f"site.test:{port}"])
    # What can be written to has both filters: the sandbox's and the one of what the relay starts.
    assert set(said.lines) == {"2"}, said.output


@pytest.mark.parametrize("ending", ["exit 7", "kill -SEGV $$", "exit 139", "sleep 99 & exit 0"])
def test_a_program_ends_as_without_hosts(cage: Cage, port: int, ending: str):
    plain, led = cage.run(ending), cage.run(ending, hosts=[f"site.test:{port}"])
    assert (plain.code, plain.signal, plain.left) == (led.code, led.signal, led.left)


def test_nothing_is_left_of_the_way(cage: Cage, port: int):
    assert get(cage, f"http://site.test:{port}/", f"site.test:{port}").ok
    assert [each.name for each in (cage.state / "sandbox").iterdir()] == ["masks"]
