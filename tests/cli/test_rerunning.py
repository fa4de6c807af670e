"""`hame replay --model`: what another model did, beside what is recorded."""

import json
import signal
import subprocess
from pathlib import Path

import pytest

from cli.conftest import command, environment
from hame.app.comparing import Call, FileDifference, Side
from hame.app.rerun import Compared, Rerun
from hame.base.errors import ErrorKind, Failure
from hame.base.model import Usage
from hame.base.run import RunDone, RunFailed, Stopped
from hame.cli.exits import ExitCode
from hame.cli.rerunning import code_of_rerun, rerun_lines
from hame.testing import Reply, ScriptedServer, answer, call
from hame.testing.reply import BEFORE_HEAD

RECORDED = Side(
    calls=(Call(name="read_file", arguments='{"path":"a.txt"}', outcome="done"),),
    result=RunDone(text="x"), steps=2, usage=Usage(input_uncached=12_400, output=300),
    cost_usd=0.0123, seconds=4.2,
)  # fmt: skip


def came_to(*prompts: Compared, **more: object) -> Rerun:
    facts = {
        "session": "s1", "model": "b/m", "run_as": "s2", "project": "/c/tea", "left": 0,
        "start": "the project as the session found it, from its snapshots",
        "notices": (), "files": (),
    }  # fmt: skip
    return Rerun(prompts=prompts, **(facts | more))


def test_both_sides_of_each_prompt_and_the_first_place_where_they_part_are_shown() -> None:
    one = Compared(number=1, words="Read\nit", recorded=RECORDED, now=RECORDED)
    two = Compared(
        number=2,
        words="Again",
        recorded=RECORDED,
        now=Side(),
        divergence="call 1: recorded x; now y",
    )
    files = (
        FileDifference(path="a.txt", recorded=True, now=True, added=3, removed=1),
        FileDifference(path="b\x1b[2J.txt", recorded=False, now=True, added=2, removed=0),
        FileDifference(path="c.bin", recorded=True, now=True),
    )
    lines = list(rerun_lines(came_to(one, two, files=files, left=1, stopped="no such key")))
    assert lines[0].startswith("b/m was given the prompts of s1; it began with the project as the")
    assert lines[1:6] == [
        "prompt 1  Read it",
        "  recorded  1 call · done · 12.4k in, 300 out · $0.0123 · 4.2 s",
        "  now       1 call · done · 12.4k in, 300 out · $0.0123 · 4.2 s",
        "  the same calls, and the same end",
        "prompt 2  Again",
    ]
    assert lines[7:9] == [
        "  now       0 calls · broke off · 0 in, 0 out · cost unknown · 0.0 s",
        "  parts at call 1: recorded x; now y",
    ]
    assert lines[9] == "1 prompt not given: no such key"
    assert lines[10] == "3 files not as the session left them:"
    assert lines[11] == "  a.txt  +3 -1"
    assert "\x1b" not in lines[12]
    assert lines[12].endswith("+2 -0  only now")
    assert lines[13] == "  c.bin  differs"
    assert lines[14] == "what it did is session s2: hame trace s2"
    same = list(rerun_lines(came_to(one, kept=True)))
    assert same[-3:] == [
        "both left the same files",
        "what it did is session s2: hame trace s2",
        "the copy is /c/tea",
    ]


@pytest.mark.parametrize(
    ("result", "stopped", "code"),
    [
        (RunDone(text="x"), "", ExitCode.DONE),
        (Stopped(reason="stopped by the user"), "stopped by the user", ExitCode.STOPPED),
        (
            Stopped(reason="stopped: x"),
            "the limit of money for all prompts is reached",
            ExitCode.LIMIT,
        ),
        (RunFailed(failure=Failure(kind=ErrorKind.AUTH, message="x")), "x", ExitCode.FAILED),
    ],
)
def test_the_exit_code_says_how_it_ended(result: object, stopped: str, code: int) -> None:
    last = Compared(number=1, words="x", recorded=RECORDED, now=Side(result=result))
    assert code_of_rerun(came_to(last, stopped=stopped)) == code


class Home:
    """A project with a session in it, and hame on it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "a.txt").write_text("one\n")

    def run(self, *arguments: str, server: ScriptedServer) -> subprocess.CompletedProcess[str]:
        with self.start(*arguments, server=server) as process:
            out, err = process.communicate(timeout=60)
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)

    def start(self, *arguments: str, server: ScriptedServer) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [*command(real=True), *arguments], cwd=self.folder, text=True,
            env=environment(HOME=str(self.folder), MINE_BASE_URL=f"{server.url}/v1"),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    @property
    def copies(self) -> list[Path]:
        return list((self.folder / ".cache/hame/replays").glob("*"))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path)
    (tmp_path / ".gitignore").write_text("/.*/\n")
    step = answer(call("create_file", path="b.txt", content="b\n"))
    with ScriptedServer(step, answer("Made.")) as server:
        done = made.run("-p", "Make b.", "--model", "mine/first", "--mode", "auto", server=server)
    assert done.stdout == "Made.\n", done.stderr
    return made


def test_another_model_works_in_a_copy(home: Home) -> None:
    step = answer(call("create_file", path="c.txt", content="c\n"))
    with ScriptedServer(step, answer("Made.")) as server:
        done = home.run("replay", "--model", "mine/other", "--sandbox", "none", server=server)
    assert done.returncode == 0, done.stderr
    assert "parts at call 1: recorded create_file" in done.stdout
    assert "b.txt  +0 -1  only recorded" in done.stdout
    assert "c.txt  +1 -0  only now" in done.stdout
    assert not (home.folder / "c.txt").exists()
    assert home.copies == []


def test_a_program_reads_it_as_json(home: Home) -> None:
    with ScriptedServer(answer("No.")) as server:
        done = home.run(
            "replay", "--model", "mine/other", "--sandbox", "none", "--json", server=server
        )
    found = json.loads(done.stdout)
    assert found["model"] == "mine/other"
    assert found["prompts"][0]["recorded"]["calls"][0]["name"] == "create_file"
    assert found["prompts"][0]["divergence"].startswith("call 1: recorded create_file")
    assert found["files"][0]["path"] == "b.txt"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_cleans_up(home: Home, number: int) -> None:
    with ScriptedServer(Reply(hang_at=BEFORE_HEAD)) as server:
        process = home.start("replay", "--model", "mine/other", "--sandbox", "none", server=server)
        with process:
            assert process.stderr is not None
            while "prompt 1 of 1" not in process.stderr.readline():
                pass
            server.wait_arrived(1)
            assert len(home.copies) == 1
            process.send_signal(number)
            out, err = process.communicate(timeout=30)
    assert process.returncode in {130, 143}, (out, err)
    assert home.copies == []
    assert list((home.folder / ".local/share/hame/sessions").iterdir())


def test_without_a_model_there_is_nothing_to_keep(home: Home) -> None:
    with ScriptedServer() as server:
        done = home.run("replay", "--keep", server=server)
    assert done.returncode == 2
    assert "--keep needs --model" in done.stderr
