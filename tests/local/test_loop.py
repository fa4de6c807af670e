"""The built-in model in the real loop, through the public API."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from hame.app.api import open_session
from hame.base.event import CallSettled, CallStarted, QuestionAsked, RunEnded, RunEvent, TextDelta
from hame.base.outcome import Denied, Done
from hame.base.run import RunDone

FILES = {
    "config.txt": "retries=1\nport=8080\n",
    "src/util.py": "def foo(x):\n    return x\n",
    "tests/test_util.py": (
        "import unittest\n\n\nclass Sum(unittest.TestCase):\n"
        "    def test_it_adds(self):\n        self.assertEqual(1 + 1, 2)\n"
    ),
}


@pytest.fixture
def project(tmp_path: Path, weights_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(weights_folder.parent))
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


async def run(project: Path, prompt: str, mode: str = "auto") -> Sequence[RunEvent]:
    async with open_session(project, model="local/smollm2-135m", mode=mode) as session:
        return [event async for event in session.prompt(prompt)]


def answer(events: Sequence[RunEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


async def test_it_looks_and_answers_with_what_it_saw(project: Path) -> None:
    events = await run(project, "What is the port in config.txt?")
    outcomes = [event.outcome for event in events if isinstance(event, CallSettled)]
    assert outcomes
    assert [type(outcome) for outcome in outcomes] == [Done] * len(outcomes), outcomes
    seen = "\n".join(FILES.values())
    said = answer(events)
    assert said
    assert all(line in seen or line.split(":")[-1].strip() in seen for line in said.splitlines())
    ended = events[-1]
    assert isinstance(ended, RunEnded)
    assert isinstance(ended.result, RunDone)
    assert ended.usage.output > 0
    assert ended.cost_usd == 0


async def test_it_changes_a_file_once_and_says_so(project: Path) -> None:
    events = await run(project, "Replace 8080 with 9090 in config.txt.")
    assert (project / "config.txt").read_text() == "retries=1\nport=9090\n"
    assert [event.tool for event in events if isinstance(event, CallStarted)] == ["edit_file"]
    assert answer(events) == "Done."


async def test_it_runs_the_tests(project: Path) -> None:
    events = await run(project, "Do the tests pass?")
    assert "run_command" in [event.tool for event in events if isinstance(event, CallStarted)]
    assert answer(events) == "yes"


async def test_a_change_that_nobody_allows_is_not_claimed(project: Path) -> None:
    events = await run(project, "Replace 8080 with 9090 in config.txt.", mode="plan")
    outcomes = [event.outcome for event in events if isinstance(event, CallSettled)]
    assert [type(outcome) for outcome in outcomes] == [Denied]
    assert not any(isinstance(event, QuestionAsked) for event in events)
    assert answer(events).startswith("Not done.")
    assert (project / "config.txt").read_text() == FILES["config.txt"]


async def test_what_has_nothing_to_do_with_the_project_touches_nothing(project: Path) -> None:
    events = await run(project, "Write me a poem about spring.")
    assert not any(isinstance(event, CallStarted) for event in events)
    assert "hame models" in answer(events)
