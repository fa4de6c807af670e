"""Ways out of the real sandbox, as root and as an ordinary user.

Each was seen to be open in a build that was broken on purpose; the docstrings say how.
"""

import os
import socket
import threading
from pathlib import Path
from typing import Self

import pytest

from sandbox.cage import SECRET, Cage, python_inside

REACHES = ("read", "write")
HOME_SECRETS = (
    ".ssh/id_rsa", ".ssh/config", ".aws/credentials", ".config/gh/hosts.yml", ".netrc",
    ".docker/config.json", ".git-credentials", ".bash_history", ".config/hame/config.toml",
    ".local/share/hame/sessions/1.jsonl", ".local/share/keyrings/login.keyring", ".gnupg/secring",
    ".kube/config", ".mozilla/firefox/p/logins.json", ".config/BraveSoftware/Brave/Login Data",
    ".cargo/credentials.toml", ".codex/auth.json", ".claude/.credentials.json", ".pypirc",
    ".config/gcloud/credentials.db", ".azure/tokens", ".password-store/x.gpg", ".vault-token",
    ".npmrc",
)  # fmt: skip
PROJECT_SECRETS = (
    ".env", "service/.env.production", "certs/server.key", "certs/client.pem", "deploy/id_ed25519",
    "a/b/c/d/.env", ".aws/credentials", "store.kdbx",
)  # fmt: skip


def furnish(cage: Cage, reach: str) -> None:
    """Secrets and protected files as they lie about in a home, as far as they are hidden at all."""
    for path in HOME_SECRETS:
        cage.write(f"home/{path}", f"//registry.example/:_authToken={SECRET}")
    for path in PROJECT_SECRETS if cage.hides_in_project(reach) else ():
        cage.write(cage.root / path, f"-----BEGIN PRIVATE KEY-----\n{SECRET}\n")
    cage.write("home/.bashrc", "# mine\n")
    cage.write("outside/file", "mine\n")


@pytest.mark.parametrize("reach", REACHES)
class TestFiles:
    def test_nothing_outside_is_written(self, cage: Cage, reach: str):
        """Seen failing with `--bind / /` in place of `--ro-bind / /`."""
        furnish(cage, reach)
        name = f"{cage.base.name}-new"
        places = [
            cage.home / ".bashrc", cage.home / "new", cage.home / ".config/autostart/x",
            cage.outside / "file", cage.outside / "new", f"/etc/{name}", f"/usr/bin/{name}",
            f"/var/tmp/{name}", f"/root/{name}", f"/opt/{name}", "/boot/x", "/sys/kernel/x",
        ]  # fmt: skip
        script = "\n".join(
            f"{{ mkdir -p '{Path(place).parent}'; echo evil >> '{place}'; }} 2>/dev/null && echo '{place}'"
            for place in places
        )
        moving = f"mv {cage.outside} {cage.outside}2 2>/dev/null && echo moved; true"
        assert cage.run(f"{script}\n{moving}", reach).output == ""
        assert (cage.home / ".bashrc").read_text() == "# mine\n"
        assert (cage.outside / "file").read_text() == "mine\n"
        assert not any(os.path.lexists(place) for place in places if str(place).endswith("new"))

    def test_no_secret_is_read_by_any_name(self, cage: Cage, reach: str):
        """Seen failing without the mounts that hide: all of them are shown."""
        furnish(cage, reach)
        home = [cage.home / path for path in HOME_SECRETS]
        project = [cage.root / path for path in PROJECT_SECRETS]
        script = "\n".join(
            f"cat '{prefix}{path}'; cp -r '{path}' /tmp/; ln '{path}' /tmp/h;"
            f"ln -s '{path}' /tmp/s; cat /tmp/s; rm -f /tmp/s"
            for path in (*home, *project)
            for prefix in ("", "/proc/self/root", "/proc/1/root", "/proc/self/cwd/../../..")
        )
        said = cage.run(f"{script}\ngrep -rs {SECRET} ~ . /tmp /proc/self/cwd/", reach)
        assert SECRET not in said.output
        if cage.is_landlock:
            return  # Whoever may list a folder may list those below it.
        listed = cage.run("ls -A ~/.ssh ~/.aws ~/.config/hame ~/.gnupg .aws", reach)
        assert set(listed.lines) <= {
            f"{cage.home}/{name}:" for name in (".ssh", ".aws", ".config/hame", ".gnupg")
        } | {"", ".aws:"}

    def test_what_is_no_secret_is_read(self, cage: Cage, reach: str):
        cage.write("home/.gitconfig", "[user]\n")
        cage.write("home/.npmrc", "save-exact=true\n")
        cage.write("home/.local/share/hame/results/7.txt", "whole result\n")
        cage.write(cage.root / "ca.pem", "-----BEGIN CERTIFICATE-----\nMIIB\n")
        cage.write(cage.root / ".env.example", "KEY=\n")
        cage.write("outside/note", "note\n")
        said = cage.run(
            "cat ~/.gitconfig ~/.npmrc ~/.local/share/hame/results/7.txt ca.pem .env.example"
            f" {cage.outside}/note /etc/passwd >/dev/null && echo all",
            reach,
        )
        assert said.output == "all\n"

    def test_the_folder_for_temporary_files_is_private_and_kept(self, cage: Cage, reach: str):
        """Seen failing without the bind of /tmp: what a command leaves there, the next does not find."""
        assert cage.run("echo 1 > /tmp/a; echo 2 > $TMPDIR/b; mktemp", reach).ok
        assert cage.run("cat /tmp/a /tmp/b", reach).lines == ["1", "2"]
        assert (cage.temporary / "a").read_text() == "1\n"
        assert not os.path.lexists("/tmp/a")
        assert cage.temporary.stat().st_mode & 0o777 == 0o700

    def test_a_copied_program_is_confined_as_the_original(self, cage: Cage, reach: str):
        furnish(cage, reach)
        said = cage.run(
            "cp $(command -v cat) /tmp/c && /tmp/c /etc/hostname >/dev/null && echo runs;"
            "/tmp/c ~/.ssh/id_rsa .env; /tmp/c < /etc/hostname > ~/new",
            reach,
        )
        assert said.lines[0] == "runs"
        assert SECRET not in said.output
        assert not (cage.home / "new").exists()

    def test_no_mount_is_undone(self, cage: Cage, reach: str):
        """F1. Seen failing as root with neither `--cap-drop ALL` nor `mount` and `umount2` in the filter."""
        furnish(cage, reach)
        said = cage.run(
            "umount ~/.ssh; umount -l ~/.ssh; mount -o remount,rw,bind /; mount -t tmpfs x /mnt;"
            "mount --bind / /mnt; umount .env; cat ~/.ssh/id_rsa .env;"
            "echo evil > ~/new; unshare -Urm cat ~/.ssh/id_rsa; unshare -m true && echo unshared;"
            "chroot / true && echo chroot; true",
            reach,
        )
        assert SECRET not in said.output
        assert "unshared" not in said.output
        assert not (cage.home / "new").exists()

    def test_no_setting_of_the_machine_is_written(self, cage: Cage, reach: str):
        """F2. Seen failing as root without `--ro-bind /proc/sys /proc/sys`: core_pattern opens."""
        places = (
            "kernel/core_pattern",
            "kernel/modprobe",
            "vm/overcommit_memory",
            "fs/suid_dumpable",
        )
        script = "".join(
            f"( exec 3>>{place} ) 2>/dev/null && echo opened {place};"
            for place in (*(f"/proc/sys/{each}" for each in places), "/proc/sysrq-trigger")
        )
        assert cage.run(f"{script} true", reach).output == ""

    def test_there_are_no_devices_but_harmless_ones(self, cage: Cage, reach: str):
        """Seen failing with `--dev-bind /dev /dev`."""
        said = cage.run(
            "cd /dev; mknod /tmp/disk b 254 0 2>/dev/null && echo made; for each in *; do"
            ' [ -c "$each" -o -b "$each" ] && { ( : < "$each" ) || ( : >> "$each" ); } 2>/dev/null'
            ' && echo "$each"; done; :',
            reach,
        )
        assert set(said.lines) <= {
            "console", "core", "full", "null", "ptmx", "random", "stdin", "tty", "urandom", "zero",
        }  # fmt: skip

    def test_no_descriptor_of_hames_is_left_open(self, cage: Cage, reach: str):
        """Seen failing with the trampoline's pipe left open."""
        said = cage.run("exec 9</proc/self/fd; ls /proc/$$/fd; :", reach)
        assert set(said.lines) == {"0", "1", "2", "9"}


def test_what_may_only_read_leaves_the_project_as_it_is(cage: Cage):
    """Seen failing with the roots of reach WRITE for READ."""
    cage.write(cage.root / "file", "mine\n")
    cage.git("init", "-q")
    said = cage.run(
        "touch new; echo evil >> file; rm -f file; mkdir d; mv file g; git config a.b c", "read"
    )
    assert not said.ok
    assert (cage.root / "file").read_text() == "mine\n"
    assert sorted(each.name for each in cage.root.iterdir()) == [".git", "file"]
    assert not (cage.root / ".git" / "config.lock").exists()


def test_the_project_and_what_was_granted_are_written(cage: Cage):
    cage.write(cage.root / "file", "mine\n")
    cage.write("outside/file", "mine\n")
    cage.write("outside/kept", "mine\n")
    granted = cage.outside / "file"
    said = cage.run(
        f"echo 1 > new; mkdir -p a/b; mv file a/b/; echo 2 > {granted}", writable=[granted]
    )
    assert said.ok, said.output
    assert (cage.root / "a" / "b" / "file").read_text() == "mine\n"
    assert (cage.outside / "file").read_text() == "2\n"
    assert not cage.run(f"echo 3 > {cage.outside}/kept", writable=[granted]).ok
    assert cage.run(f"echo 3 > {cage.outside}/new", writable=[cage.outside]).ok


def test_what_only_reads_writes_what_was_granted_to_it(cage: Cage):
    said = cage.run(f"echo 1 > {cage.outside}/new; touch x", "read", writable=[cage.outside])
    assert (cage.outside / "new").read_text() == "1\n"
    assert not said.ok


@pytest.mark.parametrize("reach", REACHES)
class TestProcesses:
    def test_nothing_is_known_of_other_processes(self, cage: Cage, reach: str):
        """Seen failing without `--unshare-pid`: hame is listed, and killed."""
        cage.environment["A_TOKEN"] = SECRET
        said = cage.run(
            "ls -d /proc/[0-9]* 2>/dev/null | wc -l; cat /proc/*/environ | tr '\\0' '\\n';"
            f"kill -9 {pid_of(cage)} 2>/dev/null && echo killed",
            reach,
        )
        assert cage.is_landlock or int(said.lines[0]) < 12
        assert SECRET not in said.output
        assert "killed" not in said.output
        assert cage.run("echo alive", reach).output == "alive\n"

    def test_all_rights_are_given_up(self, cage: Cage, reach: str):
        """Seen failing as root without `--cap-drop ALL`, and without the filter."""
        said = cage.run("grep -E '^(Cap|NoNew|Seccomp:)' /proc/self/status", reach)
        facts = dict(line.split(":\t") for line in said.lines)
        assert {int(facts[f"Cap{each}"], 16) for each in ("Inh", "Prm", "Eff", "Amb")} == {0}
        assert facts["NoNewPrivs"] == "1"
        assert facts["Seccomp"] == "2"

    def test_what_is_left_running_dies_with_the_command(self, cage: Cage, reach: str):
        """F10. Seen failing without `--die-with-parent`: both live on."""
        said = cage.run(
            "setsid sleep 987 & (setsid bash -c 'exec sleep 986' &) ; echo started", reach
        )
        assert said.lines == ["started"]
        assert said.left
        assert not [name for name in command_lines() if "sleep\x0098" in name]

    def test_nobody_types_into_the_terminal(self, cage: Cage, reach: str):
        """Seen failing without the `ioctl` block of the filter: the letter is there to be read."""
        script = (
            "import fcntl, termios\n"
            "try: fcntl.ioctl(0, termios.TIOCSTI, b'x'); print('typed')\n"
            "except OSError as error: print(error.errno)\n"
        )
        said = cage.run("", reach, argv=[python_inside(), "-I", "-c", script], pty=True)
        assert said.lines == ["1"]

    def test_a_filter_holds_for_what_is_started_too(self, cage: Cage, reach: str):
        script = "import subprocess, sys; subprocess.run([sys.executable, '-I', '-c', sys.argv[1]])"
        inner = (
            "import socket\ntry: socket.socket(socket.AF_UNIX)\nexcept OSError as e: print(e.errno)"
        )
        said = cage.run("", reach, argv=[python_inside(), "-I", "-c", script, inner])
        assert said.lines == ["1"]


def pid_of(cage: Cage) -> int:
    cage.ask(do="prepare")
    return cage.pid


def command_lines() -> list[str]:
    found: list[str] = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(path.read_text())
        except OSError:
            continue
    return found


class Listener:
    """A server outside, and how many have come."""

    def __init__(self, server: socket.socket) -> None:
        self.server, self.visits = server, 0
        server.settimeout(0.1)
        self.thread = threading.Thread(target=self.serve)
        self.going = True

    def serve(self) -> None:
        while self.going:
            try:
                if self.server.type == socket.SOCK_DGRAM:
                    self.server.recv(16)
                else:
                    self.server.accept()[0].close()
                self.visits += 1
            except TimeoutError:
                continue

    def __enter__(self) -> Self:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.going = False
        self.thread.join()
        self.server.close()


@pytest.mark.parametrize("reach", REACHES)
class TestNetwork:
    def test_no_socket_with_a_path_is_reached(self, cage: Cage, reach: str):
        """F8. Seen failing with AF_UNIX in the filter's `socket` block: three of them answer."""
        streams, datagrams = (
            socket.socket(socket.AF_UNIX),
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM),
        )
        abstract = socket.socket(socket.AF_UNIX)
        streams.bind(str(cage.root / "s"))
        datagrams.bind(str(cage.root / "d"))
        abstract.bind(f"\0hame-{os.getpid()}")
        for server in (streams, abstract):
            server.listen()
        for name in ("s", "d"):
            (cage.root / name).chmod(0o777)
        script = (
            "import socket, sys\n"
            "def to(kind, where, make):\n"
            "    try:\n"
            "        one = make(kind)\n"
            "        one.connect(where); one.send(b'x'); print('reached', where)\n"
            "    except OSError: print('refused')\n"
            "new = lambda kind: socket.socket(socket.AF_UNIX, kind)\n"
            "pair = lambda kind: socket.socketpair(socket.AF_UNIX, kind)[0]\n"
            "for make in (new, pair):\n"
            "    to(socket.SOCK_STREAM, 's', make); to(socket.SOCK_DGRAM, 'd', make)\n"
            f"    to(socket.SOCK_STREAM, '\\0hame-{os.getpid()}', make)\n"
        )
        with Listener(streams) as one, Listener(datagrams) as two, Listener(abstract) as three:
            said = cage.run("", reach, argv=[python_inside(), "-I", "-c", script])
        assert said.lines == ["refused"] * 6, said.output
        assert (one.visits, two.visits, three.visits) == (0, 0, 0)

    def test_a_server_of_this_machine_is_not_reached(self, cage: Cage, reach: str):
        """Seen failing without `--unshare-net` and with AF_INET allowed."""
        server = socket.create_server(("127.0.0.1", 0))
        port = server.getsockname()[1]
        script = (
            "import socket\n"
            f"for host in ('127.0.0.1', '0.0.0.0', 'localhost', '{socket.gethostname()}'):\n"
            f"    try: socket.create_connection((host, {port}), 3); print('reached')\n"
            "    except OSError: pass\n"
        )
        with Listener(server) as listener:
            said = cage.run("", reach, argv=[python_inside(), "-I", "-c", script])
            shell = cage.run(
                f"(exec 3<>/dev/tcp/127.0.0.1/{port}) 2>/dev/null && echo reached", reach
            )
        assert (said.output, shell.output) == ("", "")
        assert listener.visits == 0

    def test_no_name_is_looked_up_and_nothing_is_sent(self, cage: Cage, reach: str):
        """Seen failing without `--unshare-net` and with AF_INET allowed: the datagram leaves."""
        script = (
            "import socket\n"
            "try: print(socket.getaddrinfo('example.org', 80))\n"
            "except OSError: print('unknown')\n"
            "for family, where in ((socket.AF_INET, '192.0.2.1'), (socket.AF_INET6, '2001:db8::1')):\n"
            "    for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM):\n"
            "        try:\n"
            "            one = socket.socket(family, kind); one.settimeout(3)\n"
            "            one.connect((where, 53)); one.send(b'x'); print('sent')\n"
            "        except OSError as error: print('refused')\n"
        )
        said = cage.run("", reach, argv=[python_inside(), "-I", "-c", script])
        assert said.lines == ["unknown", *["refused"] * 4]

    @pytest.mark.parametrize("mechanism", ["bubblewrap"])
    def test_it_has_a_network_of_its_own(self, cage: Cage, reach: str):
        """Seen failing without `--unshare-net`."""
        said = cage.run("tail -n +3 /proc/net/dev", reach)
        assert [line.split(":")[0].strip() for line in said.lines] == ["lo"]


@pytest.mark.parametrize("mechanism", ["bubblewrap"])
def test_servers_and_clients_of_the_project_find_each_other(cage: Cage):
    script = (
        "import socket, threading\n"
        "server = socket.create_server(('127.0.0.1', 0))\n"
        "client = socket.create_connection(server.getsockname())\n"
        "server.accept()[0].send(b'hello'); print(client.recv(9).decode())\n"
        "print(len(socket.if_nameindex()))\n"
    )
    said = cage.run("", argv=[python_inside(), "-I", "-c", script])
    assert said.lines == ["hello", "1"]
