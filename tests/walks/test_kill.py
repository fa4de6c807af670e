"""kill -9 at random moments of a run: nothing acknowledged is lost, and the session goes on."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hame.base.message import Assistant
from hame.sessions.store import SessionStore
from hame.testing import ScriptedServer, answer, call

STEPS = 40
ROUNDS = int(os.environ.get("HAME_KILL_ROUNDS", "12"))
HAME = str(Path(sys.executable).with_name("hame"))


def command(server: ScriptedServer, home: Path, *more: str) -> subprocess.Popen[str]:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "MINE_BASE_URL": f"{server.url}/v1",
    }
    return subprocess.Popen(
        [HAME, "-p", "go", "--model", "mine/m", "--mode", "auto", "--output-format",
         "stream-json", *more],
        cwd=home / "project", env=environment, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def steps() -> list[Assistant]:
    reads = [answer(call("read_file", path=f"f{n % 5}.txt", start_line=n + 1)) for n in range(30)]
    writes = [answer(call("create_file", path=f"new{n}.txt", content="x\n")) for n in range(10)]
    mixed = [step for pair in zip(reads[:10], writes, strict=True) for step in pair] + reads[10:]
    return [*mixed, answer("done")]


@pytest.mark.timeout(300)
def test_a_run_killed_at_any_moment_can_be_taken_up_with_nothing_lost(tmp_path: Path) -> None:
    rng = random.Random(os.environ.get("HAME_SEED", "hame"))
    for round_number in range(ROUNDS):
        home = tmp_path / str(round_number)
        (home / "project").mkdir(parents=True)
        for n in range(5):
            (home / f"project/f{n}.txt").write_text("line\n" * 100)
        kill_and_resume(home, rng)


def kill_and_resume(home: Path, rng: random.Random) -> None:
    with ScriptedServer(*steps()) as server:
        process = command(server, home)
        assert process.stdout is not None
        acknowledged: list[dict[str, object]] = []
        stop_after = rng.randrange(1, 4 * STEPS)
        for line in process.stdout:
            acknowledged.append(json.loads(line))
            if len(acknowledged) >= stop_after:
                break
        deadline = time.monotonic() + rng.random() * 0.01
        while time.monotonic() < deadline:
            pass
        process.send_signal(signal.SIGKILL)
        process.communicate()
    store = SessionStore(home / ".local/share/hame/sessions")
    (session,) = store.list()
    settled = {str(e["call"]) for e in acknowledged if e["type"] == "call_settled"}
    kept = (home / f".local/share/hame/sessions/{session.id}.jsonl").read_text()
    assert all(f'"{one}"' in kept for one in settled)
    with ScriptedServer(answer("went on")) as server:
        process = command(server, home, "--resume", session.id)
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, (out, err)
        assert_legal(server.questions[0].body["messages"])


def assert_legal(messages: object) -> None:
    """Every call is answered, in order, right after the message that made it."""
    assert isinstance(messages, list)
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            assert waiting.pop(0) == message["tool_call_id"]
            continue
        assert not waiting
        waiting = [one["id"] for one in message.get("tool_calls", ())]
    assert not waiting
