"""Real programs: they start, speak, and leave nothing behind."""

import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path

import anyio
import pytest
from typing_extensions import override

from hame.base.confinement import Confinement
from hame.base.errors import ToolError
from hame.base.ports import Cell, Process
from hame.base.process import Exit, Launch
from hame.sandbox.unconfined import Unconfined
from hame.workspace import descendants
from hame.workspace.process import LocalProcess, LocalProcesses
from workspace.conftest import open_descriptors

ENVIRONMENT = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}


@pytest.fixture
def processes() -> LocalProcesses:
    return LocalProcesses(ENVIRONMENT)


def shell(
    command: str,
    *,
    stdin: bytes | None = None,
    open_stdin: bool = False,
    merge_stderr: bool = True,
    extra_env: tuple[tuple[str, str], ...] = (),
) -> Launch:
    return Launch(
        argv=("bash", "-c", command),
        cwd="/",
        stdin=stdin,
        open_stdin=open_stdin,
        merge_stderr=merge_stderr,
        extra_env=extra_env,
    )


async def text(process: Process) -> str:
    return b"".join([chunk async for chunk in process.output()]).decode()


async def run(processes: LocalProcesses, launch: Launch) -> tuple[str, Exit]:
    async with processes.start(launch) as process:
        return await text(process), await process.wait()


def alive(pid: int) -> bool:
    """Whether a process runs; one that only waits to be collected does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


async def gone(pids: list[int]) -> bool:
    """Whether all of them end within two seconds."""
    for _ in range(200):
        if not any(map(alive, pids)):
            return True
        await anyio.sleep(0.01)
    return False


def children() -> list[str]:
    """Processes this one has started and not collected."""
    pid = os.getpid()
    return Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()


async def numbers(process: Process, count: int) -> list[int]:
    """The process ids that a program prints, one a line."""
    said = b""
    async for chunk in process.output():
        said += chunk
        if said.count(b"\n") >= count:
            break
    return [int(word) for word in said.split()]


async def test_a_program_speaks_and_ends(processes: LocalProcesses) -> None:
    assert await run(processes, shell("echo out; echo err >&2; exit 3")) == (
        "out\nerr\n",
        Exit(code=3),
    )


async def test_the_errors_of_a_program_can_be_kept_apart(processes: LocalProcesses) -> None:
    launch = shell("echo out; echo err >&2", merge_stderr=False)
    async with processes.start(launch) as process:
        out = await text(process)
        errors = b"".join([chunk async for chunk in process.errors()])
    assert (out, errors) == ("out\n", b"err\n")


async def test_merged_errors_are_no_stream_of_their_own(processes: LocalProcesses) -> None:
    async with processes.start(shell("echo err >&2")) as process:
        assert [chunk async for chunk in process.errors()] == []
        assert await text(process) == "err\n"


async def test_a_signal_that_ends_a_program_is_told(processes: LocalProcesses) -> None:
    assert await run(processes, shell("kill -SEGV $$")) == ("", Exit(code=None, signal=11))


async def test_stdin_is_closed_unless_something_is_given(processes: LocalProcesses) -> None:
    assert await run(processes, shell("cat; echo end")) == ("end\n", Exit(code=0))


@pytest.mark.parametrize("size", [3, 65_536, 65_537, 3_000_000])
async def test_a_program_reads_what_it_is_given_and_then_its_end(
    processes: LocalProcesses, size: int
) -> None:
    said, _ = await run(processes, shell("wc -c", stdin=b"x" * size))
    assert int(said) == size


async def test_what_a_program_leaves_unread_does_not_matter(processes: LocalProcesses) -> None:
    assert await run(processes, shell("exit 0", stdin=b"x" * 60_000)) == ("", Exit(code=0))


async def test_one_can_talk_to_a_program(processes: LocalProcesses) -> None:
    launch = shell("while read line; do echo got $line; done", open_stdin=True)
    async with processes.start(launch) as process:
        output = process.output()
        for word in ("one", "two"):
            await process.write(f"{word}\n".encode())
            assert await anext(output) == f"got {word}\n".encode()


async def test_much_is_written_to_a_program_that_reads_slowly(processes: LocalProcesses) -> None:
    launch = shell("sleep 0.05; head -c 1000000 | wc -c", open_stdin=True)
    async with processes.start(launch) as process:
        await process.write(b"x" * 1_000_000)
        assert (await text(process)).strip() == "1000000"


async def test_writing_to_a_program_that_is_gone_is_an_error(processes: LocalProcesses) -> None:
    async with processes.start(shell("exit 0", open_stdin=True)) as process:
        await process.wait()
        with pytest.raises(ToolError, match="no longer reads"):
            await process.write(b"x")
    async with processes.start(shell("exit 0")) as process:
        with pytest.raises(ToolError, match="without an open input"):
            await process.write(b"x")


async def test_much_output_is_read_to_its_end(processes: LocalProcesses) -> None:
    said, _ = await run(processes, shell("head -c 5000000 /dev/zero; printf end"))
    assert (len(said), said[-3:]) == (5_000_003, "end")


async def test_a_program_that_never_pauses_lets_others_run(processes: LocalProcesses) -> None:
    with anyio.fail_after(5):
        async with processes.start(shell("exec yes")) as process:
            with anyio.move_on_after(0.1) as scope:
                async for chunk in process.output():
                    assert chunk
            assert scope.cancelled_caught


async def test_a_slow_reader_gets_all_that_an_ended_program_said(
    processes: LocalProcesses,
) -> None:
    async with processes.start(shell("head -c 60000 /dev/zero; sleep 9 &")) as process:
        await process.wait()
        await anyio.sleep(0.15)
        assert len(await text(process)) == 60_000


@pytest.mark.parametrize(
    ("argv", "cwd", "words"),
    [
        (("no-such-program-anywhere",), "/", "no such program"),
        (("/etc/passwd",), "/", "may not be executed"),
        (("true",), "/nowhere", "/nowhere"),
        (("true", "a\0b"), "/", "NUL"),
        (("true", "x" * 10_000_000), "/", "long"),
        ((), "/", "empty"),
    ],
)
async def test_what_cannot_be_started_is_an_error_with_words(
    processes: LocalProcesses, argv: tuple[str, ...], cwd: str, words: str
) -> None:
    before = open_descriptors()
    for stdin in (None, b"x"):
        with pytest.raises(ToolError, match=words):
            async with processes.start(Launch(argv=argv, cwd=cwd, stdin=stdin)):
                pass
    assert open_descriptors() == before


async def test_children_get_the_environment_without_keys(processes: LocalProcesses) -> None:
    keys = LocalProcesses({**ENVIRONMENT, "OPENAI_API_KEY": "sk-1", "GITHUB_TOKEN": "t", "A": "1"})
    said, _ = await run(keys, shell("env", extra_env=(("B", "2"),)))
    assert "sk-1" not in said
    assert "GITHUB_TOKEN" not in said
    assert {"A=1", "B=2", "PAGER=cat", "GIT_PAGER=cat", "TERM=dumb"} <= set(said.split())
    whole, _ = await run(
        processes, Launch(argv=("/usr/bin/env",), cwd="/", env=(("ONLY", "this"),))
    )
    assert [line.partition("=")[0] for line in whole.split()] == ["ONLY", descendants.MARK]


async def test_a_background_child_does_not_hold_the_output_open(
    processes: LocalProcesses,
) -> None:
    began = time.monotonic()
    async with processes.start(shell("sleep 60 & echo $!; echo done")) as process:
        said = await text(process)
        ended = await process.wait()
        read = time.monotonic() - began
        assert process.survivors()
    pid, word = said.split()
    assert (word, ended) == ("done", Exit(code=0))
    assert read < 1
    assert await gone([int(pid)])


async def test_a_background_child_that_chatters_does_not_either(
    processes: LocalProcesses,
) -> None:
    began = time.monotonic()
    command = "(while :; do echo x; sleep 0.01; done) & echo first"
    async with processes.start(shell(command)) as process:
        assert "first" in await text(process)
    assert time.monotonic() - began < 2


async def test_a_program_without_children_has_no_survivors(processes: LocalProcesses) -> None:
    async with processes.start(shell("echo; sleep 0.05")) as process:
        assert not process.survivors()
        await process.wait()
        assert not process.survivors()


BUSY = "for i in 1 2 3 4; do (while :; do :; done) & echo $!; done; echo $$; wait"
STUBBORN = 'trap "" TERM; (trap "" TERM; echo $BASHPID; sleep 60; sleep 60) & echo $$; wait; wait; sleep 60'
ESCAPED = "setsid bash -c 'echo $$; exec sleep 60' & (setsid bash -c 'echo $$; exec sleep 60' &); echo $$; wait"
MONITORED = "set -m; sleep 60 & echo $!; sleep 60 & echo $!; echo $$; wait"
STOPPED = "sleep 60 & echo $!; kill -STOP $!; echo $$; wait"


@pytest.mark.parametrize(
    ("command", "count"),
    [(BUSY, 5), (STUBBORN, 2), (ESCAPED, 3), (MONITORED, 3), (STOPPED, 2)],
)
@pytest.mark.parametrize("how", ["cancel", "kill", "leave"])
async def test_nothing_survives(
    processes: LocalProcesses, command: str, count: int, how: str
) -> None:
    pids: list[int] = []
    began = 0.0

    async def start(stop: Callable[[], None] | None) -> None:
        nonlocal began
        async with processes.start(shell(command)) as process:
            pids.extend(await numbers(process, count))
            began = time.monotonic()
            if how == "kill":
                await process.kill()
                assert (await process.wait()).signal in {signal.SIGTERM, signal.SIGKILL}
            elif stop is not None:
                stop()
                await process.wait()

    async with anyio.create_task_group() as group:
        await start(group.cancel_scope.cancel if how == "cancel" else None)
    assert len(pids) == count
    assert await gone(pids)
    assert time.monotonic() - began < 2


async def test_a_reader_ends_when_the_program_is_killed(processes: LocalProcesses) -> None:
    async with processes.start(shell("while :; do echo x; sleep 0.01; done")) as process:
        said: list[str] = []

        async def read() -> None:
            said.append(await text(process))

        async with anyio.create_task_group() as group:
            group.start_soon(read)
            await anyio.sleep(0.05)
            await process.kill()
    assert "x" in said[0]


async def test_a_named_pipe_nobody_closes_does_not_outlive_a_kill(
    processes: LocalProcesses, tmp_path: Path
) -> None:
    command = "mkfifo p; (while :; do echo x; sleep 0.02; done) > p & echo $!; cat p"
    launch = Launch(argv=("bash", "-c", command), cwd=str(tmp_path))
    async with processes.start(launch) as process:
        with anyio.move_on_after(0.2):
            pids = await numbers(process, 1000)
        pids = [process.pid]
    assert await gone(pids)


async def test_many_programs_at_once_leave_nothing_open(processes: LocalProcesses) -> None:
    await run(processes, shell("true"))
    before, already = open_descriptors(), set(children())
    async with anyio.create_task_group() as group:
        for number in range(20):
            group.start_soon(run, processes, shell(f"echo {number}", stdin=b"x"))
    assert open_descriptors() == before
    assert set(children()) <= already


async def test_the_end_is_noticed_without_process_descriptors_too(
    processes: LocalProcesses, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "pidfd_open")
    assert await run(processes, shell("sleep 0.03; echo end; exit 2")) == (
        "end\n",
        Exit(code=2),
    )
    async with processes.start(shell("sleep 60")) as process:
        await process.kill()
        assert (await process.wait()).signal == signal.SIGTERM


async def test_process_ids_that_start_over_hide_nobody(
    processes: LocalProcesses, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with processes.start(shell("setsid sleep 60 & echo $!; wait")) as process:
        pids = await numbers(process, 1)
        real = descendants._read

        def started_over(path: str) -> bytes:
            return b"0 0 0 1/1 1" if path == "/proc/loadavg" else real(path)

        monkeypatch.setattr(descendants, "_read", started_over)
        assert isinstance(process, LocalProcess)
        found = dict(descendants.descendants(process.pid, process._mark))
        assert {process.pid, *pids} <= set(found)


async def test_a_python_program_is_not_held_back_by_its_buffer(
    processes: LocalProcesses,
) -> None:
    launch = Launch(
        argv=(sys.executable, "-c", "print('now'); import time; time.sleep(60)"), cwd="/"
    )
    async with processes.start(launch) as process:
        with anyio.fail_after(5):
            assert (await anext(process.output())).startswith(b"now")


class Escaped:
    """Inmates that have left everything by which processes are found; their ids are in a file."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.leader = 0

    def began(self, leader: int) -> None:
        self.leader = leader

    def send(self, number: int) -> bool:
        found = [int(word) for word in self.file.read_text(encoding="utf-8").split()]
        living = [pid for pid in found if alive(pid)]
        for pid in living:
            os.kill(pid, number)
        return bool(living)


class OneCell(Unconfined):
    """Starts every program in one cell."""

    def __init__(self, cell: Callable[[Launch], Cell]) -> None:
        super().__init__()
        self.cell = cell

    @override
    def confine(self, launch: Launch) -> AbstractAsyncContextManager[Cell]:
        return nullcontext(self.cell(launch))


async def test_what_only_its_cell_can_find_ends_with_the_program(tmp_path: Path) -> None:
    file = tmp_path / "ids"
    file.touch()
    inmates = Escaped(file)
    sandbox = OneCell(lambda launch: Cell(launch=launch, inmates=inmates))
    command = (
        f"env -i setsid sh -c 'echo $$ >{file}; exec sleep 300' & until [ -s {file} ]; do :; done"
    )
    launch = Launch(argv=("bash", "-c", command), cwd="/", confinement=Confinement())
    async with LocalProcesses(ENVIRONMENT, sandbox).start(launch) as process:
        await process.wait()
        pids = [int(word) for word in file.read_text(encoding="utf-8").split()]
        assert inmates.leader == process.pid
        assert process.survivors()
        assert all(map(alive, pids))
    assert await gone(pids)


async def test_what_a_cell_put_right_is_told_once_it_is_closed() -> None:
    said: list[str] = []
    sandbox = OneCell(lambda launch: Cell(launch=launch, aftermath=lambda: said))
    launch = Launch(argv=("true",), cwd="/", confinement=Confinement())
    async with LocalProcesses(ENVIRONMENT, sandbox).start(launch) as process:
        await process.wait()
    said.append("put back: .envrc")
    assert process.aftermath == ["put back: .envrc"]


async def test_the_thread_that_starts_is_confined_and_told_of_the_terminal() -> None:
    told: list[str | None] = []
    sandbox = OneCell(lambda launch: Cell(launch=launch, restrict=told.append))
    processes = LocalProcesses(ENVIRONMENT, sandbox)
    for pty in (False, True):
        launch = Launch(argv=("tty",), cwd="/", pty=pty, confinement=Confinement())
        async with processes.start(launch) as process:
            shown = await text(process)
    assert told == [None, shown.strip()]
