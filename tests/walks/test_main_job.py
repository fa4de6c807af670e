"""The main job on every wire: the real command, in a process of its own, against scripted servers.

Two servers play the same scenarios: the one in `hame.testing`, and `mockllm.py` beside the project
where that is at hand; they are written apart and must agree.
"""

import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hame.base.message import Assistant
from hame.testing import ScriptedServer, answer, call
from hame.testing.reply import (
    Reply,
    bad_arguments,
    bad_json,
    drop,
    drop_before,
    empty,
    hang,
    hang_mid,
    status,
    unknown_tool,
)

ROOT = Path(__file__).resolve().parents[2]
MOCK = ROOT / ".." / "shared" / "tools" / "mockllm.py"
QUICK = ("--first-byte-timeout", "1", "--idle-timeout", "1")

pytestmark = pytest.mark.timeout(180)


class Job:
    """A project, and hame at work in it."""

    def __init__(self, folder: Path, models: dict[str, str], provide: Any) -> None:
        self.folder = folder
        self.project = folder / "project"
        (self.project / "data").mkdir(parents=True)
        (self.project / "hello.py").write_text('def hello():\n    return "hello"\n')
        for number in range(1, 41):
            (self.project / f"data/f{number}.txt").write_text(f"line of file {number}\n" * 20)
        self._models = models
        self._provide = provide

    def run(self, url: str, wire: str, *more: str) -> subprocess.CompletedProcess[str]:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "PYTHONPATH": str(ROOT / "src"),
            **self._provide(url),
        }
        return subprocess.run(
            [sys.executable, "-m", "hame", "-p", "do it", "--mode", "auto",
             "--model", self._models[wire], *more],
            cwd=self.project, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
            text=True, timeout=120, check=False,
        )  # fmt: skip

    @property
    def edited(self) -> bool:
        return 'return "goodbye"' in (self.project / "hello.py").read_text()


@pytest.fixture
def job(tmp_path: Path, models: dict[str, str], provide: Any) -> Job:
    """A fresh project."""
    return Job(tmp_path, models, provide)


# ---------------------------------------------------------------- the project's own server

READ = answer(call("read_file", path="hello.py"))
EDIT = answer(
    call(
        "edit_file",
        path="hello.py",
        old_string='return "hello"',
        new_string='return "goodbye"',
    )
)
EDITED = answer("Edited hello.py.")

SCENARIOS: dict[str, list[Assistant]] = {
    "hello": [answer("Hello from the mock.")],
    "edit3": [READ, EDIT, EDITED],
    "loop40": [
        *(answer(call("read_file", path=f"data/f{n}.txt")) for n in range(1, 41)),
        answer("Read 40 files."),
    ],
    "shell40": [
        *(answer(call("run_command", command=f"echo step {n}")) for n in range(1, 41)),
        answer("Ran 40 commands."),
    ],
    "parallel8": [
        answer(*(call("read_file", path=f"data/f{n}.txt") for n in range(1, 9))),
        answer("Read 8 files at once."),
    ],
}
SAID = {name: said[-1].text for name, said in SCENARIOS.items()}


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_scenario_is_done(job, wire, scenario, pages):
    with ScriptedServer(*SCENARIOS[scenario], pages=pages) as server:
        ran = job.run(server.url, wire)
        server.finish()
    assert (ran.stdout, ran.returncode) == (f"{SAID[scenario]}\n", 0), ran.stderr
    assert {question.wire for question in server.questions} == {wire}
    assert {question.kept for question in server.questions[1:]} <= {1.0}
    assert len(server.questions[0].raw) / 4 <= 3000
    assert job.edited is (scenario == "edit3")


FAULTS: dict[str, Reply] = {
    "429": status(429, retry_after=1),
    "503": status(503),
    "529": status(529),
    "drop": drop(answer("one two", *EDIT.content), at="two"),
    "drop0": drop_before(),
    "hang": hang(),
    "hang_mid": hang_mid(answer("one two", *EDIT.content), at="two"),
    "badjson": bad_json("edit_file"),
    "badargs": bad_arguments("edit_file"),
    "unknown_tool": unknown_tool("edit_fil"),
    "empty": empty(),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_outlived(job, wire, fault, pages):
    started = time.monotonic()
    with ScriptedServer(READ, FAULTS[fault], EDIT, EDITED, pages=pages) as server:
        ran = job.run(server.url, wire, *QUICK)
        server.finish()
    assert (ran.stdout, ran.returncode) == ("Edited hello.py.\n", 0), ran.stderr
    assert job.edited
    assert time.monotonic() - started < 60
    if fault == "429":
        assert time.monotonic() - started >= 1


def test_an_endless_failure_is_an_error_that_names_the_provider(job, wire, pages):
    started = time.monotonic()
    with ScriptedServer(READ, *[status(503)] * 50, pages=pages) as server:
        ran = job.run(server.url, wire)
        assert ran.returncode == 1
        assert time.monotonic() - started < 60
        assert PROVIDERS[wire] in ran.stderr
        assert "503" in ran.stderr
    with ScriptedServer(EDIT, EDITED, pages=pages) as server:
        again = job.run(server.url, wire, "--continue")
        server.finish()
    assert (again.stdout, again.returncode) == ("Edited hello.py.\n", 0), again.stderr
    assert b"line" in server.questions[0].raw or b"hello" in server.questions[0].raw


PROVIDERS = {
    "anthropic_messages": "Anthropic",
    "openai_chat": "OpenRouter",
    "openai_responses": "OpenAI",
    "gemini": "Google Gemini",
    "ollama": "Ollama",
}


# ---------------------------------------------------------------- mockllm.py beside the project


class Mock:
    """The other server, in a process of its own."""

    def __init__(self, url: str) -> None:
        self.url = url

    def play(self, scenario: str, project: Path, **fault: object) -> None:
        self._post({"scenario": scenario, "cwd": str(project), "fault": fault or None})

    @property
    def log(self) -> list[dict[str, Any]]:
        with urllib.request.urlopen(f"{self.url}/_mock/log", timeout=10) as reply:
            return [row for row in json.load(reply) if row["kind"] == "main"]

    def _post(self, order: dict[str, object]) -> None:
        request = urllib.request.Request(
            f"{self.url}/_mock/reset", json.dumps(order).encode(), method="POST"
        )
        with urllib.request.urlopen(request, timeout=10) as reply:
            assert json.load(reply)["ok"]


@pytest.fixture(scope="module")
def mock() -> Iterator[Mock]:
    """The server, on a port of its own choosing."""
    if not MOCK.is_file():
        pytest.skip("mockllm.py (../shared/tools) is not here")
    with subprocess.Popen(
        [sys.executable, str(MOCK), "--port", "0"], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield Mock(process.stdout.readline().split()[-1].rstrip("/"))
        finally:
            process.kill()


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_other_server_sees_the_same_job(job, wire, scenario, mock):
    mock.play(scenario, job.project)
    ran = job.run(mock.url, wire)
    assert (ran.stdout, ran.returncode) == (f"{SAID[scenario]}\n", 0), ran.stderr
    assert job.edited is (scenario == "edit3")
    first, *others = mock.log
    assert first["approx_tokens"] <= 3000
    assert {row["share_canon"] for row in others} <= {1.0}
    assert len(mock.log) == len(SCENARIOS[scenario])


@pytest.mark.parametrize("fault", FAULTS)
def test_the_other_servers_faults_are_outlived(job, wire, fault, mock):
    kind = int(fault) if fault.isdigit() else fault
    mock.play("edit3", job.project, kind=kind, step=1, times=1, retry_after=1, hang_s=30)
    started = time.monotonic()
    ran = job.run(mock.url, wire, *QUICK)
    assert time.monotonic() - started < 60
    assert (ran.stdout, ran.returncode) == ("Edited hello.py.\n", 0), ran.stderr
    assert [row["fault"] for row in mock.log if row["fault"]] == [str(kind)]
    # On ollama, whose calls have no ids, it counts the turns that hold calls: one that could not be
    # run counts as the step it stood for.
    skipped = wire == "ollama" and fault in {"badargs", "unknown_tool", "badjson"}
    assert job.edited is not skipped
