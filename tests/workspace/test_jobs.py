"""Commands in the background."""

import os
import signal
import time
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from hame.base.errors import ToolError
from hame.base.job import JobOutput
from hame.base.process import Exit, Launch
from hame.workspace.jobs import LocalJobs
from hame.workspace.process import LocalProcesses
from hame.workspace.results import ResultStore


def lives(pid: int) -> bool:
    try:
        return (
            Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
            != "Z"
        )
    except FileNotFoundError:
        return False


def shell(command: str, **more: object) -> Launch:
    return Launch(argv=("bash", "-c", command), cwd="/", **more)


@pytest.fixture
def results(tmp_path: Path) -> ResultStore:
    return ResultStore(str(tmp_path / "results"))


@pytest.fixture
async def jobs(results: ResultStore) -> AsyncIterator[LocalJobs]:
    made = LocalJobs(LocalProcesses(dict(os.environ)), results, log_limit=1_000_000)
    yield made
    await made.close()


async def until(jobs: LocalJobs, job: str, text: bytes) -> bytes:
    """Read until a text has come."""
    read = b""
    with anyio.fail_after(10):
        while text not in read:
            read += (await jobs.read(job, 1.0)).data
    return read


async def ended(jobs: LocalJobs, job: str) -> JobOutput:
    with anyio.fail_after(10):
        output = await jobs.read(job, 5.0)
        while output.job.exit is None:
            output = await jobs.read(job, 5.0)
    return output


async def test_a_job_goes_on_while_its_output_is_read_piece_by_piece(jobs: LocalJobs) -> None:
    job = await jobs.start(shell("echo one; read line; echo got $line; sleep 300"), "it")
    assert await until(jobs, job.id, b"one\n") == b"one\n"
    assert (await jobs.read(job.id)).data == b""
    await jobs.send(job.id, b"two\n")
    assert await until(jobs, job.id, b"two\n") == b"got two\n"
    (listed,) = jobs.list()
    assert listed.exit is None
    assert listed.printed == len("one\ngot two\n")


async def test_its_end_is_told_by_code_or_signal(jobs: LocalJobs) -> None:
    first = await jobs.start(shell("exit 3"), "a")
    second = await jobs.start(shell("kill -SEGV $$"), "b")
    assert (await ended(jobs, first.id)).job.exit == Exit(code=3)
    assert (await ended(jobs, second.id)).job.exit == Exit(code=None, signal=signal.SIGSEGV)


async def test_killing_ends_all_it_has_started_also_what_ignores_term(jobs: LocalJobs) -> None:
    job = await jobs.start(
        shell("trap '' TERM; sleep 300 & echo $!; setsid sleep 301 & echo $!; wait"), "stubborn"
    )
    first, second = (int(word) for word in (await _two_lines(jobs, job.id)).split())
    after = await jobs.kill(job.id)
    assert after.exit is not None
    assert not lives(job.pid)
    assert not lives(first)
    assert not lives(second)
    assert (await jobs.kill(job.id)).exit == after.exit


async def _two_lines(jobs: LocalJobs, job: str) -> bytes:
    read = b""
    while read.count(b"\n") < 2:
        read += (await jobs.read(job, 1.0)).data
    return read


async def test_jobs_end_with_the_session_unless_they_are_kept(results: ResultStore) -> None:
    jobs = LocalJobs(LocalProcesses(dict(os.environ)), results)
    dies = await jobs.start(shell("sleep 300"), "dies")
    stays = await jobs.start(shell("echo up; exec sleep 301"), "stays", keep=True)
    await until(jobs, stays.id, b"up")
    began = time.monotonic()
    await jobs.close()
    assert time.monotonic() - began < 2
    assert not lives(dies.pid)
    assert lives(stays.pid)
    os.killpg(stays.pid, signal.SIGKILL)


async def test_output_is_written_while_nobody_looks_and_the_log_stays_bounded(
    jobs: LocalJobs, results: ResultStore
) -> None:
    job = await jobs.start(shell("yes | head -c 20000000; echo last words"), "flood")
    time.sleep(0.5)  # noqa: ASYNC251 - the event loop stands still, as it does between two prompts
    path = results.path(job.id)
    assert path is not None
    output = await ended(jobs, job.id)
    assert output.data.endswith(b"last words\n")
    assert os.path.getsize(path) <= 1_000_000  # noqa: PTH202, ASYNC240 - a look at one file
    assert output.job.printed > 10_000_000


async def test_a_job_can_have_a_terminal(jobs: LocalJobs) -> None:
    job = await jobs.start(shell("tty; test -t 0 && echo yes; cat", pty=True), "terminal")
    await until(jobs, job.id, b"yes")
    await jobs.send(job.id, b"hello\n")
    await until(jobs, job.id, b"hello\r\nhello")
    await jobs.send(job.id, b"", close=True)
    assert (await ended(jobs, job.id)).job.exit == Exit(code=0)


async def test_what_cannot_be_done_is_said(jobs: LocalJobs) -> None:
    with pytest.raises(ToolError, match="no job nothing; jobs of this session: none"):
        await jobs.read("nothing")
    job = await jobs.start(shell("exit 0"), "short")
    await ended(jobs, job.id)
    with pytest.raises(ToolError, match="has ended"):
        await jobs.send(job.id, b"x")
    kept = await jobs.start(shell("sleep 0.2"), "kept", keep=True)
    with pytest.raises(ToolError, match="without an input"):
        await jobs.send(kept.id, b"x")
    deaf = await jobs.start(shell("sleep 300"), "deaf")
    with anyio.move_on_after(0.3):
        await jobs.send(deaf.id, b"x" * 10_000_000)
    with pytest.raises(ToolError, match="no such program"):
        await jobs.start(Launch(argv=("/nowhere/x",), cwd="/"), "x")


async def test_no_more_than_so_many_run_at_once(jobs: LocalJobs) -> None:
    started = [await jobs.start(shell("sleep 300"), "s") for _ in range(20)]
    with pytest.raises(ToolError, match="20 jobs run already"):
        await jobs.start(shell("true"), "one more")
    await jobs.kill(started[0].id)
    await jobs.start(shell("true"), "one more")
