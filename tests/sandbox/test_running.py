"""Programs in the sandbox start, end and are ended as they are without one."""

import os
import signal
import time
from pathlib import Path

import pytest

from sandbox.cage import Cage, Driver, caged, python_inside


@pytest.fixture
def mechanism() -> str:
    return "bubblewrap"


def living(word: str) -> list[int]:
    """The processes that have this word among their arguments, and run."""
    found: list[int] = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
            state = path.with_name("stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if word.encode() in words and state not in "ZX":
            found.append(int(path.parent.name))
    return found


def gone(word: str) -> bool:
    """Whether it ends within two seconds."""
    for _ in range(200):
        if not living(word):
            return True
        time.sleep(0.01)
    return False


@pytest.mark.parametrize(
    ("command", "code", "number"),
    [
        ("true", 0, None), ("exit 3", 3, None), ("exit 126", 126, None), ("exit 255", 255, None),
        ("exit 137", 137, None), ("exit 143", 143, None), ("bash -c 'kill -9 $$'; exit", 137, None),
        ("kill -KILL $$", None, signal.SIGKILL), ("kill -SEGV $$", None, signal.SIGSEGV),
        ("kill -TERM $$", None, signal.SIGTERM), ("kill -ABRT $$", None, signal.SIGABRT),
        ("kill -HUP $$", None, signal.SIGHUP), ("no-such-program", 127, None),
        ("/etc/passwd", 126, None),
    ],
)  # fmt: skip
def test_it_ends_as_it_does_outside(cage: Cage, command: str, code: int, number: int):
    said = cage.run(command)
    assert (said.code, said.signal) == (code, number)
    assert cage.run(command, "outside").code == code


def test_what_cannot_be_started_is_told_as_outside(cage: Cage):
    cage.write(cage.root / "text", "no program")
    for argv in (["no-such-program"], ["./nothing"], ["./text"], [], ["/"]):
        inside, outside = cage.run("", argv=argv), cage.run("", "outside", argv=argv)
        assert inside.error
        assert inside.error.split(":")[-1] == outside.error.split(":")[-1]
    assert "NUL" in cage.run("", argv=["true", "a\0b"]).error
    assert "long" in cage.run("", argv=["true", "x" * 10_000_000]).error


def test_arguments_and_words_come_through_as_they_are(cage: Cage):
    words = ["a b", "", "*", "$HOME", "'", '"', "\\", "é", "-x", "--", "\n"]
    script = (
        "import sys; print(sys.argv[1:]); print(sys.stdin.read()); print('err', file=sys.stderr)"
    )
    said = cage.run("", argv=[python_inside(), "-Iu", "-c", script, *words])
    assert said.lines == [repr(words), "", "err"]
    said = cage.run("pwd; echo $PWD $HOME", cwd=cage.home)
    assert said.lines == [str(cage.home), f"{cage.home} {cage.home}"]
    said = cage.run("head -c 3000000 /dev/zero | wc -c; head -c 5000000 /dev/zero | tr '\\0' x")
    assert len(said.output) == 5_000_008


def test_what_is_typed_reaches_it(cage: Cage):
    cage.begin("while read line; do echo got $line; done; echo end", open_stdin=True)
    cage.ask(do="type", name="a", text="one\n")
    assert cage.line() == "got one\n"
    assert cage.end().signal in {signal.SIGTERM, signal.SIGKILL}


def test_a_program_is_asked_to_end_before_it_is_killed(cage: Cage):
    """Seen failing when the signal also goes to bubblewrap: everything dies at once, and says nothing."""
    cage.begin("trap 'echo cleaned > cleaned; exit 5' TERM; echo up; sleep 987654 & wait")
    assert cage.line() == "up\n"
    assert cage.end().code == 5
    assert (cage.root / "cleaned").exists()
    assert gone("987654")


STUBBORN = {
    "deaf": "trap '' TERM; (trap '' TERM; sleep 98765; sleep 98765) & echo up; wait; wait; sleep 98765",
    "busy": "for i in 1 2 3; do (while :; do :; done) & done; echo up; sleep 98765",
    "apart": "setsid bash -c 'trap \"\" TERM; sleep 98765; :' & env -i setsid sleep 98765 & echo up; wait",
    "stopped": "sleep 98765 & kill -STOP $!; echo up; wait",
    "monitored": "set -m; sleep 98765 & echo up; wait",
}


@pytest.mark.parametrize("how", STUBBORN)
def test_nothing_survives_that_was_killed(cage: Cage, how: str):
    cage.begin(STUBBORN[how])
    assert cage.line() == "up\n"
    began = time.monotonic()
    cage.end()
    assert gone("98765")
    assert time.monotonic() - began < 5


def test_nothing_survives_a_time_limit(cage: Cage):
    said = cage.run("echo up; sleep 98764 & sleep 98764", limit=0.5)
    assert (said.output, said.ended) == ("up\n", False)
    assert gone("98764")


def test_it_is_told_what_was_left_behind(cage: Cage):
    """Seen failing with `survivors` looking for processes: they have died with the command."""
    assert cage.run("sleep 98763 & echo up").left
    assert cage.run("setsid sleep 98763 & echo up").left
    assert not cage.run("sleep 0.01 & wait; (true) | cat; ls | head -1").left
    assert gone("98763")


@pytest.mark.parametrize("how", ["kill", "end"])
def test_everything_dies_with_hame(how: str, cage: Cage):
    """Seen failing without `--die-with-parent`: the jobs of a killed hame go on."""
    own = Driver(cage.user)
    with caged(own) as other:
        try:
            other.begin("echo up; sleep 98762", "one")
            other.begin("setsid sleep 98762 & echo up; wait", "two", "read")
            assert (other.line("one"), other.line("two")) == ("up\n", "up\n")
            assert living("98762")
        finally:
            own.kill() if how == "kill" else own.close()
        assert gone("98762")


def test_a_job_that_is_kept_lives_on_without_hame(cage: Cage):
    own = Driver(cage.user)
    with caged(own) as other:
        cage.write(other.temporary / "log", "")
        other.begin("echo $$; sleep 98761", keep=True, output=str(other.temporary / "log"))
        own.ask({"session": other._session, "do": "leave", "name": "a"})
        own.kill()
        time.sleep(0.2)  # Time in which it would die.
        assert living("98761")
        assert not (other.root / ".vscode" / "x").exists()
        for process in living("98761"):
            os.kill(process, signal.SIGKILL)
        assert gone("98761")


class TestTerminal:
    def test_it_has_one_of_its_own(self, cage: Cage):
        said = cage.run("[ -t 0 ] && [ -t 1 ] && echo tty; stty size; echo x > /dev/tty", pty=True)
        assert said.lines == ["tty", "40 120", "x"]

    def test_a_key_interrupts_the_program_alone(self, cage: Cage):
        """Seen failing with the terminal of bubblewrap's own session: everything is killed."""
        script = (
            "import time\n"
            "try: print('up', flush=True); time.sleep(60)\n"
            "except KeyboardInterrupt: print('interrupted'); raise SystemExit(4)\n"
        )
        cage.begin("", argv=[python_inside(), "-I", "-c", script], pty=True)
        assert cage.line() == "up\r\n"
        cage.ask(do="type", name="a", text="\x03")
        said = cage.wait()
        assert (said.code, said.signal) == (4, None)
        assert "interrupted" in said.output

    def test_a_shell_has_its_jobs(self, cage: Cage):
        said = cage.run("set -m; sleep 0.01 & fg >/dev/null && echo done", pty=True)
        assert said.lines == ["done"]


def test_many_at_once_do_not_disturb_each_other(cage: Cage):
    for number in range(8):
        cage.begin(f"echo {number} > f{number}; cat f*; sleep 0.3; echo end", str(number))
    for number in range(8):
        assert cage.wait(str(number)).lines[-1] == "end"
    assert sorted(each.name for each in cage.root.iterdir()) == [
        f"f{number}" for number in range(8)
    ]


def test_no_descriptor_of_hames_stays_open(cage: Cage):
    cage.run("true")
    before = len(list(Path(f"/proc/{cage.pid}/fd").iterdir()))
    for reach in ("read", "write"):
        cage.run("true", reach)
        cage.run("true", reach, argv=["no-such-program"])
    cage.begin("sleep 5")
    running = len(list(Path(f"/proc/{cage.pid}/fd").iterdir()))
    cage.end()
    assert len(list(Path(f"/proc/{cage.pid}/fd").iterdir())) == before
    assert running - before < 10


def test_root_writes_a_project_of_somebody_else(cage: Cage):
    """F3. Seen failing as root without the three powers."""
    if cage.user != 0:
        return
    cage.write(cage.root / "theirs", "1\n", 0o600)
    cage.write("outside/theirs", "1\n", 0o600)
    cage.ask(do="prepare")
    for path in (cage.root, cage.root / "theirs", cage.outside, cage.outside / "theirs"):
        os.chown(path, 54321, 54321)
    said = cage.run(
        "echo 2 > theirs; chown 54321:54321 theirs; chmod 600 theirs; echo 1 > new; cat theirs"
    )
    assert said.output == "2\n"
    assert (cage.root / "theirs").stat().st_uid == 54321
    said = cage.run(
        f"echo 2 > {cage.outside}/theirs; echo 1 > /etc/hame-test; unshare -m true && echo out"
    )
    assert "out\n" not in said.output
    assert (cage.outside / "theirs").read_text() == "1\n"
    assert not Path("/etc/hame-test").exists()
