"""Background jobs as a model handles them, given input, and terminals."""

import os
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path

import anyio
import pytest
from typing_extensions import override

from hame.base.confinement import Confinement, HostDenied, PathDenied, SandboxDenied
from hame.base.errors import ArgumentError
from hame.base.outcome import CommandView, Done, Failed
from hame.base.ports import Cell
from hame.base.process import Launch
from hame.base.tool import Effect
from hame.sandbox.unconfined import Unconfined
from hame.workspace.jobs import LocalJobs
from hame.workspace.process import LocalProcesses
from hame.workspace.results import ResultStore


@pytest.fixture
async def busy(desk, tmp_path):
    """A desk with background jobs and results."""
    results = ResultStore(str(tmp_path / "results"))
    jobs = LocalJobs(LocalProcesses(dict(os.environ), Unconfined()), results)
    desk.change(jobs=jobs, blobs=results)
    yield desk
    await jobs.close()


def lives(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def lines_of(path: str) -> list[str]:
    return Path(path).read_text(encoding="utf-8").splitlines()


def job_of(text: str) -> str:
    return text.split()[1]


async def test_b026_a_server_lives_on_as_a_job_with_a_handle(busy):
    """B026."""
    text = await busy.done(
        "run_command", command="echo ready; while read l; do echo got $l; done", background=True
    )
    job = job_of(text)
    assert text.startswith(f"job {job} runs in the background\nready\n")
    assert f"result:{job}" in text
    assert "use_tool" in text
    assert "got hello" in await busy.done("send_job_input", job=job, text="hello")
    assert f"{job}  runs in the background  echo ready" in await busy.done("job_output")
    assert "(nothing new)" in await busy.done("job_output", job=job)
    assert "has ended" in await busy.done("stop_job", job=job)
    listed = await busy.done("job_output")
    assert "has ended: killed by SIGTERM" in listed


class PutsRight(Unconfined):
    """Puts something right after every program."""

    @override
    def confine(self, launch: Launch) -> AbstractAsyncContextManager[Cell]:
        return nullcontext(Cell(launch=launch, aftermath=lambda: ("put back: .envrc",)))


async def test_what_was_put_right_after_a_job_is_told_when_it_has_ended(desk, tmp_path):
    results = ResultStore(str(tmp_path / "results"))
    processes = LocalProcesses(dict(os.environ), PutsRight())
    desk.change(jobs=LocalJobs(processes, results), blobs=results)
    ended = await desk.call("run_command", command="true", background=True)
    assert ended.view.aftermath == ("put back: .envrc",)
    assert "[put back: .envrc]" in ended.content[0].text
    going = await desk.done("run_command", command="sleep 300", background=True)
    assert "put back" not in going
    assert (await desk.done("stop_job", job=job_of(going))).endswith("\n[put back: .envrc]")


async def test_a_job_that_fails_at_once_is_a_failure_with_its_words(busy):
    outcome = await busy.call(
        "run_command", command="echo no such port >&2; exit 4", background=True
    )
    assert isinstance(outcome, Failed)
    assert "has ended: exit code 4\nno such port" in outcome.message
    assert isinstance(outcome.view, CommandView)
    assert outcome.view.exit_code == 4


class Refuses(Unconfined):
    """Refuses every program the same machine."""

    @override
    def confine(self, launch: Launch) -> AbstractAsyncContextManager[Cell]:
        return nullcontext(Cell(launch=launch, refused=lambda: ("a.example",)))

    @override
    def explain(
        self, confinement: Confinement, output: str, refused: Sequence[str], cwd: str
    ) -> tuple[SandboxDenied, ...]:
        return (*(HostDenied(host) for host in refused), PathDenied(output.strip()))


async def test_a_job_that_prints_why_it_fails_carries_what_its_sandbox_kept_it_from(desk, tmp_path):
    """So the user is offered it, as for a command in the foreground."""
    results, sandbox = ResultStore(str(tmp_path / "results")), Refuses()
    jobs = LocalJobs(LocalProcesses(dict(os.environ), sandbox), results)
    desk.change(jobs=jobs, blobs=results, sandbox=sandbox)
    asked = {"command": "echo /etc/x; sleep 0.1; exit 3", "background": True}
    action = await desk.tools["run_command"].prepare(asked, desk.context)
    outcome = await action.run(Confinement())
    action.close()
    assert isinstance(outcome, Failed)
    assert "has ended: exit code 3\n/etc/x" in outcome.message
    assert outcome.denied == (HostDenied("a.example"), PathDenied("/etc/x"))
    await jobs.close()


async def test_waiting_for_a_job_ends_with_its_end(busy):
    job = job_of(await busy.done("run_command", command="sleep 1.4; echo over", background=True))
    with anyio.fail_after(8):
        text = await busy.done("job_output", job=job, wait_s=60)
        if "has ended" not in text:
            text = await busy.done("job_output", job=job, wait_s=60)
    assert "over" in text or "has ended: exit code 0" in text


async def test_an_unknown_job_is_an_error_that_names_the_known(busy):
    job = job_of(await busy.done("run_command", command="sleep 60", background=True))
    assert job in await busy.failed("job_output", job="nope")
    assert job in await busy.failed("stop_job", job="nope")
    assert job in await busy.failed("send_job_input", job="nope", text="x")


async def test_the_end_of_input_can_be_sent(busy):
    job = job_of(await busy.done("run_command", command="cat; echo done", background=True))
    text = await busy.done("send_job_input", job=job, text="last", close=True)
    assert "last" in text


async def test_what_is_asked_for_is_shown_as_one_command(busy):
    for arguments, shown in (
        ({"command": "make", "stdin": "a\nb\n"}, "make <<'INPUT'\na\nb\nINPUT"),
        ({"command": "cat", "stdin": "INPUT"}, "cat <<'INPUT_'\nINPUT\nINPUT_"),
        ({"command": "serve", "background": True}, "serve &"),
        ({"command": "serve", "background": True, "keep": True}, "nohup serve &"),
        ({"command": "a\nb", "background": True}, "{\na\nb\n} &"),
    ):
        action = await busy.prepare("run_command", **arguments)
        assert action.view.command == shown
        action.close()
    action = await busy.prepare("send_job_input", job="x", text="rm -rf /")
    assert "rm -rf /" in action.view.command
    assert busy.tools["send_job_input"].spec.effect is Effect.RUN


async def test_arguments_that_contradict_each_other_are_refused(busy):
    for arguments in (
        {"keep": True},
        {"background": True, "keep": True, "pty": True},
        {"background": True, "stdin": "x"},
    ):
        with pytest.raises(ArgumentError):
            await busy.prepare("run_command", command="true", **arguments)


async def test_where_there_are_no_jobs_that_is_said(desk):
    assert "no background jobs here" in await desk.failed(
        "run_command", command="true", background=True
    )
    assert "no background jobs" in await desk.failed("job_output")


async def test_input_is_given_and_ends(desk):
    text = await desk.done("run_command", command="cat; echo after", stdin="one\ntwo")
    assert text == "exit code 0\none\ntwoafter"
    big = "x" * 200_000
    assert await desk.done("run_command", command="wc -c", stdin=big) == "exit code 0\n200000"


async def test_a_program_can_have_a_terminal(desk):
    text = await desk.done("run_command", command="test -t 0 && test -t 1 && tty", pty=True)
    assert "/dev/pts/" in text
    text = await desk.done(
        "run_command", command="read -p 'name? ' n; echo hello $n", pty=True, stdin="me\n"
    )
    assert "name? " in text
    assert "hello me" in text
    text = await desk.failed("run_command", command="read x; exit 7", pty=True, timeout_s=10)
    assert text.startswith("exit code 7")


async def test_a_terminal_s_program_is_gone_with_the_call(desk):
    text = await desk.failed("run_command", command="echo $$; sleep 300", pty=True, timeout_s=0.7)
    pid = int(text.split("\n")[1])
    assert not lives(pid)


async def test_b032_the_whole_of_a_long_output_is_kept_under_a_result(busy):
    """B032."""
    text = await busy.done("run_command", command="seq 1 20000; printf '\\033[31mred\\033[0m\\n'")
    assert "left out here" in text
    name = text.rsplit("[whole output: result:", 1)[1].rstrip("]")
    path = busy.context.blobs.path(name)
    lines = lines_of(path)
    assert len(lines) == 20_001
    assert lines[12_345] == "12346"
    assert lines[-1] == "red"


async def test_a_short_output_keeps_no_result(busy, tmp_path):
    assert "result:" not in await busy.done("run_command", command="seq 1 100")
    assert not (tmp_path / "results").exists()


async def test_b024_readers_of_a_pipe_end_at_the_limit_with_what_they_had(desk):
    """B024."""
    command = "mkfifo p; (while :; do echo x; sleep 0.1; done) > p & cat p"
    with anyio.fail_after(10):
        text = await desk.failed("run_command", command=command, timeout_s=0.8)
    assert text.startswith("timed out after 0.8 s")
    assert "\nx\n" in text


async def test_b033_a_flood_on_standard_error_is_bounded_too(busy):
    """B033."""
    outcome = await busy.call("run_command", command="yes | head -c 64M >&2; exit 1")
    assert isinstance(outcome, Failed)
    assert len(outcome.message) < 40_000
    assert isinstance(await busy.call("run_command", command="true"), Done)
