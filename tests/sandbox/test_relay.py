"""The one way out of the real sandbox, as root and as an ordinary user (F8, F13, T60, T61, T63)."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hame.sandbox import relay
from hame.sandbox.outlet import proxy_environment, relay_argv
from sandbox.way_out import BIG

ORDINARY = 54321
"""An ordinary user; it need not be known to the system."""


class Said(msgspec.Struct, kw_only=True):
    """How a command ended."""

    code: int
    output: str
    late: bool
    refused: list[str]


class Way:
    """The tests' network, and commands in sandboxes from which only the proxy leads there."""

    def __init__(self, folder: Path, user: int) -> None:
        self.certificate = folder / "cert.pem"
        self._driver = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("way_out.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd="/",
        )
        self.python = "/usr/bin/python3" if Path("/usr/bin/python3").exists() else sys.executable
        start = {
            "user": user,
            "certificate": str(folder / "both.pem"),
            "relay": str(folder / "relay.py"),
            "python": self.python,
        }
        ports = self._ask(start)
        self.http, self.https, self.own = ports["http"], ports["https"], ports["own"]

    def run(self, command: str, *hosts: str, **more: Any) -> Said:
        """Run a shell command to its end; `PORT` in a host is that of the public server."""
        given = [host.replace("PORT", str(self.http)) for host in hosts]
        return msgspec.convert(self._ask({"command": command, "hosts": given, **more}), Said)

    def python_does(self, script: str, *hosts: str, **more: Any) -> Said:
        return self.run(f"exec {self.python} - <<'END'\n{script}\nEND", *hosts, **more)

    def close(self) -> None:
        assert self._driver.stdin
        assert self._driver.stdout
        self._driver.stdin.close()
        assert self._driver.wait(20) == 0
        self._driver.stdout.close()

    def _ask(self, what: Any) -> Any:
        assert self._driver.stdin
        assert self._driver.stdout
        self._driver.stdin.write(json.dumps(what) + "\n")
        self._driver.stdin.flush()
        line = self._driver.stdout.readline()
        assert line, "the driver has ended"
        return json.loads(line)


@pytest.fixture(scope="session")
def open_folder() -> Iterator[Path]:
    """What every user can read: a certificate for the tests' names, and the relay."""
    for tool in ("bwrap", "openssl", "curl"):
        if shutil.which(tool) is None:
            pytest.fail(f"{tool} is missing: .ci/run is to install it")
    folder = Path(tempfile.mkdtemp(prefix="hame-", dir="/var/tmp"))
    certificate, key = folder / "cert.pem", folder / "key.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
            *("-keyout", str(key), "-out", str(certificate), "-subj", "/CN=good.test"),
            *("-addext", "subjectAltName=DNS:good.test"),
        ],
        check=True,
        capture_output=True,
    )
    both = folder / "both.pem"
    both.write_bytes(key.read_bytes() + certificate.read_bytes())
    shutil.copy(relay.__file__, folder)
    folder.chmod(0o755)
    for path in folder.iterdir():
        path.chmod(0o644)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(
    scope="session",
    params=[0, ORDINARY] if os.geteuid() == 0 else [os.geteuid()],
    ids=lambda user: "root" if user == 0 else "user",
)
def way(request: pytest.FixtureRequest, open_folder: Path) -> Iterator[Way]:
    way = Way(open_folder, request.param)
    yield way
    way.close()


# ---------------------------------------------------------------- what is reached


def test_curl_reaches_what_was_granted(way: Way):
    plain = way.run(f"curl -sS http://good.test:{way.http}/a", "good.test:PORT")
    assert (plain.output, plain.code) == ("public /a", 0)
    tunnel = way.run(f"curl -sSp http://good.test:{way.http}/b", "good.test:PORT")
    assert tunnel.output == "public /b"
    secure = way.run(
        f"curl -sS --cacert {way.certificate} https://good.test:{way.https}/c",
        f"good.test:{way.https}",
    )
    assert secure.output == "public /c"


def test_python_reaches_what_was_granted(way: Way):
    said = way.python_does(
        f"""
import ssl, urllib.request
print(urllib.request.urlopen("http://good.test:{way.http}/a").read().decode())
trust = ssl.create_default_context(cafile="{way.certificate}")
print(urllib.request.urlopen("https://good.test:{way.https}/b", context=trust).read().decode())
""",
        "good.test:PORT",
        f"*.test:{way.https}".replace("*.test", "good.test"),
    )
    assert said.output == "public /a\npublic /b\n"


def test_git_reaches_what_was_granted(way: Way):
    """To git the server is a repository of plain files, with nothing in it."""
    url = f"http://good.test:{way.http}/x.git"
    assert way.run(f"git ls-remote {url}", "good.test:PORT").code == 0
    said = way.run(f"git ls-remote {url}")
    assert "403" in said.output
    assert said.refused == [f"good.test:{way.http}"]


def test_much_is_carried(way: Way):
    url = f"http://good.test:{way.http}/big"
    for how in ("-sS", "-sSp"):
        assert way.run(f"curl {how} {url} | wc -c", "good.test:PORT").output.strip() == str(BIG)


def test_more_connections_than_are_served_at_once(way: Way):
    said = way.python_does(
        f"""
import socket, threading
ends = [socket.create_connection(("127.0.0.1", 3128)) for _ in range(200)]
answers = []
def ask(end):
    end.sendall(b"GET http://good.test:{way.http}/ HTTP/1.1\\r\\nhost: x\\r\\n\\r\\n")
    end.shutdown(socket.SHUT_WR)
    data = b""
    while more := end.recv(65536):
        data += more
    end.close()
    answers.append(data.endswith(b"public /"))
threads = [threading.Thread(target=ask, args=(end,)) for end in ends]
for each in threads: each.start()
for each in threads: each.join()
print(sum(answers))
""",
        "good.test:PORT",
    )
    assert said.output == "200\n"


# ---------------------------------------------------------------- what is not


@pytest.mark.parametrize(
    "target",
    [
        "evil.test", "good.test.evil.test", "evil-good.test", "169.254.169.254", "127.0.0.2", "10.0.0.1",
        "[::1]", "localhost", "user@evil.test", "good.test.",
    ],
)  # fmt: skip
@pytest.mark.parametrize("how", ["", "-p"])
def test_nothing_else_is_reached_through_the_proxy(way: Way, target: str, how: str):
    command = f"curl -gsS -m 10 --noproxy '' {how} http://{target}:{way.http}/ || true"
    said = way.run(command, "good.test:PORT")
    assert "public" not in said.output
    assert any(word in said.output for word in ("granted", "403", "400", "no request"))


def test_what_was_refused_is_known_outside(way: Way):
    said = way.run(
        f"curl -s http://evil.test:{way.http}/; curl -s https://other.test/; curl -s http://evil.test/; false",
        "good.test:PORT",
    )
    assert said.refused == [f"evil.test:{way.http}", "other.test", "evil.test"]


def test_nothing_is_reached_without_a_grant(way: Way):
    said = way.run(f"curl -sS http://good.test:{way.http}/")
    assert "not among the hosts granted" in said.output
    assert said.refused == [f"good.test:{way.http}"]


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "[::1]", "1.1.1.1"])
def test_nothing_is_reached_past_the_proxy(way: Way, host: str):
    port = way.own if host == "127.0.0.1" else way.http
    said = way.run(f"curl -gsS -m 5 --noproxy '*' http://{host}:{port}/", "good.test:PORT")
    assert said.code in {7, 28}
    said = way.run(f"exec 3<>/dev/tcp/{host.strip('[]')}/{port} && echo open", "good.test:PORT")
    assert "open" not in said.output


def test_no_name_is_looked_up(way: Way):
    said = way.python_does(
        """
import socket
for host in ("good.test", "example.org", "data.evil.test"):
    try:
        print(socket.getaddrinfo(host, 80))
    except OSError as error:
        print("no")
for address in ("127.0.0.53", "1.1.1.1", "8.8.8.8"):
    end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    end.settimeout(0.2)
    try:
        end.sendto(b"query", (address, 53))
        print(end.recv(100))
    except OSError:
        print("no")
""",
        "good.test:PORT",
    )
    assert said.output == "no\n" * 6


def test_the_proxys_socket_and_all_others_with_a_path_are_out_of_reach(way: Way):
    """Seen failing with the sandbox's filter alone, which the relay needs to be wider."""
    said = way.python_does(
        """
import ctypes, os, socket
assert os.path.exists("/run/hame/proxy")
for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
    try:
        socket.socket(socket.AF_UNIX, kind).connect("/run/hame/proxy")
        print("connected")
    except OSError as error:
        print(error.strerror)
print(open("/proc/self/status").read().split("Seccomp_filters:")[1].split()[0])
print(open("/proc/self/status").read().split("NoNewPrivs:")[1].split()[0])
""",
        "good.test:PORT",
    )
    assert said.output == "Operation not permitted\n" * 3 + "2\n1\n"


def test_children_and_what_is_left_in_the_background_have_the_filter_too(way: Way):
    script = "import socket; socket.socket(socket.AF_UNIX)"
    said = way.run(f"(setsid {way.python} -c '{script}' 2>&1 & wait) | tail -1")
    assert "PermissionError" in said.output


POWERS = [(), ("CAP_DAC_OVERRIDE", "CAP_CHOWN", "CAP_FOWNER")]
"""Root gets the latter for files of other users."""


@pytest.mark.parametrize("powers", POWERS, ids=["no-powers", "some-powers"])
def test_the_relay_cannot_be_looked_into_or_traced(way: Way, powers: Sequence[str]):
    """Seen failing without PR_SET_DUMPABLE: its memory, variables and descriptors are open."""
    said = way.python_does(
        """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
it = os.getppid()
assert b"relay.py" in open(f"/proc/{it}/cmdline", "rb").read()
def attempt(name, do):
    try:
        do()
        print(name, "WORKED")
    except OSError:
        pass
def call(*words):
    if libc.syscall(*(ctypes.c_long(word) for word in words)) < 0:
        raise OSError(ctypes.get_errno(), "")
for name in ("environ", "maps", "auxv", "stack", "syscall"):
    attempt(name, lambda: os.read(os.open(f"/proc/{it}/{name}", os.O_RDONLY), 10))
for mode in (os.O_RDONLY, os.O_RDWR):
    attempt("mem", lambda: os.open(f"/proc/{it}/mem", mode))
for number in range(20):
    attempt("fd", lambda: os.readlink(f"/proc/{it}/fd/{number}"))
    attempt("fd", lambda: os.open(f"/proc/{it}/fd/{number}", os.O_RDONLY))
attempt("root", lambda: os.readlink(f"/proc/{it}/root"))
attempt("ptrace", lambda: call(101, 16, it, 0, 0))
attempt("seize", lambda: call(101, 0x4206, it, 0, 0))
here = (ctypes.c_char * 16)()
vector = (ctypes.c_void_p * 2)(ctypes.addressof(here), 16)
attempt("readv", lambda: call(310, it, ctypes.addressof(vector), 1, ctypes.addressof(vector), 1, 0))
attempt("writev", lambda: call(311, it, ctypes.addressof(vector), 1, ctypes.addressof(vector), 1, 0))
held = os.pidfd_open(it)
for number in range(20):
    attempt("pidfd_getfd", lambda: call(438, held, number, 0))
print("done")
""",
        "good.test:PORT",
        powers=powers if os.geteuid() == 0 and way.run("id -u").output == "0\n" else (),
    )
    assert said.output == "done\n"


def test_nothing_that_may_open_sockets_with_a_path_can_be_written_to(way: Way):
    """Seen failing with bubblewrap's own process in sight, as `/proc/1`."""
    said = way.python_does(
        """
import glob, os
for path in glob.glob("/proc/[0-9]*/mem") + glob.glob("/proc/[0-9]*/task/*/mem"):
    try:
        os.close(os.open(path, os.O_RDWR))
    except OSError:
        continue
    status = open(path.removesuffix("mem") + "status").read()
    print(status.split("Seccomp_filters:")[1].split()[0])
""",
        "good.test:PORT",
    )
    assert set(said.output.split()) == {"2"}


def test_who_ends_the_relay_ends_everything(way: Way):
    said = way.run("kill -9 $PPID; sleep 60; echo still here", limit=30)
    assert not said.late
    assert "still here" not in said.output
    assert said.code != 0


def test_what_the_command_is_sent_does_not_end_the_relay(way: Way):
    said = way.run(
        f"for each in HUP INT QUIT TERM USR1 USR2; do kill -$each $PPID; done; sleep 0.2;"
        f"curl -sS http://good.test:{way.http}/a",
        "good.test:PORT",
    )
    assert said.output == "public /a"


# ---------------------------------------------------------------- the command's own life


@pytest.mark.parametrize(
    ("command", "code"),
    [("exit 0", 0), ("exit 7", 7), ("exit 255", 255), ("kill -9 $$", 137), ("kill -TERM $$", 143),
     ("kill -SEGV $$", 139), ("kill -PIPE $$", 141)],
)  # fmt: skip
def test_the_command_ends_as_it_would_without(way: Way, command: str, code: int):
    assert way.run(command) == Said(code=code, output="", late=False, refused=[])


def test_the_command_has_its_input_its_signals_and_its_environment(way: Way):
    assert way.run("cat", stdin="typed\n").output == "typed\n"
    assert way.run("yes | head -1; echo ${PIPESTATUS[0]}").output == "y\n141\n"
    said = way.run("trap 'echo caught; exit 3' TERM; kill -TERM $$; sleep 5")
    assert (said.output, said.code) == ("caught\n", 3)
    said = way.run("env", env={"LC_ALL": "C", "A": "1=2\n3", "EMPTY": "", "B": "é"})
    for line in ("LC_ALL=C", "A=1=2", "3", "EMPTY=", "B=é"):
        assert line in said.output.splitlines()
    # Python sets this for itself where the locale is C.
    assert "LC_CTYPE" not in said.output


def test_the_command_inherits_nothing_of_the_relays(way: Way):
    said = way.run("ls /proc/self/fd; grep -E 'SigIgn|SigBlk' /proc/self/status")
    lines = said.output.splitlines()
    assert lines[:-2] == ["0", "1", "2", "3"]
    status = Path("/proc/self/status").read_text("utf-8")
    own = [line.split()[1] for line in status.splitlines() if line.startswith(("SigBlk", "SigIgn"))]
    # What was ignored when the tests were started (Python adds SIGPIPE and SIGXFSZ for itself) may be so.
    python = 1 << signal.SIGPIPE - 1 | 1 << signal.SIGXFSZ - 1
    allowed = [int(mask, 16) & ~python for mask in own]
    assert [int(line.split()[1], 16) for line in lines[-2:]] == allowed


def test_the_end_does_not_wait_for_connections(way: Way):
    said = way.run("exec 3<>/dev/tcp/127.0.0.1/3128; (sleep 60; echo late) & echo done", limit=30)
    assert (said.output, said.late) == ("done\n", False)


# ---------------------------------------------------------------- ports of this machine


def test_a_port_of_this_machine_that_was_granted_is_there_for_any_protocol(way: Way):
    for host in (f"localhost:{way.own}", f"127.0.0.1:{way.own}"):
        said = way.run(
            f"exec 3<>/dev/tcp/127.0.0.1/{way.own}; echo hi >&3; cat <&3", host, "good.test:PORT"
        )
        assert said.output == "hello\nprivate hi\n"


def test_only_that_port_is_there(way: Way):
    said = way.run(
        f"(exec 3<>/dev/tcp/127.0.0.1/{way.own}) && echo open; exec 3<>/dev/tcp/127.0.0.1/{way.http}; cat <&3",
        f"localhost:{way.http}",
        limit=10,
    )
    # Nobody listens at that port of this machine: the connection is closed.
    assert "open" not in said.output
    assert "public" not in said.output
    assert not said.late


def test_a_port_that_cannot_be_offered_is_said(way: Way):
    said = way.run(
        f"(exec 3<>/dev/tcp/127.0.0.1/{way.own}) && echo open",
        f"localhost:{way.own}",
        "localhost:7",
    )
    assert "open" in said.output
    if "hame:" in said.output:
        assert "hame: port 7 of this machine cannot be offered here" in said.output


# ---------------------------------------------------------------- without a sandbox


def test_the_relay_raises_the_loopback_of_a_bare_namespace(tmp_path: Path):
    """As root or in a user namespace: some ways of making one leave it down."""
    path = tmp_path / "proxy"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen()

    def answer() -> None:
        connection, _ = listener.accept()
        with connection:
            while data := connection.recv(100):
                connection.sendall(data.upper())

    thread = threading.Thread(target=answer)
    thread.start()
    (tmp_path / "filter").write_bytes(bytes.fromhex("060000000000ff7f"))  # SECCOMP_RET_ALLOW
    apart = ["unshare", "-n"] if os.geteuid() == 0 else ["unshare", "-Urn"]
    inside = "exec 3<>/dev/tcp/127.0.0.1/3128; echo hi >&3; head -1 <&3"
    done = subprocess.run(
        [
            *(*apart, sys.executable, "-I", "-S", relay.__file__),
            *(str(path), str(tmp_path / "filter"), "", "--", "bash", "-c", inside),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )
    listener.close()
    thread.join(10)
    assert (done.stdout, done.stderr, done.returncode) == ("HI\n", "", 0)


@pytest.mark.parametrize(
    ("command", "code", "words"),
    [
        (["/nowhere/program"], 127, "cannot start /nowhere/program: No such file or directory"),
        (["/etc/passwd"], 126, "cannot start /etc/passwd: Permission denied"),
    ],
)
def test_what_cannot_be_started_is_said(tmp_path: Path, command: list[str], code: int, words: str):
    (tmp_path / "filter").write_bytes(bytes.fromhex("060000000000ff7f"))
    apart = ["unshare", "-n"] if os.geteuid() == 0 else ["unshare", "-Urn"]
    run = [*apart, sys.executable, "-I", "-S", relay.__file__, "/nowhere", str(tmp_path / "filter")]
    done = subprocess.run([*run, "", "--", *command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (code, f"hame: {words}\n")


def test_nothing_is_started_without_its_filter(tmp_path: Path):
    """A filter the kernel does not take, or none at all."""
    apart = ["unshare", "-n"] if os.geteuid() == 0 else ["unshare", "-Urn"]
    for content in (b"", b"\xff" * 8, None):
        path = tmp_path / "filter"
        path.unlink(missing_ok=True)
        if content is not None:
            path.write_bytes(content)
        done = subprocess.run(
            [
                *(*apart, sys.executable, "-I", "-S", relay.__file__, "/nowhere", str(path), ""),
                *("--", "echo", "started"),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 126
        assert done.stdout == ""
        assert done.stderr.startswith("hame: ")


def test_the_relay_costs_little(way: Way):
    began = time.monotonic()
    for _ in range(5):
        way.run("true")
    assert (time.monotonic() - began) / 5 < 1.0


# ---------------------------------------------------------------- what is put into a launch


def test_ports_of_this_machine_are_the_only_ones_the_relay_is_told_of():
    argv = relay_argv(
        ["true", "--x"],
        [
            "good.test",
            "*.good.test",
            "localhost:80",
            "[::1]:9",
            "LOCALHOST:7",
            "localhost",
            "10.0.0.1:5",
        ],
    )
    assert argv[1:3] == ("-I", "-S")
    assert argv[-4:] == ("localhost:80,[::1]:9,localhost:7", "--", "true", "--x")
    assert not Path(argv[0]).is_symlink()


def test_what_is_set_already_is_added_to():
    given = {
        "GIT_CONFIG_COUNT": "2",
        "GIT_CONFIG_KEY_0": "a.b",
        "MAVEN_OPTS": "-Xmx1g",
        "HTTPS_PROXY": "http://elsewhere:1",
        "NO_PROXY": "*",
    }
    added = proxy_environment(given)
    assert added["GIT_CONFIG_COUNT"] == "3"
    assert added["GIT_CONFIG_KEY_2"] == "http.proxy"
    assert "GIT_CONFIG_KEY_0" not in added
    assert added["MAVEN_OPTS"].startswith("-Xmx1g -Dhttp.proxyHost=127.0.0.1 ")
    assert added["HTTPS_PROXY"] == added["https_proxy"] == "http://127.0.0.1:3128"
    assert added["NO_PROXY"] == added["no_proxy"] == "localhost,127.0.0.1"
    assert proxy_environment({"GIT_CONFIG_COUNT": "many"})["GIT_CONFIG_KEY_0"] == "http.proxy"
