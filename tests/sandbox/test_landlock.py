"""What is particular to Landlock: which of it holds, and what it says it cannot do."""

import os
import pty
import signal
import subprocess
from pathlib import Path

import pytest

from hame.sandbox import ruleset
from hame.sandbox.warden import Warden
from sandbox.cage import SECRET, Cage, Driver, caged, python_inside

REACHES = ("read", "write")


@pytest.fixture
def mechanism() -> str:
    return "landlock"


def test_this_machine_has_it():
    """Where the tests run, a missing Landlock is a failure."""
    assert ruleset.abi() >= ruleset.LEAST_ABI


class TestWhatLivesOn:
    COMMAND = (
        'env -i setsid sh -c \'echo $$; env -i setsid sh -c "echo \\$\\$; exec sleep 775" &'
        " exec env -i sleep 774' > /tmp/pids & until [ $(wc -l < /tmp/pids) -eq 2 ]; do :; done"
    )

    @pytest.mark.parametrize("mechanism", ["landlock", "landlock5"])
    @pytest.mark.parametrize("reach", REACHES)
    def test_what_has_left_group_session_and_environment_dies_too(self, cage: Cage, reach: str):
        """F10. Seen failing without inmates: both sleep on under another parent."""
        said = cage.run(f"touch /tmp/pids; {self.COMMAND}", reach)
        assert said.left
        pids = (cage.temporary / "pids").read_text().split()
        assert len(pids) == 2, said.output
        assert not [pid for pid in pids if alive(pid)]

    @pytest.mark.parametrize("mechanism", ["landlock", "landlock5"])
    def test_what_another_command_has_started_lives_on(self, cage: Cage):
        """Seen failing with signals to all that is confined, whoever started it."""
        cage.begin("sleep 773 & setsid sleep 773 & echo $!; wait", "job")
        job = cage.line("job").split()
        other = cage.begin("exec env -i sleep 772", "other")
        assert cage.run("env -i setsid sleep 771 & echo on", "read").left
        assert alive(str(other.pid))
        assert alive(*job)
        cage.end("other")
        cage.end("job")
        assert not alive(*job)
        assert not alive(str(other.pid))

    def test_a_job_that_only_reads_may_be_kept(self, cage: Cage):
        log = cage.write("log", "", 0o666)
        if os.geteuid() == 0:
            os.chown(log, cage.user, cage.user)
        kept = cage.begin("exec sleep 770", "kept", reach="read", keep=True, output=str(log))
        cage.ask(do="leave", name="kept")
        assert cage.run("true", "read").ok
        assert alive(str(kept.pid))
        os.kill(kept.pid, signal.SIGKILL)

    def test_one_that_may_write_may_not(self, cage: Cage):
        """Nobody would put back what it changes."""
        log = str(cage.write("log", ""))
        said = cage.begin("sleep 300", keep=True, output=log)
        assert "outlive" in said.error

    def test_no_other_program_is_sent_a_signal(self, cage: Cage):
        """Seen failing with an ABI of 5: the sleeper is ended."""
        sleeper = subprocess.Popen(["sleep", "300"], user=cage.user if os.geteuid() == 0 else None)
        try:
            said = cage.run(f"kill -0 {sleeper.pid}; kill -9 {sleeper.pid}; echo after")
            assert "after" in said.output
            assert sleeper.poll() is None
        finally:
            sleeper.kill()
            sleeper.wait()


def alive(pid: str) -> bool:
    """Whether a process runs; one that only waits to be collected does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


def test_a_kernel_that_lets_signals_out_costs_nobody_else_his_life():
    """A thread that is in no domain reaches all that this user has; what is no inmate does not count."""
    warden = Warden(filters=10_000)
    warden.began(os.getpid())
    warden.post()
    assert warden._order(0, [os.getpid()]) == [os.getpid()]
    assert not warden.send(0)
    warden.close()


class TestFiles:
    def test_what_comes_beside_something_hidden_is_read_by_the_next_command(self, cage: Cage):
        """Seen failing with rules that are kept without the inodes of what they allow."""
        cage.write(cage.root / ".env")
        cage.write(cage.root / "a", "old\n")
        assert cage.run("cat a", "read").output == "old\n"
        cage.write(cage.root / "c", "new\n")
        (cage.root / "c").rename(cage.root / "a")
        assert cage.run("cat a", "read").output == "new\n"
        cage.write(cage.root / "b", "another\n")
        assert cage.run("cat a b", "read").output == "new\nanother\n"
        assert SECRET not in cage.run("cat .env", "read").output

    def test_what_becomes_a_secret_is_hidden_from_the_next_command(self, cage: Cage):
        assert cage.run("true", "read").ok
        cage.write(cage.root / ".env")
        cage.write("home/.netrc")
        assert SECRET not in cage.run("cat .env ~/.netrc", "read").output
        assert SECRET not in cage.run("cat ~/.netrc").output

    def test_what_may_write_the_project_reads_what_it_writes_and_the_secrets_there(
        self, cage: Cage
    ):
        """Said in `Standing.reason`: a new file beside a secret could not be read otherwise."""
        cage.write(cage.root / ".env")
        cage.write(cage.root / "a", "1\n")
        said = cage.run(
            "sed -i s/1/2/ a; cat a; echo 3 > new; cat new; mkdir d; cp a d; cat d/a .env"
        )
        assert said.lines == ["2", "3", "2", SECRET]

    def test_no_attribute_changes_outside(self, cage: Cage):
        """Landlock does not speak of them. Seen failing without the filter of attributes."""
        place = cage.write("outside/file", "mine\n", 0o600)
        os.utime(place, (1, 1))
        commands = (
            f"chmod 777 {place}; touch {place}; setfattr -n user.x -v 1 {place}; chown 7 {place}"
        )
        cage.run(commands, "read")
        status = place.stat()
        assert (status.st_mode & 0o7777, status.st_mtime) == (0o600, 1)
        cage.run(f"chmod 4700 {place}; chown 7:7 {place}; chgrp 7 {place}")
        status = place.stat()
        assert (status.st_mode & 0o7777, status.st_uid, status.st_gid) == (
            0o600, cage.user, cage.user,
        )  # fmt: skip

    def test_a_program_made_set_user_id_is_none(self, cage: Cage):
        said = cage.run("cp /bin/true t; chmod u+s t; install -m 4755 /bin/true u; ls -l t u")
        assert "rws" not in said.output

    def test_no_terminal_but_its_own_is_opened(self, cage: Cage):
        """Seen failing with /dev/pts as a whole allowed: what it prints stands on the other one."""
        mine, its = pty.openpty()
        name = os.ttyname(its)
        if os.geteuid() == 0:
            os.chown(name, cage.user, cage.user)
        os.set_blocking(mine, False)
        said = cage.run(f"echo evil > {name}; head -c1 {name}; tty; echo own > /dev/tty", pty=True)
        with pytest.raises(BlockingIOError):
            os.read(mine, 16)
        assert said.lines[-1] == "own"
        assert said.lines[-2].startswith("/dev/pts/")
        os.close(mine)
        os.close(its)

    def test_what_prints_to_a_log_may_open_it_anew(self, cage: Cage):
        log = cage.write("home/.local/share/hame/results/1", "")
        other = cage.write("home/.local/share/hame/results/2", "")
        command = (
            f"echo 1 > /dev/stderr; echo 2 >> /dev/stdout; echo 3; (echo 4 > {other}) 2>/dev/null"
        )
        cage.begin(command, "job", output=str(log))
        cage.wait("job")
        assert log.read_text() == "1\n2\n3\n"
        assert other.read_text() == ""

    def test_who_works_as_root_in_a_project_of_somebody_else(self, cage: Cage):
        """F3. Seen failing with no capability kept."""
        cage.write(cage.root / "a", "1\n", 0o600)
        cage.run("true")
        if cage.user != 0:
            return  # Only root can be somebody else.
        for path in (cage.root, cage.root / "a"):
            os.chown(path, 4321, 4321)
        assert cage.run("cat a; echo 2 > a; echo 3 > b").lines == ["1"]
        assert (cage.root / "a").read_text() == "2\n"
        assert cage.run("cat /etc/shadow; echo x > /etc/hame-test").lines[0].startswith("cat:")


class TestWhatItCannotDo:
    def test_single_machines_are_not_let_through(self, cage: Cage):
        asked = cage.launch("true", "write")
        asked["confinement"]["hosts"] = ["pypi.org"]
        said = cage.ask(do="run", limit=5, **asked)
        assert "pypi.org" in said["error"]
        assert "outside" in said["error"]

    def test_there_is_no_network_at_all(self, cage: Cage):
        script = "import socket\nfor each in (1, 2, 10, 16):\n try: socket.socket(each)\n except OSError: print(each)"
        for reach in REACHES:
            said = cage.run("", reach, argv=[python_inside(), "-I", "-c", script])
            assert said.lines == ["1", "2", "10", "16"]

    def test_it_says_so(self, cage: Cage):
        standing = cage.ask(do="prepare")
        assert standing["level"] == "B"
        assert "no network" in standing["reason"]
        assert "put back" in standing["reason"]


class TestOrdinaryWork:
    def test_programs_that_work_together(self, cage: Cage):
        script = "import multiprocessing as m\nwith m.get_context('fork').Pool(2) as p: print(p.map(abs, [-1]))"
        assert cage.run("", argv=[python_inside(), "-I", "-c", script]).output == "[1]\n"

    def test_a_day_with_git(self, cage: Cage):
        said = cage.run(
            "git init -q; echo 1 > a; git add a; export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b"
            " GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b; git commit -qm one; git checkout -qb b;"
            "echo 2 > a; git commit -qam two; git merge -q b 2>&1; git log --oneline | wc -l"
        )
        assert said.lines == ["2"], said.output
        assert (
            cage.run("git log --format=%s; git diff HEAD~1 --stat | tail -1", "read").lines[0]
            == "two"
        )

    def test_rules_are_made_once_and_used_again(self, cage: Cage):
        """Descriptors of hame's do not grow with the commands. Seen failing without the bound."""

        def held() -> int:
            return len([*Path(f"/proc/{cage.pid}/fd").iterdir()])

        cage.write("home/.netrc")
        cage.run("true")
        before = held()
        for number in range(20):
            cage.write(f"home/{number}", "another layout\n")
            cage.run("true")
            cage.run("true", pty=True)
        assert held() <= before + 8


def test_it_works_inside_a_sandbox_that_forbids_namespaces(tmp_path: Path):
    """F12. bubblewrap fails there, which `--disable-userns` is for."""
    inside = ["bwrap", "--dev-bind", "/", "/", "--unshare-user", "--disable-userns", "--"]
    if os.geteuid() != 0 or subprocess.run([*inside, "true"], check=False).returncode:
        inside.remove("--disable-userns")
    driver = Driver(os.geteuid(), wrapper=inside)
    try:
        with caged(driver, mechanism="landlock") as cage:
            cage.write("home/.ssh/id_rsa")
            said = cage.run("echo 1 > a; cat a ~/.ssh/id_rsa; echo 2 > ~/x")
            assert said.lines[0] == "1"
            assert SECRET not in said.output
            assert not (cage.home / "x").exists()
    finally:
        driver.close()


def test_a_confined_program_can_confine_itself_further(cage: Cage):
    script = Path(ruleset.__file__).read_text(encoding="utf-8") + (
        "rules = Ruleset(abi()); rules.allow(LOOK, ['/usr', '/lib', '/lib64', '/etc']); rules.restrict()\n"
        "try: open('a', 'w')\n"
        "except PermissionError: print('held')\n"
    )
    assert cage.run("", argv=[python_inside(), "-I", "-c", script]).output == "held\n"
