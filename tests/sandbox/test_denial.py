"""What a command was kept from, told from what it printed."""

import os
import socket
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hame.base.confinement import Confinement, HostDenied, PathDenied, Reach
from hame.sandbox.denial import MOST_HOSTS, MOST_PATHS, explain
from hame.sandbox.ground import Ground


def read_cases(name: str) -> list[tuple[str, str, list[str]]]:
    """Cases of a file: what they are called, what was printed, what is told."""
    text = Path(__file__).with_name("printed").joinpath(f"{name}.txt").read_text(encoding="utf-8")
    cases: list[tuple[str, str, list[str]]] = []
    for block in text.split("\n##### ")[1:]:
        title, _, output = block.partition("\n")
        called, _, expected = title.partition(" => ")
        told = [each.strip().removeprefix("?") for each in expected.split("|")] if expected else []
        cases.append((called, output.replace("\u241b", "\x1b").removesuffix("\n"), told))
    return cases


UNREACHABLE, UNWRITABLE, NO_DENIALS = map(read_cases, ("unreachable", "unwritable", "no_denials"))
WRITES = Confinement(reach=Reach.WRITE)


NO_SOCKETS = [
    "Error: listen EPERM: operation not permitted 127.0.0.1:3456\n    at Server.setupListenHandle",
    "2026/11/30 21:45:24 listen tcp 127.0.0.1:3457: socket: operation not permitted\nexit status 1",
    "cannot listen: Operation not permitted at -e line 1.",
    (
        "    _socket.socket.__init__(self, family, type, proto, fileno)\n"
        "PermissionError: [Errno 1] Operation not permitted"
    ),
    "Failed to listen on localhost:8000 (reason: Operation not permitted)",
    "initialize': Operation not permitted - socket(2) (Errno::EPERM)",
    "java.net.SocketException: Operation not permitted",
]
"""Of Node, Go, Perl, Python (seen), PHP, Ruby and Java."""


class Place:
    """A project, a folder outside, and a home."""

    def __init__(self, base: Path) -> None:
        self.project, self.outside, self.home = (
            base / name for name in ("project", "outside", "home")
        )
        for folder in (self.project / ".git" / "hooks", self.outside / "hidden", self.home):
            folder.mkdir(parents=True)
        (self.outside / "file").touch()
        (self.outside / "hidden" / "key").touch()
        (self.project / "out").symlink_to(self.outside)

    @property
    def ground(self) -> Ground:
        return Ground(
            writable=(str(self.project), "/tmp"),
            projects=(str(self.project),),
            hidden=(f"{self.outside}/hidden",),
            home=str(self.home),
            cwd=str(self.project),
        )

    def fill(self, text: str) -> str:
        for word, path in (("WS", self.project), ("OUT", self.outside), ("HOME", self.home)):
            text = text.replace(f"{word}/", f"{path}/").replace(f"{word}'", f"{path}'")
            text = text.replace(f"{word} ", f"{path} ").replace(f"{word}:", f"{path}:")
        return str({"WS": self.project, "OUT": self.outside, "HOME": self.home}.get(text, text))

    def explain(self, output: str, *refused: str, confinement: Confinement = WRITES):
        return explain(
            confinement, self.fill(output), refused, self.ground, listens=lambda port: port == 5432
        )


@pytest.fixture
def place() -> Iterator[Place]:
    # Not below /tmp, which is writable to the program.
    with tempfile.TemporaryDirectory(prefix="hame-", dir="/var/tmp") as folder:
        yield Place(Path(os.path.realpath(folder)))


def test_sockets_are_wanted_only_where_there_are_none(place: Place):
    """At level B a server cannot listen, and says so in many ways; at level A the words mean something else."""
    without = msgspec.structs.replace(place.ground, sockets=False)
    for said in NO_SOCKETS:
        assert explain(WRITES, said, (), without) == (HostDenied(""),), said
        assert explain(WRITES, said, (), place.ground) == (), said
    assert explain(WRITES, "ping: socket: Operation not permitted", (), without) == ()


def ids(rows: list) -> list[str]:
    return [row[0] for row in rows]


@pytest.mark.parametrize(
    ("output", "hosts"), [row[1:] for row in UNREACHABLE], ids=ids(UNREACHABLE)
)
def test_the_machine_that_could_not_be_reached_is_told(place: Place, output: str, hosts: list[str]):
    assert place.explain(output) == tuple(map(HostDenied, hosts))


@pytest.mark.parametrize(("output", "paths"), [row[1:] for row in UNWRITABLE], ids=ids(UNWRITABLE))
def test_the_place_that_could_not_be_used_is_told(place: Place, output: str, paths: list[str]):
    expected = tuple(PathDenied(place.fill(path)) for path in paths)
    assert place.explain(output) == expected
    noise = "\n".join(f"line {number} of many others" for number in range(50))
    assert place.explain(f"{noise}\n{output}\n{noise}\n") == expected


@pytest.mark.parametrize("output", [row[1] for row in NO_DENIALS], ids=ids(NO_DENIALS))
def test_what_has_other_reasons_is_no_denial(place: Place, output: str):
    assert place.explain(output) == ()


@pytest.mark.parametrize("output", [row[1] for row in UNREACHABLE], ids=ids(UNREACHABLE))
def test_a_machine_that_was_granted_is_not_asked_for_again(place: Place, output: str):
    """A program that knows no proxies fails although it has its grant: another one would not help."""
    hosts = tuple(denied.host for denied in place.explain(output) if denied.host)
    if hosts:
        granted = Confinement(reach=Reach.WRITE, hosts=hosts)
        assert place.explain(output, confinement=granted) == ()
        assert place.explain(output, *hosts, confinement=granted) == ()


def test_what_the_proxy_refused_comes_first_and_once(place: Place):
    output = (
        "curl: (6) Could not resolve host: a.example.org\ntouch: cannot touch 'OUT/x': Read-only file system\n"
        "touch: cannot touch 'OUT/y': Permission denied\nsocket.gaierror: [Errno -3] Temporary failure in name "
        "resolution"
    )
    assert place.explain(output, "b.example.org", "a.example.org", "b.example.org") == (
        HostDenied("b.example.org"),
        HostDenied("a.example.org"),
        PathDenied(place.fill("OUT/x")),
        PathDenied(place.fill("OUT/y")),
    )
    assert place.explain(output) == (
        PathDenied(place.fill("OUT/x")),
        HostDenied("a.example.org"),
        PathDenied(place.fill("OUT/y")),
    )


def test_what_was_refused_needs_no_words(place: Place):
    assert place.explain("exit", "example.org:8443") == (HostDenied("example.org:8443"),)
    assert place.explain("", "no host\0", "example.org.") == ()


def test_what_stands_in_a_project_for_a_sandbox_only_could_not_be_removed_and_need_not_be(
    place: Place,
):
    mask = place.project / ".vscode"
    said = "warning: failed to remove .vscode/: Device or resource busy"
    mask.mkdir()
    assert place.explain(said) == ()
    (mask / "settings.json").touch()
    assert place.explain(said) == (PathDenied(str(mask)),)


def test_what_is_not_confined_was_kept_from_nothing(place: Place):
    outside = Confinement(reach=Reach.OUTSIDE)
    for _, output, _ in (*UNREACHABLE, *UNWRITABLE):
        assert place.explain(output, "example.org", confinement=outside) == ()


def test_a_command_that_only_reads_may_not_write_the_project(place: Place):
    """Its ground is smaller; so the same words mean another thing."""
    ground = Ground(writable=("/tmp",), home=str(place.home), cwd=str(place.project))
    for output, path in (
        ("touch: cannot touch 'a': Read-only file system", "a"),
        ("bash: line 1: a: Read-only file system", "a"),
        ("tar: b/a: Cannot mkdir: Read-only file system", "b/a"),
        ("fatal: cannot mkdir build: Read-only file system", "build"),
        ("mkdir: cannot create directory 'build': Read-only file system", "build"),
    ):
        assert explain(Confinement(), output, (), ground) == (
            PathDenied(f"{place.project}/{path}"),
        )
    for output in (
        "OSError: Read-only file system",
        "error: Read-only file system",
        "make: *** [Makefile:2: all] Error 1: Read-only file system",
        "zip I/O error: Read-only file system",
    ):
        assert explain(Confinement(), output, (), ground) == ()


def test_a_place_that_was_granted_is_no_denial(place: Place):
    ground = Ground(writable=(str(place.project), f"{place.outside}/file"), cwd=str(place.project))
    words = place.fill("tee: OUT/file: Permission denied\ntee: OUT/other: Permission denied")
    assert explain(WRITES, words, (), ground) == (PathDenied(f"{place.outside}/other"),)


def test_a_protected_place_that_was_granted_is_no_denial(place: Place):
    hooks = f"{place.project}/.git/hooks"
    words = f"tee: {hooks}/a: Permission denied"
    project = (str(place.project),)
    protected = Ground(writable=project, projects=project)
    assert explain(WRITES, words, (), protected) == (PathDenied(f"{hooks}/a"),)
    granted = Ground(writable=(*project, hooks), projects=project)
    assert explain(WRITES, words, (), granted) == ()


@pytest.mark.parametrize(
    "output",
    [
        "curl: (7) Failed to connect to localhost port 5432 after 0 ms: Couldn't connect to server",
        "Error: connect ECONNREFUSED 127.0.0.1:5432",
        "Error: connect ECONNREFUSED ::1:5432\nError: connect ECONNREFUSED 127.0.0.1:5432",
        'psql: error: connection to server at "localhost" (127.0.0.1), port 5432 failed: Connection refused',
        "dial tcp 127.0.0.1:5432: connect: connection refused",
        "requests.exceptions.ConnectionError: HTTPConnectionPool(host='localhost', port=5432): Max retries exceeded",
        "Could not connect to Redis at 127.0.0.1:5432: Connection refused",
        "aiohttp.client_exceptions.ClientConnectorError: Cannot connect to host localhost:5432 ssl:default",
    ],
)
def test_a_service_of_this_machine_that_runs_outside_is_told(place: Place, output: str):
    assert place.explain(output) == (HostDenied("localhost:5432"),)
    granted = Confinement(reach=Reach.WRITE, hosts=("localhost:5432",))
    assert place.explain(output, confinement=granted) == ()
    assert place.explain(output.replace("5432", "5433")) == ()


def test_who_listens_is_asked_of_the_system(place: Place):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        words = f"connect ECONNREFUSED 127.0.0.1:{port}"
        assert explain(WRITES, words, (), place.ground) == (HostDenied(f"localhost:{port}"),)
    assert explain(WRITES, words, (), place.ground) == ()


def test_only_a_few_are_told(place: Place):
    hosts = [f"curl: (6) Could not resolve host: h{number}.example.org" for number in range(50)]
    paths = [f"touch: cannot touch 'OUT/{number}': Read-only file system" for number in range(50)]
    found = place.explain(
        "\n".join([*hosts, *paths]), *(f"r{number}.example.org" for number in range(3))
    )
    told = [denied.host for denied in found if isinstance(denied, HostDenied)]
    assert told == ["r0.example.org", "r1.example.org", "r2.example.org", "h0.example.org"]
    assert len(told) == MOST_HOSTS
    assert len(found) - len(told) == MOST_PATHS


def test_of_places_within_each_other_the_outermost_is_told(place: Place):
    words = "".join(
        f"rm: cannot remove 'OUT/{name}': Read-only file system\n"
        for name in ("hidden/key", "hidden")
    )
    assert place.explain(words) == (PathDenied(place.fill("OUT/hidden")),)


HOSTILE = {
    "words": "x: '/a/b/c': Permission denied\n" * 200_000,
    "one line": "Permission denied: '/" * 300_000,
    "a name": "could not resolve host: " * 300_000,
    "names": "".join(f"could not resolve host: h{n}.example.org\n" for n in range(100_000)),
    "quotes": "'" * 3_000_000 + " Permission denied " + "'" * 3_000_000,
    "slashes": "/" * 3_000_000 + ": Read-only file system",
    "letters": "a" * 5_000_000 + ": Temporary failure in name resolution",
    "dots": "a." * 2_000_000 + ": Temporary failure in name resolution",
    "escapes": "\x1b[" * 2_000_000,
    "blanks": " " * 5_000_000 + "raise x Permission denied",
    "colons": ": " * 2_000_000 + "Read-only file system",
    "paths": "".join(f"/etc/{'x' * n}: Read-only file system\n" for n in range(1, 3_000)),
    "deep": "tee: /" + "usr/../" * 100_000 + "x: Read-only file system",
    "zeros": "\0" * 1_000_000 + "Permission denied: '\0/a\0'",
    "nothing but blanks": "a:  : Read-only file system\n: \t: Permission denied\n: : : EBUSY",
    "surrogates": "\udcff/\udcff: Read-only file system\n" * 10_000,
}


@pytest.mark.parametrize("output", list(HOSTILE.values()), ids=list(HOSTILE))
def test_megabytes_of_anything_take_little_time(place: Place, output: str):
    began = time.process_time()
    found = place.explain(output)
    assert time.process_time() - began < 2.5
    assert len(found) <= MOST_HOSTS + MOST_PATHS


def test_words_are_found_at_both_ends_of_megabytes(place: Place):
    middle = "compiling something long\n" * 200_000
    words = "curl: (6) Could not resolve host: example.org\n"
    for output in (words + middle, middle + words):
        assert place.explain(output) == (HostDenied("example.org"),)


PIECES = [
    "Permission denied", "Read-only file system", "Could not resolve host", ": ", "'", '"', "`", "/", "\\", "\n", "\r",
    "\x1b[31m", "\0", "example.org", "localhost", ":443", "http://", "EACCES", "EROFS", "[Errno 13]", "path ", " -> ",
    "\u202e", "\ud800", "é", "~", "..", "/etc", "EBUSY", "No such file or directory", "lookup ", " on ", "(", ")", "{",
    "getaddrinfo EAI_AGAIN ", "Temporary failure in name resolution", "connect to ", " port ", "99999", "at path ",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=30).map("".join))
@settings(max_examples=500)
def test_nothing_that_is_printed_breaks_it(output: str):
    ground = Ground(writable=("/tmp",), hidden=("/run",), home="/root", cwd="/usr")
    for denied in explain(WRITES, output, (output, "\ud800"), ground):
        match denied:
            case HostDenied(host):
                assert not host or host.isascii()
            case PathDenied(path):
                assert path.startswith("/")
                assert "\n" not in path
