"""Ctrl-C during a command with children: nothing survives, and the history is legal."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from hame.base.entry import CallSettled
from hame.base.outcome import Cancelled
from hame.sessions.store import SessionStore
from hame.testing import ScriptedServer, answer, call

HAME = str(Path(sys.executable).with_name("hame"))
STUBBORN = (
    "trap '' TERM; (trap '' TERM; sleep 300) & setsid sleep 301 & "
    "echo $$ $! > pids; jobs -p >> pids; touch ready; sleep 302"
)


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def wait_for(what: object, seconds: float) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if what():  # type: ignore[operator]
            return True
        time.sleep(0.02)
    return False


def test_nothing_survives_ctrl_c_and_the_history_is_legal(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    with ScriptedServer(answer(call("run_command", command=STUBBORN))) as server:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "MINE_BASE_URL": f"{server.url}/v1",
        }
        process = subprocess.Popen(
            [HAME, "-p", "go", "--model", "mine/m", "--mode", "auto"],
            cwd=project, env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        assert wait_for((project / "ready").exists, 20)
        pids = [int(pid) for pid in (project / "pids").read_text().split()]
        assert len(pids) >= 3
        process.send_signal(signal.SIGINT)
        assert wait_for(lambda: not any(map(alive, pids)), 2)
        process.communicate(timeout=10)
    assert process.returncode == 130
    store = SessionStore(tmp_path / ".local/share/hame/sessions")
    (session,) = store.list()
    entries = store.read(session.id).entries
    settled = [entry.outcome for entry in entries if isinstance(entry, CallSettled)]
    assert len(settled) == 1
    assert isinstance(settled[0], Cancelled)
