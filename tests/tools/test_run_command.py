"""Running commands: how they end is said, output is bounded and final, nothing stays behind."""

import os
import pathlib
import signal
import time
import tracemalloc
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path

import anyio
import pytest
from typing_extensions import override

from hame.base.confinement import Confinement, HostDenied, PathDenied, SandboxDenied
from hame.base.errors import ArgumentError, PathError
from hame.base.message import Text
from hame.base.outcome import CommandView, Done, Failed
from hame.base.ports import Cell
from hame.base.process import Launch
from hame.base.tool import ArgumentKind, Effect
from hame.sandbox.unconfined import Unconfined
from hame.workspace.process import LocalProcesses


def lives(pid: int) -> bool:
    """Whether a process still runs; one that only waits to be collected does not."""
    try:
        with pathlib.Path(f"/proc/{pid}/stat").open(encoding="ascii") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def descriptors() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


async def test_the_first_line_is_the_exit_code(desk):
    outcome = await desk.call("run_command", command="echo one; echo two >&2")
    assert isinstance(outcome, Done)
    assert outcome.content == (Text("exit code 0\none\ntwo"),)
    assert isinstance(outcome.view, CommandView)
    assert outcome.view.output == "one\ntwo\n"
    assert outcome.view.exit_code == 0
    assert not outcome.view.ended


async def test_a_command_that_fails_is_a_failure_with_its_output(desk):
    outcome = await desk.call("run_command", command="echo broken; exit 3")
    assert isinstance(outcome, Failed)
    assert outcome.message == "exit code 3\nbroken"
    assert isinstance(outcome.view, CommandView)
    assert outcome.view.exit_code == 3


async def test_silence_is_said(desk):
    assert await desk.done("run_command", command="true") == "exit code 0\n(no output)"


async def test_it_runs_in_the_root_or_in_cwd(desk):
    (desk.root / "sub").mkdir()
    assert await desk.done("run_command", command="pwd") == f"exit code 0\n{desk.root}"
    assert (
        await desk.done("run_command", command="pwd", cwd="sub") == f"exit code 0\n{desk.root}/sub"
    )


async def test_bad_folders_commands_and_limits_are_refused(desk):
    desk.write("file", "")
    assert "no such directory" in await desk.failed("run_command", command="pwd", cwd="nope")
    assert "not a directory" in await desk.failed("run_command", command="pwd", cwd="file")
    for command in (" ", "a\0b"):
        with pytest.raises(ArgumentError):
            await desk.prepare("run_command", command=command)
    with pytest.raises(ArgumentError):
        await desk.prepare("run_command", command="true", timeout_s=0)


async def test_the_approval_is_bound_to_command_and_folder(desk):
    (desk.root / "sub").mkdir()
    digests = {
        (await desk.prepare("run_command", **arguments)).digest
        for arguments in ({"command": "a"}, {"command": "b"}, {"command": "a", "cwd": "sub"})
    }
    assert len(digests) == 3
    action = await desk.prepare("run_command", command="touch here", cwd="sub")
    (desk.root / "sub").rename(desk.root / "old")
    (desk.root / "sub").symlink_to("/")
    with pytest.raises(PathError, match="changed since"):
        await action.run(Confinement())


async def test_nothing_waits_for_input(desk):
    assert await desk.done("run_command", command="cat; echo end") == "exit code 0\nend"


async def test_bash_is_the_shell_where_there_is_one(desk):
    text = await desk.done("run_command", command="x=(a b); echo ${x[1]}")
    assert text == "exit code 0\nb"


async def test_a_time_limit_is_said_and_what_came_is_kept(desk):
    began = time.monotonic()
    outcome = await desk.call("run_command", command="echo start; sleep 60", timeout_s=0.5)
    assert isinstance(outcome, Failed)
    assert outcome.message == "timed out after 0.5 s; the process group was killed\nstart"
    assert isinstance(outcome.view, CommandView)
    assert outcome.view.ended.startswith("timed out")
    assert outcome.view.exit_code is None
    assert time.monotonic() - began < 5


async def test_the_limit_is_the_users_unless_the_model_names_one_and_at_most_600(desk):
    desk.change(command_timeout_s=0.3)
    assert "timed out after 0.3 s" in await desk.failed("run_command", command="sleep 60")
    text = await desk.done("run_command", command="true", timeout_s=120_000)
    assert "[timeout_s was lowered to 600, the most there is]" in text


async def test_an_end_by_a_signal_is_named(desk):
    assert "killed by SIGTERM" in await desk.failed("run_command", command="kill -TERM $$")
    text = await desk.failed("run_command", command="sh -c 'kill -SEGV $$'; exit $?")
    assert text.startswith("exit code 139 (SIGSEGV)")


async def test_b023_it_returns_when_the_shell_does(desk):
    """B023, B026: a server in the background is killed, and the result says so."""
    began = time.monotonic()
    text = await desk.done("run_command", command="sleep 300 & echo $!; echo done")
    assert time.monotonic() - began < 3
    status, pid, done, note = text.split("\n")
    assert (status, done) == ("exit code 0", "done")
    assert note == "[processes left in the background were killed when the command ended]"
    assert not lives(int(pid))


async def test_b024_a_blocked_pipe_ends_at_the_limit(desk):
    """B024."""
    command = "mkfifo p; (while :; do echo x; sleep 0.1; done) > p & echo $!; cat p"
    text = await desk.failed("run_command", command=command, timeout_s=1)
    status, pid, *lines = text.split("\n")
    assert status.startswith("timed out after 1 s")
    assert lines[0] == "x"
    assert not lives(int(pid))


async def test_b025_nothing_survives_a_time_limit(desk):
    """B025."""
    command = "for i in 1 2 3 4; do (while :; do :; done) & echo $!; done; wait"
    text = await desk.failed("run_command", command=command, timeout_s=0.5)
    pids = [int(line) for line in text.split("\n")[1:]]
    assert len(pids) == 4
    assert not any(map(lives, pids))


async def test_b027_progress_bars_and_colours_come_to_their_end(desk):
    """B027."""
    command = r"printf '\r 10%%\r 20%%\r100%%\n'; printf '\033[31mred\033[0m \033[2Kx\n'"
    text = await desk.done("run_command", command=command)
    assert text == "exit code 0\n100%\n    x"
    assert "\x1b" not in "".join(desk.shown)


async def test_b028_pagers_do_not_wait(desk):
    """B028."""
    setting = "git init -q . && git config core.pager less && git config user.email a@b.c"
    commit = "git config user.name n && git commit -q --allow-empty -m first"
    text = await desk.done(
        "run_command", command=f"{setting} && {commit} && git log --oneline", timeout_s=20
    )
    assert "first" in text


async def test_b029_state_is_not_kept_and_the_result_says_so(desk):
    """B029, B030: one rule, told in the description and in the result."""
    (desk.root / "sub").mkdir()
    text = await desk.done("run_command", command="cd sub && export A=1 && pwd")
    assert text.endswith("/sub\n[cd and exports end with this command; the next starts afresh]")
    after = await desk.done("run_command", command='pwd; echo "A=$A"')
    assert after == f"exit code 0\n{desk.root}\nA="
    assert "cd and exports are not kept" in desk.tools["run_command"].spec.description


async def test_b031_keys_are_not_in_the_environment(desk, monkeypatch):
    """B031."""
    monkeypatch.setenv("PROVIDER_API_KEY", "sk-secret")
    fresh = type(desk)(desk.root, desk.root)
    assert "sk-secret" not in await fresh.done("run_command", command="env")


async def test_b032_a_flood_is_bounded_and_its_end_is_seen(desk):
    """B032."""
    tracemalloc.start()
    outcome = await desk.call(
        "run_command", command="yes | head -c 50M; echo failed at last; exit 1"
    )
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert isinstance(outcome, Failed)
    assert outcome.message.startswith("exit code 1\ny\ny\n")
    assert outcome.message.endswith("\nfailed at last")
    assert "characters (26,1" in outcome.message
    assert len(outcome.message) < 33_000
    assert peak < 8_000_000
    assert sum(map(len, desk.shown)) <= 200_000


@pytest.mark.parametrize(
    "command", ["yes", "cat /dev/zero", "cat /dev/urandom", r"yes $'\e[1mx\r'"]
)
async def test_b032_endless_output_ends_at_the_limit(desk, command):
    """B032."""
    began = time.monotonic()
    text = await desk.failed("run_command", command=command, timeout_s=0.5)
    assert text.startswith("timed out after 0.5 s")
    assert time.monotonic() - began < 5


async def test_b053_cancelling_kills_the_command(desk):
    """B053."""
    with anyio.move_on_after(0.5) as scope:
        await desk.call("run_command", command="echo $$ > pid; sleep 300")
    assert scope.cancelled_caught
    assert not lives(int(desk.read("pid")))


async def test_output_that_is_no_utf8_is_visible(desk):
    text = await desk.done("run_command", command=r"printf 'caf\351 \303'; printf '\251\n'")
    assert text == "exit code 0\ncaf\\xe9 é"


async def test_output_is_shown_while_it_comes(desk):
    await desk.done("run_command", command="echo one; sleep 0.3; echo two")
    assert len(desk.shown) >= 2
    assert "".join(desk.shown) == "one\ntwo\n"


class Confines(Unconfined):
    """Starts something else, and says what it was kept from."""

    def __init__(self) -> None:
        super().__init__()
        self.launches: list[Launch] = []

    @override
    def confine(self, launch: Launch) -> AbstractAsyncContextManager[Cell]:
        self.launches.append(launch)
        argv = ("sh", "-c", f"echo confined; {launch.argv[-1]}")
        return nullcontext(
            Cell(
                launch=Launch(argv=argv, cwd=launch.cwd),
                refused=lambda: ("a.example",),
                aftermath=lambda: ("put back: .envrc",),
            )
        )

    @override
    def explain(
        self, confinement: Confinement, output: str, refused: Sequence[str], cwd: str
    ) -> tuple[SandboxDenied, ...]:
        return (*(HostDenied(host) for host in refused), PathDenied(cwd))


async def test_the_launch_goes_through_the_sandbox_with_what_it_may_reach(desk):
    sandbox = Confines()
    desk.change(sandbox=sandbox, processes=LocalProcesses(dict(os.environ), sandbox))
    told = await desk.done("run_command", command="echo free")
    assert told == "exit code 0\nconfined\nfree\n[put back: .envrc]"
    (launch,) = sandbox.launches
    assert launch.argv[1:] == ("-c", "echo free")
    assert launch.stdin is None
    assert launch.confinement == Confinement()


async def test_a_command_that_failed_carries_what_its_sandbox_kept_it_from(desk):
    sandbox = Confines()
    desk.change(sandbox=sandbox, processes=LocalProcesses(dict(os.environ), sandbox))
    action = await desk.tools["run_command"].prepare({"command": "exit 3"}, desk.context)
    outcome = await action.run(Confinement())
    action.close()
    assert isinstance(outcome, Failed)
    assert outcome.denied == (HostDenied("a.example"), PathDenied(str(desk.root)))


async def test_what_was_put_right_after_a_command_is_shown_beside_its_output(desk):
    sandbox = Confines()
    desk.change(sandbox=sandbox, processes=LocalProcesses(dict(os.environ), sandbox))
    outcome = await desk.call("run_command", command="true")
    assert outcome.view.aftermath == ("put back: .envrc",)
    assert outcome.view.output == "confined\n"


async def test_no_descriptor_is_left_open(desk):
    await desk.done("run_command", command="true")
    before = descriptors()
    for _ in range(3):
        await desk.done("run_command", command="true")
        await desk.failed("run_command", command="true", cwd="nope")
    assert descriptors() == before
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_what_it_declares(desk):
    tool = desk.tools["run_command"]
    assert tool.spec.effect is Effect.RUN
    assert tool.spec.mask.verb == "test"
    assert tool.spec.argument("command").kind is ArgumentKind.COMMAND
    assert tool.summarize({"command": "npm  test\n", "cwd": "web"}) == "npm test (in web)"
    assert len(tool.summarize({"command": "x" * 500})) == 120
