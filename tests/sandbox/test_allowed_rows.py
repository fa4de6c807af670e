"""Commands that run without a question do nothing but read: each is watched in the sandbox it gets."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import anyio
import msgspec
import pytest

from hame.base.confinement import Confinement
from hame.base.ports import Processes
from hame.base.process import Exit, Launch
from hame.base.settings import SandboxChoice
from hame.base.zone import ProjectPaths
from hame.permissions.commands.analysis import analyse
from hame.permissions.commands.ground import Ground
from hame.permissions.decision import Decision
from hame.sandbox.ladder import Ladder
from hame.sandbox.site import Site
from hame.tools.foreground import shell
from hame.workspace.process import LocalProcesses
from sandbox.tracing import Event, Traced

COMMANDS = Path(__file__).resolve().parents[2] / ".." / "shared" / "reference" / "commands.jsonl"
IN_CI = os.environ.get("HAME_CI") == "1"
T = TypeVar("T")
LIMIT_S = 60.0
AT_ONCE = 3
DISCARDED = ("/dev/null", "/dev/tty")
"""What is written there, nobody finds; shells open their terminal to see whether they have one."""
OF_OTHERS = {"tar": {"gzip"}}
"""What programs start to do what they are asked for."""
NO_PROGRAM = 127
"""What shells say of one that is not installed."""


def rows() -> list[dict[str, Any]]:
    if not COMMANDS.exists():
        return []
    read = map(json.loads, COMMANDS.read_text("utf-8").splitlines())
    return [row for row in read if row["expected"] == "allow"]


class Watched(msgspec.Struct, frozen=True, kw_only=True):
    """A command that has run, and what it asked the system for."""

    command: str
    output: str
    exit: Exit
    events: list[Event]

    @property
    def wrongs(self) -> list[str]:
        """What a command that only reads has no business to do."""
        return [wrong for event in self.events[1:] for wrong in self._wrongs(event)]

    def _wrongs(self, event: Event) -> Iterator[str]:
        if event.writes:
            for place in event.places:
                if place not in DISCARDED and not place.startswith("/tmp/"):
                    yield f"{event.call} {place}"
        elif event.talks and not _asks_for_names(event):
            yield f"{event.call} {event.arguments}"
        elif event.starts:
            program = Path(event.places[0])
            if not self._names(program.name) and not self._is_of_git(program):
                yield f"starts {program}"

    def _names(self, program: str) -> bool:
        words = set(re.findall(r"[\w.+-]+", self.command))
        return program in words.union(*(more for name, more in OF_OTHERS.items() if name in words))

    def _is_of_git(self, program: Path) -> bool:
        return self._names("git") and str(program.parent).endswith("/git-core")


def _asks_for_names(event: Event) -> bool:
    """The C library asks a service for users' names before it looks into files; it is not let."""
    return event.failed and event.arguments.startswith("AF_UNIX, SOCK_STREAM|SOCK_CLOEXEC|SOCK_NON")


class Yard:
    """A project of the kind that the labelled commands are about, and a hame that runs them."""

    def __init__(self, base: Path) -> None:
        self.base, self.home = base, base / "home" / "dev"
        self.root, self.temporary = self.home / "proj", base / "temporary"
        self.environment = {
            "PATH": f"{base}/bin:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
        }
        state = self.home / ".local/state/hame"
        for folder in (self.root, self.temporary, state, base / "bin", base / "traces"):
            folder.mkdir(parents=True)
        site = Site(
            paths=ProjectPaths(
                root=str(self.root), home=str(self.home), temporary=str(self.temporary),
                temporary_alias="/tmp", config=f"{self.home}/.config/hame",
            ),
            own=(str(state),),
            caches=f"{self.home}/.cache/hame/build/proj",
            scratch=f"{state}/sandbox",
            search_path=self.environment["PATH"],
        )  # fmt: skip
        start_in = partial(LocalProcesses, self.environment)
        self.traced = Traced(
            Ladder(site, SandboxChoice.BUBBLEWRAP, start_in, linger_s=0), base / "traces"
        )
        self.processes = start_in(self.traced)
        self.landlock = Ladder(site, SandboxChoice.LANDLOCK, start_in)
        self.in_landlock = start_in(self.landlock)
        self._count = 0

    def write(self, path: str, data: str | bytes) -> None:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data.encode() if isinstance(data, str) else data)

    def furnish(self) -> None:
        """Files, archives and a history; and links as the rows say."""
        for name in ("README.md", "README.old", "names.txt", "a.txt", "b.txt", "data.txt"):
            self.write(name, f"{name}\nroot:x\nTODO foo\n")
        self.write("data.csv", "name,size,kind\nb,2,x\na,1,y\n")
        self.write("a.bin", bytes(range(256)))
        self.write("b.bin", bytes(range(256)))
        lines = "".join(f"line_{number} = {number}  # TODO foo\n" for number in range(40))
        self.write("src/app.py", f"import os\n\n\ndef main():\n    pass\n\n\n{lines}")
        self.write("src/index.ts", "export const naïve = 'naïve café'\n")
        self.write("tests/test_app.py", "def test_main():\n    assert True\n")
        self.write("package.json", '{"name": "proj", "scripts": {"test": "true"}}\n')
        Path(self.root / "src/link").symlink_to("app.py")
        self.write("large.log", b"x" * 20_000)
        for kind, name in (("zip", "app.zip"), ("tar", "app.tar"), ("gztar", "app.tar.gz")):
            made = shutil.make_archive(f"{self.base}/made", kind, self.root / "src")
            self.write(f"dist/{name}", Path(made).read_bytes())
        (self.root / "dist/app.zip").rename(self.root / "dist/app.whl")
        self.git("init", "-q", "-b", "main")
        self.write(".git/info/exclude", "dist/\n")
        self.git("config", "user.name", "a")
        self.git("config", "user.email", "a@example.org")
        self.git("add", ".")
        for number in range(4):
            self.write("src/more.py", f"number = {number}\n")
            self.git("add", ".")
            self.git("commit", "-q", "-m", f"Change {number}")
        self.git("tag", "v1.0")
        self.git("checkout", "-q", "-b", "feat/a")
        self.git("remote", "add", "origin", "https://example.org/proj.git")
        self.write("src/app.py", f"import os\n\n\n{lines}")
        self.git("stash", "-q")
        self.write("README.md", "another TODO foo\n")
        self.write("src/more.py", "number = 9\n")
        self.git("add", "src/more.py")
        for row in rows():
            for link, target in row.get("symlinks", {}).items():
                Path(self._here(link)).symlink_to(self._here(target))
        if (finder := shutil.which("fdfind")) is not None:
            Path(self.base / "bin/fd").symlink_to(finder)

    def _here(self, path: str) -> str:
        return path.replace("/home/dev", str(self.home), 1)

    def git(self, *arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=self.root, env=self.environment, check=True)

    async def watch(self, command: str) -> Watched:
        """Run it as `run_command` does one that was allowed without a question."""
        self._count += 1
        launch = self.launch(command, label=str(self._count))
        said, ended = await self._run(self.processes, launch)
        return Watched(command=command, output=said, exit=ended, events=self.traced.events(launch))

    async def run_in_landlock(self, command: str) -> int | None:
        """Its exit code at level B; a tracer outside would be confined as well, and could not trace."""
        return (await self._run(self.in_landlock, self.launch(command)))[1].code

    async def _run(self, processes: Processes, launch: Launch) -> tuple[str, Exit]:
        said = b""
        with anyio.fail_after(LIMIT_S):
            async with processes.start(launch) as process:
                async for chunk in process.output():
                    said += chunk
                ended = await process.wait()
        return said.decode(errors="replace"), ended

    def launch(self, command: str, label: str = "") -> Launch:
        return Launch(
            argv=(shell(str(self.root)), "-c", command),
            cwd=str(self.root),
            confinement=Confinement(),
            label=label,
        )

    def run_outside(self, command: str) -> int:
        done = subprocess.run(
            [shell(str(self.root)), "-c", command], cwd=self.root, check=False,
            env=self.environment | {"GIT_PAGER": "cat"}, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=LIMIT_S,
        )  # fmt: skip
        return done.returncode

    def tree(self) -> dict[str, tuple[int, int, str]]:
        """All files of the home, their modes, times and contents."""
        found: dict[str, tuple[int, int, str]] = {}
        for folder, folders, files in os.walk(self.home):
            for name in (*folders, *files):
                path = Path(folder, name)
                if path.is_relative_to(self.home / ".local/state"):
                    continue
                status = path.lstat()
                whole = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
                digest = hashlib.blake2b(whole).hexdigest()
                found[str(path)] = (status.st_mode, status.st_mtime_ns, digest)
        return found


@pytest.fixture
def yard() -> Iterator[Yard]:
    base = Path(os.path.realpath(tempfile.mkdtemp(prefix="hame-", dir="/var/tmp")))
    try:
        made = Yard(base)
        made.furnish()
        yield made
    finally:
        shutil.rmtree(base, ignore_errors=True)


@pytest.mark.skipif(not rows(), reason="the labelled commands are not on this machine")
async def test_no_command_that_is_allowed_writes_connects_or_starts_another_program(
    yard: Yard, record_property: Callable[[str, object], None]
) -> None:
    """security.md 7, test 4. Seen failing without GIT_OPTIONAL_LOCKS in the environment of what only reads.

    Then `git status` asks for `.git/index.lock`; in vain, since the project is mounted to be read.
    """
    commands = [row["command"] for row in rows()]
    assert all(_is_allowed(yard, command) for command in commands)
    await yard.traced.prepare()  # What is tried then, is tried in the project.
    before = yard.tree()
    watched = await _each(commands, yard.watch)
    assert {each.command: each.wrongs for each in watched if each.wrongs} == {}
    assert yard.tree() == before
    missing = [each.command for each in watched if each.exit.code == NO_PROGRAM]
    assert not (IN_CI and missing), "programs of allowed commands are not installed"
    outside = {command: yard.run_outside(command) for command in commands}
    assert {
        each.command: (each.exit, each.output)
        for each in watched
        if each.exit.code != outside[each.command]
    } == {}
    events = Counter(event.call for each in watched for event in each.events)
    record_property(
        "summary",
        f"{len(watched)} allowed commands under strace in their sandbox: {events.total()} calls, "
        f"{events['execve']} programs started, 0 writes, 0 sockets, 0 foreign programs; "
        f"not installed here: {len(missing)}",
    )


@pytest.mark.skipif(not rows(), reason="the labelled commands are not on this machine")
async def test_allowed_commands_do_the_same_in_landlock_and_change_nothing(yard: Yard) -> None:
    commands = [row["command"] for row in rows()]
    await yard.landlock.prepare()
    before = yard.tree()
    codes = dict(zip(commands, await _each(commands, yard.run_in_landlock), strict=True))
    assert yard.tree() == before
    assert codes == {command: yard.run_outside(command) for command in commands}


async def _each(
    commands: Sequence[str], act: Callable[[str], Coroutine[Any, Any, T]]
) -> Sequence[T]:
    """Do something with several at once; the results in their order."""
    found: dict[int, T] = {}
    limiter = anyio.CapacityLimiter(AT_ONCE)

    async def one(number: int, command: str) -> None:
        async with limiter:
            found[number] = await act(command)

    async with anyio.create_task_group() as group:
        for number, command in enumerate(commands):
            group.start_soon(one, number, command)
    return [found[number] for number in range(len(commands))]


def _is_allowed(yard: Yard, command: str) -> bool:
    home = str(yard.home)
    paths = ProjectPaths(root=str(yard.root), home=home, config=f"{home}/.config/hame")
    return analyse(command, Ground(paths=paths)).judgement.decision is Decision.ALLOW


@pytest.mark.parametrize(
    ("command", "wrong"),
    [
        ("echo new > new.txt", r"open\w* {root}/new.txt"),
        ("cd src && touch app.py", r"open\w* {root}/src/app.py"),
        ("mkdir new", r"mkdir\w* .*/new"),
        ("rm -f README.md", r"unlink\w* .*/README.md"),
        ("mv README.md {home}/x", r"rename\w* {root}/README.md"),
        ("ln -s a b", r"symlink\w* .*/b"),
        ("chmod 600 README.md", r"fchmodat2? {root}/README.md"),
        ("truncate -s 0 README.md", r"open\w* {root}/README.md"),
        ("touch {home}/.bashrc", r"open\w* {home}/.bashrc"),
        ("git add README.md", r"open\w* {root}/.git/index.lock"),
        ("awk 'BEGIN { system(\"ls\") }'", "starts .*/sh"),
        ("/usr/bin/python3 -c 'import os; os.system(\"ls\")'", "starts .*/sh"),
        ("$(echo unam)e", "starts .*/uname"),
        ("/usr/bin/python3 -c 'import socket; socket.socket()'", "socket AF_INET, SOCK_STREAM"),
        ("/usr/bin/python3 -c 'import socket; socket.socketpair()'", "socketpair AF_UNIX"),
        ("exec 3<>/dev/tcp/127.0.0.1/9", "socket AF_INET, SOCK_STREAM"),
    ],
)
async def test_what_does_more_than_read_is_seen(yard: Yard, command: str, wrong: str) -> None:
    """The watching itself: what is only tried, and the sandbox refuses, counts as well."""
    for name, value in (("{root}", yard.root), ("{home}", yard.home)):
        command, wrong = command.replace(name, str(value)), wrong.replace(name, str(value))
    wrongs = (await yard.watch(command)).wrongs
    assert any(re.match(wrong, each) for each in wrongs), wrongs


async def test_temporary_files_and_what_is_discarded_are_no_writes(yard: Yard) -> None:
    assert (await yard.watch("echo a > $TMPDIR/a; cat /tmp/a > /dev/null")).wrongs == []
